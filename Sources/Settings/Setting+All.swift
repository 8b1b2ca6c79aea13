package import Conduct
package import Favorites
package import Foundation
import Localization
package import Logging
package import Networks
package import Outbox
package import Posts
import Schedule
import Storage
import X

extension AnySetting {
    /// Every setting, group by group, in the order in which `config` and the documentation list
    /// them.
    package static let all: [AnySetting] =
        list(.mirror, .network, .humanNetwork, .botNetwork, .timeZone, .pollSeconds, .passes)
        + account(.human) + list(.humanConsent, .memorial, .trustHumanServer, .trustArchive)
        + account(.bot) + list(.operatorContact)
        + list(
            .home, .databaseURL, .databaseConnections, .redisURL, .redisTLSVerify, .secretKey,
            .dictionary)
        + list(.archiveLimit, .historyDays)
        + list(.oldBot, .quietHours, .holdWhileActive, .maxPerDay)
        + list(
            .fitness, .noRepeatDays, .maxUses, .minAgeDays, .maxAgeDays, .links, .contentWarnings)
        + list(.media, .mediaWithoutAlt, .threads, .quotes, .whoMayReply)
        + list(
            .replies, .repliesPerPerson, .repliesPerThread, .review, .followEdits,
            .deleteOnFavorite, .confirmStop, .firstReplyNote)
        + list(
            .favoriteMode, .favoritesPerDay, .favoriteRateThreshold, .features, .exampleLimit)
        + list(.acknowledgeXPolicy, .xBudget, .xHomePosts, .xAppOwner)
        + list(.notifyURL, .notifyFormat, .notifyCommand, .heartbeatURL)
        + list(.logLevel, .logFormat)
        + list(
            .webListen, .webAddress, .webPassword, .webHosts, .webUserHeader, .webProxies,
            .publicPage)

    /// The names of the settings that people change often.
    static let oftenChanged = Set(
        list(
            .maxPerDay, .quietHours, .holdWhileActive, .fitness, .noRepeatDays, .review,
            .favoriteMode, .favoriteRateThreshold, .favoritesPerDay, .repliesPerPerson, .timeZone
        ).map(\.name))

    private static func list<each Value>(_ settings: repeat Setting<each Value>) -> [AnySetting] {
        var list: [AnySetting] = []
        repeat list.append((each settings).erased)
        return list
    }

    /// The settings of one role's account.
    private static func account(_ role: AccountRole) -> [AnySetting] {
        AccountField.settable.map { $0.setting(of: role).erased } + list(.apiBaseURL(of: role))
    }

    /// The effect of changing an account or its network.
    static var rebindingEffect: String {
        localized("An account other than the mirror's is refused until `mirror-bot rebind`.")
    }
    /// The effect of naming another database.
    fileprivate static var movingEffect: String {
        localized("Nothing is moved there; `mirror-bot move` takes a mirror to another database.")
    }
}

extension SettingSyntax where Value == NetworkName {
    fileprivate static var anyNetwork: SettingSyntax {
        .choice(NetworkName.known.map { ($0.rawValue, $0) })
    }
}

// MARK: The mirror

extension Setting where Value == String {
    package static var mirror: Setting {
        Setting(
            "MIRROR", title: localized("Name of the mirror"), .mirror,
            localized("name of this human and bot pair; one database holds many"),
            scope: .identity,
            form: .text(
                localized("1 to 40 of a–z, 0–9, `-`, `_`"),
                parse: { try MirrorSettings.checkedName($0, of: $1) }, print: { $0 }),
            fallback: MirrorSettings.defaultMirror,
            effect: localized("Another name is another mirror, with accounts and data of its own."))
    }
}

extension Setting where Value == NetworkName {
    package static var network: Setting<NetworkName> {
        Setting(
            "NETWORK", title: localized("Network of both accounts"), .mirror,
            localized("where both accounts live"),
            scope: .identity, form: .anyNetwork, fallback: .usual,
            defaultInWords: localized("told by the variables of the accounts, else `mastodon`"),
            effect: AnySetting.rebindingEffect,
            prompt: .optional, example: "mastodon",
            derived: { values in values.impliedNetwork().map { ($0, .implied) } })
    }

    package static var humanNetwork: Setting<NetworkName> {
        Setting(
            "HUMAN_NETWORK", title: localized("Network of the human"), .mirror,
            localized("where the human lives, if not where the bot does"),
            scope: .identity, form: .anyNetwork, fallback: .usual,
            defaultInWords: localized("as `NETWORK`, unless the account's variables tell another"),
            effect: AnySetting.rebindingEffect,
            details:
                "also the network of imported JSON Lines, while [archives](archives.md) know theirs: mastodon-archive, "
                + "Pixelfed and Misskey count as Mastodon",
            prompt: .optional, derived: { values in values.derivedNetwork(of: .human) })
    }

