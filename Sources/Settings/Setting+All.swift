import Networks
import Posts
import Storage
import X

extension Setting {
    /// Every setting, group by group, in the order in which `config` and the documentation list
    /// them.
    package static let all: [Setting] =
        [mirror, network, humanNetwork, botNetwork, timeZone, pollSeconds, passes]
        + account(.human) + [humanConsent, memorial, trustHumanServer, trustArchive] + account(.bot)
        + [operatorContact]
        + [home, databaseURL, databaseConnections, redisURL, redisTLSVerify, secretKey, dictionary]
        + [archiveLimit, historyDays]
        + [scheduleModel, bursts, quietHours, holdWhileActive, maxPerDay]
        + [
            fitness, noRepeatDays, maxUses, minAgeDays, maxAgeDays, links, contentWarnings, media,
            mediaWithoutAlt,
            threads, quotes, whoMayReply,
        ]
        + [
            replies, repliesPerPerson, repliesPerThread, review, followEdits, deleteOnFavorite,
            confirmStop,
            firstReplyNote,
        ]
        + [favoriteMode, favoritesPerDay, favoriteRateThreshold, features, weights, exampleLimit]
        + [acknowledgeXPolicy, xBudget, xHomePosts, xAppOwner, xFieldNames]
        + [notifyURL, notifyFormat, notifyCommand, heartbeatURL]
        + [logLevel, logFormat]
        + [webListen, webAddress, webPassword, webHosts, webUserHeader, webProxies, publicPage]

    /// The names of the few that people change often.
    static let often: Set<String> = Set(
        [
            maxPerDay, quietHours, holdWhileActive, fitness, noRepeatDays, review, favoriteMode,
            favoriteRateThreshold,
            favoritesPerDay, repliesPerPerson, timeZone,
        ].map(\.name))

    private static let switching = Form.choice(["on", "off"])
    private static let consent = Form.choice(["no", "yes"])
    private static let networks = Form.choice(NetworkName.known.map(\.rawValue))
    /// The effect of changing an account or its network.
    static let rebinding =
        "An account other than the mirror's is refused until `mirror-bot rebind`."
    /// The effect of naming another database.
    private static let moving =
        "Nothing is moved there; `mirror-bot move` takes a mirror to another database."

    // MARK: The mirror

    package static let mirror = Setting(
        "MIRROR", title: "Name of the mirror", .mirror,
        "name of this human and bot pair; one database holds many",
        scope: .identity,
        form: .text("1 to 40 of a–z, 0–9, `-`, `_`"), fallback: "default",
        effect: "Another name is another mirror, with accounts and data of its own.")
    package static let network: Setting = Setting(
        "NETWORK", title: "Network of both accounts", .mirror, "where both accounts live",
        scope: .identity, form: networks,
        fallback: NetworkName.usual.rawValue,
        usually: "told by the variables of the accounts, else `mastodon`", effect: rebinding,
        prompt: .optional, example: "mastodon",
        derived: { values, _ in values.impliedNetwork().map { ($0.rawValue, .implied) } })
    package static let humanNetwork = Setting(
        "HUMAN_NETWORK", title: "Network of the human", .mirror,
        "where the human lives, if not where the bot does",
        scope: .identity, form: networks,
        fallback: NetworkName.usual.rawValue,
        usually: "as `NETWORK`, unless the account's variables tell another", effect: rebinding,
        details:
            "also the network of imported JSON Lines, while [archives](archives.md) know theirs: mastodon-archive, "
            + "Pixelfed and Misskey count as Mastodon",
        prompt: .optional, derived: { values, _ in values.derivedNetwork(of: .human) })
    static let botNetwork = Setting(
        "BOT_NETWORK", title: "Network of the bot", .mirror,
        "where the bot lives, if not where the human does",
        scope: .identity, form: networks,
        fallback: NetworkName.usual.rawValue,
        usually: "as `NETWORK`, unless the account's variables tell another", effect: rebinding,
        prompt: .optional,
        derived: { values, _ in values.derivedNetwork(of: .bot) })
    package static let timeZone = Setting(
        "TIME_ZONE", title: "Time zone", .mirror,
        "zone of the human's clock, such as `Asia/Tokyo` or `Europe/Berlin`",
        form: .text("IANA name"),
        usually: "the archive's, else guessed from the hours in which the human posts",
        effect: "The times of the archived posts are computed anew in the new zone.",
        details: "`status` and `doctor` say when it was guessed; for who moved see "
            + "[`zones`](run.md#a-person-who-moved)",
        prompt: .optional, example: "Europe/Berlin")
    static let pollSeconds = Setting(
        "POLL_SECONDS", title: "Seconds between two looks", .mirror,
        "seconds between two looks at the mentions; the other feeds follow in proportion",
        form: .integer(10...3_600), fallback: "60")
    static let passes = Setting(
        "PASSES", title: "Passes at once, at most", .mirror,
        "passes that a process runs at once, for all its mirrors",
        scope: .process,
        form: .integer(1...1_000), fallback: "16",
        details:
            "a pass is one look at one feed, or at what is due; one that waits for a server for longer than a second "
            + "does not count")

