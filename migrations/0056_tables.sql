-- The tables of a mirror. One text for PostgreSQL and SQLite.
-- Times are milliseconds since 1970 in UTC. Ids are the network's own, worldwide ones.
-- Statements end with a semicolon at the end of a line; a shipped file is never edited.
-- The steps of earlier programs are joined here; Tests/TestSupport/EarlierSteps has them, and a test compares.

-- The pair of accounts behind a mirror's name.
CREATE TABLE mirrors (
    mirror TEXT NOT NULL,
    human_account TEXT,
    bot_account TEXT,
    human_handle TEXT,
    bot_handle TEXT,
    time_zone TEXT,
    activated_ms BIGINT,
    created_ms BIGINT NOT NULL,
    -- Fingerprints of the credentials that were verified last.
    human_verified TEXT,
    bot_verified TEXT,
    -- The zone that a downloaded archive names, for the person who is asked for TIME_ZONE.
    archive_time_zone TEXT,
    -- The id that links the two copies of a move: the same in both databases, and nowhere else.
    move_id TEXT,
    -- 'arriving' while it is not all here yet, 'left' once it lives elsewhere; null while it lives here.
    move_state TEXT,
    -- Where it comes from or went, and when that was noted.
    move_place TEXT,
    move_ms BIGINT,
    -- Since when, until when (null: until a person resumes it) and why the mirror pauses; null while it does not.
    paused_ms BIGINT,
    paused_until_ms BIGINT,
    pause_reason TEXT,
    -- Raised by each decision of a person about what may be sent: what was prepared before is prepared anew.
    version BIGINT NOT NULL DEFAULT 0,
    -- How much of the human's past is known: 'some' if money or the network ended the reading, 'whole' if it came to
    -- its end or an archive was imported; null before that.
    past TEXT,
    -- Why the mirror pauses by itself; null for a person's pause.
    pause_code TEXT,
    -- Where the mirror's time zone comes from if no person named it: the archive names it, or it is guessed from the
    -- hours in which the human never posts. Null for a zone that a person set.
    time_zone_source TEXT,
    -- When the bot's profile was written, or a person chose to leave it as it is; null while the setup still asks for
    -- that.
    profile_ms BIGINT,
    -- Who agreed that the human is mirrored, when, and in the operator's words where those say it: login, words, self,
    -- agreed, heirs, or earlier. Null: nobody agreed, and nothing leaves. stopped_ms: when the human said that the
    -- mirror is to stop.
    consent TEXT,
    consent_ms BIGINT,
    consent_words TEXT,
    stopped_ms BIGINT,
    -- That a mirror ends: when, when it was asked for, its last words (a text, or the archived post "network:id"), and
    -- whether everything else is taken back. Null retire_ms: it goes on.
    retire_ms BIGINT,
    retire_asked_ms BIGINT,
    retire_text TEXT,
    retire_source TEXT,
    retire_undo BOOLEAN NOT NULL DEFAULT FALSE,
    -- How far that has come, in this order: begun, with the action of the last post; the profile settled, or why it was
    -- not; the wishes to take everything back noted; over, the logins removed.
    retire_begun_ms BIGINT,
    retire_post TEXT,
    retire_profile_ms BIGINT,
    retire_profile_note TEXT,
    retire_undo_ms BIGINT,
    retired_ms BIGINT,
    -- The state in which the network last named the human's account: memorial, suspended, moved, deactivated or
    -- deleted, with the new address of one that has moved. Null: the usual one. Else since when; when it was named
    -- again, a day later or more; when a person was asked about the copies of a deleted account; and when a person said
    -- that the mirror goes on.
    standing TEXT,
    standing_to TEXT,
    standing_ms BIGINT,
    standing_again_ms BIGINT,
    standing_asked_ms BIGINT,
    standing_goes_on_ms BIGINT,
    -- When the network was last asked.
    standing_look_ms BIGINT,
    PRIMARY KEY (mirror)
);

