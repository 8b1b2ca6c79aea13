-- How far each feed was read, in typed columns. Until now the table cursors had a text for each of these, under a name made
-- of the feed's and of the part's.

-- First, so that no worker of an earlier version stores a position meanwhile. From now on it can store none, and so passes
-- over nothing: what it reads is read again.
ALTER TABLE cursors RENAME TO packed_cursors;

-- Leads to what arrives next; null before the feed was ever read.
ALTER TABLE feeds ADD COLUMN position TEXT;
-- The last one of the bot's published actions below which a sweep has looked for replies, by due_ms and id, and the due_ms
-- up to which it is to look; null while it is not to.
ALTER TABLE feeds ADD COLUMN below_ms BIGINT;
ALTER TABLE feeds ADD COLUMN below_action TEXT;
ALTER TABLE feeds ADD COLUMN below_end_ms BIGINT;

-- Parts of a feed that are to be read still, from a cursor into the past.
CREATE TABLE feed_stretches (
    mirror TEXT NOT NULL,
    feed TEXT NOT NULL,
    -- gap: between the present and what was read before an interruption. past: what a training has not read yet. sweep: what
    -- is to be looked at again.
    part TEXT NOT NULL,
    -- Where the next older page begins.
    cursor TEXT NOT NULL,
    -- How many items are wanted at most; null for all.
    remaining BIGINT,
    -- When everything older is known, or not wanted; null for the feed's end.
    floor_ms BIGINT,
    -- When the oldest item was made that was read above it; null if that is not known.
    top_ms BIGINT,
    -- Since when the server refuses its next page; null while it does not.
    refused_ms BIGINT,
    PRIMARY KEY (mirror, feed, part)
);

INSERT INTO feeds (mirror, feed, position)
    SELECT mirror, feed, value FROM packed_cursors
    WHERE feed NOT LIKE '%/gap' AND feed NOT LIKE '%/past' AND feed NOT LIKE '%/sweep' AND feed NOT LIKE '%/below'
    ON CONFLICT (mirror, feed) DO UPDATE SET position = excluded.position;

-- A stretch was packed as "remaining cursor" or "remaining@floor/top/refused cursor". Without a floor, remaining was the
-- largest number for all items; with one it was empty then. The top, or the refusal, or both could be missing. Of all that
-- only the cursor may hold other characters than 0-9, @, / and -, so it begins behind the first space.
INSERT INTO feed_stretches (mirror, feed, part, cursor, remaining, floor_ms, top_ms, refused_ms)
    SELECT mirror, feed, part, cursor, CAST(NULLIF(NULLIF(remaining, ''), '9223372036854775807') AS BIGINT),
        CAST(NULLIF(floor, '') AS BIGINT), CAST(NULLIF(top, '') AS BIGINT), CAST(NULLIF(refused, '') AS BIGINT)
    FROM (
        SELECT mirror, feed, part, cursor, remaining, floor,
            SUBSTR(later, 1, LENGTH(later) - LENGTH(LTRIM(later, '-0123456789'))) AS top,
            SUBSTR(LTRIM(later, '-0123456789'), 2) AS refused
        FROM (
            SELECT mirror, feed, part, cursor, remaining,
                SUBSTR(times, 1, LENGTH(times) - LENGTH(LTRIM(times, '-0123456789'))) AS floor,
                SUBSTR(LTRIM(times, '-0123456789'), 2) AS later
            FROM (
                SELECT mirror, feed, part, cursor,
                    SUBSTR(head, 1, LENGTH(head) - LENGTH(LTRIM(head, '0123456789'))) AS remaining,
                    SUBSTR(LTRIM(head, '0123456789'), 2) AS times
                FROM (
                    SELECT mirror, SUBSTR(feed, 1, LENGTH(feed) - LENGTH(part) - 1) AS feed, part,
                        SUBSTR(value, 1, LENGTH(value) - LENGTH(LTRIM(value, '0123456789@/-'))) AS head,
                        SUBSTR(LTRIM(value, '0123456789@/-'), 2) AS cursor
                    FROM (
                        SELECT mirror, feed, value,
                            CASE WHEN feed LIKE '%/gap' THEN 'gap' WHEN feed LIKE '%/past' THEN 'past'
                                WHEN feed LIKE '%/sweep' THEN 'sweep' END AS part
                        FROM packed_cursors WHERE LTRIM(value, '0123456789@/-') LIKE ' %'
                    ) AS named
                    WHERE part IS NOT NULL
                ) AS cut
            ) AS counted
        ) AS timed
    ) AS unpacked
    WHERE floor <> '' OR remaining NOT IN ('', '0');

-- Of the bot's own posts as "@end due id".
INSERT INTO feeds (mirror, feed, below_ms, below_action, below_end_ms)
    SELECT mirror, SUBSTR(feed, 1, LENGTH(feed) - 6),
        CAST(SUBSTR(place, 1, LENGTH(place) - LENGTH(LTRIM(place, '-0123456789'))) AS BIGINT),
        SUBSTR(LTRIM(place, '-0123456789'), 2), CAST(SUBSTR(head, 2) AS BIGINT)
    FROM (
        SELECT mirror, feed, SUBSTR(LTRIM(value, '0123456789@/-'), 2) AS place,
            SUBSTR(value, 1, LENGTH(value) - LENGTH(LTRIM(value, '0123456789@/-'))) AS head
        FROM packed_cursors WHERE feed LIKE '%/below' AND value LIKE '@%'
    ) AS cut
    WHERE LENGTH(LTRIM(place, '-0123456789')) < LENGTH(place)
    ON CONFLICT (mirror, feed) DO UPDATE SET below_ms = excluded.below_ms, below_action = excluded.below_action,
        below_end_ms = excluded.below_end_ms;

DROP TABLE packed_cursors;
