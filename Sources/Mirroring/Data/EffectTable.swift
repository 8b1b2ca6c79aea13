package import Foundation
import Localization
import Outbox
package import Posts
import Settings
package import Storage

/// A change at the bot's network that is not an action: the posts of `doctor --probe`, or a change
/// of the bot's profile.
///
/// Its row is committed before the first request is sent, and removed when nothing is left to take
/// back or finish. So after any interruption the next command, or a worker, finds it.
package struct Effect: Equatable, Sendable {
    package enum Kind: String, Codable, Sendable {
        /// To be taken back: its posts are searched for and deleted.
        case probe
        /// To be finished: the profile is compared, and written if it still has the former text.
        case profile
    }

    package let id: String
    package let kind: Kind
    /// The reference of the bot's account.
    package let account: String
    /// Words that only the probe's posts contain, or the digest of the change of the profile.
    package let mark: String
    /// The network's identifier of the probe's post; `nil` until the network has returned it.
    package var post: String?
    /// The network's identifier of the answer to that post; `nil` until the network has returned
    /// it.
    package var answer: String?
    /// The time of the effect's beginning, by the network's clock.
    package let begun: Date
    /// The time of the latest request whose outcome is unknown; nil if there is none.
    package var sent: Date?
    /// When a worker takes it up; nil if it is not tried again.
    package var next: Date?
    package var attempts = 0
    /// The last error; nil if nothing has failed.
    package var error: String?
    /// The random identifier of the effect's current holder.
    var holder: String

    /// Whether a worker should take it up now.
    package func isDue(at now: Date) -> Bool {
        guard let next else { return false }
        return next <= now || next > now + OutboxStore.longestEffectWait
    }

    /// Whether it was given up so long ago that it is no longer shown.
    package func isForgotten(at now: Date) -> Bool {
        next == nil && begun + OutboxStore.effectMemory <= now
    }
}

/// The error that another process has taken up an effect; nothing was changed here.
package struct EffectTaken: Error, CustomStringConvertible {
    package var description: String { localized("another command or a worker has taken it over") }
}

/// Reads and changes the effects of one mirror.
///
/// Every change names its holder, and changes nothing if another process has taken the effect up.
package struct EffectTable: Sendable {
    /// The most effects that are read; one command makes a single one.
    private static let mostRead: Int64 = 100

    private let storage: any StorageEngine
    private let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// Stores a new effect durably; requests may follow.
    ///
    /// - Parameters:
    ///   - begun: The time of the effect's beginning, by the network's clock.
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
                throw ConfigurationError(localized("mirror \(mirror)"), problem)
            }
            try connection.execute(
                """
                INSERT INTO effects (mirror, id, kind, account, mark, begun_ms, sent_ms, next_ms,
                    attempts, holder)
                VALUES (\(mirror), \(effect.id), \(effect.kind.rawValue), \(effect.account),
                    \(effect.mark), \(effect.begun.milliseconds), \(effect.sent?.milliseconds),
                    \(effect.next?.milliseconds), 0, \(effect.holder))
                """)
            // A worker of many mirrors notices the new version and reads the effects.
            try MirrorVersion.raise(mirror, on: connection)
        }
        return effect
    }

    /// Stores the state of an effect that the caller holds.
    ///
    /// - Throws: ``EffectTaken`` if another process holds it, or it has ended; the store's error.
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

    /// Takes up an effect that was read before, so that its former holder can change nothing any
    /// more.
    ///
    /// - Parameter next: When a worker takes it up, if the caller does not end it.
    /// - Returns: The effect, held by the caller; nil if another process was faster.
    /// - Throws: The store's error.
    package func take(_ effect: Effect, next: Date) async throws -> Effect? {
        var taken = effect
        taken.holder = Self.newHolder()
        taken.next = next
        let mirror = mirror
        let newHolder = taken.holder
        let changed = try await storage.transaction { connection in
            try connection.execute(
                """
                UPDATE effects SET holder = \(newHolder), next_ms = \(next.milliseconds)
                WHERE mirror = \(mirror) AND id = \(effect.id) AND holder = \(effect.holder)
                """)
        }
        return changed == 1 ? taken : nil
    }

    /// Removes an effect that needs no further work; does nothing if another process holds it.
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

    /// Removes the effects of a kind, whichever process holds them, because a person starts over.
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
            FROM effects WHERE mirror = \(mirror) ORDER BY begun_ms, id LIMIT \(Self.mostRead)
            """
        ).compactMap(Self.effect)
    }

    /// When a worker should look at the next one; nil if there is none.
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