-- The human's own open posts. minute and local_day are in the mirror's time zone.
CREATE TABLE posts (
    mirror TEXT NOT NULL,
    network TEXT NOT NULL,
    post_id TEXT NOT NULL,
    author TEXT,
    address TEXT,
    text TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    minute BIGINT NOT NULL,
    local_day TEXT NOT NULL,
    is_reply BOOLEAN NOT NULL,
    reply_to_author TEXT,
    reply_to_post TEXT,
    visibility TEXT NOT NULL,
    language TEXT,
    has_media BOOLEAN NOT NULL,
    mentions TEXT NOT NULL,
    sensitive BOOLEAN NOT NULL,
    time_trusted BOOLEAN NOT NULL,
    -- What was found out of the text that would be sent: a key that texts which read the same share, why it may not be
    -- sent (or null), its length, and the rules that judged it (empty for none yet).
    text_key TEXT,
    unfit TEXT,
    length BIGINT,
    rules TEXT NOT NULL DEFAULT '',
    -- When the post was last planned or sent; changed together with the action.
    last_used_ms BIGINT,
    -- The author's content warning, or the labels of Bluesky with spaces between.
    warning TEXT,
    -- How often the text was planned or sent: in all, and by actions that were thrown away since.
    uses BIGINT NOT NULL DEFAULT 0,
    past_uses BIGINT NOT NULL DEFAULT 0,
    -- When the human's network first said that the post is gone; null while it shows it.
    denied_ms BIGINT,
    -- The program that wrote a post, as an archive of X names it.
    client TEXT,
    -- How fit the text is: 0 it stands for itself, 1 it names a day, 2 it speaks to somebody, 3 it cannot be understood
    -- alone, or hurts.
    grade BIGINT NOT NULL DEFAULT 0,
    -- When it is fit, as 'days 12-31..01-03; times 20:00..03:59'; empty for always.
    fit_when TEXT NOT NULL DEFAULT '',
    -- The first rule against the text, always or outside those days and hours; null for none.
    fit_reason TEXT,
    -- How many minutes the author's clock was ahead of UTC, where the post itself tells; null where it does not.
    utc_offset BIGINT,
    -- The attachments of a post with nothing but pictures, as JSON: where each is and what it shows in words.
    pictures TEXT,
    -- Whether it quotes or shares another person's post.
    is_quote BOOLEAN NOT NULL DEFAULT FALSE,
    -- The words of links whose addresses stand in parentheses behind them in the text, one a line; null for none.
    link_words TEXT,
    PRIMARY KEY (mirror, network, post_id)
);
CREATE INDEX posts_by_answered ON posts (mirror, reply_to_author, created_ms);
CREATE INDEX posts_by_age ON posts (mirror, created_ms, post_id, network);
CREATE INDEX posts_by_text ON posts (mirror, text_key) WHERE text_key IS NOT NULL;
CREATE INDEX posts_by_use ON posts (mirror, last_used_ms) WHERE last_used_ms IS NOT NULL;
CREATE INDEX posts_by_rules ON posts (mirror, rules) WHERE is_reply = FALSE;
CREATE INDEX posts_by_day ON posts (mirror, local_day, minute) WHERE is_reply = FALSE AND time_trusted = TRUE;
CREATE INDEX posts_by_network_of_answer ON posts (mirror, network, reply_to_author)
    WHERE reply_to_author IS NOT NULL AND reply_to_author <> COALESCE(author, '');
CREATE INDEX posts_by_uses ON posts (mirror, text_key, uses) WHERE uses > 0;
CREATE INDEX posts_by_client ON posts (mirror, client) WHERE client IS NOT NULL;
CREATE INDEX posts_by_lost_time ON posts (mirror, created_ms)
    WHERE text_key IS NOT NULL AND unfit IS NULL AND time_trusted = FALSE;
-- What answers a post.
CREATE INDEX posts_by_parent ON posts (mirror, network, reply_to_post) WHERE reply_to_post IS NOT NULL;
-- What the human's network denies, which is asked for once more.
CREATE INDEX posts_denied ON posts (mirror, network, denied_ms) WHERE denied_ms IS NOT NULL;
CREATE INDEX posts_by_minute ON posts (mirror, minute, grade, fit_when, length, created_ms)
    WHERE text_key IS NOT NULL AND unfit IS NULL AND time_trusted = TRUE;
-- The newest replies to others, without sorting them all.
CREATE INDEX posts_by_reply_age ON posts (mirror, created_ms, post_id, network)
    WHERE is_reply = TRUE AND reply_to_author IS NOT NULL AND reply_to_author <> COALESCE(author, '');

