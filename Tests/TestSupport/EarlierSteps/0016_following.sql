-- What follows for the bot's posts from what the human deletes or changes.

-- When the original is looked at next; null for at once.
ALTER TABLE actions ADD COLUMN follow_ms BIGINT;
-- The latest change of the original that the copy has followed; null for none.
ALTER TABLE actions ADD COLUMN original_edited_ms BIGINT;
-- Why the mirror would take it back, if a person agrees; null where nobody is asked.
ALTER TABLE actions ADD COLUMN undo_proposed TEXT;
CREATE INDEX actions_by_following ON actions (mirror, source_network, follow_ms)
    WHERE state = 'done' AND source_post_id IS NOT NULL;
CREATE INDEX actions_by_proposal ON actions (mirror, undo_proposed) WHERE undo_proposed IS NOT NULL;

-- When the human's network first said that the post is gone; null while it shows it.
ALTER TABLE posts ADD COLUMN denied_ms BIGINT;
