-- The zone that a downloaded archive names, for the person who is asked for TIME_ZONE.
ALTER TABLE mirrors ADD COLUMN archive_time_zone TEXT;