    package static var botNetwork: Setting<NetworkName> {
        Setting(
            "BOT_NETWORK", title: localized("Network of the bot"), .mirror,
            localized("where the bot lives, if not where the human does"),
            scope: .identity, form: .anyNetwork, fallback: .usual,
            defaultInWords: localized("as `NETWORK`, unless the account's variables tell another"),
            effect: AnySetting.rebindingEffect,
            prompt: .optional,
            derived: { values in values.derivedNetwork(of: .bot) })
    }
}

extension Setting where Value == TimeZone? {
    package static var timeZone: Setting<TimeZone?> {
        Setting(
            "TIME_ZONE", title: localized("Time zone"), .mirror,
            localized("zone of the human's clock, such as `Asia/Tokyo` or `Europe/Berlin`"),
            form: .text(
                localized("IANA name"), parse: { try MirrorSettings.zone($0, named: $1) },
                print: { $0?.identifier }), fallback: nil,
            defaultInWords: localized(
                "the archive's, else guessed from the hours in which the human posts"),
            effect: localized("The times of the archived posts are computed anew in the new zone."),
            details: "`status` and `doctor` say when it was guessed; for who moved see "
                + "[`zones`](run.md#a-person-who-moved)",
            prompt: .optional, example: "Europe/Berlin")
    }
}

extension Setting where Value == Duration {
    package static var pollSeconds: Setting {
        Setting(
            "POLL_SECONDS", title: localized("Seconds between two looks"), .mirror,
            localized(
                "seconds between two looks at the mentions; the other feeds follow in proportion"),
            form: .seconds(10...3_600), fallback: .seconds(60))
    }
}

extension Setting where Value == Int {
    package static var passes: Setting {
        Setting(
            "PASSES", title: localized("Passes at once, at most"), .mirror,
            localized("passes that a process runs at once, for all its mirrors"),
            scope: .process,
            form: .integer(1...1_000), fallback: 16,
            details:
                "a pass is one look at one feed, or at what is due; one that waits for a server for longer than a second "
                + "does not count")
    }
}

// MARK: Accounts

extension Setting where Value == NetworkName {
    /// The setting of the network of a role's account.
    static func network(of role: AccountRole) -> Setting<NetworkName> {
        role == .human ? humanNetwork : botNetwork
    }
}

extension Setting where Value == String? {
    /// The setting of the address to which requests for a role go instead of the network's own.
    package static func apiBaseURL(of role: AccountRole) -> Setting {
        Setting(
            "\(role.prefix)_API_BASE_URL",
            title: role == .human
                ? localized("Where requests for the human go")
                : localized("Where requests for the bot go"),
            .accounts,
            role == .human
                ? localized("where requests for the human go instead of the network's own address")
                : localized("where requests for the bot go instead of the network's own address"),
            scope: .identity,
            form: .text(
                "`https://host`", parse: { try ServerURL.normalized($0, setting: $1) },
                print: { $0 }), fallback: nil)
    }
}

extension Setting where Value == HumanConsent.Ground? {
    package static var humanConsent: Setting {
        Setting(
            "HUMAN_CONSENT", title: localized("Consent of the human"), .accounts,
            localized(
                "your statement that the human agreed to be mirrored, where their account is not logged in: `self` (I am this person), `agreed` (this person agreed in writing), `heirs` (this person has died and I act for the heirs); without a statement or a login nothing is sent"
            ),
            form: .choice(HumanConsent.Ground.statements.map { ($0.rawValue, $0) }), fallback: nil,
            effect: localized(
                "`mirror-bot set` stores it with its time, and `unset` takes it back."),
            details:
                "in the environment it is said for every mirror of the process, and not heard after the human "
                + "[stopped the mirror](control.md#consent)",
            prompt: .optional)
    }
}

extension Setting where Value == Bool {
    package static var memorial: Setting {
        Setting(
            "MEMORIAL", title: localized("Memorial of a person who has died"), .accounts,
            localized(
                "`yes`: the mirror is a memorial of a person who has died: posts alone, and replies or favorites only where `REPLIES_PER_PERSON` or `FAVORITE_MODE` is set itself; the line of the bot's profile says so"
            ),
            form: .yesOrNo, fallback: false,
            effect: localized("`mirror-bot profile` writes the line."),
            details: "see [what that is, and what speaks against it](control.md#a-memorial)")
    }

