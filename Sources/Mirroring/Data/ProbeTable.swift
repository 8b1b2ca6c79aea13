package import Foundation
package import Networks
package import Posts
import Settings
import Storage

/// The findings about a bot's server by `doctor --probe`, and by the check after the bot's first
/// post.
package struct ProbeTable: Sendable {
    let storage: any StorageEngine
    let mirror: String

    /// Reads the findings about an account's server.
    ///
    /// - Returns: An inner nil for a promise that the server does not let the probe check; nil if
    ///   nothing was found.
    /// - Throws: The store's error.
    package func findings(of account: AccountID) async throws -> (
        kept: [ServerPromise: Bool?], at: Date
    )? {
        let rows = try await storage.query(
            """
            SELECT promise, kept, noted_ms FROM probes
            WHERE mirror = \(mirror) AND account = \(account.canonical.reference)
            """)
        var kept: [ServerPromise: Bool?] = [:]
        var latest = Date(milliseconds: 0)
        for row in rows {
            guard let promise = ServerPromise(rawValue: try row.text("promise")) else { continue }
            kept[promise] = .some(try row.optionalInteger("kept").map { $0 == 1 })
            latest = max(latest, try row.date("noted_ms"))
        }
        return kept.isEmpty ? nil : (kept, latest)
    }

    /// Reads the findings about the server of the mirror's bot that its client uses.
    ///
    /// - Throws: The store's error.
    func measured() async throws -> [ServerPromise: Bool] {
        let rows = try await storage.query(
            """
            SELECT account, promise, kept, bot_account FROM probes
                JOIN mirrors ON mirrors.mirror = probes.mirror
            WHERE probes.mirror = \(mirror) AND kept IS NOT NULL
            """)
        var kept: [ServerPromise: Bool] = [:]
        for row in rows {
            let bot = MirrorTable.account(try row.optionalText("bot_account"))
            guard let promise = ServerPromise(rawValue: try row.text("promise")),
                try row.text("account") == bot?.canonical.reference
            else { continue }
            kept[promise] = try row.integer("kept") == 1
        }
        return kept
    }

    /// Stores findings, and replaces earlier ones about the same promises.
    ///
    /// A worker uses them from its next look on.
    ///
    /// - Throws: The store's error.
    package func note(_ kept: [ServerPromise: Bool?], of account: AccountID, now: Date) async throws
    {
        try await storage.transaction { [mirror] connection in
            for (promise, holds) in kept {
                try connection.execute(
                    """
                    INSERT INTO probes (mirror, account, promise, kept, noted_ms)
                    VALUES (\(mirror), \(account.canonical.reference), \(promise.rawValue),
                        \(holds.map { $0 ? 1 : 0 }), \(now.milliseconds))
                    ON CONFLICT (mirror, account, promise)
                    DO UPDATE SET kept = excluded.kept, noted_ms = excluded.noted_ms
                    """)
            }
            try MirrorVersion.raise(mirror, on: connection)
        }
    }
}

extension HumanMirror {
    /// The findings about the bot's server.
    package var probes: ProbeTable { ProbeTable(storage: storage, mirror: name) }
}
