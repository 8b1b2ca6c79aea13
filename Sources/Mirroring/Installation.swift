import Foundation
package import Logging
package import MeCab
package import Networks
package import Posts
package import Redis
package import Settings
package import Storage
package import Transport

/// What this program is.
package enum Version {
    package static let current = "0.2.0"
}

/// What all mirrors of a process share: the database, Redis, the HTTP client, the dictionary, the clock and the log.
package final class Installation: Sendable {
    package let storage: any StorageEngine
    /// The settings of the process.
    package let process: ProcessSettings
    /// Where events go.
    package let logger: Logger
    /// Tells the time and waits; a mirror that rehearses has its own.
    let clock: any WallClock
    package let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "mirror-bot/\(Version.current)"))
    /// What fails in the work of this process, by mirror.
    package let faults = LiveFaults()
    /// How long calls take, by mirror.
    let requests = RequestTallies()
    private let lock = NSLock()
    // Both are only touched under `lock`.
    private(set) nonisolated(unsafe) var openTokenizer: Tokenizer?
    private nonisolated(unsafe) var redisClient: RedisClient?

    /// Opens the database and checks its tables.
    ///
    /// The embedded database, which nobody else looks after, is migrated here; a server's is only checked.
    ///
    /// - Parameters:
    ///   - process: Where the data is.
    ///   - clock: Tells the time and waits.
    ///   - logger: Where events go.
    ///   - opening: Opens the database at a location.
    /// - Throws: `StorageError`; `.outOfDate` names the command that migrates.
    convenience init(
        _ process: ProcessSettings, clock: any WallClock, logger: Logger,
        opening: (StorageLocation) async throws -> any StorageEngine = { try await Storage.open($0) }
    ) async throws {
        self.init(try await opening(process.storage), process, clock: clock, logger: logger)
        do {
            switch process.storage {
            // Afterwards the tables are those of this version.
            case .sqlite: try await AccountSpelling.migrate(storage)
            case .postgres: try await Migrations.check(storage)
            }
        } catch {
            await close()
            throw error
        }
    }

    /// An installation on a database that is open, and has the tables of this version.
    init(_ storage: any StorageEngine, _ process: ProcessSettings, clock: any WallClock, logger: Logger) {
        (self.storage, self.process, self.clock, self.logger) = (storage, process, clock, logger)
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

    /// The client of the Redis server that is configured; nil if none is.
    ///
    /// - Throws: `RedisError` for a `REDIS_URL` that is none.
    package func redis() throws -> RedisClient? {
        guard let url = process.redisURL?.reveal() else { return nil }
        return try lock.withLock {
            if let redisClient { return redisClient }
            let verification = try RedisTLSVerification(
                parsing: process.redisTLSVerify, isSelfSignedHost: process.isDyno)
            let client = RedisClient(configuration: try RedisConfiguration(url: url, tlsVerification: verification))
            redisClient = client
            return client
        }
    }

    /// Ends the connections after the calls in progress.
    func close() async {
        client.shutdown()
        await storage.close()
    }
}

/// Getting credentials in the first place.
extension Installation {
    /// Logging in at a Mastodon-compatible server.
    ///
    /// - Parameters:
    ///   - server: The account's server.
    ///   - apiBaseURL: Where calls go instead; nil for the server itself.
    /// - Returns: The steps of the login.
    /// - Throws: `NetworkError` for an address that cannot be used.
    package func mastodonLogin(server: String, apiBaseURL: String?) throws -> MastodonLogin {
        try MastodonLogin(server: server, apiBaseURL: apiBaseURL, client: client, now: { [clock] in clock.now })
    }

    /// Logging in at X with a PIN.
    ///
    /// - Parameters:
    ///   - consumerKey: The developer app's key.
    ///   - consumerSecret: The developer app's secret.
    ///   - apiBaseURL: Where calls go instead of X.
    /// - Returns: The steps of the login.
    /// - Throws: `NetworkError` for an address that cannot be used.
    package func xLogin(consumerKey: String, consumerSecret: Secret, apiBaseURL: String?) throws -> XLogin {
        try XLogin(
            consumerKey: consumerKey, consumerSecret: consumerSecret, apiBaseURL: apiBaseURL, client: client,
            now: { [clock] in clock.now })
    }
}
