import Conduct
package import Foundation
package import Networks
package import Posts
import Settings
package import Storage

/// The sentences about bots in the rules of the bot's server, as last read, and which of them a
/// person was shown.
package struct ServerRuleTable: Sendable {
    /// A sentence of the server.
    package struct Sentence: Codable, Equatable, Sendable {
        package let text: String
        /// When the sentence was first read.
        package let since: Date
        /// When the sentence was first missing; nil if the server still has it.
        package let gone: Date?
        /// Whether a person was already shown it.
        package let wasShown: Bool
    }

    /// The sentences, removed ones last, and the time of the last read.
    package struct Look: Equatable, Sendable {
        package let sentences: [Sentence]
        package let read: Date

        /// Whether a person has not been shown a new sentence, or the removal of one.
        package var hasNews: Bool { sentences.contains { !$0.wasShown || $0.gone != nil } }
    }

    /// Seconds between two reads of the server's rules by a worker.
    package static let interval: TimeInterval = 7 * 86_400
    /// The most sentences that are stored of one server.
    private static let mostSentences = 200
    /// The digest of the row with the time of the last read.
    private static let rowOfLastRead = ""

    let storage: any StorageEngine
    let mirror: String

    /// Returns the time of the last read of an account's server; nil for never.
    ///
    /// - Throws: The store's error.
    package func lastLook(of account: AccountID) async throws -> Date? {
        try await storage.query(
            """
            SELECT read_ms FROM server_rules
            WHERE mirror = \(mirror) AND account = \(account.canonical.reference) AND digest = \(Self.rowOfLastRead)
            """
        ).first?.date("read_ms")
    }

    /// Stores the present sentences; a sentence that the server has removed is kept as gone.
    ///
    /// - Parameters:
    ///   - texts: The sentences about bots, in their order.
    ///   - account: The bot's account.
    ///   - isShown: Whether a person is shown the result now.
    /// - Returns: The stored sentences, with what a person was shown before.
    /// - Throws: The store's error.
    package func note(_ texts: [String], of account: AccountID, isShown: Bool, now: Date)
        async throws -> Look
    {
        try await storage.transaction { [mirror] connection in
            let reference = account.canonical.reference
            let isOfAccount: SQL = "mirror = \(mirror) AND account = \(reference)"
            let entries = [Self.rowOfLastRead] + texts.prefix(Self.mostSentences).map(Self.digest)
            for (position, digest) in entries.enumerated() {
                // The first entry is the row with the time of the read, and has no sentence.
                let text = position == 0 ? "" : texts[position - 1]
                try connection.execute(
                    """
                    INSERT INTO server_rules (mirror, account, digest, position, text, since_ms, read_ms)
                    VALUES (\(mirror), \(reference), \(digest), \(position),
                        \(text), \(now.milliseconds), \(now.milliseconds))
                    ON CONFLICT (mirror, account, digest) DO UPDATE
                    SET position = excluded.position, read_ms = excluded.read_ms, gone_ms = NULL
                    """)
            }
            // Another account may be on another server, so its rows are removed.
            try connection.execute(
                "DELETE FROM server_rules WHERE mirror = \(mirror) AND account <> \(reference)")
            // A removed sentence that no person was shown is deleted without a notice.
            try connection.execute(
                "DELETE FROM server_rules WHERE \(isOfAccount) AND digest NOT IN \(list: entries) AND shown_ms IS NULL"
            )
            try connection.execute(
                """
                UPDATE server_rules SET gone_ms = COALESCE(gone_ms, \(now.milliseconds))
                WHERE \(isOfAccount) AND digest NOT IN \(list: entries)
                """)
            let sentences = try Self.sentences(where: isOfAccount, on: connection)
            if isShown {
                try connection.execute(
                    "DELETE FROM server_rules WHERE \(isOfAccount) AND gone_ms IS NOT NULL")
                try connection.execute(
                    "UPDATE server_rules SET shown_ms = COALESCE(shown_ms, \(now.milliseconds)) WHERE \(isOfAccount)"
                )
            }
            return Look(sentences: sentences, read: now)
        }
    }

    private static func sentences(
        where condition: SQL, on connection: any StorageConnection
    ) throws -> [Sentence] {
        try connection.query(
            """
            SELECT text, since_ms, gone_ms, shown_ms FROM server_rules WHERE \(condition) AND digest <> \(rowOfLastRead)
            ORDER BY CASE WHEN gone_ms IS NULL THEN 0 ELSE 1 END, position, digest
            """
        ).map { row in
            Sentence(
                text: try row.text("text"), since: try row.date("since_ms"),
                gone: try row.optionalDate("gone_ms"),
                wasShown: try row.optionalDate("shown_ms") != nil)
        }
    }

    /// Part of a statement: the number of sentences that the operator was not shown, and of removed
    /// ones.
    ///
    /// - Parameter mirror: An SQL expression for the mirror's name.
    package static func news(of mirror: SQL) -> SQL {
        """
        (SELECT COUNT(*) FROM server_rules
        WHERE mirror = \(mirror) AND digest <> '' AND (shown_ms IS NULL OR gone_ms IS NOT NULL))
        """
    }

    private static func digest(of text: String) -> String {
        String(StableHash.digest(of: "server-rule/1", text).hexadecimal.prefix(24))
    }
}

extension HumanMirror {
    /// The sentences about bots in the rules of the bot's server.
    package var serverRules: ServerRuleTable { ServerRuleTable(storage: storage, mirror: name) }
}

/// Reads the sentences about bots from the bot's server.
package enum ServerRuleReader {
    /// Requests the rules and finds the sentences; a network with the same rules everywhere has
    /// none of its own.
    ///
    /// An address of terms counts as a sentence, because a person has to read the terms.
    ///
    /// - Throws: `NetworkError`; `CancellationError`.
    package static func read(_ network: any SocialNetwork) async throws -> [String] {
        let statements = try await network.serverStatements()
        var seen: Set<String> = []
        return statements.flatMap { statement in
            PlainText.isWebAddress(statement)
                ? [statement] : ServerRules.standard.sentences(in: statement).map(\.text)
        }.filter { seen.insert($0).inserted }
    }
}