    // MARK: Accounts

    /// The setting of the network of a role's account.
    static func network(of role: AccountRole) -> Setting {
        role == .human ? humanNetwork : botNetwork
    }

    /// The settings of one role's account.
    private static func account(_ role: AccountRole) -> [Setting] {
        AccountField.settable.map { $0.setting(of: role) } + [apiBaseURL(of: role)]
    }

    /// The setting of the address to which requests for a role go instead of the network's own.
    package static func apiBaseURL(of role: AccountRole) -> Setting {
        Setting(
            "\(role.prefix)_API_BASE_URL", title: "Where requests for the \(role.rawValue) go",
            .accounts,
            "where requests for the \(role.rawValue) go instead of the network's own address",
            scope: .identity,
            form: .text("`https://host`"))
    }

    package static let humanConsent = Setting(
        "HUMAN_CONSENT", title: "Consent of the human", .accounts,
        "your statement that the human agreed to be mirrored, where their account is not logged in: `self` (I am this "
            + "person), `agreed` (this person agreed in writing), `heirs` (this person has died and I act for the heirs); "
            + "without a statement or a login nothing is sent",
        form: .choice(HumanConsent.Ground.statements.map(\.rawValue)),
        effect: "`mirror-bot set` stores it with its time, and `unset` takes it back.",
        details:
            "in the environment it is said for every mirror of the process, and not heard after the human "
            + "[stopped the mirror](control.md#consent)",
        prompt: .optional)
    package static let memorial = Setting(
        "MEMORIAL", title: "Memorial of a person who has died", .accounts,
        "`yes`: the mirror is a memorial of a person who has died: posts alone, and replies or favorites only where "
            + "`REPLIES_PER_PERSON` or `FAVORITE_MODE` is set itself; the line of the bot's profile says so",
        form: consent, fallback: "no", effect: "`mirror-bot profile` writes the line.",
        details: "see [what that is, and what speaks against it](control.md#a-memorial)")
    static let trustHumanServer = Setting(
        "TRUST_HUMAN_SERVER", title: "Trust in the human's server", .accounts,
        "`yes`: read the human's posts from programs, too, that show posts for few as public",
        form: consent,
        fallback: "no",
        details:
            "WordPress does so with private posts, Takahe and the descendants of Misskey with those for their own "
            + "server, see [audience](audience.md#programs-that-do-not-tell)")
    package static let trustArchive = Setting(
        "TRUST_ARCHIVE", title: "Posts that nobody can be asked about", .accounts,
        "`yes`: publish texts, too, while nobody can be asked whether the human still shows their posts",
        form: consent, usually: "`no`",
        details:
            "as those of a [downloaded archive](archives.md#posts-that-nobody-can-be-asked-about) whose account "
            + "is gone or on another network, or while the human's server is away")
    package static let operatorContact = Setting(
        "OPERATOR_CONTACT", title: "Contact of the operator", .accounts,
        "told to servers with each request, so that their operators can write to you: a mail address, URL or handle",
        form: .text("mail address, URL or handle"), usually: "the bot's handle", prompt: .optional,
        example: "ops@example.org")

