-- What a person's decisions say of the human's texts, one row a post; texts are judged by what is learned from them.
-- label is 'never', 'kept', 'skipped', 'posted', 'declined', 'taken-back' or 'deleted'. Of a post that the human deleted,
-- post_id is a digest and features has digests of what its text was made of; else features is null, and the text is that
-- of the post while the archive has it.
CREATE TABLE text_labels (
    mirror TEXT NOT NULL,
    network TEXT NOT NULL,
    post_id TEXT NOT NULL,
    label TEXT NOT NULL,
    features TEXT,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, network, post_id)
);
