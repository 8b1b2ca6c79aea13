-- The words of links whose addresses stand in parentheses behind them in the text, one a line; NULL for none. Those of
-- posts that are known already are told when they are read again.

ALTER TABLE posts ADD COLUMN link_words TEXT;
