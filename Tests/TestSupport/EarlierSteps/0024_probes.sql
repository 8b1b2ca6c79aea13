-- What the bot's server was found to do with a post, by doctor --probe or by the bot's own first post.
CREATE TABLE probes (
    mirror TEXT NOT NULL,
    -- The bot's account: another one may be on another server.
    account TEXT NOT NULL,
    promise TEXT NOT NULL,
    -- 1 if the promise was kept, 0 if not; null if the server does not let it be seen.
    kept BIGINT,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, account, promise)
);

-- When the latest request of an edit left. The action itself left earlier, and only that counts for the rule of late posts.
ALTER TABLE actions ADD COLUMN edit_ms BIGINT;
