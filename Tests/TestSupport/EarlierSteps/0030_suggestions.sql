-- What an action is about, for the person who decides about it and for the lists that name people.

-- What a post says that is to be answered or favorited, until a person has decided about that.
ALTER TABLE actions ADD COLUMN target_text TEXT;
-- The handle that its author had; null on networks whose identities are names.
ALTER TABLE actions ADD COLUMN target_name TEXT;
