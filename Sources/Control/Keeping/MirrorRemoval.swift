import Favorites
import Foundation
import Localization
package import Mirroring
import Outbox
package import Posts
import Settings
import Storage

/// Removes a mirror with all its stored data.
///
/// First the mirror is paused permanently and loses its logins, in one transaction: from then on
/// nothing can be sent, even if the removal is interrupted. Then its rows are deleted from every
/// table in transactions of at most `batchSize` rows, then its counts in Redis are removed. Its row
/// in `mirrors` is deleted last, in a transaction that finds no other row; until then the same
/// operation continues an interrupted removal.
package struct RemoveMirror: PersonOperation {
    package static let name = "mirrors-remove"
    /// The most rows that one transaction deletes.
    static let batchSize = 500
    /// The most passes over the tables while another process adds rows.
    private static let rounds = 5

    package init() {}

    /// Removes the mirror of the desk, which must not be used afterwards.
    ///
    /// - Throws: `ChangeRefusal` with `.busy` while a worker holds the mirror, or while rows are
    ///   still being added; `SeenChanged`; `FavoritesError` if Redis is unreachable; the store's
    ///   error. Another call continues.
    package func perform(at desk: Desk, seen: Seen?) async throws -> MirrorRemoval {
        try await perform(at: desk, seen: seen) { _ in }
    }

    /// - Parameter step: Called after each transaction with the rows that were removed so far; may
    ///   throw.
    func perform(
        at desk: Desk, seen: Seen?, after step: @escaping @Sendable (Int) throws -> Void
    ) async throws -> MirrorRemoval {
        let mirror = desk.mirror
        let result = try await MirrorOwnership.holding(mirror) { () async throws -> MirrorRemoval in
            // Refuses a table without a duty before anything is changed.
            let shapes = try await TableShape.ofMirrors(in: mirror.storage).filter {
                $0.duty.removal == .withMirror
            }
            var removal = MirrorRemoval(mirror: mirror.name)
            removal.wasInterrupted = try await begin(mirror, seen: seen, now: desk.now)
            // A request from before the pause may still be in flight.
            _ = try await InFlightWait(mirror: mirror).wait()
            var isEmpty = false
            for _ in 0..<Self.rounds where !isEmpty {
                isEmpty = true
                for shape in shapes {
                    let removedBefore = removal.rows.values.reduce(0, +)
                    let removed = try await empty(shape, of: mirror) {
                        try step(removedBefore + $0)
                    }
                    guard removed > 0 else { continue }
                    removal.rows[shape.name, default: 0] += removed
                    isEmpty = false
                }
            }
            if let client = try mirror.installation.redis() {
                for namespace in CountNamespace.allCases {
                    try await RedisCountStore(client: client, mirror: mirror.name, namespace)
                        .clear()
                }
            }
            return removal
        }
        guard let removal = result else { throw Self.held(mirror.name) }
        try await end(mirror)
        return removal
    }

    /// The digest of a mirror, as shown to a person who confirms the removal.
    fileprivate static func seen(_ record: MirrorRecord) -> Seen {
        func stored(_ account: AccountID?) -> String? {
            account.map { "\($0.network.rawValue):\($0.value)" }
        }
        return seen(human: stored(record.human), bot: stored(record.bot))
    }

    /// The digest of the stored accounts.
    private static func seen(human: String?, bot: String?) -> Seen {
        Seen(of: "mirror", human, bot)
    }

    private static func held(_ name: String) -> ChangeRefusal {
        ChangeRefusal(
            .busy,
            localized(
                "a worker holds mirror \(name); run mirror-bot mirrors pause \(name), and try again once the worker has released it, or stop the worker"
            ))
    }

    /// Pauses the mirror permanently, and removes its logins and settings.
    ///
    /// - Returns: Whether a removal was begun before.
    private func begin(_ mirror: HumanMirror, seen: Seen?, now: Date) async throws -> Bool {
        let name = mirror.name
        let reason = "it is being removed: mirror-bot mirrors remove \(name)"
        return try await mirror.storage.transaction { connection in
            let row = try connection.query(
                "SELECT human_account, bot_account, pause_code FROM mirrors WHERE mirror = \(name)"
            ).first
            try seen.require(
                Self.seen(
                    human: try row?.optionalText("human_account"),
                    bot: try row?.optionalText("bot_account")))
            try connection.execute(
                """
                INSERT INTO mirrors (mirror, created_ms, paused_ms, pause_reason, pause_code, version)
                VALUES (\(name), \(now.milliseconds), \(now.milliseconds), \(reason),
                    \(Pause.Code.removing.rawValue), 1)
                ON CONFLICT (mirror) DO UPDATE SET paused_ms = excluded.paused_ms, paused_until_ms = NULL,
                    pause_reason = excluded.pause_reason, pause_code = excluded.pause_code,
                    version = mirrors.version + 1
                """)
            try connection.execute("DELETE FROM credentials WHERE mirror = \(name)")
            try connection.execute("DELETE FROM settings WHERE mirror = \(name)")
            return try row?.optionalText("pause_code") == Pause.Code.removing.rawValue
        }
    }

    /// Deletes the mirror's rows of one table.
    ///
    /// - Returns: The number of deleted rows.
    private func empty(
        _ shape: TableShape, of mirror: HumanMirror, after step: (Int) throws -> Void
    ) async throws -> Int {
        precondition(!shape.key.isEmpty, "\(shape.name) has no primary key")
        let name = mirror.name
        let table = shape.name
        let key = shape.key.map(\.name).joined(separator: ", ")
        var removed = 0
        while true {
            let count = try await mirror.storage.execute(
                """
                DELETE FROM \(unsafe: table) WHERE mirror = \(name) AND (\(unsafe: key)) IN (
                    SELECT \(unsafe: key) FROM \(unsafe: table) WHERE mirror = \(name) LIMIT \(Self.batchSize)
                )
                """)
            removed += count
            if count > 0 { try step(removed) }
            if count < Self.batchSize { return removed }
        }
    }

    /// Deletes the rows of this copy and the mirror's own row, if nothing else is left of the
    /// mirror and no worker holds it.
    private func end(_ mirror: HumanMirror) async throws {
        let name = mirror.name
        let tables = Dictionary(grouping: try await TableShape.ofMirrors(in: mirror.storage)) {
            $0.duty.removal
        }
        try await mirror.storage.transaction { connection in
            guard try MirrorOwnership.isFree(name, on: connection) else { throw Self.held(name) }
            for shape in tables[.withMirror] ?? [] {
                let rows = try connection.query(
                    "SELECT 1 AS found FROM \(unsafe: shape.name) WHERE mirror = \(name) LIMIT 1")
                guard rows.isEmpty else {
                    throw ChangeRefusal(
                        .busy,
                        localized(
                            "something else writes rows of mirror \(name); stop it, and try again"))
                }
            }
            for shape in (tables[.ofCopy] ?? []) + (tables[.last] ?? []) {
                try connection.execute("DELETE FROM \(unsafe: shape.name) WHERE mirror = \(name)")
            }
        }
    }
}

/// A mirror in the question about its removal.
package struct RemovalSubject: Codable, Equatable, Sendable {
    /// The handles of the accounts; nil if they were never verified.
    package let human: String?
    package let bot: String?
    package let seen: Seen

    /// - Throws: The store's error.
    package init(_ mirror: HumanMirror) async throws {
        let record = try await mirror.table.record()
        human = record.humanHandle
        bot = record.botHandle
        seen = RemoveMirror.seen(record)
    }
}

/// The result of removing a mirror.
package struct MirrorRemoval: PersonOutcome {
    package private(set) var schema = "mirror-bot/mirror-removal/1"
    package let mirror: String
    /// The number of rows that this call deleted from each table, besides the mirror's own row,
    /// settings and logins.
    package fileprivate(set) var rows: [String: Int] = [:]
    /// Whether the call continued an interrupted removal.
    package fileprivate(set) var wasInterrupted = false

    init(mirror: String) { self.mirror = mirror }
}
