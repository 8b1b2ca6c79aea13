-- What calls have cost, by purpose, in a month (2026-11) or on a day (2026-11-21) in UTC.
CREATE TABLE spending (
    mirror TEXT NOT NULL,
    period TEXT NOT NULL,
    purpose TEXT NOT NULL,
    microdollars BIGINT NOT NULL,
    PRIMARY KEY (mirror, period, purpose)
);
INSERT INTO spending (mirror, period, purpose, microdollars)
    SELECT mirror, SUBSTR(name, 12, 10), SUBSTR(name, 23), value FROM counters WHERE name LIKE 'x-spent-on-%/%';
INSERT INTO spending (mirror, period, purpose, microdollars)
    SELECT mirror, SUBSTR(name, 9, 7), SUBSTR(name, 17), value FROM counters
    WHERE name LIKE 'x-spent-%/%' AND name NOT LIKE 'x-spent-on-%';
DELETE FROM counters WHERE name LIKE 'x-spent-%';