-- People met, and what they or the operator said about being answered.
CREATE TABLE people (
    mirror TEXT NOT NULL,
    network TEXT NOT NULL,
    account_id TEXT NOT NULL,
    handle TEXT,
    stance TEXT,
    reason TEXT,
    stance_ms BIGINT,
    linked_to TEXT,
    last_contact_ms BIGINT,
    PRIMARY KEY (mirror, network, account_id)
);
CREATE INDEX people_by_link ON people (mirror, linked_to);
-- Those who are being forgotten, until all there is of them is gone.
CREATE INDEX people_by_reason ON people (mirror, reason) WHERE reason IS NOT NULL;

-- Labelled posts: the ground truth of the classifier.
CREATE TABLE examples (
    mirror TEXT NOT NULL,
    network TEXT NOT NULL,
    post_id TEXT NOT NULL,
    author TEXT,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    decided_ms BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    -- The author's lasting id; null if only the name is known, or nothing. The counts go by the name.
    author_id TEXT,
    PRIMARY KEY (mirror, network, post_id)
);
CREATE INDEX examples_by_sequence ON examples (mirror, sequence);
CREATE INDEX examples_by_decision ON examples (mirror, decided_ms, network, post_id);
CREATE INDEX examples_by_author ON examples (mirror, network, author, post_id);
CREATE INDEX examples_by_author_id ON examples (mirror, network, author_id, post_id) WHERE author_id IS NOT NULL;

-- How often a feature was favorited or seen.
CREATE TABLE feature_counts (
    mirror TEXT NOT NULL,
    feature TEXT NOT NULL,
    category TEXT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (mirror, feature, category)
);

-- Named numbers, such as the sequence of the last batch of examples.
CREATE TABLE counters (
    mirror TEXT NOT NULL,
    name TEXT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (mirror, name)
);

-- One plan a local day; the first writer wins.
CREATE TABLE plans (
    mirror TEXT NOT NULL,
    local_day TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    seed TEXT NOT NULL,
    slots BIGINT NOT NULL,
    made_ms BIGINT NOT NULL,
    -- The version of the model that drew the plan; together with the seed it tells which one that was.
    model BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (mirror, local_day)
);

-- Everything the bot does or decides not to do. The unique subject is what makes twice impossible.
CREATE TABLE actions (
    mirror TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    state TEXT NOT NULL,
    due_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    pinned BOOLEAN NOT NULL,
    source_network TEXT,
    source_post_id TEXT,
    target_network TEXT,
    target_post_id TEXT,
    target_author TEXT,
    target_address TEXT,
    thread TEXT,
    visibility TEXT,
    language TEXT,
    text TEXT,
    key TEXT,
    sending_ms BIGINT,
    remote_id TEXT,
    remote_address TEXT,
    attempts BIGINT NOT NULL,
    next_attempt_ms BIGINT,
    reason TEXT,
    explanation TEXT,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    -- The number of requests that may have acted since it was last certain that none did.
    sends BIGINT NOT NULL DEFAULT 0,
    -- Whom the text of an answer must not notify: ids on the network of target_author, with spaces between.
    bystanders TEXT,
    -- When the first request left, by the network's clock: its age does not depend on the worker's clock.
    server_sending_ms BIGINT,
    -- Why and since when it is to be taken back; null while it is not.
    undo_reason TEXT,
    undo_asked_ms BIGINT,
    -- How many requests were made for it; null for none.
    undo_attempts BIGINT,
    -- When the network is asked next, once it is certain that the action happened; null when it is not asked any more.
    undo_next_ms BIGINT,
    -- When that was written: later than now if a clock was set since.
    undo_noted_ms BIGINT,
    -- What the network answered last; of what another account of the bot did, rebound.
    undo_outcome TEXT,
    -- The content warning that goes along with the text.
    warning TEXT,
    -- When the original is looked at next; null for at once.
    follow_ms BIGINT,
    -- The latest change of the original that the copy has followed; null for none.
    original_edited_ms BIGINT,
    -- Why the mirror would take it back, if a person agrees; null where nobody is asked.
    undo_proposed TEXT,
    -- The pictures that go along with the text, as JSON; and those that the network has already, before the post is
    -- sent.
    pictures TEXT,
    uploads TEXT,
    -- What is still to be said after an action's text, as JSON; null once the next part has an action of its own.
    rest TEXT,
    -- The bot's own post that an action goes on from: what it is called everywhere, and at the bot's server.
    parent_id TEXT,
    parent_address TEXT,
    -- When the latest request of an action was recorded as leaving, on the clock of the worker that makes it.
    departed_ms BIGINT,
    -- How long that request may take; null while none is under way.
    flight_ms BIGINT,
    -- When the latest request of an edit left. The action itself left earlier, and only that counts for the rule of
    -- late posts.
    edit_ms BIGINT,
    -- What a post says that is to be answered or favorited, until a person has decided about that.
    target_text TEXT,
    -- The handle that its author had; null on networks whose identities are names.
    target_name TEXT,
    -- The number of changes of an action that a worker or a person must not overlook: each change names the one that it
    -- read.
    revision BIGINT NOT NULL DEFAULT 0,
    -- What a reply says in a line of its own below the human's words: to a person's first one, that a bot repeats them.
    note TEXT,
    PRIMARY KEY (mirror, id),
    UNIQUE (mirror, kind, subject)
);
CREATE INDEX actions_by_update ON actions (mirror, updated_ms);
-- Each of these has more columns that are compared for equality than the next best one: SQLite chooses by that alone.
CREATE INDEX actions_by_kind ON actions (mirror, kind, due_ms);
CREATE INDEX actions_by_state ON actions (mirror, state, kind, due_ms);
CREATE INDEX actions_by_day ON actions (mirror, kind, SUBSTR(subject, 1, 10));
CREATE INDEX actions_by_source ON actions (mirror, kind, source_network, source_post_id, due_ms);
CREATE INDEX actions_by_target ON actions (mirror, kind, target_network, target_author, due_ms);
-- A thread's name may be longer than an index takes.
CREATE INDEX actions_by_thread ON actions (mirror, kind, SUBSTR(thread, 1, 200), due_ms);
CREATE INDEX actions_by_address ON actions (mirror, kind, remote_address);
CREATE INDEX actions_by_sighting ON actions (mirror, next_attempt_ms)
    WHERE state = 'failed' AND next_attempt_ms IS NOT NULL;
