package import Posts
import Storage

extension People {
    /// Says that two accounts belong to the same person, and with them all
    /// accounts that either was linked to before.
    package func link(_ first: AccountID, _ second: AccountID) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            let links = try [first, second].map { try Self.person($0, of: mirror, on: connection)?.link }
            let link = links[0] ?? links[1] ?? "\(first.network.rawValue) \(first.value)"
            for account in [first, second] {
                try connection.execute(
                    """
                    INSERT INTO people (mirror, network, account_id, linked_to)
                    VALUES (\(mirror), \(account.network.rawValue), \(account.value), \(link))
                    ON CONFLICT (mirror, network, account_id) DO UPDATE SET linked_to = excluded.linked_to
                    """)
            }
            guard let other = links[1], other != link else { return }
            try connection.execute(
                "UPDATE people SET linked_to = \(link) WHERE mirror = \(mirror) AND linked_to = \(other)")
        }
    }

    /// Says that an account is its own person; the others it was linked to stay linked with each other.
    package func unlink(_ account: AccountID) async throws {
        try await storage.execute(
            """
            UPDATE people SET linked_to = \(SQLValue.null)
            WHERE mirror = \(mirror) AND network = \(account.network.rawValue) AND account_id = \(account.value)
            """)
    }

    /// All accounts of a person, the given one first.
    package func linked(to person: AccountID) async throws -> [AccountID] {
        let mirror = mirror
        return try await storage.read { try Self.linked(to: person, of: mirror, on: $0) }
    }

    static func linked(
        to person: AccountID, of mirror: String, on connection: any StorageConnection
    ) throws -> [AccountID] {
        guard let link = try Self.person(person, of: mirror, on: connection)?.link else { return [person] }
        let others = try people(linkedBy: [link], of: mirror, on: connection).map(\.id).filter { $0 != person }
        return [person] + others
    }
}