    package static var trustHumanServer: Setting {
        Setting(
            "TRUST_HUMAN_SERVER", title: localized("Trust in the human's server"), .accounts,
            localized(
                "`yes`: read the human's posts from programs, too, that show posts for few as public"
            ),
            form: .yesOrNo, fallback: false,
            details:
                "WordPress does so with private posts, Takahe and the descendants of Misskey with those for their own "
                + "server, see [audience](audience.md#programs-that-do-not-tell)")
    }
}

extension Setting where Value == Bool? {
    package static var trustArchive: Setting {
        Setting(
            "TRUST_ARCHIVE", title: localized("Posts that nobody can be asked about"), .accounts,
            localized(
                "`yes`: publish texts, too, while nobody can be asked whether the human still shows their posts"
            ),
            form: .choice([("no", false), ("yes", true)]), fallback: nil, defaultInWords: "`no`",
            details:
                "as those of a [downloaded archive](archives.md#posts-that-nobody-can-be-asked-about) whose account "
                + "is gone or on another network, or while the human's server is away")
    }
}

extension Setting where Value == String? {
    package static var operatorContact: Setting {
        Setting(
            "OPERATOR_CONTACT", title: localized("Contact of the operator"), .accounts,
            localized(
                "told to servers with each request, so that their operators can write to you: a mail address, URL or handle"
            ),
            form: .text(
                localized("mail address, URL or handle"),
                parse: { try MirrorSettings.contact($0, named: $1) },
                print: { $0 }), fallback: nil, defaultInWords: localized("the bot's handle"),
            prompt: .optional,
            example: "ops@example.org")
    }
}

// MARK: Where things are kept

extension Setting where Value == String? {
    package static var home: Setting {
        Setting(
            "MIRROR_BOT_HOME", title: localized("Folder of the data"), .storage,
            localized("folder of `mirror-bot.sqlite` and its key file"),
            scope: .process,
            form: .text(localized("folder")), fallback: nil,
            defaultInWords: localized(
                "`$XDG_DATA_HOME/mirror-bot`, else `~/.local/share/mirror-bot`"),
            isPath: true,
            effect: AnySetting.movingEffect)
    }
}

extension Setting where Value == Secret? {
    package static var databaseURL: Setting<Secret?> {
        Setting(
            "DATABASE_URL", title: "Postgres", .storage, localized("Postgres instead of that file"),
            scope: .process,
            form: .secret("`postgres://…`") { try ProcessSettings.requireDatabase($0, named: $1) },
            fallback: nil,
            isSecret: true, effect: AnySetting.movingEffect,
            details: "`sslmode` in it decides about TLS; [several hosts](deploy.md#postgres), as "
                + "`postgres://user:password@a:5432,b:5432/name`, and the one that takes changes is used"
        )
    }
}

extension Setting where Value == Int {
    package static var databaseConnections: Setting {
        Setting(
            "DATABASE_CONNECTIONS", title: localized("Connections to Postgres, at most"), .storage,
            localized("connections to Postgres that a process has open at most"),
            scope: .process,
            form: .integer(2...100), fallback: StorageLocation.defaultConnections,
            details:
                "opened when needed, and closed after five idle minutes; a dry run has one more of its own"
        )
    }
}

extension Setting where Value == Secret? {
    package static var redisURL: Setting<Secret?> {
        Setting(
            "REDIS_URL", title: "Redis", .storage,
            localized("Redis for the classifier's counts instead of the database"),
            scope: .process,
            form: .secret("`redis://…`, `rediss://…`"), fallback: nil, isSecret: true,
            effect: localized("The counts are made anew from the posts in the database."),
            details:
                "[several hosts](deploy.md#redis), as `redis://:password@a:6379,b:6379`; a cluster is found out"
        )
    }
}

extension Setting where Value == String {
    package static var redisTLSVerify: Setting {
        Setting(
            "REDIS_TLS_VERIFY", title: localized("Check of the certificate of Redis"), .storage,
            localized(
                "how the certificate of `rediss://` is checked; `auto` is `full`, and on Heroku the key that was seen first"
            ),
            scope: .process, form: .text("`auto`, `full`, `none`, `pin:sha256//…`"),
            fallback: "auto")
    }
}

