package import Conduct
package import Favorites
package import Foundation
import MeCab
package import Networks
package import Outbox
package import Posts
import Redis
package import Schedule
package import Storage
import Transport

/// Whether favorites are sent, noted for a person, or neither.
package enum FavoriteMode: String, Sendable {
    case off
    case suggest
    case auto
}

/// Everything one mirror is told from outside, read once at the edge.
package struct MirrorConfiguration: Sendable {
    /// The name of this human and bot pair, under which all its rows stand.
    package var mirror: String
    /// The settings as they were found.
    package private(set) var values: SettingValues
    /// The accounts as the settings describe them; stored logins may stand in.
    ///
    /// The human's may be missing altogether: an imported archive alone can feed a bot.
    private var accounts: [AccountRole: AccountConfiguration] = [:]
    /// Where requests go instead of the networks' own addresses.
    private var apiBaseURLs: [AccountRole: String] = [:]
    /// The human's network, and that of imported archives.
    package private(set) var humanNetwork: NetworkName
    package private(set) var botNetwork: NetworkName
    /// Seals what is stored of logins.
    package var secretKey: Secret?
    /// What the operator allows on X.
    package var x: XConfiguration
    /// The database.
    package var storage: StorageLocation
    /// Where the classifier's counts are; nil for the database.
    package var redisURL: Secret?
    /// How the certificate of a `rediss://` server is checked.
    package var redisTLSVerify: String
    /// The human's clock; nil if it is not set, though the mirror may know one.
    package var timeZone: TimeZone?
    /// Whom a server's operator may write to about the bot; nil for the bot itself.
    package private(set) var operatorContact: String?
    /// Who is told what a person should know while nobody looks.
    package private(set) var notices: NoticeConfiguration
    /// How days are drawn.
    package var schedule: ScheduleConfiguration
    /// For how many seconds after a post of the human's no slot leaves; nil where that is no reason to wait.
    package private(set) var holdWhileActive: TimeInterval?
    /// Days before a text may return.
    package var noRepeatDays: Int
    /// How often a text may be posted in all; nil for any number of times.
    package private(set) var maximumUses: Int?
    /// How long plans and ended actions are kept.
    package var historyDays: Int
    /// Whether the human's posts are read from a server that is known to show private ones as public.
    package private(set) var trustsHumanServer: Bool
    /// Who may quote the bot's posts; nil: as its account's preferences on the server say.
    package private(set) var quotes: Audience?
    /// Who may answer the bot's posts, where its network leaves that to authors.
    package private(set) var replies: Audience
    /// Days before a post may be mirrored.
    package var minimumAgeDays: Int
    /// Days after which a post is mirrored no more; nil for never.
    package private(set) var maximumAgeDays: Int?
    /// Whether posts with links are mirrored; on X whether links stay in them.
    package private(set) var links: Bool
    /// How fit texts must be to be posted by themselves.
    package private(set) var fitness: FitnessMode
    /// Whether posts with content warnings are sent with these, and not left out.
    package private(set) var carriesWarnings: Bool
    /// Which of the human's pictures are sent along with their posts.
    package private(set) var pictures: PictureRule
    /// What becomes of the human's own threads.
    package private(set) var threads: ThreadRule
    /// When the classifier says yes, and how much it remembers.
    package var favorites: FavoriteConfiguration
    /// The words that count as features.
    package var featureWords: FeatureWords
    /// What becomes of a post that the human would favorite.
    package private(set) var favoriteMode: FavoriteMode
    /// What a person wants to agree to before it is done.
    package private(set) var review: Set<ActionKind>
    /// What follows for the bot's posts when the human changes the originals.
    package private(set) var editRule: EditRule
    /// Whether the bot's post goes that the human favorites.
    package private(set) var deletesOnFavorite: Bool
    /// Favorites on one local day at most.
    package var favoritesPerDay: Int
    /// Replies to one person on one local day at most.
    package var repliesPerPerson: Int
    /// Replies in one conversation at most.
    package var repliesPerThread: Int
    /// Posts of the human that are kept; the oldest leave.
    package var archiveLimit: Int
    /// The name or folder of MeCab's dictionary.
    package var dictionary: String
    /// The wait between two looks at the mentions.
    package var pollInterval: Duration
    /// The zone's name as it was written; Foundation calls some zones by another one, as `UTC` by `GMT`.
    package var timeZoneName: String? { timeZone == nil ? nil : values.text("TIME_ZONE") }

    /// What a zone is called: as the operator wrote it, where it is theirs.
    package func name(of zone: TimeZone) -> String { timeZoneName.flatMap { timeZone == zone ? $0 : nil } ?? zone.name }
    /// Running on Heroku, whose disk is forgotten daily.
    package var isDyno: Bool
    /// The variables of a rehearsal; empty in earnest.
    package let rehearsal: [String: String]
    /// Goes by what it is told from outside alone: for who mends what is set.
    package var ignoresSettings = false
    /// What this was made from besides the values; holds no secret.
    private let environment: [String: String]
    private let readsAccounts: Bool

    /// How long labelled posts are kept, in days.
    private static func exampleDays(on networks: [NetworkName]) -> Int {
        networks.map(\.traits.learningDays).min() ?? 180
    }

    /// What was changed before this is not kept: neither the operator nor any cap or repeat of a text asks for it.
    package func historyStart(at now: Date) -> Date {
        now - Double(max(historyDays, noRepeatDays + 1, 31)) * 86_400
    }

    /// - Parameters:
    ///   - values: The settings as they were found.
    ///   - environment: Other variables of the process: `DYNO`, `XDG_DATA_HOME`, `HOME`.
    ///   - readsAccounts: False for what works without any, such as logging in; half an account is then no error.
    /// - Throws: ``ConfigurationError`` for a value that is not usable.
    package init(_ values: SettingValues, environment: [String: String], readsAccounts: Bool = true) throws {
        self.values = values
        mirror = try Self.mirror(values)
        (humanNetwork, botNetwork) = (values.network(of: .human), values.network(of: .bot))
        for role in AccountRole.allCases {
            let settings = AccountSettings(role: role, network: values.network(of: role), values: values)
            apiBaseURLs[role] = try settings.apiBaseURL()
            if readsAccounts { accounts[role] = try settings.account() }
        }
        secretKey = try Self.secretKey(values)
        x = XConfiguration(values)
        storage = try Self.storage(values, environment)
        redisURL = values.text("REDIS_URL").map(Secret.init)
        redisTLSVerify = values.text("REDIS_TLS_VERIFY") ?? "auto"
        timeZone = try values.text("TIME_ZONE").map { try Self.zone($0) }
        operatorContact = try values.text("OPERATOR_CONTACT").map { try Self.contact($0) }
        notices = try NoticeConfiguration(values)
        schedule = try Self.schedule(values)
        holdWhileActive = try Self.hold(values)
        noRepeatDays = values.integer("NO_REPEAT_DAYS")
        maximumUses = values.integerOrNone("MAX_USES")
        historyDays = values.integer("HISTORY_DAYS")
        trustsHumanServer = values.text("TRUST_HUMAN_SERVER") == "yes"
        minimumAgeDays = values.integer("MIN_AGE_DAYS")
        maximumAgeDays = values.integerOrNone("MAX_AGE_DAYS")
        quotes = values.text("QUOTES").flatMap(Audience.init)
        replies = values.text("WHO_MAY_REPLY").flatMap(Audience.init) ?? .anyone
        links = Self.links(values)
        fitness = values.text("FITNESS").flatMap(FitnessMode.init) ?? .plain
        carriesWarnings = values.text("CONTENT_WARNINGS") == "carry"
        pictures = Self.pictures(values)
        threads = values.text("THREADS") == "whole" ? .whole : .leftOut
        favorites = try FavoriteConfiguration(
            threshold: values.text("FAVORITE_RATE_THRESHOLD").flatMap { Double($0) } ?? 2,
            exampleLimit: values.integer("EXAMPLE_LIMIT"),
            maximumAgeDays: Self.exampleDays(on: [humanNetwork, botNetwork]),
            weighting: Weighting(rawValue: values.text("WEIGHTS") ?? "") ?? .learned)
        featureWords = values.text("FEATURES").flatMap(FeatureWords.init(rawValue:)) ?? .pairs
        favoriteMode = Self.favoriteMode(values)
        review = Self.reviewed(values.text("REVIEW"))
        editRule = EditRule(rawValue: values.text("FOLLOW_EDITS") ?? "") ?? .off
        deletesOnFavorite = values.text("DELETE_ON_FAVORITE") == "yes"
        favoritesPerDay = values.integer("FAVORITES_PER_DAY")
        repliesPerPerson = values.integer("REPLIES_PER_PERSON")
        repliesPerThread = values.integer("REPLIES_PER_THREAD")
        archiveLimit = values.integer("ARCHIVE_LIMIT")
        dictionary = values.text("MECAB_DICTIONARY") ?? "ipadic-utf8"
        pollInterval = .seconds(values.integer("POLL_SECONDS"))
        isDyno = Self.isDyno(environment)
        rehearsal = RehearsalVariable.variables(in: environment)
        self.environment = environment.filter {
            ["DYNO", "XDG_DATA_HOME", "HOME"].contains($0.key) || RehearsalVariable(rawValue: $0.key) != nil
        }
        self.readsAccounts = readsAccounts
        if accounts[.bot] != nil || values.networkSetting(of: .bot) != nil { try requireAudience() }
    }

    /// The configuration with what is set for its mirror.
    ///
    /// - Parameter stored: What is set, by names of variables.
    /// - Returns: This one where nothing is set.
    /// - Throws: ``ConfigurationError`` for a value that cannot be used, such as one that an earlier version took.
    package func with(stored: [String: String]) throws -> MirrorConfiguration {
        guard !stored.isEmpty else { return self }
        do {
            return try MirrorConfiguration(
                try values.overlaid(with: stored), environment: environment, readsAccounts: readsAccounts)
        } catch let error as ConfigurationError where stored[error.setting] != nil {
            let problem = String(error.description.dropFirst(error.setting.count + 1))
            throw ConfigurationError(
                error.setting, "\(problem); it was set for the mirror, and mirror-bot unset \(error.setting) forgets it"
            )
        }
    }

    /// Everything that is wrong with values which are of their form; asks no server.
    ///
    /// - Parameters:
    ///   - values: The settings as they were found.
    ///   - environment: Other variables of the process.
    /// - Returns: An error for each setting at fault, in the order of ``Setting/all`` as far as they have one.
    package static func problems(
        in values: SettingValues, environment: [String: String]
    ) -> [ConfigurationError] {
        var problems: [ConfigurationError] = []
        func check(_ setting: String, _ body: () throws -> Void) {
            do {
                try body()
            } catch {
                let error = error as? ConfigurationError ?? problem(setting, error)
                if !problems.contains(where: { $0.setting == error.setting }) { problems.append(error) }
            }
        }
        check("MIRROR") { _ = try mirror(values) }
        for role in AccountRole.allCases {
            let settings = AccountSettings(role: role, network: values.network(of: role), values: values)
            check("\(role.prefix)_NETWORK") { try settings.checkForms() }
            check("\(role.prefix)_API_BASE_URL") { _ = try settings.apiBaseURL() }
            check("\(role.prefix)_NETWORK") { _ = try settings.account() }
        }
        check("SECRET_KEY") { _ = try secretKey(values) }
        check("DATABASE_URL") {
            let storage = try storage(values, environment)
            try storage.check()
            try requireLasting(storage, isDyno: isDyno(environment))
        }
        check("REDIS_TLS_VERIFY") {
            _ = try RedisTLSVerification(parsing: values.text("REDIS_TLS_VERIFY") ?? "auto", isSelfSignedHost: false)
        }
        check("REDIS_URL") { _ = try values.text("REDIS_URL").map { try RedisConfiguration(url: $0) } }
        check("MIRROR_BOT_HOME") { _ = try home(values, environment) }
        check("TIME_ZONE") { _ = try values.text("TIME_ZONE").map { try zone($0) } }
        check("QUIET_HOURS") { _ = try schedule(values) }
        check("HOLD_WHILE_ACTIVE") { _ = try hold(values) }
        check("MECAB_DICTIONARY") { _ = try Tokenizer(dictionary: values.text("MECAB_DICTIONARY") ?? "ipadic-utf8") }
        check("NOTIFY_URL") { _ = try NoticeConfiguration(values) }
        check("OPERATOR_CONTACT") { _ = try values.text("OPERATOR_CONTACT").map { try contact($0) } }
        return problems
    }

    /// An error of what is to use a setting, in the words of an error about the setting.
    private static func problem(_ setting: String, _ error: any Error) -> ConfigurationError {
        let cause =
            switch error {
            case let error as StorageError: error.cause
            case let error as RedisError: error.message
            default: "\(error)"
            }
        let isNamed = cause.hasPrefix(setting + " ")
        return ConfigurationError(
            setting, isNamed ? String(cause.dropFirst(setting.count + 1)) : "cannot be used: \(cause)")
    }

    /// The account of a role as the settings describe it; a stored login may stand in.
    package func account(_ role: AccountRole) -> AccountConfiguration? { accounts[role] }

    /// The network of a role's account.
    package func network(of role: AccountRole) -> NetworkName { role == .human ? humanNetwork : botNetwork }

    /// Where requests of a role go instead of the network's own address; nil for that one.
    package func apiBaseURL(of role: AccountRole) -> String? { apiBaseURLs[role] }

    /// What the settings say that keeps a stored login from being used.
    ///
    /// - Parameters:
    ///   - role: Whose login.
    ///   - network: Where it is.
    /// - Returns: A sentence for each obstacle, which says what to change.
    package func obstacles(toLoginOf role: AccountRole, on network: NetworkName) -> [String] {
        var sentences: [String] = []
        if let setting = AccountField.settable.map({ $0.name(of: role) }).first(where: { values.text($0) != nil }) {
            sentences.append("\(setting) is set, and settings win over a login; remove it to use the login")
        }
        if let setting = values.networkSetting(of: role), values.network(of: role) != network {
            sentences.append(
                "\(setting) is \(values.network(of: role).rawValue); set \(role.prefix)_NETWORK to "
                    + "\(network.rawValue) to use the login")
        }
        return sentences
    }

    /// Fails where the bot's network does not let authors decide what the settings decide.
    private func requireAudience() throws {
        let name = botNetwork.displayName
        if let quotes, !botNetwork.descriptor.quotes.contains(quotes) {
            throw ConfigurationError(
                "QUOTES", "cannot be \(quotes.rawValue) on \(name); unset it to leave that to the network")
        }
        if !botNetwork.descriptor.replies.contains(replies) {
            throw ConfigurationError(
                "WHO_MAY_REPLY", "cannot be \(replies.rawValue) on \(name), where authors do not decide that")
        }
    }

    /// Lets the logins that are stored decide about networks that nobody named, and about what follows from them.
    ///
    /// - Parameter networks: The networks of the stored logins.
    /// - Throws: ``ConfigurationError`` for a setting that the network of a login does not know.
    package mutating func adopt(_ networks: [AccountRole: NetworkName]) throws {
        // Where the settings describe an account, nobody looks at what is stored.
        values = values.adopting(networks.filter { account($0.key) == nil })
        (humanNetwork, botNetwork) = (values.network(of: .human), values.network(of: .bot))
        (links, favoriteMode) = (Self.links(values), Self.favoriteMode(values))
        favorites.maximumAgeDays = Self.exampleDays(on: [humanNetwork, botNetwork])
        if networks[.bot] != nil { try requireAudience() }
    }

    /// The error for a role that has no account, which says how to get one.
    package func missing(_ role: AccountRole) -> ConfigurationError {
        let network = network(of: role)
        let names = network.descriptor.requiredNames(of: role)
        let rest = names.dropFirst().map { "and \($0) " }.joined()
        let instead = role == .human ? ", or use --from with an archive" : ""
        return ConfigurationError(
            names[0],
            "\(rest)\(names.count == 1 ? "is" : "are") not set; run mirror-bot login \(network.rawValue) --as "
                + "\(role.rawValue), or see the README\(instead)",
            isMissing: true)
    }

    /// Fails where the embedded database would be lost every day.
    package func requireLastingStorage() throws {
        try Self.requireLasting(storage, isDyno: isDyno)
    }

    private static func isDyno(_ environment: [String: String]) -> Bool { environment["DYNO"]?.isEmpty == false }

    private static func requireLasting(_ storage: StorageLocation, isDyno: Bool) throws {
        guard case .sqlite = storage, isDyno else { return }
        throw ConfigurationError(
            "DATABASE_URL", "is not set, and a dyno's disk is forgotten daily; add the Heroku Postgres add-on")
    }

    /// Fails where there is no embedded database yet, and says how to begin.
    package func requireDatabase() throws {
        guard case .sqlite(let path) = storage, !FileManager.default.fileExists(atPath: path) else { return }
        throw ConfigurationError(
            "the database",
            "\(path) does not exist yet; begin with mirror-bot login mastodon --as human, or with mirror-bot train "
                + "scheduler --from ARCHIVE (MIRROR_BOT_HOME and --home say where it is)")
    }

    /// The mirror's name where nobody gives one.
    package static let usualMirror = "default"

    private static func mirror(_ values: SettingValues) throws -> String {
        let name = values.text("MIRROR") ?? usualMirror
        let isPlain = name.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
        }
        guard (1...40).contains(name.utf8.count), isPlain else {
            throw ConfigurationError("MIRROR", "is not 1 to 40 of a-z, 0-9, - and _")
        }
        return name
    }

    private static func links(_ values: SettingValues) -> Bool { values.text("LINKS") != "off" }

    private static func pictures(_ values: SettingValues) -> PictureRule {
        guard values.text("MEDIA") == "own" else { return .leftOut }
        return values.text("MEDIA_WITHOUT_ALT") == "yes" ? .all : .described
    }

    private static func reviewed(_ text: String?) -> Set<ActionKind> {
        switch text {
        case "posts": [.post]
        case "replies": [.reply]
        case "all": Set(ActionKind.allCases)
        default: []
        }
    }

    private static func favoriteMode(_ values: SettingValues) -> FavoriteMode {
        FavoriteMode(rawValue: values.text("FAVORITE_MODE") ?? "") ?? .suggest
    }

    private static func secretKey(_ values: SettingValues) throws -> Secret? {
        guard let text = values.text("SECRET_KEY") else { return nil }
        guard text.count >= 32 else {
            throw ConfigurationError(
                "SECRET_KEY", "is too short; expected 64 hex digits, or a text of 32 characters or more")
        }
        return Secret(text)
    }

    private static func zone(_ identifier: String) throws -> TimeZone {
        guard let zone = TimeZone(identifier: identifier) else {
            throw ConfigurationError(
                "TIME_ZONE", "is \"\(identifier.prefix(60))\"; expected an IANA name such as Europe/Berlin")
        }
        return zone
    }

    /// A mail address, a URL or a handle that can stand in a header.
    private static func contact(_ text: String) throws -> String {
        let isURL = ["https://", "http://", "mailto:"].contains { start in
            text.hasPrefix(start) && text.utf8.count > start.utf8.count + 2
        }
        let names = text.drop { $0 == "@" }.split(separator: "@", omittingEmptySubsequences: false)
        let isName = (1...2).contains(names.count) && names.allSatisfy { !$0.isEmpty && !$0.contains(":") }
        // Without any @ it takes a dot to be a handle, as on Bluesky.
        let isHandle = isName && (text.contains("@") || text.contains(".")) && !text.contains("/")
        guard HTTPClient.isContact(text), isURL || isHandle else {
            throw ConfigurationError(
                "OPERATOR_CONTACT",
                "is no mail address, URL or handle such as ops@example.org, https://example.org/bot or @ops@example.org"
            )
        }
        return text
    }

    private static func storage(_ values: SettingValues, _ environment: [String: String]) throws -> StorageLocation {
        if let url = values.text("DATABASE_URL") {
            guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
                throw ConfigurationError("DATABASE_URL", "does not begin with postgres://")
            }
            return .postgres(url: url)
        }
        return .sqlite(path: try home(values, environment) + "/" + databaseFile)
    }

    /// What the embedded database is called in its folder.
    package static let databaseFile = "mirror-bot.sqlite"

    /// The folder of the embedded database: the one that is set, else where programs of a person keep their data.
    ///
    /// - Throws: ``ConfigurationError`` if there is no home folder.
    package static func home(_ values: SettingValues, _ environment: [String: String]) throws -> String {
        if let home = values.text("MIRROR_BOT_HOME") { return home }
        // The XDG base directory rules: relative values are to be ignored.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/mirror-bot" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw ConfigurationError("MIRROR_BOT_HOME", "is not set and there is no home folder to fall back on")
        }
        return home + "/.local/share/mirror-bot"
    }

    /// The length of `2h` or `90m` in seconds; nil for `none`.
    private static func hold(_ values: SettingValues) throws -> TimeInterval? {
        let text = values.text("HOLD_WHILE_ACTIVE") ?? "none"
        guard text != "none" else { return nil }
        let minutes = ["m": 1, "h": 60][text.suffix(1)]
        // Behind a whole day nothing would be left of it.
        guard let minutes, let number = Int(text.dropLast()), (1...24 * 60 / minutes).contains(number) else {
            throw ConfigurationError(
                "HOLD_WHILE_ACTIVE", "is \"\(text.prefix(40))\"; expected up to 24 hours such as 2h or 90m, or none")
        }
        return TimeInterval(number * minutes * 60)
    }

    private static func schedule(_ values: SettingValues) throws -> ScheduleConfiguration {
        let text = values.text("QUIET_HOURS") ?? "none"
        guard let quiet = QuietHours(parsing: text) else {
            throw ConfigurationError(
                "QUIET_HOURS", "is \"\(text.prefix(60))\"; expected spans such as 23:00-07:00, or none")
        }
        var schedule = ScheduleConfiguration()
        schedule.model = values.text("SCHEDULE_MODEL").flatMap(ScheduleModel.init) ?? .days
        schedule.bursts = values.text("BURSTS") != "off"
        schedule.quiet = quiet.minutes
        schedule.maximumPerDay = values.integer("MAX_PER_DAY")
        return schedule
    }
}

