import Foundation
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

/// The resources that all mirrors of a process share: the database, Redis, the HTTP client and the
/// gates of hosts, the dictionary, the clock and the log.
///
/// Opened once in a process; ``mirror(named:rehearsal:)`` opens the mirrors, any number of them,
/// and ``close()`` ends the shared parts after the last one. Closing a mirror ends none of them.
package final class Installation: Sendable {
    package let storage: any StorageEngine
    /// The settings of the process.
    package let process: ProcessSettings
    /// The process's settings for its mirrors: all those of the mirror that it names, and the
    /// defaults of the others.
    private let given: MirrorSettings
    /// Where events go that are about no single mirror.
    package let logger: Logger
    /// Whether every line of the log that is about a mirror says which, and not only those of a
    /// named mirror.
    private let logsEveryName: Bool
    /// Tells the time and waits; a mirror that rehearses has its own.
    package let clock: any WallClock
    package let client = HTTPClient(
        configuration: HTTPClientConfiguration(userAgent: "mirror-bot/\(Version.current)"))
    /// The limits by address of the hosts that the mirrors send requests to.
    let gates: HostGates
    /// Whether any server answers the requests of this process.
    package var reach: NetworkReach { gates.reach }
    /// The faults in the work of this process, by mirror.
    package let faults = LiveFaults()
    /// How long calls take, by mirror.
    let requests = RequestTallies()
    /// When feeds were read, until that is stored.
    package let readTimes = ReadTimes()
    let replyHabits = KeptHabits()
    private let lock = NSLock()
    // These are only touched under `lock`.
    private(set) nonisolated(unsafe) var openTokenizer: Tokenizer?
    private nonisolated(unsafe) var redisClient: RedisClient?
    private nonisolated(unsafe) var furtherSettings: MirrorSettings?
    private nonisolated(unsafe) var sharedFaultPoints: FaultPoints?

    /// Opens the database and checks its tables.
    ///
    /// The embedded database, which nobody else looks after, is migrated here; a server's is only
    /// checked.
    ///
    /// - Parameters:
    ///   - configuration: Where the data is, and what the process is told of its mirrors.
    ///   - logsEveryName: Whether the log names the mirror of a line even if it has the usual name:
    ///     for a process that works for several.
    ///   - clock: Tells the time and waits.
    ///   - logger: Where events go.
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
            // Afterwards the tables are those of this version.
            case .sqlite: try await AccountSpelling.migrate(installation.storage)
            case .postgres: try await Migrations.check(installation.storage)
            }
        } catch {
            await installation.close()
            throw error
        }
        return installation
    }

    /// Opens an empty database in memory, of which nothing is kept.
    ///
    /// - Throws: `StorageError`.
    package static func openEmpty(_ configuration: MirrorConfiguration) async throws -> Installation
    {
        try await open(configuration) { _ in try await Storage.openInMemory() }
    }

    /// Opens the database as ``open(_:logsEveryName:clock:logger:opening:)`` does, and waits for an
    /// unreachable server, as when both start at once.
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

    /// Runs `opening`, again after waits as long as the database server is unreachable; an embedded
    /// database always is.
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

    /// An installation on a database that is open, and has the tables of this version.
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
    /// Its settings are those that are stored for it, over what the process is told. The accounts
    /// and networks that the process is told are those of the mirror that it names (`MIRROR`);
    /// every other mirror has its stored logins only. Closing the mirror ends nothing that is
    /// shared; it may as well be let go.
    ///
    /// - Parameters:
    ///   - name: The mirror's name.
    ///   - mayBeNew: Whether there may be no such mirror yet.
    ///   - rehearsal: Differences from normal operation, unless the environment sets them.
    /// - Returns: The opened mirror.
    /// - Throws: `ConfigurationError` for another name than a mirror can have, or if there is no
    ///   such mirror, or for a stored setting that cannot be used; the store's error.
    package func mirror(
        named name: String, mayBeNew: Bool = false, rehearsal: Rehearsal = .off
    ) async throws -> HumanMirror {
        guard MirrorSettings.isName(name) else {
            throw ConfigurationError(
                Setting.mirror.name,
                "cannot be \"\(name.prefix(60))\"; expected \(MirrorSettings.nameForm)",
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

    /// Whether a mirror is the one that the settings of the process name, so that their accounts
    /// are its accounts.
    package func isNamed(_ mirror: String) -> Bool { mirror == given.mirror }

    /// Returns the process's settings for a mirror.
    ///
    /// - Throws: `ConfigurationError` for a value that is not usable for other mirrors than the one
    ///   that is named.
    package func settings(of name: String) throws -> MirrorSettings {
        guard name != given.mirror else { return given }
        return try lock.withLock {
            var settings = try furtherSettings ?? given.ofFurtherMirrors()
            furtherSettings = settings
            settings.mirror = name
            return settings
        }
    }

    /// The flags without which a proposed command would mean another mirror; see
    /// `MirrorSettings.flagWords`.
    package func flagWords(of mirror: String) -> [String] {
        // Settings that cannot be used for it end nothing here.
        (try? settings(of: mirror))?.flagWords ?? []
    }

    /// Where the events of a mirror go.
    ///
    /// Each line has the mirror's name under ``LogKeys/mirror``, but for the only mirror of a
    /// process that has the usual name.
    package func logger(of mirror: String) -> Logger {
        guard logsEveryName || mirror != MirrorSettings.usualMirror else { return logger }
        var named = logger
        named[metadataKey: LogKeys.mirror] = "\(mirror)"
        return named
    }

    /// The fault points of the process, which count for all its mirrors together: those of the
    /// first that opens.
    func faultPoints(_ own: FaultPoints) -> FaultPoints {
        lock.withLock {
            let points = sharedFaultPoints ?? own
            sharedFaultPoints = points
            return points
        }
    }

    /// The tokenizer on the dictionary, which is opened once.
    ///
    /// - Throws: `MeCabError` if it cannot be opened; another try may find it.
    package func tokenizer() throws -> Tokenizer {
        try lock.withLock {
            if let openTokenizer { return openTokenizer }
            let tokenizer = try Tokenizer(dictionary: process.dictionary)
            openTokenizer = tokenizer
            return tokenizer
        }
    }

    /// How the work of the process itself differs from one in earnest.
    ///
    /// Whether the accounts of a mirror are on this machine is checked when the mirror is opened.
    ///
    /// - Throws: `ConfigurationError` if a variable of the rehearsal has no meaning.
    package func rehearsal() throws -> Rehearsal {
        try Rehearsal(variables: process.rehearsal, accounts: [:])
    }

    /// The client of the Redis server that is configured; nil if none is.
    ///
    /// - Throws: `RedisError` for a `REDIS_URL` that is none.
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

    /// Stores when feeds were read, as far as that was kept; a store that does not take it loses
    /// the times.
    package func storeReadTimes() async { try? await readTimes.store(in: storage) }

    /// Stores the same for the last time, at the end of a worker.
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