    // MARK: Where things are kept

    package static let home = Setting(
        "MIRROR_BOT_HOME", title: "Folder of the data", .storage,
        "folder of `mirror-bot.sqlite` and its key file",
        scope: .process,
        form: .text("folder"),
        usually: "`$XDG_DATA_HOME/mirror-bot`, else `~/.local/share/mirror-bot`", isPath: true,
        effect: moving)
    package static let databaseURL = Setting(
        "DATABASE_URL", title: "Postgres", .storage, "Postgres instead of that file",
        scope: .process,
        form: .text("`postgres://…`"),
        isSecret: true, effect: moving,
        details: "`sslmode` in it decides about TLS; [several hosts](deploy.md#postgres), as "
            + "`postgres://user:password@a:5432,b:5432/name`, and the one that takes changes is used"
    )
    static let databaseConnections = Setting(
        "DATABASE_CONNECTIONS", title: "Connections to Postgres, at most", .storage,
        "connections to Postgres that a process has open at most",
        scope: .process,
        form: .integer(2...100), fallback: "\(StorageLocation.usualConnections)",
        details:
            "opened when needed, and closed after five idle minutes; a dry run has one more of its own"
    )
    package static let redisURL = Setting(
        "REDIS_URL", title: "Redis", .storage,
        "Redis for the classifier's counts instead of the database",
        scope: .process,
        form: .text("`redis://…`, `rediss://…`"), isSecret: true,
        effect: "The counts are made anew from the posts in the database.",
        details:
            "[several hosts](deploy.md#redis), as `redis://:password@a:6379,b:6379`; a cluster is found out"
    )
    static let redisTLSVerify = Setting(
        "REDIS_TLS_VERIFY", title: "Check of the certificate of Redis", .storage,
        "how the certificate of `rediss://` is checked; `auto` is `full`, and on Heroku the key that was seen first",
        scope: .process, form: .text("`auto`, `full`, `none`, `pin:sha256//…`"), fallback: "auto")
    package static let secretKey = Setting(
        "SECRET_KEY", title: "Key of the stored logins", .storage,
        "seals the logins that are kept in the database", scope: .process,
        form: .text("64 hex digits, or 32 characters and more"),
        usually: "a key file beside the SQLite file",
        isSecret: true,
        effect: "Logins that were sealed with another key do not open; log in again.",
        details: "with `DATABASE_URL` it must be set before a login can be kept", prompt: .generated
    )
    package static let dictionary = Setting(
        "MECAB_DICTIONARY", title: "Dictionary for Japanese", .storage,
        "the dictionary for Japanese, or its folder", scope: .process,
        form: .text("`ipadic-utf8` or a folder"), fallback: "ipadic-utf8", isPath: true,
        details: "mirror-bot looks where Debian, Homebrew and Heroku put it")
    static let archiveLimit = Setting(
        "ARCHIVE_LIMIT", title: "Posts kept", .storage,
        "posts of the human that are kept; the oldest leave",
        form: .integer(100...10_000_000), fallback: "10000",
        effect: "Posts that left come back only by training again.")
    static let historyDays = Setting(
        "HISTORY_DAYS", title: "Days of history", .storage,
        "days that plans, ended actions and what could not be read are kept",
        form: .integer(30...3_650), fallback: "400",
        effect: "What is older than a smaller number is deleted for good.")

    // MARK: Schedule

