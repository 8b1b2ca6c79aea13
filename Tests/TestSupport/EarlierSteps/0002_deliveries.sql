-- What exactly-once delivery has to know of an action beyond its attempts.

-- The requests that may have acted since it was last certain that none did.
ALTER TABLE actions ADD COLUMN sends BIGINT NOT NULL DEFAULT 0;
-- Whom the text of an answer must not notify: ids on the network of target_author, with spaces between.
ALTER TABLE actions ADD COLUMN bystanders TEXT;

-- Until now each attempt counted as one that may have acted.
UPDATE actions SET sends = attempts WHERE state = 'sending';
-- Of an action that failed, next_attempt_ms now says when it is looked up again; what failed before stays as it is.
UPDATE actions SET next_attempt_ms = NULL WHERE state = 'failed';
