-- Stored errors keep their code, so that nobody has to look for words in a sentence. Errors of earlier versions have none,
-- but for a lack of money, which was told by such a word.
ALTER TABLE feeds ADD COLUMN error_code TEXT;
UPDATE feeds SET error_code = 'over-budget' WHERE error LIKE '%X_BUDGET_USD_PER_MONTH%';
ALTER TABLE refusals ADD COLUMN code TEXT;

-- Why the mirror pauses by itself; null for a person's pause.
ALTER TABLE mirrors ADD COLUMN pause_code TEXT;

-- When a pass of run --once last ended, and how long after the one before it; null while a worker that goes on holds the
-- mirror.
ALTER TABLE leases ADD COLUMN pass_ms BIGINT;
ALTER TABLE leases ADD COLUMN pass_interval_ms BIGINT;

-- What doctor found the last time, in its order: asking anew costs money on X.
CREATE TABLE findings (
    mirror TEXT NOT NULL,
    position BIGINT NOT NULL,
    subject TEXT NOT NULL,
    verdict TEXT NOT NULL,
    text TEXT NOT NULL,
    fix TEXT,
    cause TEXT,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, position)
);
