/// One variable that mirror-bot reads: its name, meaning, form and default.
package struct Setting: Sendable {
    /// What a value must look like.
    package enum Form: Sendable {
        case text
        case choice([String])
        case integer(ClosedRange<Int>)
        /// A finite number above zero.
        case positive
    }

    package let name: String
    /// One line for people.
    package let summary: String
    package let form: Form
    /// The value when nothing is set; nil if there is none.
    package let fallback: String?
    /// Never printed; also read from the file that `NAME_FILE` names.
    package let isSecret: Bool

    init(_ name: String, _ summary: String, form: Form = .text, fallback: String? = nil, isSecret: Bool = false) {
        self.name = name
        self.summary = summary
        self.form = form
        self.fallback = fallback
        self.isSecret = isSecret
    }

    /// Every variable, in the order in which `mirror-bot config` and the README list them.
    package static let all: [Setting] = [
        Setting("MIRROR", "name of this human and bot pair; one database serves many", fallback: "default"),
        Setting(
            "NETWORK", "network of both accounts", form: .choice(["mastodon"]), fallback: "mastodon"),
        Setting("HUMAN_SERVER", "the human's server, as https://host"),
        Setting("HUMAN_ACCESS_TOKEN", "token that reads the human's account", isSecret: true),
        Setting("BOT_SERVER", "the bot's server, as https://host"),
        Setting("BOT_ACCESS_TOKEN", "token that reads and writes the bot's account", isSecret: true),
        Setting("DATABASE_URL", "Postgres, as postgres://…; without it an embedded database is used", isSecret: true),
        Setting("REDIS_URL", "Redis for the classifier's counts, as redis://… or rediss://…", isSecret: true),
        Setting(
            "REDIS_TLS_VERIFY", "how a rediss:// certificate is checked: auto, full, none or pin:…", fallback: "auto"),
        Setting("MIRROR_BOT_HOME", "folder of the embedded database"),
        Setting("TIME_ZONE", "IANA zone of the human's clock, such as Asia/Tokyo"),
        Setting(
            "SCHEDULE_MODEL", "how minutes are learned", form: .choice(["kernel", "raw"]), fallback: "kernel"),
        Setting(
            "BURSTS", "let posts follow each other as the human's do", form: .choice(["on", "off"]), fallback: "on"),
        Setting("QUIET_HOURS", "never post then, as 23:00-07:00,12:00-13:00 or none", fallback: "none"),
        Setting("NO_REPEAT_DAYS", "days before a text may return", form: .integer(0...3_650), fallback: "180"),
        Setting("MIN_AGE_DAYS", "days before a post may be mirrored", form: .integer(0...3_650), fallback: "30"),
        Setting("LINKS", "mirror posts that hold links", form: .choice(["on", "off"]), fallback: "on"),
        Setting("MAX_PER_DAY", "posts a day at most", form: .integer(1...1_000), fallback: "50"),
        Setting(
            "FAVORITE_RATE_THRESHOLD", "favorite when P(favorite)/P(normal) is above", form: .positive, fallback: "2"),
        Setting("FEATURES", "words that count", form: .choice(["content", "nouns"]), fallback: "content"),
        Setting(
            "FAVORITE_MODE", "favorite, only note what would be, or neither",
            form: .choice(["off", "suggest", "auto"]), fallback: "auto"),
        Setting("FAVORITES_PER_DAY", "favorites a day at most", form: .integer(0...1_000), fallback: "10"),
        Setting("REPLIES_PER_PERSON", "replies to one person a day at most", form: .integer(0...100), fallback: "3"),
        Setting("REPLIES_PER_THREAD", "replies in one thread at most", form: .integer(0...100), fallback: "5"),
        Setting("ARCHIVE_LIMIT", "posts kept", form: .integer(100...10_000_000), fallback: "10000"),
        Setting("EXAMPLE_LIMIT", "labelled posts kept", form: .integer(100...10_000_000), fallback: "50000"),
        Setting("MECAB_DICTIONARY", "ipadic-utf8, or the folder of such a dictionary", fallback: "ipadic-utf8"),
        Setting("POLL_SECONDS", "seconds between looks at the mentions", form: .integer(10...3_600), fallback: "60"),
        Setting(
            "LOG_LEVEL", "least severe message that is logged",
            form: .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), fallback: "info"),
        Setting(
            "LOG_FORMAT", "pretty on a terminal, else logfmt",
            form: .choice(["logfmt", "json", "pretty"])),
    ]
}
