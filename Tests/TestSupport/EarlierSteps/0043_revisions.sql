-- The number of changes of an action that a worker or a person must not overlook: each change names the one that it read.
ALTER TABLE actions ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
