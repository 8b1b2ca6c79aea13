import Networks
import Posts

/// One variable that mirror-bot reads: its name, meaning, form and default.
package struct Setting: Sendable {
    /// What a value must look like.
    package enum Form: Sendable {
        case text
        case choice([String])
        case integer(ClosedRange<Int>)
        /// The same, or `none`.
        case integerOrNone(ClosedRange<Int>)
        /// A finite number above zero.
        case positive
        /// US dollars, as `5` or `0.25`.
        case dollars
    }

    /// The variable, as `TIME_ZONE`.
    package let name: String
    /// One line for people.
    package let summary: String
    /// What a value must look like.
    package let form: Form
    /// The value when nothing is set; nil if there is none.
    package let fallback: String?
    /// The default where other settings decide it; nil where ``fallback`` holds.
    let derived: @Sendable (SettingValues) -> String?
    /// Never printed; also read from the file that `NAME_FILE` names.
    package let isSecret: Bool
    /// Belongs to the process, or to an account's login: it cannot be set for a mirror.
    package let isOfProcess: Bool
    /// The name of a file or folder, in which `~` at the start is the home folder.
    package let isPath: Bool

    init(
        _ name: String, _ summary: String, form: Form = .text, fallback: String? = nil, isSecret: Bool = false,
        isPath: Bool = false, isOfProcess: Bool = false,
        derived: @escaping @Sendable (SettingValues) -> String? = { _ in nil }
    ) {
        self.name = name
        self.summary = summary
        self.form = form
        self.fallback = fallback
        self.derived = derived
        self.isSecret = isSecret
        self.isOfProcess = isOfProcess || isSecret || isPath
        self.isPath = isPath
    }

    private static let networks = Form.choice(NetworkName.known.map(\.rawValue))
    private static let switching = Form.choice(["on", "off"])

    /// The settings of one role's account.
    private static func account(_ role: AccountRole, whose: String) -> [Setting] {
        AccountField.settable.map { field in
            let networks = field.networks.map(\.displayName).joined(separator: ", ")
            return Setting(
                field.name(of: role), "\(networks): \(field.summary(whose, role))", isSecret: field.isSecret,
                isOfProcess: true)
        } + [
            Setting(
                "\(role.prefix)_API_BASE_URL", "where requests go instead of the network's own address",
                isOfProcess: true)
        ]
    }

    /// Every variable, in the order in which `mirror-bot config` and the README list them.
    package static let all: [Setting] =
        [
            Setting(
                "MIRROR", "name of this human and bot pair; one database serves many",
                fallback: MirrorConfiguration.usualMirror, isOfProcess: true),
            Setting("NETWORK", "network of both accounts", form: networks, fallback: "mastodon", isOfProcess: true),
            Setting(
                "HUMAN_NETWORK", "network of the human, or of the imported archive; as NETWORK if not set",
                form: networks, fallback: "mastodon", isOfProcess: true,
                derived: { $0.text("NETWORK") }),
            Setting(
                "BOT_NETWORK", "network of the bot; as NETWORK if not set", form: networks, fallback: "mastodon",
                isOfProcess: true,
                derived: { $0.text("NETWORK") }),
        ] + account(.human, whose: "the human's") + account(.bot, whose: "the bot's") + [
            Setting(
                "TRUST_HUMAN_SERVER",
                "yes: read the human's posts from WordPress, too, which shows private posts as public",
                form: .choice(["no", "yes"]), fallback: "no"),
            Setting(
                "SECRET_KEY", "seals stored logins: 64 hex digits, or a text of 32 characters or more", isSecret: true),
            Setting(
                "DATABASE_URL", "Postgres, as postgres://…; without it an embedded database is used", isSecret: true),
            Setting("REDIS_URL", "Redis for the classifier's counts, as redis://… or rediss://…", isSecret: true),
            Setting(
                "REDIS_TLS_VERIFY", "how a rediss:// certificate is checked: auto, full, none or pin:…",
                fallback: "auto", isOfProcess: true),
            Setting("MIRROR_BOT_HOME", "folder of the embedded database", isPath: true),
            Setting("TIME_ZONE", "IANA zone of the human's clock, such as Asia/Tokyo"),
            Setting(
                "SCHEDULE_MODEL", "how the times of posts are learned", form: .choice(["days", "kernel", "raw"]),
                fallback: "days"),
            Setting(
                "BURSTS", "let posts follow each other as the human's do", form: switching, fallback: "on"),
            Setting("QUIET_HOURS", "never post then, as 23:00-07:00,12:00-13:00 or none", fallback: "none"),
            Setting(
                "HOLD_WHILE_ACTIVE",
                "no post so long after one of the human's, as 2h or 90m, where the human's account is read",
                fallback: "none"),
            Setting("NO_REPEAT_DAYS", "days before a text may return", form: .integer(0...3_650), fallback: "180"),
            Setting(
                "MAX_USES", "how often a text may be posted in all; those posted least come first",
                form: .integerOrNone(1...1_000), fallback: "none"),
            Setting(
                "HISTORY_DAYS", "days that plans, ended actions and what could not be read are kept",
                form: .integer(30...3_650), fallback: "400"),
            Setting("MIN_AGE_DAYS", "days before a post may be mirrored", form: .integer(0...3_650), fallback: "30"),
            Setting(
                "MAX_AGE_DAYS", "days after which a post is mirrored no more", form: .integerOrNone(1...36_500),
                fallback: "none"),
            Setting(
                "LINKS", "mirror posts that hold links; off where the bot is on X", form: switching, fallback: "on",
                derived: { $0.ofBotNetwork("LINKS") }),
            Setting(
                "FITNESS",
                "post texts that stand for themselves: plain ones first, strictly, loosely, or whatever they say",
                form: .choice(FitnessMode.allCases.map(\.rawValue)), fallback: "plain"),
            Setting(
                "CONTENT_WARNINGS", "leave out posts with a content warning, or carry it along where the network can",
                form: .choice(["leave", "carry"]), fallback: "leave"),
            Setting(
                "MEDIA", "own: mirror posts with the human's own pictures, and these along with them",
                form: .choice(["off", "own"]), fallback: "off"),
            Setting(
                "MEDIA_WITHOUT_ALT", "yes: pictures too that nobody described for who cannot see them",
                form: .choice(["no", "yes"]), fallback: "no"),
            Setting(
                "QUOTES", "who may quote the bot's posts; default leaves that to its server",
                form: .choice(["default", "anyone", "followers", "nobody"]), fallback: "default"),
            Setting(
                "WHO_MAY_REPLY", "Bluesky: who may answer the bot's posts",
                form: .choice(Audience.allCases.map(\.rawValue)), fallback: "anyone"),
            Setting(
                "THREADS", "whole: mirror the human's own threads, all parts of one in one slot",
                form: .choice(["off", "whole"]), fallback: "off"),
            Setting(
                "MAX_PER_DAY", "posts a day at most; with 0 the bot only answers and favorites",
                form: .integer(0...1_000), fallback: "50"),
            Setting(
                "FAVORITE_RATE_THRESHOLD", "favorite when P(favorite)/P(normal) is above", form: .positive,
                fallback: "2"),
            Setting(
                "FEATURES", "words that count, and pairs of neighbouring ones",
                form: .choice(["pairs", "content", "nouns"]), fallback: "pairs"),
            Setting(
                "WEIGHTS", "how far words for, words against, pairs and the author count: as learned, or all alike",
                form: .choice(["learned", "plain"]), fallback: "learned"),
            Setting(
                "FAVORITE_MODE",
                "favorite, only note what would be, or neither; suggest where the bot is not on Mastodon",
                form: .choice(["off", "suggest", "auto"]), fallback: "auto",
                derived: { $0.ofBotNetwork("FAVORITE_MODE") }),
            Setting(
                "REVIEW", "what waits in mirror-bot suggestions until a person agrees",
                form: .choice(["none", "posts", "replies", "all"]), fallback: "none"),
            Setting(
                "FOLLOW_EDITS", "what becomes of the copy when the human changes the original",
                form: .choice(["edit", "delete", "off"]), fallback: "edit"),
            Setting(
                "DELETE_ON_FAVORITE", "yes: what the human favorites of the bot's posts is deleted",
                form: .choice(["no", "yes"]), fallback: "no"),
            Setting("FAVORITES_PER_DAY", "favorites a day at most", form: .integer(0...1_000), fallback: "10"),
            Setting(
                "REPLIES_PER_PERSON", "replies to one person a day at most", form: .integer(0...100), fallback: "3"),
            Setting("REPLIES_PER_THREAD", "replies in one thread at most", form: .integer(0...100), fallback: "5"),
            Setting("ARCHIVE_LIMIT", "posts kept", form: .integer(100...10_000_000), fallback: "10000"),
            Setting("EXAMPLE_LIMIT", "labelled posts kept", form: .integer(100...10_000_000), fallback: "50000"),
            Setting(
                "MECAB_DICTIONARY", "ipadic-utf8, or the folder of such a dictionary", fallback: "ipadic-utf8",
                isPath: true),
            Setting(
                "X_ACKNOWLEDGE_POLICY", "yes: publish on X, knowing its rules about mirrors",
                form: .choice(["no", "yes"]),
                fallback: "no"),
            Setting("X_BUDGET_USD_PER_MONTH", "what calls on X may cost in a month", form: .dollars, fallback: "5"),
            Setting(
                "X_HOME_POSTS_PER_DAY", "posts of home timelines on X to pay for in a day; 0 reads none",
                form: .integer(0...100_000), fallback: "0"),
            Setting(
                "X_APP_OWNER", "whose account owns the developer application, and reads its own posts for less",
                form: .choice(["none", "human", "bot"]), fallback: "none"),
            Setting(
                "X_FIELD_NAMES", "how X wants the parameters of requests to be spelled",
                form: .choice(XFieldNames.allCases.map(\.rawValue)),
                fallback: "tweet"),
            Setting(
                "POLL_SECONDS", "seconds between looks at the mentions", form: .integer(10...3_600), fallback: "60"),
            Setting(
                "OPERATOR_CONTACT",
                "told to servers with each request: a mail address, a URL or a handle; the bot's handle if not set"),
            Setting(
                "NOTIFY_URL", "told what you should know, as https://… or ntfy://host/topic", isSecret: true),
            Setting(
                "NOTIFY_FORMAT", "how a notice looks; ntfy where NOTIFY_URL begins with ntfy://",
                form: .choice(NoticeConfiguration.Format.allCases.map(\.rawValue)), fallback: "json", isOfProcess: true,
                derived: { $0.text("NOTIFY_URL")?.hasPrefix(NoticeConfiguration.ntfyScheme) == true ? "ntfy" : nil }),
            Setting(
                "NOTIFY_COMMAND", "program that is given each notice on its standard input", isOfProcess: true),
            Setting(
                "HEARTBEAT_URL", "asked for every few minutes while the mirror does its work, as https://…",
                isSecret: true),
            Setting(
                "LOG_LEVEL", "least severe message that is logged",
                form: .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), fallback: "info",
                isOfProcess: true),
            Setting(
                "LOG_FORMAT", "pretty on a terminal, else logfmt",
                form: .choice(["logfmt", "json", "pretty"]), isOfProcess: true),
        ]
}
