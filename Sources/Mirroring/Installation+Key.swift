import Foundation
import Localization
import Settings
import Storage

extension Installation {
    /// Stored logins in one read.
    private static let loginsAtOnce = 500

    /// Requires that the key of this process opens at least one stored login, if there are any.
    ///
    /// A worker with the wrong key could do nothing for the mirrors that it holds.
    ///
    /// - Throws: `ConfigurationError` if the key opens none of them; the store's error.
    package func requireFittingKey() async throws {
        let vault = try vault(of: MirrorSettings.defaultMirror).keyed()
        let roles = AccountRole.allCases.map(\.rawValue)
        var lastRow: (mirror: String, role: String)?
        while true {
            let afterLastRow: SQL =
                if let lastRow {
                    """
                     AND (mirror > \(lastRow.mirror) OR mirror = \(lastRow.mirror) AND role > \(lastRow.role))
                    """
                } else { "" }
            let rows = try await storage.query(
                """
                SELECT mirror, role, sealed FROM credentials WHERE role IN \(list: roles)\(afterLastRow)
                ORDER BY mirror, role LIMIT \(Self.loginsAtOnce)
                """)
            guard !rows.isEmpty else { break }
            for row in rows {
                let mirror = try row.text("mirror")
                let role = try row.text("role")
                lastRow = (mirror, role)
                guard let role = AccountRole(rawValue: role) else { continue }
                let sealed = try row.text("sealed")
                // If one login opens, the key fits, and the others (nil if they cannot be opened)
                // are faults of single mirrors.
                if (try? vault.of(mirror).opened(sealed, of: role)) != nil { return }
            }
        }
        guard lastRow != nil else { return }
        throw ConfigurationError(
            Setting.secretKey.name,
            localized(
                "opens none of the logins in the database; give every process of it the same key, or log in again"
            )
        )
    }
}
