-- A mirror that goes to another database, and what is left of it here.

-- The same in both databases, and nowhere else: what ties the two copies to each other.
ALTER TABLE mirrors ADD COLUMN move_id TEXT;
-- 'arriving' while it is not all here yet, 'left' once it lives elsewhere; null while it lives here.
ALTER TABLE mirrors ADD COLUMN move_state TEXT;
-- Where it comes from or went, and when that was noted.
ALTER TABLE mirrors ADD COLUMN move_place TEXT;
ALTER TABLE mirrors ADD COLUMN move_ms BIGINT;
