-- What a person, or the mirror itself, wants taken back of what the bot did.

-- Why and since when; null while nobody wants it.
ALTER TABLE actions ADD COLUMN undo_reason TEXT;
ALTER TABLE actions ADD COLUMN undo_asked_ms BIGINT;
-- How many requests were made for it; null for none.
ALTER TABLE actions ADD COLUMN undo_attempts BIGINT;
-- When the network is asked next, once it is certain that the action happened; null when it is not asked any more.
ALTER TABLE actions ADD COLUMN undo_next_ms BIGINT;
-- When that was written: later than now if a clock was set since.
ALTER TABLE actions ADD COLUMN undo_noted_ms BIGINT;
-- What the network answered last; of what another account of the bot did, rebound.
ALTER TABLE actions ADD COLUMN undo_outcome TEXT;
CREATE INDEX actions_by_undo ON actions (mirror, undo_next_ms) WHERE undo_next_ms IS NOT NULL;
