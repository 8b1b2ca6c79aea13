-- What nothing asks of a post.
ALTER TABLE posts DROP COLUMN weekday;
ALTER TABLE posts DROP COLUMN has_link;
ALTER TABLE posts DROP COLUMN source;
ALTER TABLE posts DROP COLUMN observed_ms;
