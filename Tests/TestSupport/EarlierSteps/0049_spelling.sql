-- How far runs of letters and the form of a text are believed; no value where they are no features.
ALTER TABLE weights ADD COLUMN spelling_for DOUBLE PRECISION;
ALTER TABLE weights ADD COLUMN spelling_against DOUBLE PRECISION;
ALTER TABLE weights ADD COLUMN form_for DOUBLE PRECISION;
ALTER TABLE weights ADD COLUMN form_against DOUBLE PRECISION;
