-- What a person was told while nobody looked: messages that were delivered, the last ones of each mirror.
CREATE TABLE told (
    mirror TEXT NOT NULL,
    told_ms BIGINT NOT NULL,
    cause TEXT NOT NULL,
    state TEXT NOT NULL,
    text TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, told_ms, cause)
);
