package import Foundation
import Outbox
package import Posts
import Settings
package import Storage

/// A change at the bot's network that is no action: posts of `doctor --probe`, or a change of the
/// bot's profile.
///
/// Its row is committed before the first request leaves, and goes when nothing is left to be taken
/// back or finished. So whatever cuts the command, the next one or a worker knows of it.
package struct Effect: Equatable, Sendable {
    package enum Kind: String, Codable, Sendable {
        /// Taken back: its posts are looked for and deleted.
        case probe
        /// Finished: the profile is compared, and written if it still says what it said then.
        case profile
    }

    package let id: String
    package let kind: Kind
    /// The reference of the bot's account.
    package let account: String
    /// Words that only the probe's posts hold, or the digest of the change of the profile.
    package let mark: String
    /// The network's identifier of the probe's post; `nil` until the network has told it.
    package var post: String?
    /// The same for the answer to that post.
    package var answer: String?
    /// By the network's clock.
    package let begun: Date
    /// When the latest request left whose outcome is unknown; nil if there is none.
    package var sent: Date?
    /// When a worker takes it up; nil if it is not tried again.
    package var next: Date?
    package var attempts = 0
    /// Why it is still open; nil if nothing has failed.
    package var error: String?
    /// The random identifier of the effect's current holder.
    var holder: String

    /// Whether a worker takes it up now.
    package func isDue(at now: Date) -> Bool {
        guard let next else { return false }
        return next <= now || next > now + OutboxStore.longestEffectWait
    }

    /// Whether it was given up so long ago that nothing is told of it any more.
    package func isForgotten(at now: Date) -> Bool {
        next == nil && begun + OutboxStore.effectMemory <= now
    }
}

/// Another process has taken up an effect; nothing was changed here.
package struct EffectTaken: Error, CustomStringConvertible {
    package var description: String { "another command or a worker has taken it over" }
}

