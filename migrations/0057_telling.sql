-- One-time addresses of notices that were used: a digest of each, until it would have ended anyway.
CREATE TABLE used_addresses (
    mirror TEXT NOT NULL,
    address TEXT NOT NULL,
    ends_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, address)
);

-- Browsers that get the notices of a mirror. How each is reached is sealed with the operator's key.
CREATE TABLE push_devices (
    mirror TEXT NOT NULL,
    device TEXT NOT NULL,
    name TEXT NOT NULL,
    sealed TEXT NOT NULL,
    added_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, device)
);
