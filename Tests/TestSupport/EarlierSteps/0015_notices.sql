-- What a person is told of while nobody looks, one row a cause.
CREATE TABLE notices (
    mirror TEXT NOT NULL,
    cause TEXT NOT NULL,
    -- Since when it holds; null while it does not.
    since_ms BIGINT,
    -- When a person was last told that it holds.
    told_ms BIGINT,
    -- Since when it held as a person was told who is still to be told that it is over; null if nobody is.
    told_since_ms BIGINT,
    -- How often telling was tried in a row without being heard, and when it may be tried next.
    attempts BIGINT NOT NULL DEFAULT 0,
    next_ms BIGINT,
    PRIMARY KEY (mirror, cause)
);