/// Reads and changes the effects of one mirror.
///
/// Every change names the holder that its caller is, and changes nothing once another one has taken
/// the effect up.
package struct EffectTable: Sendable {
    /// The most effects that are read; a command makes one.
    private static let most: Int64 = 100

    private let storage: any StorageEngine
    private let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// Stores a new effect durably; requests may follow.
    ///
    /// - Parameters:
    ///   - begun: By the network's clock.
    ///   - next: When a worker takes it up, unless it is held for longer.
    /// - Returns: The effect, held by the caller.
    /// - Throws: `ConfigurationError` if the mirror lives elsewhere; the store's error.
    package func begin(
        _ kind: Effect.Kind, mark: String, account: AccountID, begun: Date, sent: Date? = nil,
        next: Date
    ) async throws -> Effect {
        let effect = Effect(
            id: UUID().uuidString.lowercased(), kind: kind, account: account.canonical.reference,
            mark: mark,
            begun: Date(milliseconds: begun.milliseconds), sent: sent, next: next,
            holder: Self.newHolder())
        let mirror = mirror
        try await storage.transaction { connection in
            let row = try connection.query("SELECT * FROM mirrors WHERE mirror = \(mirror)").first
            if let problem = try MirrorTable.moveMark(of: row)?.problem {
                throw ConfigurationError("mirror \(mirror)", problem)
            }
            try connection.execute(
                """
                INSERT INTO effects (mirror, id, kind, account, mark, begun_ms, sent_ms, next_ms,
                    attempts, holder)
                VALUES (\(mirror), \(effect.id), \(effect.kind.rawValue), \(effect.account),
                    \(effect.mark), \(effect.begun.milliseconds), \(effect.sent?.milliseconds),
                    \(effect.next?.milliseconds), 0, \(effect.holder))
                """)
            // A worker of many mirrors looks for it then.
            try MirrorVersion.raise(mirror, on: connection)
        }
        return effect
    }

    /// Stores the state of an effect that the caller holds.
    ///
    /// - Throws: ``EffectTaken`` if another one holds it, or it has ended; the store's error.
    package func note(_ effect: Effect) async throws {
        let mirror = mirror
        let changed = try await storage.transaction { connection in
            try connection.execute(
                """
                UPDATE effects SET post_address = \(effect.post), answer_address = \(effect.answer),
                    sent_ms = \(effect.sent?.milliseconds), next_ms = \(effect.next?.milliseconds),
                    attempts = \(effect.attempts), error = \(effect.error)
                WHERE mirror = \(mirror) AND id = \(effect.id) AND holder = \(effect.holder)
                """)
        }
        guard changed == 1 else { throw EffectTaken() }
    }

    /// Takes an effect up, as it was read, so that whoever held it changes nothing any more.
    ///
    /// - Parameter next: When a worker takes it up, if the caller does not end it.
    /// - Returns: The effect, held by the caller; nil if another one was faster.
    /// - Throws: The store's error.
    package func take(_ effect: Effect, next: Date) async throws -> Effect? {
        var taken = effect
        taken.holder = Self.newHolder()
        taken.next = next
        let mirror = mirror
        let new = taken.holder
        let changed = try await storage.transaction { connection in
            try connection.execute(
                """
                UPDATE effects SET holder = \(new), next_ms = \(next.milliseconds)
                WHERE mirror = \(mirror) AND id = \(effect.id) AND holder = \(effect.holder)
                """)
        }
        return changed == 1 ? taken : nil
    }

    /// Removes an effect of which nothing is left to do; nothing happens if another one holds it.
    ///
    /// - Throws: The store's error.
    package func end(_ effect: Effect) async throws {
        try await storage.execute(
            """
            DELETE FROM effects
            WHERE mirror = \(mirror) AND id = \(effect.id) AND holder = \(effect.holder)
            """
        )
    }

    /// Removes the effects of a kind, whoever holds them: a person decides anew.
    ///
    /// - Throws: The store's error.
    package func drop(_ kind: Effect.Kind) async throws {
        try await storage.execute(
            "DELETE FROM effects WHERE mirror = \(mirror) AND kind = \(kind.rawValue)")
    }

    /// The effects that this version understands, the oldest first.
    ///
    /// - Throws: The store's error.
    package func all() async throws -> [Effect] {
        try await storage.query(
            """
            SELECT id, kind, account, mark, post_address, answer_address, begun_ms, sent_ms,
                next_ms, attempts, error, holder
            FROM effects WHERE mirror = \(mirror) ORDER BY begun_ms, id LIMIT \(Self.most)
            """
        ).compactMap(Self.effect)
    }

    /// When a worker looks at the next one; nil if there is none.
    ///
    /// - Throws: The store's error.
    package func next(now: Date) async throws -> Date? {
        let rows = try await storage.query(
            "SELECT \(OutboxStore.nextEffect(of: "\(mirror)", at: now)) AS next_ms")
        return try rows.first?.optionalDate("next_ms")
    }

    /// The number of effects of a mirror, as a part of a statement.
    ///
    /// - Parameter mirror: The mirror's name as a value, or a column with names.
    package static func number(of mirror: SQL) -> SQL {
        "(SELECT COUNT(*) FROM effects WHERE mirror = \(mirror))"
    }

    private static func newHolder() -> String { UUID().uuidString.lowercased() }

    private static func effect(_ row: SQLRow) throws -> Effect? {
        guard let kind = Effect.Kind(rawValue: try row.text("kind")) else { return nil }
        return Effect(
            id: try row.text("id"), kind: kind, account: try row.text("account"),
            mark: try row.text("mark"),
            post: try row.optionalText("post_address"),
            answer: try row.optionalText("answer_address"),
            begun: try row.date("begun_ms"), sent: try row.optionalDate("sent_ms"),
            next: try row.optionalDate("next_ms"), attempts: try row.int("attempts"),
            error: try row.optionalText("error"), holder: try row.text("holder"))
    }
}
