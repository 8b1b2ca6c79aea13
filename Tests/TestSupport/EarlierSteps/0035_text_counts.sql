-- How many texts each minute has, by how fit they are, is counted once a plan: an index alone answers, in the order in which
-- it is grouped. Ids are not in it; of the texts of one minute they are read from the rows.
DROP INDEX posts_by_minute;
CREATE INDEX posts_by_minute ON posts (mirror, minute, grade, fit_when, length, created_ms)
    WHERE text_key IS NOT NULL AND unfit IS NULL AND time_trusted = TRUE;
