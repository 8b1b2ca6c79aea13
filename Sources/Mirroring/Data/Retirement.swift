package import Foundation
import Localization
import Outbox
package import Posts
package import Settings
package import Storage

/// The planned or completed end of a mirror.
///
/// All of it is stored in the mirror's row, so that the next worker continues where the last one
/// stopped.
package struct Retirement: Equatable, Sendable {
    /// The last post of the bot.
    package enum Last: Equatable, Sendable {
        /// A text that the person typed.
        case text(String)
        /// An archived post of the human's.
        case post(PostID)
    }

    /// The time from which nothing except the last post is sent.
    package let date: Date
    /// When a person asked for the retirement.
    package let asked: Date
    /// The bot's last post; nil for none.
    package let last: Last?
    /// Whether all other actions of the bot are taken back.
    package let takesBack: Bool
    /// When a worker began the retirement, after which it cannot be cancelled.
    package var begun: Date?
    /// The id of the last post's action; nil before ``begun``, and if there is none.
    package var post: String?
    /// When the bot's profile was written, or could not be.
    package var profileSettled: Date?
    /// The reason why the profile was not written; nil if it was.
    package var profileNote: String?
    /// When the requests to take everything back were stored.
    package var undosRequested: Date?
    /// When everything was done and the logins were removed.
    package var ended: Date?

    package init(date: Date, asked: Date, last: Last? = nil, takesBack: Bool = false) {
        self.date = Date(milliseconds: date.milliseconds)
        self.asked = Date(milliseconds: asked.milliseconds)
        self.last = last
        self.takesBack = takesBack
    }

    /// Whether nothing except the last post may be sent any more.
    package func isDue(at now: Date) -> Bool { begun != nil || date <= now }

    package var isOver: Bool { ended != nil }

    /// The digest of a retirement as it is shown to a person; nil if none is planned.
    package static func seen(_ retirement: Retirement?) -> Seen {
        Seen(
            of: "retirement", retirement?.date.milliseconds.description, retirement?.stored.text,
            retirement?.stored.source, retirement?.takesBack.description,
            retirement?.begun?.milliseconds.description,
            retirement?.ended?.milliseconds.description)
    }

    /// The last post as it is stored.
    fileprivate var stored: (text: String?, source: String?) {
        switch last {
        case .text(let text): (text, nil)
        case .post(let id): (nil, "\(id.network.rawValue):\(id.value)")
        case nil: (nil, nil)
        }
    }

    static let columns: SQL = """
        retire_ms, retire_asked_ms, retire_text, retire_source, retire_undo, retire_begun_ms, retire_post,
            retire_profile_ms, retire_profile_note, retire_undo_ms, retired_ms
        """

    /// The prefix of its columns in `mirrors`.
    package static let prefix = "retire"

    /// The retirement in a row of `mirrors`; nil if none is planned.
    init?(row: SQLRow) throws {
        guard let date = try row.optionalDate("retire_ms") else { return nil }
        var last: Last?
        if let text = try row.optionalText("retire_text") { last = .text(text) }
        if let source = try row.optionalText("retire_source"), let post = Self.post(source) {
            last = .post(post)
        }
        self.init(
            date: date, asked: try row.optionalDate("retire_asked_ms") ?? date, last: last,
            takesBack: try row.boolean("retire_undo"))
        begun = try row.optionalDate("retire_begun_ms")
        post = try row.optionalText("retire_post")
        profileSettled = try row.optionalDate("retire_profile_ms")
        profileNote = try row.optionalText("retire_profile_note")
        undosRequested = try row.optionalDate("retire_undo_ms")
        ended = try row.optionalDate("retired_ms")
    }

    private static func post(_ stored: String) -> PostID? {
        let parts = stored.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, let network = NetworkName(rawValue: parts[0]) else { return nil }
        return PostID(network: network, value: parts[1])
    }

    /// The error for a worker of a mirror that has retired.
    package func retiredError(of mirror: String) -> ConfigurationError {
        ConfigurationError(
            localized("mirror \(mirror)"),
            localized(
                "has retired at \((ended ?? date).rfc3339), so there is nothing to do for a worker; mirror-bot status shows it"
            ))
    }
}

