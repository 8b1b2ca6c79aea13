-- What a person has forgotten, and how often a text may come back.

-- Posts that are never archived again, and people of whom nothing is kept, each by a digest of what networks call them;
-- kind is 'post' or 'person'.
CREATE TABLE forgotten (
    mirror TEXT NOT NULL,
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, kind, digest)
);

-- What keeps posts from being used: a 'word' as it was typed, a 'day' of every year as 12-24, or a 'span' of days as
-- 2019-03-01/2019-06-30.
CREATE TABLE muted (
    mirror TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, kind, value)
);

-- What the author of a post warns of, as far as that may go along with its text: the words of a content warning, or the
-- labels of Bluesky with spaces between; and what goes along with an action's.
ALTER TABLE posts ADD COLUMN warning TEXT;
ALTER TABLE actions ADD COLUMN warning TEXT;

-- How often the text of a post was planned or sent: in all, and as far as the actions that tell so were thrown away.
ALTER TABLE posts ADD COLUMN uses BIGINT NOT NULL DEFAULT 0;
ALTER TABLE posts ADD COLUMN past_uses BIGINT NOT NULL DEFAULT 0;
UPDATE posts SET uses = (SELECT COUNT(*) FROM actions WHERE actions.mirror = posts.mirror AND kind = 'post'
        AND source_network = posts.network AND source_post_id = posts.post_id
        AND (state IN ('planned', 'claimed', 'sending', 'done') OR sending_ms IS NOT NULL))
    WHERE last_used_ms IS NOT NULL;
CREATE INDEX posts_by_uses ON posts (mirror, text_key, uses) WHERE uses > 0;
