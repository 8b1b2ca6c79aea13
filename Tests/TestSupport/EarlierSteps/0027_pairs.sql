-- How far pairs of neighbouring words are believed; no value where pairs are no features.
ALTER TABLE weights ADD COLUMN pairs_for DOUBLE PRECISION;
ALTER TABLE weights ADD COLUMN pairs_against DOUBLE PRECISION;
