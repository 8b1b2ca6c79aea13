-- Threads of the human's own: a post, and their answers to themselves that follow within minutes.

-- What answers a post.
CREATE INDEX posts_by_parent ON posts (mirror, network, reply_to_post) WHERE reply_to_post IS NOT NULL;

-- What is still to be said after an action's text, as JSON; null once the next part has an action of its own.
ALTER TABLE actions ADD COLUMN rest TEXT;
-- The bot's own post that an action goes on from: what it is called everywhere, and at the bot's server.
ALTER TABLE actions ADD COLUMN parent_id TEXT;
ALTER TABLE actions ADD COLUMN parent_address TEXT;
CREATE INDEX actions_by_rest ON actions (mirror, state) WHERE rest IS NOT NULL;