CREATE INDEX actions_by_undo ON actions (mirror, undo_next_ms) WHERE undo_next_ms IS NOT NULL;
CREATE INDEX actions_by_following ON actions (mirror, source_network, follow_ms)
    WHERE state = 'done' AND source_post_id IS NOT NULL;
CREATE INDEX actions_by_proposal ON actions (mirror, undo_proposed) WHERE undo_proposed IS NOT NULL;
CREATE INDEX actions_by_rest ON actions (mirror, state) WHERE rest IS NOT NULL;
-- What has not ended, or is of a kind that this version does not know: few rows, among which those are that it cannot
-- read.
CREATE INDEX actions_not_ended ON actions (mirror, id)
    WHERE state NOT IN ('done', 'skipped', 'expired', 'failed', 'undone') OR kind NOT IN ('post', 'reply', 'favorite');
CREATE INDEX actions_in_flight ON actions (mirror) WHERE flight_ms IS NOT NULL;
-- What was to be taken back and could not be: every page and every watcher asks for its number.
CREATE INDEX actions_asked_back ON actions (mirror, state) WHERE undo_asked_ms IS NOT NULL;
-- What left within the last day, which each plan and each post asks for.
CREATE INDEX actions_departed ON actions (mirror, COALESCE(departed_ms, sending_ms)) WHERE kind = 'post';

-- Which process acts for a mirror.
CREATE TABLE leases (
    mirror TEXT NOT NULL,
    worker TEXT,
    fence BIGINT NOT NULL,
    released BOOLEAN NOT NULL,
    updated_ms BIGINT NOT NULL,
    -- When a pass of run --once last ended, and how long after the one before it; null while a worker that goes on
    -- holds the mirror.
    pass_ms BIGINT,
    pass_interval_ms BIGINT,
    -- The version of the program that held it last.
    version TEXT,
    PRIMARY KEY (mirror)
);
CREATE INDEX leases_by_worker ON leases (worker);

-- Session tokens, sealed with the operator's secret key.
CREATE TABLE credentials (
    mirror TEXT NOT NULL,
    role TEXT NOT NULL,
    sealed TEXT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, role)
);

