-- Sessions of the web page that were logged out: a digest of each, until it would have ended anyway. They belong to no mirror.
CREATE TABLE ended_sessions (
    session TEXT NOT NULL PRIMARY KEY,
    ends_ms BIGINT NOT NULL
);
