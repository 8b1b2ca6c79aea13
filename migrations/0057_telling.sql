-- One-time addresses of notices that were used: a digest of each, until it would have ended anyway.
CREATE TABLE used_addresses (
    mirror TEXT NOT NULL,
    address TEXT NOT NULL,
    ends_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, address)
);
