-- How well each feed is heard, and what was heard and not decided yet.

-- A feed beside its position.
CREATE TABLE feeds (
    mirror TEXT NOT NULL,
    feed TEXT NOT NULL,
    -- When it was last read to its end.
    read_ms BIGINT,
    -- When the newest item was made, when it was last read to its end.
    newest_ms BIGINT,
    -- How many items arrived since then, where the network shows only the newest ones.
    arrived BIGINT NOT NULL DEFAULT 0,
    -- When everything a day back was last looked at again.
    swept_ms BIGINT,
    -- What goes wrong, and since when; null while nothing does.
    error TEXT,
    error_ms BIGINT,
    PRIMARY KEY (mirror, feed)
);

-- Items of a feed that have no row in actions: unreadable, waiting for another try, or given up.
CREATE TABLE feed_items (
    mirror TEXT NOT NULL,
    feed TEXT NOT NULL,
    -- What the server calls the item, else # and a digest of what it sent.
    item TEXT NOT NULL,
    state TEXT NOT NULL,
    digest TEXT,
    reason TEXT NOT NULL,
    -- The program that could not read it, or last tried to decide it.
    version TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    next_ms BIGINT,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, feed, item)
);

-- Stretches of a feed that could not be read any more.
CREATE TABLE feed_gaps (
    mirror TEXT NOT NULL,
    feed TEXT NOT NULL,
    from_ms BIGINT NOT NULL,
    to_ms BIGINT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (mirror, feed, to_ms)
);

-- What a network says of the credentials of an account; no row while it takes them.
CREATE TABLE refusals (
    mirror TEXT NOT NULL,
    role TEXT NOT NULL,
    error TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, role)
);
-- Until now the refusals were kept among the positions.
DELETE FROM cursors WHERE feed IN ('refused-human', 'refused-bot');
