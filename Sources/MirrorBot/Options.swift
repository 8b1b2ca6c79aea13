import ArgumentParser
import Blocking
import Control
import Foundation
import Localization
import Mirroring
import Posts
import Settings

/// The flags of every command that makes a change for a person.
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
        help: ArgumentHelp(
            "Which human and bot pair; overrides \(Setting.mirror.name).", valueName: "name"),
        completion: .custom(MirrorNames.complete))
    var mirror: String?

    @Option(
        help: ArgumentHelp(
            "The human's IANA time zone; overrides \(Setting.timeZone.name).", valueName: "zone"))
    var timeZone: String?

    @Option(
        help: ArgumentHelp(
            "Folder of the embedded database; overrides \(Setting.home.name).", valueName: "folder")
    )
    var home: String?

    @Option(
        help: ArgumentHelp(
            "trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    @Option(help: ArgumentHelp("logfmt, json or pretty.", valueName: "format"))
    var logFormat: String?

    /// The given flags: each with the name of the setting that it overrides, its own name and its
    /// value.
    private var givenFlags: [(setting: String, flag: String, value: String)] {
        let flags = [
            (Setting.mirror.name, "--mirror", mirror),
            (Setting.timeZone.name, "--time-zone", timeZone),
            (Setting.home.name, "--home", home),
            (Setting.logLevel.name, "--log-level", logLevel),
            (Setting.logFormat.name, "--log-format", logFormat),
        ]
        return flags.compactMap { setting, flag, value in value.map { (setting, flag, $0) } }
    }

    /// The flags in the form for another command on the same mirror.
    var words: [String] { givenFlags.map { "\($0.flag)=\($0.value)" } }

    /// The flags, quoted for a shell, that a proposed command needs to find the mirror.
    var mirrorWords: [String] {
        givenFlags.filter { [Setting.mirror.name, Setting.home.name].contains($0.setting) }
            .flatMap { [$0.flag, ShellWord.quoted(Printable.line($0.value))] }
    }

    func validate() throws {
        // An empty folder would be the root of the file system.
        for (_, flag, value) in givenFlags where value.isEmpty {
            throw ValidationError("\(flag) is empty")
        }
    }

    /// The configuration from flags, environment and `.env`.
    ///
    /// An invalid value of a flag is a usage error, and the error names the flag.
    ///
    /// - Parameter readsAccounts: False for commands that create an account's settings in the first
    ///   place.
    /// - Throws: `ValidationError` for a flag, `ConfigurationError` for a variable.
    func configuration(readsAccounts: Bool = true) async throws -> MirrorConfiguration {
        let (values, problems) = self.values()
        do {
            if let firstProblem = problems.first { throw firstProblem }
            return try MirrorConfiguration(
                values, environment: Console.current.environment, readsAccounts: readsAccounts)
        } catch let error as ConfigurationError {
            throw inTermsOfFlag(error)
        }
    }

    /// All settings, with all their problems.
    ///
    /// - Returns: The values, and an error for each invalid one.
    /// - Throws: `ValidationError` for a flag.
    func checkedValues() async throws -> (values: SettingValues, problems: [ConfigurationError]) {
        var (values, problems) = self.values()
        // An invalid network is replaced by the default, whose consequences would be reported as
        // further errors.
        let areNetworksValid = !problems.contains { $0.setting.hasSuffix(Setting.network.name) }
        if areNetworksValid {
            let invalidSettings = Set(problems.map(\.setting))
            problems += MirrorConfiguration.problems(
                in: values, environment: Console.current.environment
            )
            .filter { !invalidSettings.contains($0.setting) }
        }
        for problem in problems {
            if let error = inTermsOfFlag(problem) as? ValidationError { throw error }
        }
        return (values, problems)
    }

    private func values() -> (values: SettingValues, problems: [ConfigurationError]) {
        let flags = givenFlags.map { ($0.setting, $0.value) }
        let (values, problems) = SettingValues.loadAll(
            flags: Dictionary(uniqueKeysWithValues: flags),
            environment: Console.current.environment,
            folder: Console.current.folder)
        for warning in values.warnings {
            StandardError.write(localized("warning: \(Printable.line(warning))") + "\n")
        }
        return (values, problems)
    }

    /// Writes the warnings about the values that are stored for a mirror.
    static func tellWarnings(about values: SettingValues) {
        for warning in values.storedWarnings {
            StandardError.write(localized("warning: \(Printable.line(warning))") + "\n")
        }
    }

    /// The error, with the name of the flag in place of the setting's if a flag gave the value.
    private func inTermsOfFlag(_ error: ConfigurationError) -> any Error {
        guard let given = givenFlags.first(where: { $0.setting == error.setting }) else {
            return error
        }
        return ValidationError(given.flag + error.description.dropFirst(error.setting.count))
    }

    /// Opens an existing database, for a command that copies all its contents, without checking
    /// that the mirror exists or that its stored settings are valid.
    static func openUnchecked(
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
    ///   - readsAccounts: False for commands that create an account's settings in the first place.
    ///   - keepsNothing: True for commands that need no persistent database.
    ///   - allowsMoved: Whether the body may run although the mirror was moved to another database;
    ///     true for read-only commands, and if the body checks this itself.
    ///   - isWorker: Whether the body is the mirror's worker, which ends by itself if the mirror is
    ///     moved.
    ///   - making: The parts that may be created if they are missing.
    ///   - opening: Opens the mirror.
    ///   - body: Gets the open mirror.
    /// - Returns: The result of `body`.
    /// - Throws: `ConfigurationError` for a database that is not persistent; what opening or `body`
    ///   throws.
    func withMirror<Value>(
        readsAccounts: Bool = true, keepsNothing: Bool = false, allowsMoved: Bool = false,
        isWorker: Bool = false,
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
            // A worker logs these warnings.
            if !isWorker { Self.tellWarnings(about: mirror.configuration.values) }
            do {
                if !allowsMoved { try await mirror.table.requireHere() }
                if making != .nothing { mirror.configuration.places?.listFolder(of: mirror.name) }
                let value = try await body(mirror)
                if !allowsMoved, !isWorker { try await requireNotMoved(mirror) }
                return value
            } catch let error as ConfigurationError where error.part != nil {
                throw await mirror.firstMissing(error)
            } catch let error as ChangeRefusal where error.code == .nothingLearned {
                let missing = ConfigurationError(
                    localized("the human's past"), localized("has not been read"), part: .posts)
                let firstMissing = await mirror.firstMissing(missing)
                if firstMissing != missing { throw firstMissing }
                throw error
            }
        }
    }

    /// The reaction of a command about all mirrors to a missing database.
    enum MissingDatabase {
        /// The command fails, and names the first step of the setup.
        case fail
        /// The command creates the embedded database.
        case create
        /// The command uses an empty database in memory, which is not kept.
        case useEmpty
    }

    /// Opens the resources shared by the mirrors of a database, runs `body` and closes them again.
    ///
    /// None of its mirrors is opened, so that an unusable one does not affect the others.
    ///
    /// - Parameters:
    ///   - reaction: The reaction to a missing database.
    ///   - readsAccounts: False for commands that do not use the accounts of the environment.
    ///   - opening: Opens the installation.
    ///   - body: Gets the open installation.
    /// - Returns: The result of `body`.
    /// - Throws: `ConfigurationError` for a database that is missing or not persistent; what
    ///   opening or `body` throws.
    func withInstallation<Value>(
        ifMissing reaction: MissingDatabase = .fail, readsAccounts: Bool = true,
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
            if reaction != .create { try configuration.process.requireDatabase() }
            installation = try await opening(configuration)
        } catch let error as ConfigurationError where error.part == .database {
            guard reaction == .useEmpty else {
                throw try await HumanMirror.openEmpty(configuration).closing {
                    await $0.firstMissing(error)
                }
            }
            installation = try await Installation.openEmpty(configuration)
        }
        return try await afterwards(installation.close) { try await body(installation) }
    }

    /// Fails, with the first step of the setup, if there is no database.
    private func requireDatabase(_ configuration: MirrorConfiguration) async throws {
        do {
            try configuration.process.requireDatabase()
        } catch let error as ConfigurationError {
            throw try await HumanMirror.openEmpty(configuration).closing {
                await $0.firstMissing(error)
            }
        }
    }

    /// Opens the mirror for reading, or an empty one in memory if it is missing; nothing is
    /// created.
    ///
    /// - Parameter body: Gets the open mirror.
    /// - Throws: As ``withMirror``.
    func withMirrorOrEmpty<Value>(_ body: (HumanMirror) async throws -> Value) async throws -> Value
    {
        // With `.nothing`, `withMirror` would refuse a missing database.
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

    /// Opens an existing mirror with its record, which is read once.
    ///
    /// - Parameters:
    ///   - making: The parts that may be created if they are missing.
    ///   - opening: Opens the mirror.
    ///   - body: Gets the open mirror, and its record at that time.
    /// - Returns: The result of `body`.
    /// - Throws: As ``withMirror``.
    func withRecord<Value>(
        making: HumanMirror.Making = .nothing,
        opening: (MirrorConfiguration, HumanMirror.Making) async throws -> HumanMirror = {
            try await HumanMirror.open($0, making: $1)
        },
        _ body: (HumanMirror, MirrorRecord) async throws -> Value
    ) async throws -> Value {
        try await withMirror(allowsMoved: true, making: making, opening: opening) { mirror in
            let value = try await body(mirror, try await mirror.table.requireHere())
            try await requireNotMoved(mirror)
            return value
        }
    }

    /// Fails if the mirror was moved to another database while a command changed it, because the
    /// change may be missing there.
    private func requireNotMoved(_ mirror: HumanMirror) async throws {
        do {
            try await mirror.table.requireHere()
        } catch let error as ConfigurationError {
            throw CommandError(
                .tryLater,
                localized(
                    "\(error); it was moved while this command worked, so what it changed may be missing there"
                ))
        }
    }

    /// Opens a mirror whose time zone is known, for a command that does not change recorded local
    /// times.
    ///
    /// - Parameters:
    ///   - making: The parts that may be created if they are missing.
    ///   - body: Gets the open mirror and the zone of its recorded local times.
    /// - Returns: The result of `body`.
    /// - Throws: `ConfigurationError` if the zone is unknown; as ``withMirror``.
    func withZone<Value>(
        making: HumanMirror.Making = .nothing, _ body: (HumanMirror, TimeZone) async throws -> Value
    ) async throws -> Value {
        try await withRecord(making: making) { mirror, record in
            guard let zone = try await mirror.recordedTimeZone(record, now: mirror.clock.now) else {
                throw try await mirror.missingTimeZone()
            }
            if let sentence = mirror.zoneToCome(record) {
                StandardError.write(localized("note: \(sentence)") + "\n")
            }
            return try await body(mirror, zone)
        }
    }
}