-- How far each feed was read, and how well.
CREATE TABLE feeds (
    mirror TEXT NOT NULL,
    feed TEXT NOT NULL,
    -- When it was last read to its end.
    read_ms BIGINT,
    -- When the newest item was made, when it was last read to its end.
    newest_ms BIGINT,
    -- How many items arrived since then, where the network shows only the newest ones.
    arrived BIGINT NOT NULL DEFAULT 0,
    -- When everything a day back was last looked at again.
    swept_ms BIGINT,
    -- What goes wrong, and since when; null while nothing does.
    error TEXT,
    error_ms BIGINT,
    -- The error's code; null for one that an earlier version stored.
    error_code TEXT,
    -- Leads to what arrives next; null before the feed was ever read.
    position TEXT,
    -- The last one of the bot's published actions below which a sweep has looked for replies, by due_ms and id, and the
    -- due_ms up to which it is to look; null while it is not to.
    below_ms BIGINT,
    below_action TEXT,
    below_end_ms BIGINT,
    PRIMARY KEY (mirror, feed)
);

-- Items of a feed that have no row in actions: unreadable, waiting for another try, or given up.
CREATE TABLE feed_items (
    mirror TEXT NOT NULL,
    feed TEXT NOT NULL,
    -- What the server calls the item, else # and a digest of what it sent.
    item TEXT NOT NULL,
    state TEXT NOT NULL,
    digest TEXT,
    reason TEXT NOT NULL,
    -- The program that could not read it, or last tried to decide it.
    version TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    next_ms BIGINT,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, feed, item)
);

-- Stretches of a feed that could not be read any more.
CREATE TABLE feed_gaps (
    mirror TEXT NOT NULL,
    feed TEXT NOT NULL,
    from_ms BIGINT NOT NULL,
    to_ms BIGINT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (mirror, feed, to_ms)
);

-- A present fault of an account, such as refused credentials, or of a part of the work; no row without one.
CREATE TABLE refusals (
    mirror TEXT NOT NULL,
    role TEXT NOT NULL,
    error TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    noted_ms BIGINT NOT NULL,
    code TEXT,
    PRIMARY KEY (mirror, role)
);

-- The minutes of a day's own posts in ascending order, with spaces between: what a schedule is learned from. Kept only
-- while the counter archive.days is 1.
CREATE TABLE posting_days (
    mirror TEXT NOT NULL,
    local_day TEXT NOT NULL,
    minutes TEXT NOT NULL,
    PRIMARY KEY (mirror, local_day)
);

-- What calls have cost, by purpose, in a month (2026-11) or on a day (2026-11-21) in UTC.
CREATE TABLE spending (
    mirror TEXT NOT NULL,
    period TEXT NOT NULL,
    purpose TEXT NOT NULL,
    microdollars BIGINT NOT NULL,
    PRIMARY KEY (mirror, period, purpose)
);

-- Settings of one mirror, which win over the process's; never a secret.
CREATE TABLE settings (
    mirror TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, name)
);

-- Texts that are never sent, by what texts that read the same have in common, with a post that has one.
CREATE TABLE never_texts (
    mirror TEXT NOT NULL,
    text_key TEXT NOT NULL,
    network TEXT NOT NULL,
    post_id TEXT NOT NULL,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, text_key)
);

-- Posts that are never archived again, and people of whom nothing is kept, each by a digest of what networks call them;
-- kind is 'post' or 'person'.
CREATE TABLE forgotten (
    mirror TEXT NOT NULL,
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, kind, digest)
);

-- What keeps posts from being used: a 'word' as it was typed, a 'day' of every year as 12-24, or a 'span' of days as
-- 2019-03-01/2019-06-30.
CREATE TABLE muted (
    mirror TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, kind, value)
);

-- The causes of notices, one row each.
CREATE TABLE notices (
    mirror TEXT NOT NULL,
    cause TEXT NOT NULL,
    -- Since when it holds; null while it does not.
    since_ms BIGINT,
    -- When a person was last told that it holds.
    told_ms BIGINT,
    -- Since when it held, if a person was told so and has still to be told that it is over; else null.
    told_since_ms BIGINT,
    -- How many deliveries failed in a row, and when the next one may be tried.
    attempts BIGINT NOT NULL DEFAULT 0,
    next_ms BIGINT,
    PRIMARY KEY (mirror, cause)
);