extension Setting where Value == Secret? {
    package static var secretKey: Setting<Secret?> {
        Setting(
            "SECRET_KEY", title: localized("Key of the stored logins"), .storage,
            localized("seals the logins that are kept in the database"), scope: .process,
            form: .secret(localized("64 hex digits, or 32 characters and more")) {
                try ProcessSettings.requireKey($0, named: $1)
            }, fallback: nil,
            defaultInWords: localized("a key file beside the SQLite file"),
            isSecret: true,
            effect: localized(
                "Logins that were sealed with another key do not open; log in again."),
            details: "with `DATABASE_URL` it must be set before a login can be kept",
            prompt: .generated
        )
    }
}

extension Setting where Value == String {
    package static var dictionary: Setting {
        Setting(
            "MECAB_DICTIONARY", title: localized("Dictionary for Japanese"), .storage,
            localized("the dictionary for Japanese, or its folder"), scope: .process,
            form: .text(localized("`ipadic-utf8` or a folder")), fallback: "ipadic-utf8",
            isPath: true,
            details: "mirror-bot looks where Debian, Homebrew and Heroku put it")
    }
}

extension Setting where Value == Int {
    package static var archiveLimit: Setting {
        Setting(
            "ARCHIVE_LIMIT", title: localized("Posts kept"), .storage,
            localized("posts of the human that are kept; the oldest leave"),
            form: .integer(100...10_000_000), fallback: 10_000,
            effect: localized("Posts that left come back only by training again."))
    }

    package static var historyDays: Setting {
        Setting(
            "HISTORY_DAYS", title: localized("Days of history"), .storage,
            localized("days that plans, ended actions and what could not be read are kept"),
            form: .integer(30...3_650), fallback: 400,
            effect: localized("What is older than a smaller number is deleted for good."))
    }
}

// MARK: Schedule

extension Setting where Value == Bool {
    package static var oldBot: Setting {
        Setting(
            "OLD_BOT", title: localized("As the bot of 2014"), .schedule,
            localized(
                "`yes`: as the bot of 2014, draw each minute by itself, and only minutes in which the human has posted, and let all evidence about favorites count alike"
            ),
            form: .yesOrNo, fallback: false, uptake: .nextDecision,
            effect: localized("The stored plan of today stays as it is."), details: "see below")
    }
}

extension Setting where Value == QuietHours {
    package static var quietHours: Setting<QuietHours> {
        Setting(
            "QUIET_HOURS", title: localized("Quiet hours"), .schedule, localized("never post then"),
            form: .text(
                localized("spans, as `23:00-07:00,12:00-13:00`, or `none`"),
                parse: { try MirrorSettings.quietHours($0, named: $1) }, print: { $0.description }),
            fallback: .none,
            effect: localized(
                "Posts that are planned in them already are not sent; pinned ones are."))
    }
}

extension Setting where Value == Duration? {
    package static var holdWhileActive: Setting {
        Setting(
            "HOLD_WHILE_ACTIVE", title: localized("Silence while the human posts"), .schedule,
            localized(
                "no post within that time of the human's own posting: it moves later within its day, or falls away"
            ),
            form: .upToADay, fallback: nil,
            details: "see below")
    }
}

extension Setting where Value == Int {
    package static var maxPerDay: Setting {
        Setting(
            "MAX_PER_DAY", title: localized("Posts a day, at most"), .schedule,
            localized("posts a day at most; with `0` the bot only answers and favorites"),
            form: .integer(0...1_000), fallback: ScheduleConfiguration.defaultMaximumPerDay,
            uptake: .nextDecision,
            effect:
                localized(
                    "The stored plan of today stays as it is; but with `0` none of its posts is sent unless it is pinned."
                )
        )
    }
}

// MARK: Texts

extension Setting where Value == FitnessMode {
    package static var fitness: Setting {
        Setting(
            "FITNESS", title: localized("Which texts are posted"), .texts,
            localized(
                "which texts are posted by themselves: plain ones first, strictly, loosely, or whatever they say"
            ),
            form: .cases, fallback: .plain,
            uptake: .nextDecision,
            effect: localized(
                "Planned texts that even `loose` refuses get another text, unless it is `off`."),
            details: "see below")
    }
}

extension Setting where Value == Int {
    package static var noRepeatDays: Setting {
        Setting(
            "NO_REPEAT_DAYS", title: localized("Days until a text may return"), .texts,
            localized("days before a text may return"), form: .integer(0...3_650), fallback: 180,
            uptake: .nextDecision)
    }
}

extension Setting where Value == Int? {
    package static var maxUses: Setting {
        Setting(
            "MAX_USES", title: localized("Times a text is posted, at most"), .texts,
            localized(
                "how often a text may be posted in all; those that were posted least come first"),
            form: .integerOrNone(1...1_000), fallback: nil, uptake: .nextDecision,
            details: "see below")
    }
}

