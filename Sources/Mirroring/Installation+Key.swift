import Foundation
import Settings
import Storage

extension Installation {
    /// Stored logins that are read at a time.
    private static let loginsAtOnce = 500

    /// Requires that the key of this process opens one of the logins that are stored, if there are
    /// any.
    ///
    /// A worker with another key could do nothing for the mirrors that it holds.
    ///
    /// - Throws: `ConfigurationError` for a key that opens none of them; the store's error.
    package func requireFittingKey() async throws {
        let vault = try vault(of: MirrorSettings.usualMirror).keyed()
        let roles = AccountRole.allCases.map(\.rawValue)
        var last: (mirror: String, role: String)?
        while true {
            let place: SQL =
                last.map {
                    " AND (mirror > \($0.mirror) OR mirror = \($0.mirror) AND role > \($0.role))"
                } ?? ""
            let rows = try await storage.query(
                """
                SELECT mirror, role, sealed FROM credentials WHERE role IN \(list: roles)\(place)
                ORDER BY mirror, role LIMIT \(Self.loginsAtOnce)
                """)
            guard !rows.isEmpty else { break }
            for row in rows {
                let mirror = try row.text("mirror")
                let role = try row.text("role")
                last = (mirror, role)
                guard let role = AccountRole(rawValue: role) else { continue }
                let sealed = try row.text("sealed")
                // One that cannot be opened is a mirror's own trouble, unless it is the trouble of
                // all.
                if (try? vault.of(mirror).opened(sealed, of: role)) != nil { return }
            }
        }
        guard last != nil else { return }
        throw ConfigurationError(
            Setting.secretKey.name,
            "opens none of the logins in the database; give every process of it the same key, or log in again"
        )
    }
}
