-- One row a worker process, with its beat, however many mirrors it holds. Its times are for display only.
CREATE TABLE workers (
    worker TEXT NOT NULL,
    beat BIGINT NOT NULL,
    version TEXT NOT NULL,
    -- Whether it shares the mirrors of the database fairly with other workers, as run --all does.
    shares BOOLEAN NOT NULL,
    mirrors BIGINT NOT NULL,
    -- By how many milliseconds a pass began late, at most, within the last minute.
    late_ms BIGINT NOT NULL DEFAULT 0,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (worker)
);

-- A lease no longer has a beat of its own. A process of an earlier version that still runs names columns that are gone:
-- it can neither beat, nor take a lease, nor change an action, and its leases are taken over as those of a silent worker.
ALTER TABLE leases RENAME COLUMN owner TO worker;
ALTER TABLE leases DROP COLUMN beat;
-- The version of the program that held it last.
ALTER TABLE leases ADD COLUMN version TEXT;
CREATE INDEX leases_by_worker ON leases (worker);
