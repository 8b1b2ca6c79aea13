-- What it takes to leave people alone, whatever they are called.

-- Who wrote what was learned, by what networks call them for good; null where only the name is known, or nothing. The name
-- is what the counts know, and stays.
ALTER TABLE examples ADD COLUMN author_id TEXT;
CREATE INDEX examples_by_author_id ON examples (mirror, network, author_id, post_id) WHERE author_id IS NOT NULL;

-- A post's address on Bluesky, at://did:plc:…/app.bsky.feed.post/3k…, tells whose it is.
UPDATE examples SET author_id = SUBSTR(REPLACE(
        RTRIM(post_id, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:'), '/app.bsky.feed.post/', ''),
        6)
    WHERE network = 'bluesky' AND post_id LIKE 'at://did:%/app.bsky.feed.post/%';

-- Those who are being forgotten, until all there is of them is gone.
CREATE INDEX people_by_reason ON people (mirror, reason) WHERE reason IS NOT NULL;
