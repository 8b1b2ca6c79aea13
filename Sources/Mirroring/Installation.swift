import Foundation
import Localization
package import Logging
package import MeCab
package import Networks
import Posts
package import Redis
package import Settings
package import Storage
package import Transport

/// The version of this program.
package enum Version {
    package static let current = "0.2.0"
}

/// The resources that all mirrors of a process share: the database, Redis, the HTTP client, the
/// host limits, the dictionary, the clock and the log.
///
/// A process opens it once; ``mirror(named:mayBeNew:rehearsal:)`` opens the mirrors, any number of
/// them, and ``close()`` closes the shared parts after the last one. Closing a mirror closes none
/// of them.
package final class Installation: Sendable {
    package let storage: any StorageEngine
    /// The settings of the process.
    package let process: ProcessSettings
    /// The settings that the process was given: all settings of the mirror that it names, and the
    /// defaults of the others.
    private let given: MirrorSettings
    /// The destination of log events that are about no single mirror.
    package let logger: Logger
    /// Whether every log line about a mirror names it, even the usual one.
    private let logsEveryName: Bool
    /// Provides the time and waits; a mirror in a rehearsal has its own.
    package let clock: any WallClock
    package let client = HTTPClient(
        configuration: HTTPClientConfiguration(userAgent: "mirror-bot/\(Version.current)"))
    /// The request limits of the hosts, by address.
    let gates: HostGates
    /// The servers that requests of this process may reach.
    package var reach: NetworkReach { gates.reach }
    /// The current faults in the work of this process, by mirror.
    package let faults = LiveFaults()
    /// The durations of calls, by mirror.
    let requests = RequestTallies()
    /// When feeds were read, until these times are stored.
    package let readTimes = ReadTimes()
    let replyHabits = KeptHabits()
    private let lock = NSLock()
    // The following variables are accessed only under `lock`.
    private(set) nonisolated(unsafe) var openTokenizer: Tokenizer?
    private nonisolated(unsafe) var redisClient: RedisClient?
    private nonisolated(unsafe) var furtherSettings: MirrorSettings?
    private nonisolated(unsafe) var sharedFaultPoints: FaultPoints?

    /// Opens the database and checks its tables.
    ///
    /// The embedded database, which has no administrator, is migrated here; that of a server is
    /// only checked.
    ///
    /// - Parameters:
    ///   - configuration: The address of the data, and the settings for the mirrors.
    ///   - logsEveryName: Whether each log line names its mirror even if that has the usual name,
    ///     for a process that works for several.
    ///   - clock: Provides the time and waits.
    ///   - logger: The destination of log events.
    ///   - opening: Opens the database at a location.
    /// - Returns: The installation, to be closed with ``close()``.
    /// - Throws: `StorageError`; `.outOfDate` names the command that migrates.
    package static func open(
        _ configuration: MirrorConfiguration, logsEveryName: Bool = false,
        clock: any WallClock = SystemClock(),
        logger: Logger = Logger(label: "mirror-bot"),
        opening: (StorageLocation) async throws -> any StorageEngine = {
            try await Storage.open($0)
        }
    ) async throws -> Installation {
        let installation = Installation(
            try await opening(configuration.process.storage), configuration,
            logsEveryName: logsEveryName, clock: clock,
            logger: logger)
        do {
            switch configuration.process.storage {
            // After this the tables have this version.
            case .sqlite: try await TablesUpdate.migrate(installation.storage)
            case .postgres: try await Migrations.check(installation.storage)
            }
        } catch {
            await installation.close()
            throw error
        }
        return installation
    }

    /// Opens an empty database in memory, which is lost at the end.
    ///
    /// - Throws: `StorageError`.
    package static func openEmpty(_ configuration: MirrorConfiguration) async throws -> Installation
    {
        try await open(configuration) { _ in try await Storage.openInMemory() }
    }

    /// Opens the database as ``open(_:logsEveryName:clock:logger:opening:)`` does, and waits for an
    /// unreachable server, which may be starting at the same time.
    ///
    /// - Throws: As that, once the patience of `RetryRule.opening` is over; `CancellationError`.
    package static func openWhenReachable(
        _ configuration: MirrorConfiguration, logsEveryName: Bool = false,
        logger: Logger = Logger(label: "mirror-bot")
    ) async throws -> Installation {
        try await whenReachable(configuration.process, logger: logger) {
            try await open(configuration, logsEveryName: logsEveryName, logger: logger)
        }
    }

    /// Runs `opening`, and repeats it while the database server is unreachable; an embedded
    /// database is opened once.
    static func whenReachable<Value: Sendable>(
        _ process: ProcessSettings, logger: Logger, _ opening: () async throws -> Value
    ) async throws -> Value {
        guard case .postgres = process.storage else { return try await opening() }
        let clock = SystemClock()
        let begun = clock.now
        var failures = 0
        while true {
            do {
                return try await opening()
            } catch let error as StorageError where error.isTransient {
                failures += 1
                let next = RetryRule.opening.next(
                    after: failures, of: "open", error, now: clock.now)
                guard !RetryRule.opening.isOver(since: begun, now: next) else { throw error }
                logger.warning(
                    "Database not reached, trying again",
                    metadata: [
                        LogKeys.error: "\(error)", LogKeys.attempt: "\(failures)",
                        LogKeys.until: "\(next)",
                    ])
                try await clock.sleep(until: next)
            }
        }
    }

    /// Creates an installation on an open database that has the tables of this version.
    init(
        _ storage: any StorageEngine, _ configuration: MirrorConfiguration,
        logsEveryName: Bool = false,
        clock: any WallClock, logger: Logger
    ) {
        self.storage = storage
        process = configuration.process
        given = configuration.mirror
        self.logsEveryName = logsEveryName
        self.clock = clock
        self.logger = logger
        gates = HostGates(logger: logger)
    }

    /// Opens a mirror that is stored in the database, with one statement.
    ///
    /// Its settings are the stored ones, over those of the process. The accounts and networks in
    /// the settings of the process belong to the mirror that it names (`MIRROR`); every other
    /// mirror has only its stored logins. Closing the mirror closes nothing that is shared, and may
    /// be omitted.
    ///
    /// - Parameters:
    ///   - name: The mirror's name.
    ///   - mayBeNew: Whether the mirror may be missing in the database.
    ///   - rehearsal: Differences from normal operation, unless the environment sets them.
    /// - Returns: The opened mirror.
    /// - Throws: `ConfigurationError` for a name that no mirror can have, if there is no such
    ///   mirror, or for a stored setting that cannot be used; the store's error.
    package func mirror(
        named name: String, mayBeNew: Bool = false, rehearsal: Rehearsal = .off
    ) async throws -> HumanMirror {
        guard MirrorSettings.isName(name) else {
            throw ConfigurationError(
                Setting.mirror.name,
                localized("cannot be \"\(name.prefix(60))\"; expected \(MirrorSettings.nameForm)"),
                part: .mirror)
        }
        return try await HumanMirror(
            try settings(of: name), in: self, mayBeNew: mayBeNew, rehearsal: rehearsal)
    }

    /// The logins of a mirror, with the key of the process.
    package func vault(of mirror: String) -> CredentialVault {
        CredentialVault(of: mirror, process, storage: storage, logger: logger(of: mirror))
    }

    /// The name of the mirror that the settings of the process name.
    package var namedMirror: String { given.mirror }

    /// Whether a mirror is the one that the settings of the process name, so that the accounts in
    /// them are its accounts.
    package func isNamed(_ mirror: String) -> Bool { mirror == given.mirror }

    /// Returns the process's settings for a mirror.
    ///
    /// - Throws: `ConfigurationError` for a value that other mirrors than the named one cannot use.
    package func settings(of name: String) throws -> MirrorSettings {
        guard name != given.mirror else { return given }
        return try lock.withLock {
            var settings = try furtherSettings ?? given.ofFurtherMirrors()
            furtherSettings = settings
            settings.mirror = name
            return settings
        }
    }

    /// The flags that a proposed command needs to mean this mirror; see `MirrorSettings.flagWords`.
    package func flagWords(of mirror: String) -> [String] {
        // If the settings cannot be used, the command is proposed without flags.
        (try? settings(of: mirror))?.flagWords ?? []
    }

    /// The logger for the events of a mirror.
    ///
    /// Each line has the mirror's name under ``LogKeys/mirror``, unless the process has only one
    /// mirror and that has the usual name.
    package func logger(of mirror: String) -> Logger {
        guard logsEveryName || mirror != MirrorSettings.defaultMirror else { return logger }
        var named = logger
        named[metadataKey: LogKeys.mirror] = "\(mirror)"
        return named
    }

    /// The fault points of the process, which all its mirrors share: those of the first mirror that
    /// opens.
    func faultPoints(_ pointsOfMirror: FaultPoints) -> FaultPoints {
        lock.withLock {
            let points = sharedFaultPoints ?? pointsOfMirror
            sharedFaultPoints = points
            return points
        }
    }

    /// The tokenizer with the dictionary, which is opened once.
    ///
    /// - Throws: `MeCabError` if it cannot be opened; a later call tries again.
    package func tokenizer() throws -> Tokenizer {
        try lock.withLock {
            if let openTokenizer { return openTokenizer }
            let tokenizer = try Tokenizer(dictionary: process.dictionary)
            openTokenizer = tokenizer
            return tokenizer
        }
    }

    /// The rehearsal of the process itself.
    ///
    /// That the accounts of a mirror are on this machine is checked when the mirror is opened.
    ///
    /// - Throws: `ConfigurationError` if a variable of the rehearsal has no meaning.
    package func rehearsal() throws -> Rehearsal {
        try Rehearsal(variables: process.rehearsal, accounts: [:])
    }

    /// The client of the configured Redis server; nil if none is configured.
    ///
    /// - Throws: `RedisError` if `REDIS_URL` is invalid.
    package func redis() throws -> RedisClient? {
        guard let url = process.redisURL?.reveal() else { return nil }
        return try lock.withLock {
            if let redisClient { return redisClient }
            let verification = try RedisTLSVerification(
                parsing: process.redisTLSVerify, isSelfSignedHost: process.isDyno)
            let client = RedisClient(
                configuration: try RedisConfiguration(url: url, tlsVerification: verification))
            redisClient = client
            return client
        }
    }

    /// Stores the collected times of reading feeds; an error is ignored and loses the times.
    package func storeReadTimes() async { try? await readTimes.store(in: storage) }

    /// Stores the collected times for the last time, at the end of a worker.
    package func endCollectingReadTimes() async {
        readTimes.endCollecting()
        await storeReadTimes()
    }

    /// Ends the connections after the calls in progress.
    package func close() async {
        client.shutdown()
        await storage.close()
    }
}