    static let scheduleModel = Setting(
        "SCHEDULE_MODEL", title: "How times are drawn", .schedule,
        "`days` copies whole days of the human's, `kernel` and `raw` draw minutes one by one",
        form: .choice(["days", "kernel", "raw"]), fallback: "days", uptake: .nextDecision,
        effect: "The stored plan of today stays as it is.", details: "see below")
    static let bursts = Setting(
        "BURSTS", title: "Posts one after the other", .schedule,
        "posts may follow each other as the human's do; `off` draws every minute by itself, and copies no day",
        form: switching, fallback: "on", uptake: .nextDecision,
        effect: "The stored plan of today stays as it is.")
    package static let quietHours = Setting(
        "QUIET_HOURS", title: "Quiet hours", .schedule, "never post then",
        form: .text("spans, as `23:00-07:00,12:00-13:00`, or `none`"),
        fallback: "none",
        effect: "Posts that are planned in them already are not sent; pinned ones are.")
    package static let holdWhileActive = Setting(
        "HOLD_WHILE_ACTIVE", title: "Silence while the human posts", .schedule,
        "no post within that time of the human's own posting: it moves later within its day, or falls away",
        form: .text("up to 24 hours, as `2h` or `90m`, `none`"), fallback: "none",
        details: "see below")
    package static let maxPerDay = Setting(
        "MAX_PER_DAY", title: "Posts a day, at most", .schedule,
        "posts a day at most; with `0` the bot only answers and favorites",
        form: .integer(0...1_000), fallback: "50", uptake: .nextDecision,
        effect:
            "The stored plan of today stays as it is; but with `0` none of its posts is sent unless it is pinned."
    )

    // MARK: Texts

    package static let fitness = Setting(
        "FITNESS", title: "Which texts are posted", .texts,
        "which texts are posted by themselves: plain ones first, strictly, loosely, or whatever they say",
        form: .choice(FitnessMode.allCases.map(\.rawValue)), fallback: "plain",
        uptake: .nextDecision,
        effect: "Planned texts that even `loose` refuses get another text, unless it is `off`.",
        details: "see below")
    static let noRepeatDays = Setting(
        "NO_REPEAT_DAYS", title: "Days until a text may return", .texts,
        "days before a text may return", form: .integer(0...3_650),
        fallback: "180",
        uptake: .nextDecision)
    static let maxUses = Setting(
        "MAX_USES", title: "Times a text is posted, at most", .texts,
        "how often a text may be posted in all; those that were posted least come first",
        form: .integerOrNone(1...1_000), fallback: "none", uptake: .nextDecision,
        details: "see below")
    static let minAgeDays = Setting(
        "MIN_AGE_DAYS", title: "Age of a text in days, at least", .texts,
        "days before a post may be mirrored, unless nothing is older",
        form: .integer(0...3_650), fallback: "30", uptake: .nextDecision)
    static let maxAgeDays = Setting(
        "MAX_AGE_DAYS", title: "Age of a text in days, at most", .texts,
        "days after which a post is mirrored no more; old replies are used whatever their age",
        form: .integerOrNone(1...36_500), fallback: "none", uptake: .nextDecision)
    package static let links = Setting(
        "LINKS", title: "Texts with links", .texts,
        "mirror posts that hold links; `off` leaves them out, and old replies with links too",
        form: switching, fallback: "on", uptake: .nextDecision,
        details: "for a sentence seldom makes sense without its link",
        derived: { $0.ofBotNetwork($1) })
    static let contentWarnings = Setting(
        "CONTENT_WARNINGS", title: "Texts with content warnings", .texts,
        "`leave` leaves out posts with a content warning; `carry` sends them with it",
        form: .choice(["leave", "carry"]), fallback: "leave", uptake: .nextDecision,
        details: "see below")
    package static let media = Setting(
        "MEDIA", title: "Pictures", .texts,
        "`own` mirrors posts with the human's own pictures too, and the pictures along with them",
        form: .choice(["off", "own"]), fallback: "off", uptake: .nextDecision,
        effect: "With `off` planned posts with pictures get another text.", details: "see below")
    package static let mediaWithoutAlt = Setting(
        "MEDIA_WITHOUT_ALT", title: "Pictures without a description", .texts,
        "`no` leaves out posts of which a picture has no description for who cannot see it",
        form: consent,
        fallback: "no", uptake: .nextDecision,
        effect: "With `no` planned posts with such pictures get another text.")
    package static let threads = Setting(
        "THREADS", title: "Threads", .texts,
        "`whole` mirrors the human's own threads too, all parts of one in one slot",
        form: .choice(["off", "whole"]), fallback: "off", uptake: .nextDecision,
        details: "see below")
    static let quotes = Setting(
        "QUOTES", title: "Who may quote the bot", .texts, "who may quote the bot's posts",
        form: .choice(["default", "anyone", "followers", "nobody"]), fallback: "default",
        effect: "Posts that are out keep what they were sent with.",
        details:
            "on Mastodon since 4.5, where `default` leaves it to the account's preferences; on Bluesky `anyone` (as "
            + "`default`) or `nobody`")
    static let whoMayReply = Setting(
        "WHO_MAY_REPLY", title: "Who may answer the bot", .texts,
        "Bluesky: who may answer the bot's posts",
        form: .choice(Audience.allCases.map(\.rawValue)), fallback: "anyone",
        effect: "Posts that are out keep what they were sent with.")

