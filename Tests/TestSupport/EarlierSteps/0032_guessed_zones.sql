-- Where the mirror's time zone comes from if no person named it: the archive names it, or it is guessed from the hours in
-- which the human never posts. Null for a zone that a person set.
ALTER TABLE mirrors ADD COLUMN time_zone_source TEXT;
