-- Which of the human's posts quote or share somebody else's. Those known until now are told when they are read again.

ALTER TABLE posts ADD COLUMN is_quote BOOLEAN NOT NULL DEFAULT FALSE;
