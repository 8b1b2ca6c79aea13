-- Whether a text stands for itself, found out with text_key and by the rules of that column.

-- The program that wrote a post, as an archive of X names it.
ALTER TABLE posts ADD COLUMN client TEXT;
CREATE INDEX posts_by_client ON posts (mirror, client) WHERE client IS NOT NULL;
-- How much must be given up for the text to be used: 0 nothing, 1 it names a day, 2 it speaks to somebody, 3 it cannot be
-- understood alone, or hurts.
ALTER TABLE posts ADD COLUMN grade BIGINT NOT NULL DEFAULT 0;
-- When it is fit, as 'days 12-31..01-03; times 20:00..03:59'; empty for always.
ALTER TABLE posts ADD COLUMN fit_when TEXT NOT NULL DEFAULT '';
-- The first rule that speaks against the text, always or outside those days and hours; null if none does.
ALTER TABLE posts ADD COLUMN fit_reason TEXT;

-- A post whose time of day was lost is no text of any minute.
DROP INDEX posts_by_minute;
CREATE INDEX posts_by_minute ON posts (mirror, minute, created_ms, post_id, network, length, grade, fit_when)
    WHERE text_key IS NOT NULL AND unfit IS NULL AND time_trusted = TRUE;
CREATE INDEX posts_by_lost_time ON posts (mirror, created_ms)
    WHERE text_key IS NOT NULL AND unfit IS NULL AND time_trusted = FALSE;
