-- What a person changes of what a mirror does.

-- Since when, until when (null: until somebody resumes it) and why the mirror pauses; null while it does not.
ALTER TABLE mirrors ADD COLUMN paused_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN paused_until_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN pause_reason TEXT;

-- Settings of one mirror, which win over the process's; never a secret.
CREATE TABLE settings (
    mirror TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, name)
);

-- Texts that are never sent, by what texts that read the same have in common, with a post that has one.
CREATE TABLE never_texts (
    mirror TEXT NOT NULL,
    text_key TEXT NOT NULL,
    network TEXT NOT NULL,
    post_id TEXT NOT NULL,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, text_key)
);
