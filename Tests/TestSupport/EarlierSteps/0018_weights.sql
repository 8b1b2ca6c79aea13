-- How far the classifier believes each kind of evidence, one row a mirror; without it each counts once.
CREATE TABLE weights (
    mirror TEXT NOT NULL,
    -- How they were fitted; weights of a method that the program does not know are not used.
    version BIGINT NOT NULL,
    -- Which words were features then.
    features TEXT NOT NULL,
    -- The last batch of examples that they were fitted on.
    sequence BIGINT NOT NULL,
    words_for DOUBLE PRECISION NOT NULL,
    words_against DOUBLE PRECISION NOT NULL,
    author DOUBLE PRECISION NOT NULL,
    base DOUBLE PRECISION NOT NULL,
    -- How many examples that were, and how many of them were favorites.
    examples BIGINT NOT NULL,
    favorites BIGINT NOT NULL,
    -- How badly each of them was told by the others, without the weights and with them: mean log losses.
    plain_loss DOUBLE PRECISION NOT NULL,
    weighted_loss DOUBLE PRECISION NOT NULL,
    fitted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror)
);
