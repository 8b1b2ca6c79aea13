import Conduct
package import Favorites
package import Foundation
package import Posts
package import Schedule
package import Storage

/// An account that mirror-bot uses: where it lives and what opens it.
package struct AccountConfiguration: Sendable {
    package var network: NetworkName
    /// `scheme://host[:port]`, without a path.
    package var server: String
    package var accessToken: Secret

    /// The server's host, and its port if it is not the usual one.
    package var host: String { server.split(separator: "/").last.map(String.init) ?? server }
}

/// Whether favorites are sent, noted for a person, or neither.
package enum FavoriteMode: String, Sendable {
    case off
    case suggest
    case auto
}

/// Everything one mirror is told from outside, read once at the edge.
package struct MirrorConfiguration: Sendable {
    package var mirror: String
    /// Nil while the human's account is not configured: an imported archive alone can feed a bot.
    package var human: AccountConfiguration?
    package var bot: AccountConfiguration?
    /// The network that imported JSON Lines belong to.
    package var humanNetwork: NetworkName
    package var storage: StorageLocation
    package var redisURL: Secret?
    package var redisTLSVerify: String
    package var timeZone: TimeZone?
    package var schedule: ScheduleConfiguration
    package var noRepeatDays: Int
    package var minimumAgeDays: Int
    package var links: Bool
    package var favorites: FavoriteConfiguration
    package var featureWords: FeatureWords
    package var favoriteMode: FavoriteMode
    package var favoritesPerDay: Int
    package var repliesPerPerson: Int
    package var repliesPerThread: Int
    package var archiveLimit: Int
    package var dictionary: String
    package var pollInterval: Duration
    /// Running on Heroku, whose disk is forgotten daily.
    package var isDyno: Bool

    /// - Parameters:
    ///   - values: The settings as they were found.
    ///   - environment: Other variables of the process: `DYNO`, `XDG_DATA_HOME`, `HOME`.
    /// - Throws: ``ConfigurationError`` for a value that is not usable.
    package init(_ values: SettingValues, environment: [String: String]) throws {
        mirror = try Self.mirror(values)
        humanNetwork = NetworkName(rawValue: values.text("NETWORK") ?? "") ?? .mastodon
        human = try Self.account("HUMAN", values, network: humanNetwork)
        bot = try Self.account("BOT", values, network: humanNetwork)
        storage = try Self.storage(values, environment)
        redisURL = values.text("REDIS_URL").map(Secret.init)
        redisTLSVerify = values.text("REDIS_TLS_VERIFY") ?? "auto"
        timeZone = try values.text("TIME_ZONE").map { try Self.zone($0) }
        schedule = try Self.schedule(values)
        noRepeatDays = values.integer("NO_REPEAT_DAYS")
        minimumAgeDays = values.integer("MIN_AGE_DAYS")
        links = values.text("LINKS") != "off"
        favorites = try FavoriteConfiguration(
            threshold: values.text("FAVORITE_RATE_THRESHOLD").flatMap { Double($0) } ?? 2,
            exampleLimit: values.integer("EXAMPLE_LIMIT"))
        featureWords = values.text("FEATURES") == "nouns" ? .nouns : .content
        favoriteMode = FavoriteMode(rawValue: values.text("FAVORITE_MODE") ?? "") ?? .auto
        favoritesPerDay = values.integer("FAVORITES_PER_DAY")
        repliesPerPerson = values.integer("REPLIES_PER_PERSON")
        repliesPerThread = values.integer("REPLIES_PER_THREAD")
        archiveLimit = values.integer("ARCHIVE_LIMIT")
        dictionary = values.text("MECAB_DICTIONARY") ?? "ipadic-utf8"
        pollInterval = .seconds(values.integer("POLL_SECONDS"))
        isDyno = environment["DYNO"]?.isEmpty == false
    }

    /// The bot's account, or an error that says what to set.
    package func requiredBot() throws -> AccountConfiguration {
        guard let bot else {
            throw ConfigurationError(
                "BOT_SERVER", "and BOT_ACCESS_TOKEN are not set; the README says how to get them", isMissing: true)
        }
        return bot
    }

    /// The human's account, or an error that says what to set.
    package func requiredHuman() throws -> AccountConfiguration {
        guard let human else {
            throw ConfigurationError(
                "HUMAN_SERVER",
                "and HUMAN_ACCESS_TOKEN are not set; the README says how to get them, or use --from with an archive",
                isMissing: true)
        }
        return human
    }

    /// Fails where the embedded database would be lost every day.
    package func requireLastingStorage() throws {
        guard case .sqlite = storage, isDyno else { return }
        throw ConfigurationError(
            "DATABASE_URL", "is not set, and a dyno's disk is forgotten daily; add the Heroku Postgres add-on")
    }

    private static func mirror(_ values: SettingValues) throws -> String {
        let name = values.text("MIRROR") ?? "default"
        let isPlain = name.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
        }
        guard (1...40).contains(name.utf8.count), isPlain else {
            throw ConfigurationError("MIRROR", "is not 1 to 40 of a-z, 0-9, - and _")
        }
        return name
    }

    private static func account(
        _ role: String, _ values: SettingValues, network: NetworkName
    ) throws -> AccountConfiguration? {
        let server = try values.text("\(role)_SERVER").map { try Self.server($0, setting: "\(role)_SERVER") }
        let token = values.text("\(role)_ACCESS_TOKEN")
        switch (server, token) {
        case (nil, nil): return nil
        case (let server?, let token?):
            return AccountConfiguration(network: network, server: server, accessToken: Secret(token))
        case (nil, _):
            throw ConfigurationError("\(role)_SERVER", "is not set, but \(role)_ACCESS_TOKEN is", isMissing: true)
        case (_, nil):
            throw ConfigurationError("\(role)_ACCESS_TOKEN", "is not set, but \(role)_SERVER is", isMissing: true)
        }
    }

    /// `https://host[:port]`; a bare host means https, and only loopback may use http.
    private static func server(_ text: String, setting: String) throws -> String {
        let full = text.contains("://") ? text : "https://\(text)"
        guard let parts = URLComponents(string: full), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty,
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil,
            parts.path.isEmpty || parts.path == "/"
        else { throw ConfigurationError(setting, "is not of the form https://host") }
        let port = parts.port.map { ":\($0)" } ?? ""
        return "\(scheme)://\(host.lowercased())\(port)"
    }

    private static func zone(_ identifier: String) throws -> TimeZone {
        guard let zone = TimeZone(identifier: identifier) else {
            throw ConfigurationError(
                "TIME_ZONE", "is \"\(identifier.prefix(60))\"; expected an IANA name such as Europe/Berlin")
        }
        return zone
    }

    private static func storage(_ values: SettingValues, _ environment: [String: String]) throws -> StorageLocation {
        if let url = values.text("DATABASE_URL") {
            guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else {
                throw ConfigurationError("DATABASE_URL", "does not begin with postgres://")
            }
            return .postgres(url: url)
        }
        return .sqlite(path: try home(values, environment) + "/mirror-bot.sqlite")
    }

    private static func home(_ values: SettingValues, _ environment: [String: String]) throws -> String {
        if let home = values.text("MIRROR_BOT_HOME") { return home }
        // The XDG base directory rules: relative values are to be ignored.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/mirror-bot" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw ConfigurationError("MIRROR_BOT_HOME", "is not set and there is no home folder to fall back on")
        }
        return home + "/.local/share/mirror-bot"
    }

    private static func schedule(_ values: SettingValues) throws -> ScheduleConfiguration {
        let text = values.text("QUIET_HOURS") ?? "none"
        guard let quiet = QuietHours(parsing: text) else {
            throw ConfigurationError(
                "QUIET_HOURS", "is \"\(text.prefix(60))\"; expected spans such as 23:00-07:00, or none")
        }
        var schedule = ScheduleConfiguration()
        schedule.model = values.text("SCHEDULE_MODEL") == "raw" ? .raw : .kernel
        schedule.bursts = values.text("BURSTS") != "off"
        schedule.quiet = quiet.minutes
        schedule.maximumPerDay = values.integer("MAX_PER_DAY")
        return schedule
    }
}
