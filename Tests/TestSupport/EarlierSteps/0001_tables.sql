-- The tables of a mirror. One text for PostgreSQL and SQLite.
-- Times are milliseconds since 1970 in UTC. Ids are the network's own, worldwide ones.
-- Statements end with a semicolon at the end of a line; a shipped file is never edited.

-- The pair of accounts behind a mirror's name.
CREATE TABLE mirrors (
    mirror TEXT NOT NULL,
    human_account TEXT,
    bot_account TEXT,
    human_handle TEXT,
    bot_handle TEXT,
    time_zone TEXT,
    activated_ms BIGINT,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror)
);

-- The human's own open posts. minute, local_day and weekday are in the mirror's time zone.
CREATE TABLE posts (
    mirror TEXT NOT NULL,
    network TEXT NOT NULL,
    post_id TEXT NOT NULL,
    author TEXT,
    address TEXT,
    text TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    minute BIGINT NOT NULL,
    local_day TEXT NOT NULL,
    weekday BIGINT NOT NULL,
    is_reply BOOLEAN NOT NULL,
    reply_to_author TEXT,
    reply_to_post TEXT,
    visibility TEXT NOT NULL,
    language TEXT,
    has_media BOOLEAN NOT NULL,
    has_link BOOLEAN NOT NULL,
    mentions TEXT NOT NULL,
    sensitive BOOLEAN NOT NULL,
    time_trusted BOOLEAN NOT NULL,
    source TEXT NOT NULL,
    observed_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, network, post_id)
);
CREATE INDEX posts_by_time ON posts (mirror, created_ms, post_id);
CREATE INDEX posts_by_answered ON posts (mirror, reply_to_author, created_ms);

-- People met, and what they or the operator said about being answered.
CREATE TABLE people (
    mirror TEXT NOT NULL,
    network TEXT NOT NULL,
    account_id TEXT NOT NULL,
    handle TEXT,
    stance TEXT,
    reason TEXT,
    stance_ms BIGINT,
    linked_to TEXT,
    last_contact_ms BIGINT,
    PRIMARY KEY (mirror, network, account_id)
);
CREATE INDEX people_by_link ON people (mirror, linked_to);

-- Labelled posts: the ground truth of the classifier.
CREATE TABLE examples (
    mirror TEXT NOT NULL,
    network TEXT NOT NULL,
    post_id TEXT NOT NULL,
    author TEXT,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    decided_ms BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    PRIMARY KEY (mirror, network, post_id)
);
CREATE INDEX examples_by_sequence ON examples (mirror, sequence);
CREATE INDEX examples_by_decision ON examples (mirror, decided_ms, network, post_id);

CREATE TABLE feature_counts (
    mirror TEXT NOT NULL,
    feature TEXT NOT NULL,
    category TEXT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (mirror, feature, category)
);

-- Named numbers, such as the sequence of the last batch of examples.
CREATE TABLE counters (
    mirror TEXT NOT NULL,
    name TEXT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (mirror, name)
);

-- One plan a local day; the first writer wins.
CREATE TABLE plans (
    mirror TEXT NOT NULL,
    local_day TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    seed TEXT NOT NULL,
    slots BIGINT NOT NULL,
    made_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, local_day)
);

-- Everything the bot does or decides not to do. The unique subject is what makes twice impossible.
CREATE TABLE actions (
    mirror TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    state TEXT NOT NULL,
    due_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    pinned BOOLEAN NOT NULL,
    source_network TEXT,
    source_post_id TEXT,
    target_network TEXT,
    target_post_id TEXT,
    target_author TEXT,
    target_address TEXT,
    thread TEXT,
    visibility TEXT,
    language TEXT,
    text TEXT,
    key TEXT,
    sending_ms BIGINT,
    remote_id TEXT,
    remote_address TEXT,
    attempts BIGINT NOT NULL,
    next_attempt_ms BIGINT,
    fence BIGINT,
    reason TEXT,
    explanation TEXT,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, id),
    UNIQUE (mirror, kind, subject)
);
CREATE INDEX actions_by_due ON actions (mirror, state, due_ms);
CREATE INDEX actions_by_update ON actions (mirror, updated_ms);

-- Which process acts for a mirror.
CREATE TABLE leases (
    mirror TEXT NOT NULL,
    owner TEXT,
    beat BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    released BOOLEAN NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror)
);

-- How far each feed was read.
CREATE TABLE cursors (
    mirror TEXT NOT NULL,
    feed TEXT NOT NULL,
    value TEXT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, feed)
);

-- Session tokens, sealed with the operator's secret key.
CREATE TABLE credentials (
    mirror TEXT NOT NULL,
    role TEXT NOT NULL,
    sealed TEXT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, role)
);
