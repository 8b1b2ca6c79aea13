-- What the bot's server was last seen to say that concerns a bot, one row a sentence; read weekly. The row with an empty
-- digest tells when that was, and has no text.
CREATE TABLE server_rules (
    mirror TEXT NOT NULL,
    -- The bot's account: another one may be on another server.
    account TEXT NOT NULL,
    digest TEXT NOT NULL,
    position BIGINT NOT NULL,
    text TEXT NOT NULL,
    -- When it was first and last read.
    since_ms BIGINT NOT NULL,
    read_ms BIGINT NOT NULL,
    -- When a person was shown it; null: never.
    shown_ms BIGINT,
    -- Since when the server does not say it any more; the row goes once a person was shown that.
    gone_ms BIGINT,
    PRIMARY KEY (mirror, account, digest)
);
