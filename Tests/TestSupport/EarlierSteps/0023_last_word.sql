-- What has left, or may be leaving at this moment, so that who forbids it can wait for its end; and what must be known before
-- anything is sent.

-- When the latest request of an action was recorded as leaving, on the clock of the worker that makes it.
ALTER TABLE actions ADD COLUMN departed_ms BIGINT;
-- How long that request may take; null while none is under way.
ALTER TABLE actions ADD COLUMN flight_ms BIGINT;
-- What has not ended, or is of a kind that this version does not know: few rows, among which those are that it cannot read.
CREATE INDEX actions_not_ended ON actions (mirror, id)
    WHERE state NOT IN ('done', 'skipped', 'expired', 'failed', 'undone') OR kind NOT IN ('post', 'reply', 'favorite');
CREATE INDEX actions_in_flight ON actions (mirror) WHERE flight_ms IS NOT NULL;
-- Raised by whatever a person says of what may be sent: what was prepared before that is prepared anew.
ALTER TABLE mirrors ADD COLUMN version BIGINT NOT NULL DEFAULT 0;

-- How much of the human's past is known: 'some' where money or the network ended the reading, 'whole' where it came to its end
-- or an archive was imported; null before that. Mirrors that have worked until now go on.
ALTER TABLE mirrors ADD COLUMN past TEXT;
UPDATE mirrors SET past = 'whole' WHERE EXISTS (SELECT 1 FROM posts WHERE posts.mirror = mirrors.mirror);

-- What the human's network denies, which is asked for once more.
CREATE INDEX posts_denied ON posts (mirror, network, denied_ms) WHERE denied_ms IS NOT NULL;
