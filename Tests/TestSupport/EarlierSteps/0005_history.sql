-- What a long history asks for: an index for every query of a pass, and texts that are prepared before a plan needs them.

-- The text that would be sent of an own post: what texts that read the same have in common, why it may not be sent (or
-- null), how long it is, and the rules that found this out (empty for none yet).
ALTER TABLE posts ADD COLUMN text_key TEXT;
ALTER TABLE posts ADD COLUMN unfit TEXT;
ALTER TABLE posts ADD COLUMN length BIGINT;
ALTER TABLE posts ADD COLUMN rules TEXT NOT NULL DEFAULT '';
-- When the post was last planned or sent; changed together with the action.
ALTER TABLE posts ADD COLUMN last_used_ms BIGINT;

-- The minutes of a day's own posts in ascending order, with spaces between: what a schedule is learned from. Kept only
-- while the counter archive.days is 1.
CREATE TABLE posting_days (
    mirror TEXT NOT NULL,
    local_day TEXT NOT NULL,
    minutes TEXT NOT NULL,
    PRIMARY KEY (mirror, local_day)
);

-- In the order in which the oldest leave.
DROP INDEX posts_by_time;
CREATE INDEX posts_by_age ON posts (mirror, created_ms, post_id, network);
CREATE INDEX posts_by_minute ON posts (mirror, minute, created_ms, post_id, network, length)
    WHERE text_key IS NOT NULL AND unfit IS NULL;
CREATE INDEX posts_by_text ON posts (mirror, text_key) WHERE text_key IS NOT NULL;
CREATE INDEX posts_by_use ON posts (mirror, last_used_ms) WHERE last_used_ms IS NOT NULL;
CREATE INDEX posts_by_rules ON posts (mirror, rules) WHERE is_reply = FALSE;
CREATE INDEX posts_by_day ON posts (mirror, local_day, minute) WHERE is_reply = FALSE AND time_trusted = TRUE;
CREATE INDEX posts_by_network_of_answer ON posts (mirror, network, reply_to_author)
    WHERE reply_to_author IS NOT NULL AND reply_to_author <> COALESCE(author, '');

-- Each has more columns that are compared for equality than the next best one: SQLite chooses by that alone.
CREATE INDEX actions_by_kind ON actions (mirror, kind, due_ms);
DROP INDEX actions_by_due;
CREATE INDEX actions_by_state ON actions (mirror, state, kind, due_ms);
CREATE INDEX actions_by_day ON actions (mirror, kind, SUBSTR(subject, 1, 10));
CREATE INDEX actions_by_source ON actions (mirror, kind, source_network, source_post_id, due_ms);
CREATE INDEX actions_by_target ON actions (mirror, kind, target_network, target_author, due_ms);
-- A thread's name may be longer than an index takes.
CREATE INDEX actions_by_thread ON actions (mirror, kind, SUBSTR(thread, 1, 200), due_ms);
CREATE INDEX actions_by_address ON actions (mirror, kind, remote_address);
CREATE INDEX actions_by_sighting ON actions (mirror, next_attempt_ms)
    WHERE state = 'failed' AND next_attempt_ms IS NOT NULL;

CREATE INDEX examples_by_author ON examples (mirror, network, author, post_id);

-- How many examples there are of each state; changed together with them.
INSERT INTO counters (mirror, name, value)
    SELECT mirror, 'examples.' || state, COUNT(*) FROM examples GROUP BY mirror, state;
