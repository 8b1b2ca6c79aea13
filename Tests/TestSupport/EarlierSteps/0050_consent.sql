-- Who agreed that the human is mirrored, when, and in the operator's words where those say it: login, words, self, agreed,
-- heirs, or earlier. Null: nobody agreed, and nothing leaves. stopped_ms: when the human said that the mirror is to stop.
ALTER TABLE mirrors ADD COLUMN consent TEXT;
ALTER TABLE mirrors ADD COLUMN consent_ms BIGINT;
ALTER TABLE mirrors ADD COLUMN consent_words TEXT;
ALTER TABLE mirrors ADD COLUMN stopped_ms BIGINT;
-- Mirrors that have worked, or were given their bot, before anybody was asked go on.
UPDATE mirrors SET consent = 'earlier', consent_ms = COALESCE(activated_ms, created_ms)
WHERE activated_ms IS NOT NULL OR bot_account IS NOT NULL OR EXISTS (
    SELECT 1 FROM actions WHERE actions.mirror = mirrors.mirror AND sending_ms IS NOT NULL);
-- Whether the words were asked for to agree to the mirror, and not only to be shown what is stored.
ALTER TABLE proofs ADD COLUMN agrees BOOLEAN NOT NULL DEFAULT FALSE;