    // MARK: Replies

    package static let replies = Setting(
        "REPLIES", title: "Replies that hardly fit", .replies,
        "what becomes of an old reply that hardly fits the mention: `likely` stays silent, `review` lets it "
            + "wait for a person, `all` sends it",
        form: .choice(ReplyMode.allCases.map(\.rawValue)), fallback: "likely",
        uptake: .nextDecision,
        effect: "What was decided already stays.",
        details:
            "in English and Japanese; what hardly fits, `mirror-bot score` finds on the human's own past"
    )
    package static let repliesPerPerson = Setting(
        "REPLIES_PER_PERSON", title: "Replies to a person a day, at most", .replies,
        "replies to one person a day at most",
        form: .integer(0...100), fallback: "3",
        uptake: .nextDecision, derived: { values, _ in values.ofMemorial("0") })
    package static let repliesPerThread = Setting(
        "REPLIES_PER_THREAD", title: "Replies in a conversation, at most", .replies,
        "replies in one conversation at most",
        form: .integer(0...100), fallback: "5",
        uptake: .nextDecision)
    static let review = Setting(
        "REVIEW", title: "What waits for you", .replies,
        "what waits until a person agrees; `all` is favorites too",
        form: .choice(["none", "posts", "replies", "all"]), fallback: "none", uptake: .nextDecision,
        effect: "What is planned already leaves, and what waits goes on waiting.")
    package static let followEdits = Setting(
        "FOLLOW_EDITS", title: "When the human edits a post", .replies,
        "what becomes of a copy when the human changes the original",
        form: .choice(["edit", "delete", "off"]), fallback: "edit",
        details:
            "changed where the bot's server can do that and else deleted, deleted, or left as it is"
    )
    package static let deleteOnFavorite = Setting(
        "DELETE_ON_FAVORITE", title: "When the human favorites a post of the bot", .replies,
        "`yes` deletes those of the bot's posts that the human favorites",
        form: consent, fallback: "no")

    package static let confirmStop = Setting(
        "CONFIRM_STOP", title: "Sign that a stop was understood", .replies,
        "`yes` favorites the mention in which somebody asks the bot to stop, so that they know it was understood",
        form: consent, fallback: "yes", uptake: .nextDecision,
        details:
            "once for each person, within `FAVORITES_PER_DAY`; not on X, and not with `FAVORITE_MODE=off` or "
            + "`REVIEW=all`")

    package static let firstReplyNote = Setting(
        "FIRST_REPLY_NOTE", title: "Note below a first reply", .replies,
        "the first reply to a person says below the human's words, where there is room, that a bot repeats them and "
            + "that the word stop ends it",
        form: .choice(["auto", "on", "off"]), fallback: "auto", uptake: .nextDecision,
        effect: "What was decided already stays.",
        details:
            "`auto` is `on` where readers do not see that the account is automated, on X and Bluesky, and `off` on "
            + "Mastodon and servers like it")

