-- That a mirror ends: when, when it was asked for, its last words (a text, or the archived post "network:id"), and whether
-- everything else is taken back. Null retire_ms: it goes on.
ALTER TABLE mirrors ADD COLUMN retire_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN retire_asked_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN retire_text TEXT;
ALTER TABLE mirrors ADD COLUMN retire_source TEXT;
ALTER TABLE mirrors ADD COLUMN retire_undo BOOLEAN NOT NULL DEFAULT FALSE;
-- How far that has come, in this order: begun, with the action of the last post; the profile settled, or why it was not;
-- the wishes to take everything back noted; over, the logins removed.
ALTER TABLE mirrors ADD COLUMN retire_begun_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN retire_post TEXT;
ALTER TABLE mirrors ADD COLUMN retire_profile_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN retire_profile_note TEXT;
ALTER TABLE mirrors ADD COLUMN retire_undo_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN retired_ms BIGINT;
