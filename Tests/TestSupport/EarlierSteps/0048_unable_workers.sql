-- Since when, how far and why a worker cannot do the work of the mirrors that it holds; null for one that can. A worker that
-- can do less than another one has no share in the mirrors.
ALTER TABLE workers ADD COLUMN unable_ms BIGINT;
ALTER TABLE workers ADD COLUMN unable_extent TEXT;
ALTER TABLE workers ADD COLUMN unable_reason TEXT;
