-- The state in which the network last named the human's account: memorial, suspended, moved, deactivated or deleted, with
-- the new address of one that has moved. Null: the usual one. Else since when; when it was named again, a day later or
-- more; when a person was asked about the copies of a deleted account; and when a person said that the mirror goes on.
ALTER TABLE mirrors ADD COLUMN standing TEXT;
ALTER TABLE mirrors ADD COLUMN standing_to TEXT;
ALTER TABLE mirrors ADD COLUMN standing_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN standing_again_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN standing_asked_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN standing_goes_on_ms BIGINT;
-- When the network was last asked.
ALTER TABLE mirrors ADD COLUMN standing_look_ms BIGINT;
