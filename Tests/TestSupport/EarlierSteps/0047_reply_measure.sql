-- How well the replies were chosen the last time that it was measured, as JSON; null if it never was. Beside it `classifier`
-- may be `{}`: nothing was measured of the classifier then.
ALTER TABLE measures ADD COLUMN replies TEXT;
-- The newest replies to others, without sorting them all.
CREATE INDEX posts_by_reply_age ON posts (mirror, created_ms, post_id, network)
    WHERE is_reply = TRUE AND reply_to_author IS NOT NULL AND reply_to_author <> COALESCE(author, '');