extension Setting where Value == Int {
    package static var minAgeDays: Setting {
        Setting(
            "MIN_AGE_DAYS", title: localized("Age of a text in days, at least"), .texts,
            localized("days before a post may be mirrored, unless nothing is older"),
            form: .integer(0...3_650), fallback: 30, uptake: .nextDecision)
    }
}

extension Setting where Value == Int? {
    package static var maxAgeDays: Setting {
        Setting(
            "MAX_AGE_DAYS", title: localized("Age of a text in days, at most"), .texts,
            localized(
                "days after which a post is mirrored no more; old replies are used whatever their age"
            ),
            form: .integerOrNone(1...36_500), fallback: nil, uptake: .nextDecision)
    }
}

extension Setting where Value == Bool {
    package static var links: Setting {
        Setting(
            "LINKS", title: localized("Texts with links"), .texts,
            localized(
                "mirror posts that hold links; `off` leaves them out, and old replies with links too"
            ),
            form: .onOrOff, fallback: true, uptake: .nextDecision,
            details: "for a sentence seldom makes sense without its link",
            derived: { $0.defaultOfBotNetwork(.links) })
    }

    package static var contentWarnings: Setting {
        Setting(
            "CONTENT_WARNINGS", title: localized("Texts with content warnings"), .texts,
            localized(
                "`leave` leaves out posts with a content warning; `carry` sends them with it"),
            form: .choice([("leave", false), ("carry", true)]), fallback: false,
            uptake: .nextDecision,
            details: "see below")
    }

    package static var media: Setting {
        Setting(
            "MEDIA", title: localized("Pictures"), .texts,
            localized(
                "`own` mirrors posts with the human's own pictures too, and the pictures along with them"
            ),
            form: .choice([("off", false), ("own", true)]), fallback: false, uptake: .nextDecision,
            effect: localized("With `off` planned posts with pictures get another text."),
            details: "see below"
        )
    }

    package static var mediaWithoutAlt: Setting {
        Setting(
            "MEDIA_WITHOUT_ALT", title: localized("Pictures without a description"), .texts,
            localized("`no` leaves out posts with a picture that has no alternative text"),
            form: .yesOrNo, fallback: false, uptake: .nextDecision,
            effect: localized("With `no` planned posts with such pictures get another text."))
    }
}

extension Setting where Value == ThreadRule {
    package static var threads: Setting<ThreadRule> {
        Setting(
            "THREADS", title: localized("Threads"), .texts,
            localized("`whole` mirrors the human's own threads too, all parts of one in one slot"),
            form: .choice([("off", .leftOut), ("whole", .whole)]), fallback: .leftOut,
            uptake: .nextDecision,
            details: "see below")
    }
}

extension Setting where Value == Audience? {
    package static var quotes: Setting<Audience?> {
        Setting(
            "QUOTES", title: localized("Who may quote the bot"), .texts,
            localized("who may quote the bot's posts"),
            form: .choice([
                ("default", nil), ("anyone", .anyone), ("followers", .followers),
                ("nobody", .nobody),
            ]), fallback: nil,
            effect: localized("Posts that are out keep what they were sent with."),
            details:
                "on Mastodon since 4.5, where `default` leaves it to the account's preferences; on Bluesky `anyone` (as "
                + "`default`) or `nobody`")
    }
}

extension Setting where Value == Audience {
    package static var whoMayReply: Setting<Audience> {
        Setting(
            "WHO_MAY_REPLY", title: localized("Who may answer the bot"), .texts,
            localized("Bluesky: who may answer the bot's posts"),
            form: .cases, fallback: .anyone,
            effect: localized("Posts that are out keep what they were sent with."))
    }
}

// MARK: Replies

extension Setting where Value == ReplyMode {
    package static var replies: Setting {
        Setting(
            "REPLIES", title: localized("Replies that hardly fit"), .replies,
            localized(
                "what becomes of an old reply that hardly fits the mention: `likely` stays silent, `review` lets it wait for a person, `all` sends it"
            ),
            form: .cases, fallback: .likely,
            uptake: .nextDecision,
            effect: localized("What was decided already stays."),
            details:
                "in English and Japanese; what hardly fits, `mirror-bot score` finds on the human's own past"
        )
    }
}

extension Setting where Value == Int {
    package static var repliesPerPerson: Setting {
        Setting(
            "REPLIES_PER_PERSON", title: localized("Replies to a person a day, at most"), .replies,
            localized("replies to one person a day at most"),
            form: .integer(0...100), fallback: 3,
            uptake: .nextDecision, derived: { values in values.defaultOfMemorial(0) })
    }

