-- Changes at the bot's network that are no actions: what doctor --probe publishes, and changes of the bot's profile. A row is
-- committed before the first request, and deleted when nothing of the change is left to be taken back or to be finished.
CREATE TABLE effects (
    mirror TEXT NOT NULL,
    id TEXT NOT NULL,
    -- probe or profile.
    kind TEXT NOT NULL,
    -- The bot's account: what it did is out of reach for another one.
    account TEXT NOT NULL,
    -- Of a probe, words that only its posts hold; of a profile, a digest of what it said and of what it is to say.
    mark TEXT NOT NULL,
    -- What the network calls the probe's post and the answer to it; null as long as it did not tell.
    post_address TEXT,
    answer_address TEXT,
    -- By the network's clock.
    begun_ms BIGINT NOT NULL,
    -- When the latest request left whose outcome is unknown; null if there is none.
    sent_ms BIGINT,
    -- When a worker takes it up; null if it is not tried again.
    next_ms BIGINT,
    attempts BIGINT NOT NULL,
    error TEXT,
    -- Who works on it: each one that takes it up is another, and changes of the one before are refused.
    holder TEXT NOT NULL,
    PRIMARY KEY (mirror, id)
);
