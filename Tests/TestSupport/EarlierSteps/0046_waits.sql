-- How long a network wants no calls of an account, and since when, so that the next process waits too.
CREATE TABLE waits (
    mirror TEXT NOT NULL,
    role TEXT NOT NULL,
    -- `everything`, or the name of an operation.
    scope TEXT NOT NULL,
    code TEXT NOT NULL,
    error TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    noted_ms BIGINT NOT NULL,
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, role, scope)
);
