-- What left within the last day is asked for each plan and each post: without it all posts that the bot ever made were read.
CREATE INDEX actions_departed ON actions (mirror, COALESCE(departed_ms, sending_ms)) WHERE kind = 'post';
