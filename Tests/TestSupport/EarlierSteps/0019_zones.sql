-- Where the human's clock was, and by which rules a day was drawn.

-- Days, both included, on which the human lived by the clock of another zone than the mirror's; 0001-01-01 and 9999-12-31
-- for a time without a beginning or an end. They do not overlap.
CREATE TABLE zones (
    mirror TEXT NOT NULL,
    first_day TEXT NOT NULL,
    last_day TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, first_day)
);

-- How many minutes the author's clock was ahead of UTC, where the post itself tells; null where it does not.
ALTER TABLE posts ADD COLUMN utc_offset BIGINT;

-- The version of the model that drew the plan; together with the seed it tells which one that was.
ALTER TABLE plans ADD COLUMN model BIGINT NOT NULL DEFAULT 1;
