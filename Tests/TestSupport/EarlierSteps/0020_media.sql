-- The human's own pictures, as far as they go along with their posts.

-- What is attached to a post, if that is nothing but pictures, as JSON: where each is and what it shows in words; what
-- goes along with an action's text; and what of that is at the network already, for a post that is not out yet.
ALTER TABLE posts ADD COLUMN pictures TEXT;
ALTER TABLE actions ADD COLUMN pictures TEXT;
ALTER TABLE actions ADD COLUMN uploads TEXT;

-- The files of pictures that came with a downloaded archive, in pieces of base64; they leave with their posts.
CREATE TABLE pictures (
    mirror TEXT NOT NULL,
    network TEXT NOT NULL,
    post_id TEXT NOT NULL,
    -- Which of the post's pictures, and which piece of it, each from 0.
    place BIGINT NOT NULL,
    piece BIGINT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (mirror, network, post_id, place, piece)
);
