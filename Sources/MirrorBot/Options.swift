import ArgumentParser
import Blocking
import Control
import Foundation
import Mirroring
import Posts
import Settings

/// The flags of every command that changes something for a person.
struct ChangeOutput: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Change nothing unless this is still the value of seen in a report's JSON.",
            valueName: "digest"))
    var seen: String?

    func validate() throws {
        if let seen, Seen(seen) == nil {
            throw ValidationError(
                "--seen is \"\(seen)\"; expected the 16 digits that a report gives as seen")
        }
    }

    /// The `--seen` digest; nil if it was not given.
    var digest: Seen? { seen.flatMap(Seen.init) }
}

/// The flags of every command that works on a mirror.
struct MirrorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Which human and bot pair; overrides MIRROR.", valueName: "name"),
        completion: .custom(MirrorNames.complete))
    var mirror: String?

    @Option(
        help: ArgumentHelp("The human's IANA time zone; overrides TIME_ZONE.", valueName: "zone"))
    var timeZone: String?

    @Option(
        help: ArgumentHelp(
            "Folder of the embedded database; overrides MIRROR_BOT_HOME.", valueName: "folder"))
    var home: String?

    @Option(
        help: ArgumentHelp(
            "trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    @Option(help: ArgumentHelp("logfmt, json or pretty.", valueName: "format"))
    var logFormat: String?

    /// The flags that were given: the setting each overrides, its name and its value.
    private var given: [(setting: Setting, flag: String, value: String)] {
        let flags: [(Setting, String, String?)] = [
            (.mirror, "--mirror", mirror), (.timeZone, "--time-zone", timeZone),
            (.home, "--home", home),
            (.logLevel, "--log-level", logLevel), (.logFormat, "--log-format", logFormat),
        ]
        return flags.compactMap { setting, flag, value in value.map { (setting, flag, $0) } }
    }

    /// The flags as a command gets them that works on the same mirror.
    var words: [String] { given.map { "\($0.flag)=\($0.value)" } }

    /// The flags without which a proposed command would not find the mirror, as a shell reads them.
    var mirrorWords: [String] {
        given.filter { [Setting.mirror.name, Setting.home.name].contains($0.setting.name) }
            .flatMap { [$0.flag, ShellWord.quoted(Printable.line($0.value))] }
    }

    func validate() throws {
        // An empty folder would be the root of the file system.
        for empty in given where empty.value.isEmpty {
            throw ValidationError("\(empty.flag) is empty")
        }
    }

    /// The configuration as flags, environment and `.env` give it, with its settings.
    ///
    /// A wrong value of a flag is a wrong use of the command, and named as the flag.
    ///
    /// - Parameter readsAccounts: False for commands that make an account's settings in the first
    ///   place.
    /// - Throws: `ValidationError` for a flag, `ConfigurationError` for a variable.
    func configuration(readsAccounts: Bool = true) async throws -> MirrorConfiguration {
        let (values, problems) = self.values()
        do {
            if let first = problems.first { throw first }
            return try MirrorConfiguration(
                values, environment: Console.current.environment, readsAccounts: readsAccounts)
        } catch let error as ConfigurationError {
            throw named(error)
        }
    }

    /// Every setting as it was found, and everything that is wrong with any of them.
    ///
    /// - Returns: The values, and an error for each that cannot be used.
    /// - Throws: `ValidationError` for a flag.
    func checkedValues() async throws -> (values: SettingValues, problems: [ConfigurationError]) {
        var (values, problems) = self.values()
        // What is not of its form is taken for the default, and would be blamed for what follows
        // from that.
        let isReadable = !problems.contains { $0.setting.hasSuffix(Setting.network.name) }
        if isReadable {
            let wrong = Set(problems.map(\.setting))
            problems += MirrorConfiguration.problems(
                in: values, environment: Console.current.environment
            )
            .filter { !wrong.contains($0.setting) }
        }
        for problem in problems {
            if let error = named(problem) as? ValidationError { throw error }
        }
        return (values, problems)
    }

    private func values() -> (values: SettingValues, problems: [ConfigurationError]) {
        let flags = given.map { ($0.setting.name, $0.value) }
        let (values, problems) = SettingValues.loadAll(
            flags: Dictionary(uniqueKeysWithValues: flags),
            environment: Console.current.environment,
            folder: Console.current.folder)
        for warning in values.warnings {
            StandardError.write("warning: \(Printable.line(warning))\n")
        }
        return (values, problems)
    }

    /// The error as it is about a flag, if one was given for its variable.
    private func named(_ error: ConfigurationError) -> any Error {
        guard let wrong = given.first(where: { $0.setting.name == error.setting }) else {
            return error
        }
        return ValidationError(wrong.flag + error.description.dropFirst(error.setting.count))
    }

    /// Opens a database that is there, for a command that copies all that is in it; nobody asks
    /// whether the mirror is, or whether its stored settings can be used.
    static func openWhicheverThereAre(
        _ configuration: MirrorConfiguration, _: HumanMirror.Making
    ) async throws -> HumanMirror {
        try configuration.process.requireDatabase()
        var configuration = configuration
        configuration.mirror.ignoresStored = true
        return try await HumanMirror.open(configuration)
    }

    /// Opens the mirror, runs `body` on it and closes it again.
    ///
    /// - Parameters:
    ///   - readsAccounts: False for commands that make an account's settings in the first place.
    ///   - keepsNothing: True for commands that need no database that lasts.
    ///   - looksOnly: True for commands that also tell of a mirror that lives elsewhere now.
    ///   - lasts: The body works for as long as the mirror does, and a move ends it.
    ///   - making: What may be made where it is not there yet.
    ///   - opening: How the mirror is opened.
    ///   - body: Given the open mirror.
    /// - Returns: What `body` returns.
    /// - Throws: `ConfigurationError` for a database that would not last; what opening or `body`
    ///   throws.
    func withMirror<Value>(
        readsAccounts: Bool = true, keepsNothing: Bool = false, looksOnly: Bool = false,
        lasts: Bool = false,
        making: HumanMirror.Making = .nothing,
        opening: (MirrorConfiguration, HumanMirror.Making) async throws -> HumanMirror = {
            try await HumanMirror.open($0, making: $1)
        },
        _ body: (HumanMirror) async throws -> Value
    ) async throws -> Value {
        let configuration = try await configuration(readsAccounts: readsAccounts)
        Console.current.log.follow(configuration)
        if !keepsNothing { try configuration.process.requireLastingStorage() }
        if making == .nothing { try await requireDatabase(configuration) }
        return try await opening(configuration, making).closing { mirror in
            do {
                if !looksOnly { try await mirror.table.requireHere() }
                if making != .nothing { mirror.configuration.places?.note(mirror.name) }
                let value = try await body(mirror)
                if !looksOnly, !lasts { try await requireStill(mirror) }
                return value
            } catch let error as ConfigurationError where error.part != nil {
                throw await mirror.firstMissing(error)
            } catch let error as ChangeRefusal where error.code == .nothingLearned {
                let missing = ConfigurationError(
                    "the human's past", "has not been read", part: .posts)
                let first = await mirror.firstMissing(missing)
                if first != missing { throw first }
                throw error
            }
        }
    }

    /// The reaction of a command about all mirrors to a missing database.
    enum MissingDatabase {
        /// It fails with the first step of the setup.
        case refused
        /// It makes the embedded one.
        case made
        /// It works on an empty one in memory, of which nothing is kept.
        case pretended
    }

    /// Opens what the mirrors of a database share, runs `body` and closes it again.
    ///
    /// None of its mirrors is opened, so that one that cannot be used hides no other.
    ///
    /// - Parameters:
    ///   - missing: What is done where there is no database.
    ///   - readsAccounts: False for commands to which the accounts of the environment mean nothing.
    ///   - opening: How it is opened.
    ///   - body: Given the open installation.
    /// - Returns: What `body` returns.
    /// - Throws: `ConfigurationError` for a database that would not last, or is not there; what
    ///   opening or `body` throws.
    func withInstallation<Value>(
        _ missing: MissingDatabase = .refused, readsAccounts: Bool = true,
        opening: (MirrorConfiguration) async throws -> Installation = {
            try await Installation.open($0)
        },
        _ body: (Installation) async throws -> Value
    ) async throws -> Value {
        let configuration = try await configuration(readsAccounts: readsAccounts)
        Console.current.log.follow(configuration)
        try configuration.process.requireLastingStorage()
        let installation: Installation
        do {
            if missing != .made { try configuration.process.requireDatabase() }
            installation = try await opening(configuration)
        } catch let error as ConfigurationError where error.part == .database {
            guard missing == .pretended else {
                throw try await HumanMirror.openEmpty(configuration).closing {
                    await $0.firstMissing(error)
                }
            }
            installation = try await Installation.openEmpty(configuration)
        }
        return try await afterwards(installation.close) { try await body(installation) }
    }

    /// Fails with the first step of the setup where there is no database.
    private func requireDatabase(_ configuration: MirrorConfiguration) async throws {
        do {
            try configuration.process.requireDatabase()
        } catch let error as ConfigurationError {
            throw try await HumanMirror.openEmpty(configuration).closing {
                await $0.firstMissing(error)
            }
        }
    }

    /// Opens the mirror to look at it; one that is not there is an empty one in memory, and nothing
    /// is made.
    ///
    /// - Parameter body: Given the open mirror.
    /// - Throws: As ``withMirror``.
    func withWhatIsThere<Value>(_ body: (HumanMirror) async throws -> Value) async throws -> Value {
        try await withMirror(
            making: .mirror,
            opening: { configuration, making in
                do {
                    try configuration.process.requireDatabase()
                } catch let error as ConfigurationError where error.part == .database {
                    return try await HumanMirror.openEmpty(configuration)
                }
                return try await HumanMirror.open(configuration, making: making)
            }, body)
    }

    /// Opens a mirror that is here with its record, which is read once.
    ///
    /// - Parameters:
    ///   - making: What may be made where it is not there yet.
    ///   - opening: How the mirror is opened.
    ///   - body: Given the open mirror, and its record as it was then.
    /// - Returns: What `body` returns.
    /// - Throws: As ``withMirror``.
    func withRecord<Value>(
        making: HumanMirror.Making = .nothing,
        opening: (MirrorConfiguration, HumanMirror.Making) async throws -> HumanMirror = {
            try await HumanMirror.open($0, making: $1)
        },
        _ body: (HumanMirror, MirrorRecord) async throws -> Value
    ) async throws -> Value {
        try await withMirror(looksOnly: true, making: making, opening: opening) { mirror in
            let value = try await body(mirror, try await mirror.table.requireHere())
            try await requireStill(mirror)
            return value
        }
    }

    /// Fails if the mirror was moved away while a command changed something of it, which may not
    /// have come along.
    private func requireStill(_ mirror: HumanMirror) async throws {
        do {
            try await mirror.table.requireHere()
        } catch let error as ConfigurationError {
            throw CommandError(
                .tryLater,
                "\(error); it was moved while this command worked, so what it changed may be missing there"
            )
        }
    }

    /// Opens a mirror whose zone is known, for a command that looks or steers and leaves the
    /// minutes as they are.
    ///
    /// - Parameters:
    ///   - making: What may be made where it is not there yet.
    ///   - body: Given the open mirror and the zone in which its minutes are recorded.
    /// - Returns: What `body` returns.
    /// - Throws: `ConfigurationError` for a zone that is not known; as ``withMirror``.
    func withZone<Value>(
        making: HumanMirror.Making = .nothing, _ body: (HumanMirror, TimeZone) async throws -> Value
    ) async throws -> Value {
        try await withRecord(making: making) { mirror, record in
            guard let zone = try await mirror.recordedTimeZone(record, now: mirror.clock.now) else {
                throw try await mirror.missingTimeZone()
            }
            if let sentence = mirror.zoneToCome(record) {
                StandardError.write("note: \(sentence)\n")
            }
            return try await body(mirror, zone)
        }
    }
}