    package static var repliesPerThread: Setting {
        Setting(
            "REPLIES_PER_THREAD", title: localized("Replies in a conversation, at most"), .replies,
            localized("replies in one conversation at most"),
            form: .integer(0...100), fallback: 5,
            uptake: .nextDecision)
    }
}

extension Setting where Value == Set<ActionKind> {
    package static var review: Setting<Set<ActionKind>> {
        Setting(
            "REVIEW", title: localized("What waits for you"), .replies,
            localized("what waits until a person agrees; `all` is favorites too"),
            form: .choice([
                ("none", []), ("posts", [.post]), ("replies", [.reply]),
                ("all", Set(ActionKind.allCases)),
            ]), fallback: [], uptake: .nextDecision,
            effect: localized("What is planned already leaves, and what waits goes on waiting."))
    }
}

extension Setting where Value == EditRule {
    package static var followEdits: Setting {
        Setting(
            "FOLLOW_EDITS", title: localized("When the human edits a post"), .replies,
            localized("what becomes of a copy when the human changes the original"),
            form: .cases, fallback: .edit,
            details:
                "changed where the bot's server can do that and else deleted, deleted, or left as it is"
        )
    }
}

extension Setting where Value == Bool {
    package static var deleteOnFavorite: Setting {
        Setting(
            "DELETE_ON_FAVORITE", title: localized("When the human favorites a post of the bot"),
            .replies,
            localized("`yes` deletes those of the bot's posts that the human favorites"),
            form: .yesOrNo, fallback: false)
    }

    package static var confirmStop: Setting {
        Setting(
            "CONFIRM_STOP", title: localized("Sign that a stop was understood"), .replies,
            localized(
                "`yes` favorites the mention in which somebody asks the bot to stop, so that they know it was understood"
            ),
            form: .yesOrNo, fallback: true, uptake: .nextDecision,
            details:
                "once for each person, within `FAVORITES_PER_DAY`; not on X, and not with `FAVORITE_MODE=off` or "
                + "`REVIEW=all`")
    }
}

extension Setting where Value == Bool? {
    package static var firstReplyNote: Setting {
        Setting(
            "FIRST_REPLY_NOTE", title: localized("Note below a first reply"), .replies,
            localized(
                "the first reply to a person says below the human's words, where there is room, that a bot repeats them and that the word stop ends it"
            ),
            form: .choice([("auto", nil), ("on", true), ("off", false)]), fallback: nil,
            uptake: .nextDecision,
            effect: localized("What was decided already stays."),
            details:
                "`auto` is `on` where readers do not see that the account is automated, on X and Bluesky, and `off` on "
                + "Mastodon and servers like it")
    }
}

// MARK: Favorites

extension Setting where Value == FavoriteMode {
    package static var favoriteMode: Setting {
        Setting(
            "FAVORITE_MODE", title: localized("Favorites"), .favorites,
            localized(
                "`auto` favorites, `suggest` only notes what it would favorite, `off` does neither"),
            form: .cases, fallback: .auto,
            effect: localized(
                "With `off` nothing that was decided or approved before is sent either."),
            derived: { $0.defaultOfMemorial(.off) ?? $0.defaultOfBotNetwork(.favoriteMode) })
    }
}

extension Setting where Value == Int {
    package static var favoritesPerDay: Setting {
        Setting(
            "FAVORITES_PER_DAY", title: localized("Favorites a day, at most"), .favorites,
            localized("favorites a day at most"), form: .integer(0...1_000), fallback: 10,
            uptake: .nextDecision)
    }
}

extension Setting where Value == Double {
    package static var favoriteRateThreshold: Setting {
        Setting(
            "FAVORITE_RATE_THRESHOLD", title: localized("How likely a favorite must be"),
            .favorites,
            localized(
                "favorite when a post is more than this many times as likely to be a favorite as not"
            ),
            form: .threshold, fallback: FavoriteConfiguration.defaultThreshold,
            uptake: .nextDecision,
            details: "at 2, two of three are meant to be right",
            prompt: .prefilled)
    }
}

extension Setting where Value == FeatureWords {
    package static var features: Setting<FeatureWords> {
        Setting(
            "FEATURES", title: localized("What favorites are learned from"), .favorites,
            localized(
                "what counts of a text: nouns, verbs, adjectives and the like, with `pairs` also each two neighbouring words, with `spelling` also runs of letters and the form of the text, with `full` both, or nouns alone"
            ),
            form: .cases, fallback: .pairs,
            effect: localized(
                "The posts that are kept are counted anew, which takes some seconds for 50,000.")
        )
    }
}

