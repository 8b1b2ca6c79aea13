-- Proofs of accounts, asked for on the public page: the account that a visitor typed and the words that it has to say to
-- the bot. Of the visitor and the words only digests are stored.
CREATE TABLE proofs (
    mirror TEXT NOT NULL,
    nonce TEXT NOT NULL,
    visitor TEXT NOT NULL,
    network TEXT NOT NULL,
    name TEXT NOT NULL,
    words TEXT NOT NULL,
    asked_ms BIGINT NOT NULL,
    account_id TEXT,
    proven_ms BIGINT,
    PRIMARY KEY (mirror, nonce)
);