/// What the operator allows on X, where rules are strict and calls cost money.
package struct XConfiguration: Sendable {
    /// The operator knows what the rules of X say about mirrors, and wants to publish.
    package var mayPublish: Bool
    /// What all calls of a calendar month in UTC may cost.
    package var monthlyBudget: Money
    /// Posts of home timelines to pay for on a day in UTC; 0 leaves them alone.
    package var homePostsPerDay: Int
    /// Whose account owns the developer application: it reads its own posts, mentions and favorites for less.
    package var appOwner: AccountRole?
    /// How request parameters are spelled.
    package var fieldNames: XFieldNames

    /// What home timelines may cost on a day.
    package var homeShare: Money {
        XPrices.current.price(ofReading: homePostsPerDay, from: .home, fieldNames: fieldNames)
    }

    init(_ values: SettingValues) {
        mayPublish = values.text("X_ACKNOWLEDGE_POLICY") == "yes"
        monthlyBudget = values.text("X_BUDGET_USD_PER_MONTH").flatMap { Money(dollars: $0) } ?? .zero
        homePostsPerDay = values.integer("X_HOME_POSTS_PER_DAY")
        appOwner = values.text("X_APP_OWNER").flatMap { AccountRole(rawValue: $0) }
        fieldNames = values.text("X_FIELD_NAMES").flatMap { XFieldNames(rawValue: $0) } ?? .tweet
    }
}

/// What follows for the bot's posts when the human changes the originals.
package enum EditRule: String, Sendable {
    /// The copy is changed where the bot's network can do that, and else taken back.
    case edit
    /// The copy is taken back.
    case delete
    /// Nothing.
    case off
}