extension Setting where Value == Int {
    package static var exampleLimit: Setting {
        Setting(
            "EXAMPLE_LIMIT", title: localized("Posts of others kept"), .favorites,
            localized("posts of others that are kept to learn from"),
            form: .integer(100...10_000_000),
            fallback: FavoriteConfiguration.defaultExampleLimit,
            effect: localized("Of a smaller number the oldest are unlearned."),
            details: "for at most 180 days (30 where an account is on X)")
    }
}

// MARK: X

extension Setting where Value == Bool {
    package static var acknowledgeXPolicy: Setting {
        Setting(
            "X_ACKNOWLEDGE_POLICY", title: localized("Automation rules of X"), .paid,
            localized(
                "X: `yes`, once you have read X's automation rules; nothing is published there before"
            ),
            form: .yesOrNo, fallback: false, prompt: .optional)
    }
}

extension Setting where Value == Money {
    package static var xBudget: Setting<Money> {
        Setting(
            "X_BUDGET_USD_PER_MONTH", title: localized("Money for X a month"), .paid,
            localized("X: dollars that all calls may cost in a calendar month (UTC)"),
            form: .dollars,
            fallback: Money(microdollars: 5_000_000), prompt: .optional)
    }
}

extension Setting where Value == Int {
    package static var xHomePosts: Setting {
        Setting(
            "X_HOME_POSTS_PER_DAY", title: localized("Posts of home timelines on X a day"), .paid,
            localized(
                "X: posts of home timelines to pay for in a day; without any, favorites have nothing to learn from"
            ),
            form: .integer(0...100_000), fallback: 0, prompt: .optional)
    }
}

extension Setting where Value == AccountRole? {
    package static var xAppOwner: Setting {
        Setting(
            "X_APP_OWNER", title: localized("Owner of the application on X"), .paid,
            localized(
                "X: whose account owns the developer application: its own posts, mentions and favorites are then cheaper to read"
            ),
            form: .choice([("none", nil), ("human", .human), ("bot", .bot)]), fallback: nil,
            prompt: .optional)
    }
}

// MARK: Notifications

extension Setting where Value == NoticeConfiguration.Address? {
    package static var notifyURL: Setting {
        Setting(
            "NOTIFY_URL", title: localized("Where notifications go"), .notifications,
            localized("told what you should know while you do not look"),
            scope: .process,
            form: .text(
                "`https://…`, `ntfy://host/topic`",
                parse: { try NoticeConfiguration.noticeAddress($0, named: $1) },
                print: { $0?.text.reveal() }), fallback: nil, isSecret: true,
            details: "see [Notifications](run.md#notifications)")
    }
}

extension Setting where Value == NoticeConfiguration.Format {
    package static var notifyFormat: Setting {
        Setting(
            "NOTIFY_FORMAT", title: localized("Form of notifications"), .notifications,
            localized("a JSON object, or a text with the headers of ntfy"),
            scope: .process,
            form: .cases, fallback: .json,
            defaultInWords: localized("`json`; `ntfy` where `NOTIFY_URL` begins with `ntfy://`"),
            derived: { values in
                values[.notifyURL]?.isOfNtfy == true ? (.ntfy, .fallback) : nil
            })
    }
}

extension Setting where Value == [String] {
    package static var notifyCommand: Setting {
        Setting(
            "NOTIFY_COMMAND", title: localized("Program for notifications"), .notifications,
            localized("program that is given each message as JSON on its standard input"),
            scope: .process,
            form: .text(
                localized("words"), parse: { try NoticeConfiguration.words($0, named: $1) },
                print: { $0.isEmpty ? nil : NoticeConfiguration.commandLine($0) }), fallback: [])
    }
}

extension Setting where Value == NoticeConfiguration.Address? {
    package static var heartbeatURL: Setting {
        Setting(
            "HEARTBEAT_URL", title: localized("Heartbeat"), .notifications,
            localized("asked for with GET every four minutes or so while the bot can do its work"),
            scope: .process,
            form: .text(
                "`https://…`", parse: { try NoticeConfiguration.address($0, named: $1) },
                print: { $0?.text.reveal() }), fallback: nil, isSecret: true,
            details:
                "for services that raise the alarm when that stops, see [Notifications](run.md#notifications)"
        )
    }
}

// MARK: Logs