-- How far the classifier believes each kind of evidence, one row a mirror; without it each counts once.
CREATE TABLE weights (
    mirror TEXT NOT NULL,
    -- How they were fitted; weights of a method that the program does not know are not used.
    version BIGINT NOT NULL,
    -- Which words were features then.
    features TEXT NOT NULL,
    -- The last batch of examples that they were fitted on.
    sequence BIGINT NOT NULL,
    words_for DOUBLE PRECISION NOT NULL,
    words_against DOUBLE PRECISION NOT NULL,
    author DOUBLE PRECISION NOT NULL,
    base DOUBLE PRECISION NOT NULL,
    -- How many examples that were, and how many of them were favorites.
    examples BIGINT NOT NULL,
    favorites BIGINT NOT NULL,
    -- How badly each of them was told by the others, without the weights and with them: mean log losses.
    plain_loss DOUBLE PRECISION NOT NULL,
    weighted_loss DOUBLE PRECISION NOT NULL,
    fitted_ms BIGINT NOT NULL,
    -- How far pairs of neighbouring words are believed; no value where pairs are no features.
    pairs_for DOUBLE PRECISION,
    pairs_against DOUBLE PRECISION,
    -- How far runs of letters and the form of a text are believed; no value where they are no features.
    spelling_for DOUBLE PRECISION,
    spelling_against DOUBLE PRECISION,
    form_for DOUBLE PRECISION,
    form_against DOUBLE PRECISION,
    PRIMARY KEY (mirror)
);

-- Days, both included, on which the human lived by the clock of another zone than the mirror's; 0001-01-01 and
-- 9999-12-31 for a time without a beginning or an end. They do not overlap.
CREATE TABLE zones (
    mirror TEXT NOT NULL,
    first_day TEXT NOT NULL,
    last_day TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, first_day)
);

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

-- What the bot's server was found to do with a post, by doctor --probe or by the bot's own first post.
CREATE TABLE probes (
    mirror TEXT NOT NULL,
    -- The bot's account: another one may be on another server.
    account TEXT NOT NULL,
    promise TEXT NOT NULL,
    -- 1 if the promise was kept, 0 if not; null if the server does not let it be seen.
    kept BIGINT,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, account, promise)
);

-- What doctor found the last time, in its order: asking anew costs money on X.
CREATE TABLE findings (
    mirror TEXT NOT NULL,
    position BIGINT NOT NULL,
    subject TEXT NOT NULL,
    verdict TEXT NOT NULL,
    text TEXT NOT NULL,
    fix TEXT,
    cause TEXT,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, position)
);

-- Parts of a feed that are to be read still, from a cursor into the past.
CREATE TABLE feed_stretches (
    mirror TEXT NOT NULL,
    feed TEXT NOT NULL,
    -- gap: between the present and what was read before an interruption. past: what a training has not read yet. sweep:
    -- what is to be looked at again.
    part TEXT NOT NULL,
    -- Where the next older page begins.
    cursor TEXT NOT NULL,
    -- How many items are wanted at most; null for all.
    remaining BIGINT,
    -- When everything older is known, or not wanted; null for the feed's end.
    floor_ms BIGINT,
    -- When the oldest item was made that was read above it; null if that is not known.
    top_ms BIGINT,
    -- Since when the server refuses its next page; null while it does not.
    refused_ms BIGINT,
    PRIMARY KEY (mirror, feed, part)
);

-- One row a worker process, with its beat, however many mirrors it holds. Its times are for display only.
CREATE TABLE workers (
    worker TEXT NOT NULL,
    beat BIGINT NOT NULL,
    version TEXT NOT NULL,
    -- Whether it shares the mirrors of the database fairly with other workers, as run --all does.
    shares BOOLEAN NOT NULL,
    mirrors BIGINT NOT NULL,
    -- By how many milliseconds a pass began late, at most, within the last minute.
    late_ms BIGINT NOT NULL DEFAULT 0,
    updated_ms BIGINT NOT NULL,
    -- Since when, how far and why a worker cannot do the work of the mirrors that it holds; null for one that can. A
    -- worker that can do less than another one has no share in the mirrors.
    unable_ms BIGINT,
    unable_extent TEXT,
    unable_reason TEXT,
    PRIMARY KEY (worker)
);

-- Notices that were delivered, the last ones of each mirror.
CREATE TABLE told (
    mirror TEXT NOT NULL,
    told_ms BIGINT NOT NULL,
    cause TEXT NOT NULL,
    state TEXT NOT NULL,
    text TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, told_ms, cause)
);

