-- How good the classifier was the last time that it was measured, as JSON: measuring takes seconds.
CREATE TABLE measures (
    mirror TEXT NOT NULL,
    classifier TEXT NOT NULL,
    measured_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror)
);
