-- What a reply says in a line of its own below the human's words: to a person's first one, that a bot repeats them.
ALTER TABLE actions ADD COLUMN note TEXT;
