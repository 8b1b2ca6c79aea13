-- How well the replies were chosen the last time that it was measured, as JSON; null if it never was. Beside it `classifier`
-- may be `{}`: nothing was measured of the classifier then.
ALTER TABLE measures ADD COLUMN replies TEXT;
