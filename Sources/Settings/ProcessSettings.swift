import Foundation
import Localization
package import Logging
import MeCab
package import Posts
import Redis
package import Storage

/// The settings of a process, which all its mirrors share: the database, the key, the dictionary,
/// notices and logs.
///
/// Parsed once from the values; they cannot differ between mirrors.
package struct ProcessSettings: Sendable {
    /// The location of the database.
    package var storage: StorageLocation
    /// The Redis server with the classifier's counts; nil for the database.
    package var redisURL: Secret?
    /// The method of verifying the certificate of a `rediss://` server.
    package private(set) var redisTLSVerify: String
    /// The key that seals stored logins; nil for the key file beside the embedded database.
    package var secretKey: Secret?
    /// The name or folder of MeCab's dictionary.
    package private(set) var dictionary: String
    /// The most passes of the process's mirrors that run concurrently.
    package private(set) var passes: Int
    /// The addresses of notices and heartbeats.
    package private(set) var notices: NoticeConfiguration
    /// The level and the format of the log.
    package private(set) var log: LogSettings
    /// The web page's address and access.
    package private(set) var web: WebSettings
    /// Whether the process runs on Heroku, where the disk is deleted daily.
    package private(set) var isDyno: Bool
    /// The variables of a rehearsal; empty in normal operation.
    package let rehearsal: [String: String]

    /// - Parameters:
    ///   - values: The settings, unparsed.
    ///   - environment: Other variables of the process: `DYNO`, `XDG_DATA_HOME`, `HOME`, those of a
    ///     rehearsal.
    /// - Throws: ``ConfigurationError`` for a value that is not usable.
    package init(_ values: SettingValues, environment: [String: String]) throws {
        secretKey = values[.secretKey]
        storage = try Self.storage(values, environment)
        redisURL = values[.redisURL]
        redisTLSVerify = values[.redisTLSVerify]
        passes = values[.passes]
        notices = try NoticeConfiguration(values)
        dictionary = values[.dictionary]
        log = LogSettings(values)
        web = try WebSettings(values, environment: environment)
        isDyno = Self.isDyno(environment)
        rehearsal = RehearsalVariable.variables(in: environment)
    }

    /// Throws if the embedded database would be lost every day.
    ///
    /// - Throws: ``ConfigurationError`` for `DATABASE_URL`.
    package func requireLastingStorage() throws { try Self.requireLasting(storage, isDyno: isDyno) }

    /// Throws if there is no embedded database yet.
    ///
    /// - Throws: ``ConfigurationError`` with ``MissingPart/database``.
    package func requireDatabase() throws {
        guard case .sqlite(let path) = storage, access(path, F_OK) != 0 else { return }
        if errno == EACCES {
            throw ConfigurationError(
                localized("the database"),
                localized(
                    "\(path) cannot be reached: \(FileFault(EACCES, at: path)) with \(Setting.home.name)"
                )
            )
        }
        throw ConfigurationError(
            localized("the database"),
            localized(
                "\(path) does not exist yet (\(Setting.home.name) and --home say where it is)"),
            part: .database)
    }

    /// The file name of the embedded database in its folder.
    package static let databaseFile = "mirror-bot.sqlite"

    /// The folder of the embedded database: the folder in the settings, or else the user's folder
    /// for program data.
    ///
    /// - Throws: ``ConfigurationError`` if there is no home folder.
    package static func home(_ values: SettingValues, _ environment: [String: String]) throws
        -> String
    {
        if let home = values[.home] { return home }
        // The XDG base directory rules: relative values are to be ignored.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
            return data + "/mirror-bot"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw ConfigurationError(
                Setting.home.name,
                localized("is not set and there is no home folder to fall back on"))
        }
        return home + "/.local/share/mirror-bot"
    }

    /// Checks the consequences of a value, such as a URL or a dictionary, without contacting a
    /// server.
    ///
    /// - Parameters:
    ///   - values: The settings, unparsed.
    ///   - environment: Other variables of the process.
    ///   - problems: Gets an error for each setting at fault.
    static func check(
        _ values: SettingValues, environment: [String: String], _ problems: inout SettingProblems
    ) {
        problems.check(.databaseURL) {
            let storage = try storage(values, environment)
            try storage.check()
            try requireLasting(storage, isDyno: isDyno(environment))
        }
        problems.check(.redisTLSVerify) {
            _ = try RedisTLSVerification(parsing: values[.redisTLSVerify], isSelfSignedHost: false)
        }
        problems.check(.redisURL) {
            _ = try values[.redisURL].map { try RedisConfiguration(url: $0.reveal()) }
        }
        problems.check(.home) { _ = try home(values, environment) }
        problems.check(.dictionary) { _ = try Tokenizer(dictionary: values[.dictionary]) }
        problems.check(.notifyURL) { _ = try NoticeConfiguration(values) }
        problems.check(.webListen) { _ = try WebSettings(values, environment: environment) }
    }

    private static func isDyno(_ environment: [String: String]) -> Bool {
        environment["DYNO"]?.isEmpty == false
    }

    private static func requireLasting(_ storage: StorageLocation, isDyno: Bool) throws {
        guard case .sqlite = storage, isDyno else { return }
        throw ConfigurationError(
            Setting.databaseURL.name,
            localized(
                "is not set, and a dyno's disk is forgotten daily; add the Heroku Postgres add-on"))
    }

    /// Fails for a text that is too short for a key.
    ///
    /// - Throws: ``ConfigurationError``.
    static func requireKey(_ text: String, named name: String) throws {
        guard text.count >= 32 else {
            throw ConfigurationError(
                name,
                localized(
                    "is too short; expected 64 hex digits, or a text of 32 characters or more"))
        }
    }

    /// Fails for a text that is no address of a Postgres server.
    ///
    /// - Throws: ``ConfigurationError``.
    static func requireDatabase(_ text: String, named name: String) throws {
        if let problem = StorageLocation.problem(ofURL: text) {
            throw ConfigurationError(name, problem)
        }
    }

    private static func storage(_ values: SettingValues, _ environment: [String: String]) throws
        -> StorageLocation
    {
        if let url = values[.databaseURL] {
            return .postgres(url: url.reveal(), connections: values[.databaseConnections])
        }
        return .sqlite(path: try home(values, environment) + "/" + databaseFile)
    }
}

/// The level and the format of the log.
package struct LogSettings: Sendable {
    /// The format of messages.
    package enum Format: String, CaseIterable, Sendable {
        case logfmt, json, pretty
    }

    /// The least severe level that is logged.
    package let level: Logger.Level
    /// The format; nil for `pretty` on a terminal and `logfmt` elsewhere.
    package let format: Format?

    package init(_ values: SettingValues) {
        level = values[.logLevel]
        format = values[.logFormat]
    }
}