extension Setting where Value == Logger.Level {
    package static var logLevel: Setting<Logger.Level> {
        Setting(
            "LOG_LEVEL", title: localized("Level of the log"), .logs,
            localized("the least severe message that is logged"),
            scope: .process,
            form: .cases, fallback: .info)
    }
}

extension Setting where Value == LogSettings.Format? {
    package static var logFormat: Setting {
        Setting(
            "LOG_FORMAT", title: localized("Form of the log"), .logs,
            localized("how messages look; they go to the standard error"), scope: .process,
            form: .choice(LogSettings.Format.allCases.map { ($0.rawValue, $0) }), fallback: nil,
            defaultInWords: localized("`pretty` on a terminal, else `logfmt`"))
    }
}

// MARK: The web page

extension Setting where Value == WebSettings.Listening? {
    package static var webListen: Setting {
        Setting(
            "WEB_LISTEN", title: localized("Address of the web page"), .web,
            localized("address and port of the web page"),
            scope: .process,
            form: .text(
                "`address:port`", parse: { try WebSettings.listening($0, named: $1) },
                print: { $0?.description }), fallback: nil,
            defaultInWords:
                localized(
                    "`0.0.0.0:$PORT` where `PORT` is set, as on Heroku, else `127.0.0.1:8080`"),
            details:
                "on another address than this machine's own `web` starts only with one of the next settings; "
                + "[how to open it from elsewhere](web.md#from-elsewhere)")
    }
}

extension Setting where Value == WebSettings.Address? {
    package static var webAddress: Setting {
        Setting(
            "WEB_ADDRESS", title: localized("Address that notifications lead to"), .web,
            localized(
                "where your browser finds the web page, such as `https://mirror.example.org`"),
            scope: .process,
            form: .text(
                "`https://host`", parse: { try WebSettings.address($0, named: $1) },
                print: { $0?.text }), fallback: nil,
            details: "with it [notifications](run.md#buttons) have buttons, and go to devices; "
                + "its name needs no place in `WEB_HOSTS`")
    }
}

extension Setting where Value == Secret? {
    package static var webPassword: Setting<Secret?> {
        Setting(
            "WEB_PASSWORD", title: localized("Password of the web page"), .web,
            localized("password of the web page"),
            scope: .process,
            form: .secret(localized("8 characters and more")) {
                try WebSettings.requirePassword($0, named: $1)
            }, fallback: nil,
            isSecret: true, effect: localized("All sessions of the web page end."))
    }
}

extension Setting where Value == Set<String> {
    package static var webHosts: Setting {
        Setting(
            "WEB_HOSTS", title: localized("Names of the web page"), .web,
            localized(
                "names by which browsers may call the web page, besides `localhost` and IP addresses"
            ),
            scope: .process,
            form: .text(
                localized("names, with commas between"),
                parse: { try WebSettings.hosts($0, named: $1) },
                print: { $0.isEmpty ? nil : $0.sorted().joined(separator: ",") }), fallback: [])
    }
}

extension Setting where Value == String? {
    package static var webUserHeader: Setting {
        Setting(
            "WEB_USER_HEADER", title: localized("Header of the login at a proxy"), .web,
            localized(
                "header in which a reverse proxy says who is logged in there, such as `Remote-User`"
            ),
            scope: .process,
            form: .text(
                localized("name of a header that no browser sends"),
                parse: { try WebSettings.userHeader($0, named: $1) }, print: { $0 }), fallback: nil,
            details: "believed only from this machine and from `WEB_PROXIES`; "
                + "they have to remove it from what browsers send")
    }
}

extension Setting where Value == [NetworkRange] {
    package static var webProxies: Setting {
        Setting(
            "WEB_PROXIES", title: localized("Reverse proxies"), .web,
            localized("IP addresses of reverse proxies whose `X-Forwarded-For` names the caller"),
            scope: .process,
            form: .text(
                localized("addresses or ranges, with commas between"),
                parse: { try WebSettings.proxies($0, named: $1) },
                print: { $0.isEmpty ? nil : $0.map(\.description).joined(separator: ",") }),
            fallback: [],
            details: "[limits of the page](web.md#limits) count by that address; "
                + "without it everybody behind a proxy shares one")
    }
}

extension Setting where Value == Bool {
    package static var publicPage: Setting {
        Setting(
            "PUBLIC_PAGE", title: localized("Page for everybody"), .web,
            localized(
                "`yes` shows everybody, without a log-in, what the mirror is, how to stop it, and what is stored about them"
            ),
            form: .yesOrNo, fallback: false,
            details: "at `/public/NAME`, see [For everybody](web.md#for-everybody)")
    }
}