extension MirrorTable {
    /// Stores the planned retirement: once this returns, no other action is recorded as being sent
    /// from its date on.
    ///
    /// - Parameter seen: ``Retirement/seen(_:)`` that the person was shown; nil to change without
    ///   comparing.
    /// - Throws: ``ChangeRefusal`` if the retirement has begun; `SeenChanged`; the store's error.
    package func retire(_ retirement: Retirement, seen: Seen? = nil, now: Date) async throws {
        let mirror = mirror
        let last = retirement.stored
        try await storage.transaction { connection in
            let planned = try Self.record(mirror, connection)?.retirement
            try seen.require(Retirement.seen(planned))
            try Self.requireNotBegun(planned)
            try connection.execute(
                """
                INSERT INTO mirrors (mirror, created_ms) VALUES (\(mirror), \(now.milliseconds))
                ON CONFLICT (mirror) DO NOTHING
                """)
            try connection.execute(
                """
                UPDATE mirrors SET retire_ms = \(retirement.date.milliseconds),
                    retire_asked_ms = \(retirement.asked.milliseconds), retire_text = \(last.text),
                    retire_source = \(last.source), retire_undo = \(retirement.takesBack), version = version + 1
                WHERE mirror = \(mirror) AND retire_begun_ms IS NULL
                """)
        }
    }

    /// Cancels the planned retirement.
    ///
    /// - Returns: The retirement that was planned; nil if there was none.
    /// - Throws: As ``retire(_:seen:now:)``.
    package func cancelRetirement(seen: Seen? = nil) async throws -> Retirement? {
        let mirror = mirror
        return try await storage.transaction { connection in
            let planned = try Self.record(mirror, connection)?.retirement
            try seen.require(Retirement.seen(planned))
            try Self.requireNotBegun(planned)
            guard let planned else { return nil }
            try connection.execute(
                """
                UPDATE mirrors SET retire_ms = NULL, retire_asked_ms = NULL, retire_text = NULL, retire_source = NULL,
                    retire_undo = \(false), version = version + 1
                WHERE mirror = \(mirror) AND retire_begun_ms IS NULL
                """)
            return planned
        }
    }

    private static func requireNotBegun(_ retirement: Retirement?) throws {
        guard let retirement else { return }
        if retirement.isOver {
            throw ChangeRefusal(.over, localized("the mirror has retired, which is for good"))
        }
        if retirement.begun != nil {
            throw ChangeRefusal(
                .over,
                localized("the mirror is retiring already, which cannot be called off any more"))
        }
    }

    /// Stores that the bot's profile says that the mirror has retired, or why it cannot.
    ///
    /// - Throws: The store's error.
    package func noteRetiredProfile(_ note: String?, now: Date) async throws {
        try await storage.execute(
            """
            UPDATE mirrors SET retire_profile_ms = \(now.milliseconds), retire_profile_note = \(note)
            WHERE mirror = \(mirror) AND retire_profile_ms IS NULL
            """)
    }

    /// Stores that the requests to take everything back are recorded.
    ///
    /// - Throws: The store's error.
    package func noteRetiredWishes(now: Date) async throws {
        try await storage.execute(
            """
            UPDATE mirrors SET retire_undo_ms = \(now.milliseconds)
            WHERE mirror = \(mirror) AND retire_undo_ms IS NULL
            """)
    }

    /// Ends a retirement that has nothing left to do, and removes the stored logins.
    ///
    /// - Throws: The store's error.
    package func endRetirement(now: Date) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            try connection.execute(
                """
                UPDATE mirrors SET retired_ms = \(now.milliseconds), version = version + 1
                WHERE mirror = \(mirror) AND retire_begun_ms IS NOT NULL AND retired_ms IS NULL
                """)
            try Self.removeLoginsIfRetired(mirror, on: connection)
        }
    }

    /// Removes the logins of a retired mirror, so that a restored backup does not bring them back.
    package static func removeLoginsIfRetired(
        _ mirror: String, on connection: any StorageConnection
    ) throws {
        try connection.execute(
            """
            DELETE FROM credentials WHERE mirror = \(mirror)
                AND EXISTS (SELECT 1 FROM mirrors WHERE mirrors.mirror = \(mirror) AND retired_ms IS NOT NULL)
            """)
    }
}
