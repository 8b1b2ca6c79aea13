package import Foundation
import Outbox
package import Posts
package import Settings
import Storage

/// That a mirror ends, as a person asked for it, and how far that has come.
///
/// All of it is in the mirror's row, so that whoever works for the mirror next goes on where the
/// last one was cut.
package struct Retirement: Equatable, Sendable {
    /// The last thing that the bot posts.
    package enum Last: Equatable, Sendable {
        /// A text that the person typed.
        case text(String)
        /// An archived post of the human's.
        case post(PostID)
    }

    /// From when on nothing leaves but the last post.
    package let date: Date
    package let asked: Date
    /// Nil for no last post.
    package let last: Last?
    /// Whether everything else that the bot did is taken back.
    package let takesBack: Bool
    /// When a worker began it, after which it cannot be called off.
    package var begun: Date?
    /// The id of the last post's action; nil before ``begun``, and if there is none.
    package var post: String?
    /// When the bot's profile was written, or could not be.
    package var profile: Date?
    /// Why the profile was not written; nil if it was.
    package var profileNote: String?
    /// When the wishes to take everything back were noted.
    package var wished: Date?
    /// When all of it was done, and the logins were removed.
    package var ended: Date?

    package init(date: Date, asked: Date, last: Last? = nil, takesBack: Bool = false) {
        self.date = Date(milliseconds: date.milliseconds)
        self.asked = Date(milliseconds: asked.milliseconds)
        self.last = last
        self.takesBack = takesBack
    }

    /// Whether nothing but the last post leaves any more.
    package func isDue(at now: Date) -> Bool { begun != nil || date <= now }

    package var isOver: Bool { ended != nil }

    /// The digest of a retirement as a person is shown it; nil where none is asked for.
    package static func seen(_ retirement: Retirement?) -> Seen {
        Seen(
            of: "retirement", retirement?.date.milliseconds.description, retirement?.stored.text,
            retirement?.stored.source, retirement?.takesBack.description,
            retirement?.begun?.milliseconds.description,
            retirement?.ended?.milliseconds.description)
    }

    /// The last words as they are stored.
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

    /// How the names of its columns in `mirrors` begin.
    static let prefix = "retire"

    /// The retirement in a row of `mirrors`; nil if none is asked for.
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
        profile = try row.optionalDate("retire_profile_ms")
        profileNote = try row.optionalText("retire_profile_note")
        wished = try row.optionalDate("retire_undo_ms")
        ended = try row.optionalDate("retired_ms")
    }

    private static func post(_ stored: String) -> PostID? {
        let parts = stored.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, let network = NetworkName(rawValue: parts[0]) else { return nil }
        return PostID(network: network, value: parts[1])
    }

    /// The error of a worker that is to work for a mirror that has retired.
    package func over(_ mirror: String) -> ConfigurationError {
        ConfigurationError(
            "mirror \(mirror)",
            "has retired at \((ended ?? date).rfc3339), so there is nothing to do for a worker; mirror-bot status shows it"
        )
    }
}

extension MirrorTable {
    /// Stores that the mirror is to retire: once this returns, nothing else is recorded as leaving
    /// from its date on.
    ///
    /// - Parameter seen: ``Retirement/seen(_:)`` that the person was shown; nil to change without
    ///   comparing.
    /// - Throws: ``ChangeRefusal`` if it has begun to; `SeenChanged`; the store's error.
    package func retire(_ retirement: Retirement, seen: Seen? = nil, now: Date) async throws {
        let mirror = mirror
        let last = retirement.stored
        try await storage.transaction { connection in
            let known = try Self.record(mirror, connection)?.retirement
            try seen.require(Retirement.seen(known))
            try Self.requireNotBegun(known)
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

    /// Takes back that the mirror is to retire.
    ///
    /// - Returns: What was asked for; nil if nothing was.
    /// - Throws: As ``retire(_:seen:now:)``.
    package func cancelRetirement(seen: Seen? = nil) async throws -> Retirement? {
        let mirror = mirror
        return try await storage.transaction { connection in
            let known = try Self.record(mirror, connection)?.retirement
            try seen.require(Retirement.seen(known))
            try Self.requireNotBegun(known)
            guard let known else { return nil }
            try connection.execute(
                """
                UPDATE mirrors SET retire_ms = NULL, retire_asked_ms = NULL, retire_text = NULL, retire_source = NULL,
                    retire_undo = \(false), version = version + 1
                WHERE mirror = \(mirror) AND retire_begun_ms IS NULL
                """)
            return known
        }
    }

    private static func requireNotBegun(_ retirement: Retirement?) throws {
        guard let retirement else { return }
        if retirement.isOver {
            throw ChangeRefusal(.over, "the mirror has retired, which is for good")
        }
        if retirement.begun != nil {
            throw ChangeRefusal(
                .over, "the mirror is retiring already, which cannot be called off any more")
        }
    }

    /// Notes that the bot's profile says that the mirror has retired, or why it cannot.
    ///
    /// - Throws: The store's error.
    package func noteRetiredProfile(_ note: String?, now: Date) async throws {
        try await storage.execute(
            """
            UPDATE mirrors SET retire_profile_ms = \(now.milliseconds), retire_profile_note = \(note)
            WHERE mirror = \(mirror) AND retire_profile_ms IS NULL
            """)
    }

    /// Notes that all that is to be taken back is noted as such.
    ///
    /// - Throws: The store's error.
    package func noteRetiredWishes(now: Date) async throws {
        try await storage.execute(
            """
            UPDATE mirrors SET retire_undo_ms = \(now.milliseconds)
            WHERE mirror = \(mirror) AND retire_undo_ms IS NULL
            """)
    }

    /// Ends a retirement of which nothing is left to do, and removes the stored logins.
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

    /// Removes the logins of a mirror that has retired: no backup brings them back.
    static func removeLoginsIfRetired(_ mirror: String, on connection: any StorageConnection) throws
    {
        try connection.execute(
            """
            DELETE FROM credentials WHERE mirror = \(mirror)
                AND EXISTS (SELECT 1 FROM mirrors WHERE mirrors.mirror = \(mirror) AND retired_ms IS NOT NULL)
            """)
    }
}
