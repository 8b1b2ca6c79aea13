-- Which credentials were verified last is about an account, not a position in a feed.
ALTER TABLE mirrors ADD COLUMN human_verified TEXT;
ALTER TABLE mirrors ADD COLUMN bot_verified TEXT;
UPDATE mirrors SET
    human_verified = (SELECT value FROM cursors c WHERE c.mirror = mirrors.mirror AND c.feed = 'verified-human'),
    bot_verified = (SELECT value FROM cursors c WHERE c.mirror = mirrors.mirror AND c.feed = 'verified-bot');
DELETE FROM cursors WHERE feed IN ('verified-human', 'verified-bot');
