-- When the bot's profile was written, or a person chose to leave it as it is; null while the setup still asks for that.
ALTER TABLE mirrors ADD COLUMN profile_ms BIGINT;