    // MARK: Favorites

    package static let favoriteMode = Setting(
        "FAVORITE_MODE", title: "Favorites", .favorites,
        "`auto` favorites, `suggest` only notes what it would favorite, `off` does neither",
        form: .choice(["off", "suggest", "auto"]), fallback: "auto",
        effect: "With `off` nothing that was decided or approved before is sent either.",
        derived: { $0.ofMemorial("off") ?? $0.ofBotNetwork($1) })
    package static let favoritesPerDay = Setting(
        "FAVORITES_PER_DAY", title: "Favorites a day, at most", .favorites,
        "favorites a day at most", form: .integer(0...1_000),
        fallback: "10",
        uptake: .nextDecision)
    package static let favoriteRateThreshold = Setting(
        "FAVORITE_RATE_THRESHOLD", title: "How likely a favorite must be", .favorites,
        "favorite when a post is more than this many times as likely to be a favorite as not",
        form: .positive,
        fallback: "2", uptake: .nextDecision, details: "at 2, two of three are meant to be right",
        prompt: .prefilled)
    static let features = Setting(
        "FEATURES", title: "What favorites are learned from", .favorites,
        "what counts of a text: nouns, verbs, adjectives and the like, with `pairs` also each two neighbouring words, with "
            + "`spelling` also runs of letters and the form of the text, with `full` both, or nouns alone",
        form: .choice(["full", "spelling", "pairs", "content", "nouns"]), fallback: "pairs",
        effect: "The posts that are kept are counted anew, which takes some seconds for 50,000.")
    static let weights = Setting(
        "WEIGHTS", title: "Weights of favorites", .favorites,
        "how far words for a favorite, words against it, pairs of words, spelling, form and the author are believed: as "
            + "far as what was learned shows, or all alike (pairs half, spelling and form .3)",
        form: .choice(["learned", "plain"]), fallback: "learned", uptake: .nextDecision)
    static let exampleLimit = Setting(
        "EXAMPLE_LIMIT", title: "Posts of others kept", .favorites,
        "posts of others that are kept to learn from",
        form: .integer(100...10_000_000), fallback: "50000",
        effect: "Of a smaller number the oldest are unlearned.",
        details: "for at most 180 days (30 where an account is on X)")

    // MARK: X

    package static let acknowledgeXPolicy = Setting(
        "X_ACKNOWLEDGE_POLICY", title: "Automation rules of X", .paid,
        "X: `yes`, once you have read X's automation rules; nothing is published there before",
        form: consent, fallback: "no", prompt: .optional)
    package static let xBudget = Setting(
        "X_BUDGET_USD_PER_MONTH", title: "Money for X a month", .paid,
        "X: dollars that all calls may cost in a calendar month (UTC)", form: .dollars,
        fallback: "5", prompt: .optional)
    package static let xHomePosts = Setting(
        "X_HOME_POSTS_PER_DAY", title: "Posts of home timelines on X a day", .paid,
        "X: posts of home timelines to pay for in a day; without any, favorites have nothing to learn from",
        form: .integer(0...100_000), fallback: "0", prompt: .optional)
    static let xAppOwner = Setting(
        "X_APP_OWNER", title: "Owner of the application on X", .paid,
        "X: whose account owns the developer application: its own posts, mentions and favorites are then cheaper to read",
        form: .choice(["none", "human", "bot"]), fallback: "none", prompt: .optional)
    static let xFieldNames = Setting(
        "X_FIELD_NAMES", title: "Spelling of requests to X", .paid,
        "X: how parameters of requests are spelled; `post` is the newer spelling",
        form: .choice(XFieldNames.allCases.map(\.rawValue)), fallback: "tweet")

    // MARK: Notifications