-- How good the classifier was the last time that it was measured, as JSON: measuring takes seconds.
CREATE TABLE measures (
    mirror TEXT NOT NULL,
    classifier TEXT NOT NULL,
    measured_ms BIGINT NOT NULL,
    -- How well the replies were chosen the last time that it was measured, as JSON; null if it never was. Beside it
    -- `classifier` may be `{}`: nothing was measured of the classifier then.
    replies TEXT,
    PRIMARY KEY (mirror)
);

-- Proofs of accounts, asked for on the public page: the account that a visitor typed and the words that it has to say
-- to the bot. Of the visitor and the words only digests are stored.
CREATE TABLE proofs (
    mirror TEXT NOT NULL,
    nonce TEXT NOT NULL,
    visitor TEXT NOT NULL,
    network TEXT NOT NULL,
    name TEXT NOT NULL,
    words TEXT NOT NULL,
    asked_ms BIGINT NOT NULL,
    account_id TEXT,
    proven_ms BIGINT,
    -- Whether the words were asked for to agree to the mirror, and not only to be shown what is stored.
    agrees BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (mirror, nonce)
);

-- Changes at the bot's network that are no actions: what doctor --probe publishes, and changes of the bot's profile. A
-- row is committed before the first request, and deleted when nothing of the change is left to be taken back or to be
-- finished.
CREATE TABLE effects (
    mirror TEXT NOT NULL,
    id TEXT NOT NULL,
    -- probe or profile.
    kind TEXT NOT NULL,
    -- The bot's account: what it did is out of reach for another one.
    account TEXT NOT NULL,
    -- Of a probe, words that only its posts hold; of a profile, a digest of what it said and of what it is to say.
    mark TEXT NOT NULL,
    -- What the network calls the probe's post and the answer to it; null as long as it did not tell.
    post_address TEXT,
    answer_address TEXT,
    -- By the network's clock.
    begun_ms BIGINT NOT NULL,
    -- When the latest request left whose outcome is unknown; null if there is none.
    sent_ms BIGINT,
    -- When a worker takes it up; null if it is not tried again.
    next_ms BIGINT,
    attempts BIGINT NOT NULL,
    error TEXT,
    -- Who works on it: each one that takes it up is another, and changes of the one before are refused.
    holder TEXT NOT NULL,
    PRIMARY KEY (mirror, id)
);

-- Sessions of the web page that were logged out: a digest of each, until it would have ended anyway. They belong to no
-- mirror.
CREATE TABLE ended_sessions (
    session TEXT NOT NULL PRIMARY KEY,
    ends_ms BIGINT NOT NULL
);

-- How long a network wants no calls of an account, and since when, so that the next process waits too.
CREATE TABLE waits (
    mirror TEXT NOT NULL,
    role TEXT NOT NULL,
    -- `everything`, or the name of an operation.
    scope TEXT NOT NULL,
    code TEXT NOT NULL,
    error TEXT NOT NULL,
    since_ms BIGINT NOT NULL,
    noted_ms BIGINT NOT NULL,
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, role, scope)
);

-- What a person's decisions say of the human's texts, one row a post; texts are judged by what is learned from them.
-- label is 'never', 'kept', 'skipped', 'posted', 'declined', 'taken-back' or 'deleted'. Of a post that the human
-- deleted, post_id is a digest and features has digests of what its text was made of; else features is null, and the
-- text is that of the post while the archive has it.
CREATE TABLE text_labels (
    mirror TEXT NOT NULL,
    network TEXT NOT NULL,
    post_id TEXT NOT NULL,
    label TEXT NOT NULL,
    features TEXT,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (mirror, network, post_id)
);

-- What the bot's server was last seen to say that concerns a bot, one row a sentence; read weekly. The row with an
-- empty digest tells when that was, and has no text.
CREATE TABLE server_rules (
    mirror TEXT NOT NULL,
    -- The bot's account: another one may be on another server.
    account TEXT NOT NULL,
    digest TEXT NOT NULL,
    position BIGINT NOT NULL,
    text TEXT NOT NULL,
    -- When it was first and last read.
    since_ms BIGINT NOT NULL,
    read_ms BIGINT NOT NULL,
    -- When a person was shown it; null: never.
    shown_ms BIGINT,
    -- Since when the server does not say it any more; the row goes once a person was shown that.
    gone_ms BIGINT,
    PRIMARY KEY (mirror, account, digest)
);