    package static let notifyURL = Setting(
        "NOTIFY_URL", title: "Where notifications go", .notifications,
        "told what you should know while you do not look",
        scope: .process,
        form: .text("`https://…`, `ntfy://host/topic`"), isSecret: true,
        details: "see [Notifications](run.md#notifications)")
    static let notifyFormat = Setting(
        "NOTIFY_FORMAT", title: "Form of notifications", .notifications,
        "a JSON object, or a text with the headers of ntfy",
        scope: .process,
        form: .choice(NoticeConfiguration.Format.allCases.map(\.rawValue)), fallback: "json",
        usually: "`json`; `ntfy` where `NOTIFY_URL` begins with `ntfy://`",
        derived: { values, _ in
            values.text(notifyURL)?.hasPrefix(NoticeConfiguration.ntfyScheme) == true
                ? ("ntfy", .fallback) : nil
        })
    package static let notifyCommand = Setting(
        "NOTIFY_COMMAND", title: "Program for notifications", .notifications,
        "program that is given each message as JSON on its standard input",
        scope: .process, form: .text("words"))
    package static let heartbeatURL = Setting(
        "HEARTBEAT_URL", title: "Heartbeat", .notifications,
        "asked for with GET every four minutes or so while the bot can do its work",
        scope: .process,
        form: .text("`https://…`"), isSecret: true,
        details:
            "for services that raise the alarm when that stops, see [Notifications](run.md#notifications)"
    )

    // MARK: Logs

    package static let logLevel = Setting(
        "LOG_LEVEL", title: "Level of the log", .logs, "the least severe message that is logged",
        scope: .process,
        form: .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
        fallback: "info")
    package static let logFormat = Setting(
        "LOG_FORMAT", title: "Form of the log", .logs,
        "how messages look; they go to the standard error", scope: .process,
        form: .choice(["logfmt", "json", "pretty"]),
        usually: "`pretty` on a terminal, else `logfmt`")

    // MARK: The web page

    static let webListen = Setting(
        "WEB_LISTEN", title: "Address of the web page", .web, "address and port of the web page",
        scope: .process,
        form: .text("`address:port`"),
        usually: "`0.0.0.0:$PORT` where `PORT` is set, as on Heroku, else `127.0.0.1:8080`",
        details:
            "on another address than this machine's own `web` starts only with one of the next settings; "
            + "[how to open it from elsewhere](web.md#from-elsewhere)")
    static let webAddress = Setting(
        "WEB_ADDRESS", title: "Address that notifications lead to", .web,
        "where your browser finds the web page, such as `https://mirror.example.org`",
        scope: .process,
        form: .text("`https://host`"),
        details: "with it [notifications](run.md#buttons) have buttons, and go to devices; "
            + "its name needs no place in `WEB_HOSTS`")
    package static let webPassword = Setting(
        "WEB_PASSWORD", title: "Password of the web page", .web, "password of the web page",
        scope: .process,
        form: .text("8 characters and more"),
        isSecret: true, effect: "All sessions of the web page end.")
    static let webHosts = Setting(
        "WEB_HOSTS", title: "Names of the web page", .web,
        "names by which browsers may call the web page, besides `localhost` and IP addresses",
        scope: .process, form: .text("names, with commas between"))
    static let webUserHeader = Setting(
        "WEB_USER_HEADER", title: "Header of the login at a proxy", .web,
        "header in which a reverse proxy says who is logged in there, such as `Remote-User`",
        scope: .process, form: .text("name of a header that no browser sends"),
        details: "believed only from this machine and from `WEB_PROXIES`; "
            + "they have to remove it from what browsers send")
    static let webProxies = Setting(
        "WEB_PROXIES", title: "Reverse proxies", .web,
        "IP addresses of reverse proxies whose `X-Forwarded-For` names the caller",
        scope: .process, form: .text("addresses or ranges, with commas between"),
        details: "[limits of the page](web.md#limits) count by that address; "
            + "without it everybody behind a proxy shares one")
    package static let publicPage = Setting(
        "PUBLIC_PAGE", title: "Page for everybody", .web,
        "`yes` shows everybody, without a log-in, what the mirror is, how to stop it, and what is stored about them",
        form: consent, fallback: "no",
        details: "at `/public/NAME`, see [For everybody](web.md#for-everybody)")
}
