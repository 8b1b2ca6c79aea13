package import Foundation
package import Posts
package import Storage

/// One mirror's records of the people it met.
///
/// Every call may throw the store's error.
package struct People: Sendable {
    /// Whether a person may be answered and learned from.
    package enum Stance: String, Sendable {
        /// No decision; the ordinary rules apply.
        case none
        /// The operator, or the person, agreed.
        case allow
        /// The operator or the person refused.
        case deny
    }

    /// The reason in the row that denies a forgotten person; no other row is kept of them.
    package static let forgottenReason = "forgotten"

    /// The reason in the rows that deny whole servers.
    private static let serverReason = "server"

    /// The record of one account.
    package struct Person: Equatable, Sendable {
        package let id: AccountID
        /// The last handle they were seen with.
        package let handle: String?
        /// The stance set for this account alone; for the whole person see ``People/stance(of:)``.
        package let stance: Stance
        package let reason: String?
        /// Accounts with the same value belong to the same person.
        package let link: String?
        package let lastContact: Date?

        /// The digest of the facts that a person is shown: stance, reason and links.
        package var seen: Seen { Self.seen(id, stance, reason, link) }

        /// The digest of an account without a record, or without a stance.
        package static func seen(_ id: AccountID) -> Seen { seen(id, .none, nil, nil) }

        private static func seen(
            _ id: AccountID, _ stance: Stance, _ reason: String?, _ link: String?
        ) -> Seen {
            Seen(of: id.reference, stance.rawValue, stance == .none ? nil : reason, link)
        }
    }

    let storage: any StorageEngine
    let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// Whether a person may be answered and learned from.
    ///
    /// The first of these conditions that is met decides:
    ///
    /// 1. one of the person's linked accounts is denied: `deny`;
    /// 2. one of these accounts is allowed: `allow`;
    /// 3. the server of one of these accounts, or a domain above it, is denied
    ///    (``deny(_:seen:at:)``): `deny`.
    ///
    /// So a stance toward a person has precedence over one toward a server, whichever was set
    /// first.
    package func stance(of person: AccountID) async throws -> Stance {
        try await stances(of: [person])[person] ?? .none
    }

    /// Returns the stances toward some people, in one read.
    ///
    /// - Parameter people: Any accounts; duplicates are read once.
    /// - Returns: A stance for each of them.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func stances(of people: [AccountID]) async throws -> [AccountID: Stance] {
        guard !people.isEmpty else { return [:] }
        let mirror = mirror
        return try await storage.read { try Self.stances(of: people, in: mirror, on: $0) }
    }

    /// Returns the stances toward some people, inside a transaction.
    package static func stances(
        of people: [AccountID], in mirror: String, on connection: any StorageConnection
    ) throws -> [AccountID: Stance] {
        try acquaintances(with: people, in: mirror, on: connection).mapValues(\.stance)
    }

    /// The known facts about one person.
    package struct Acquaintance: Equatable, Sendable {
        /// See ``People/stance(of:)``.
        package let stance: Stance
        /// Whether nothing of the person may be kept.
        package let isForgotten: Bool
        /// All accounts of the person, the given one first.
        package let accounts: [AccountID]
        /// The last names of these accounts, as far as they are known.
        package let handles: [String]
        /// Whether the bot has answered one of these accounts.
        package let wasAnswered: Bool
    }

    /// Returns the known facts about some people, in one read inside a transaction.
    ///
    /// - Parameter people: Any accounts; duplicates are read once.
    /// - Returns: An element for each of them.
    /// - Throws: ``ArchiveError``, or the store's error.
    package static func acquaintances(
        with people: [AccountID], in mirror: String, on connection: any StorageConnection
    ) throws -> [AccountID: Acquaintance] {
        guard !people.isEmpty else { return [:] }
        let ids = Array(Set(people))
        // A forgotten account is recognized only by its digest.
        let records = try Self.people(
            ids + ids.map(\.forgottenID) + servers(of: ids), of: mirror, on: connection)
        let byID = Dictionary(records.map { ($0.id, $0) }) { first, _ in first }
        let linked = try Self.people(
            linkedBy: Array(Set(records.compactMap(\.link))), of: mirror, on: connection)
        let byLink = Dictionary(grouping: linked) { $0.link ?? "" }
        let others = Set(linked.map(\.id)).subtracting(ids)
        let otherServers =
            others.isEmpty
            ? [] : try Self.people(servers(of: Array(others)), of: mirror, on: connection)
        let deniedServers = Set(
            (records + otherServers).filter { $0.stance == .deny }.compactMap { ServerName($0.id) })

        func stance(of person: AccountID) -> Stance {
            if byID[person.forgottenID]?.isForgotten == true { return .deny }
            let record = byID[person]
            let accounts = record?.link.flatMap { byLink[$0] } ?? [record].compactMap(\.self)
            let stances = accounts.map(\.stance)
            if stances.contains(.deny) { return .deny }
            if stances.contains(.allow) { return .allow }
            guard !deniedServers.isEmpty else { return .none }
            let isCovered = ([person] + accounts.map(\.id)).contains {
                !deniedServers.isDisjoint(with: ServerName.covering($0))
            }
            return isCovered ? .deny : .none
        }
        func acquaintance(with person: AccountID) -> Acquaintance {
            let record = byID[person]
            let others = record?.link.flatMap { byLink[$0] }?.filter { $0.id != person } ?? []
            let records = [record].compactMap(\.self) + others
            return Acquaintance(
                stance: stance(of: person), isForgotten: byID[person.forgottenID] != nil,
                accounts: [person] + others.map(\.id),
                handles: records.compactMap(\.handle),
                wasAnswered: records.contains { $0.lastContact != nil })
        }
        return Dictionary(uniqueKeysWithValues: ids.map { ($0, acquaintance(with: $0)) })
    }

    /// Returns the known facts about one person.
    ///
    /// - Throws: ``ArchiveError``, or the store's error.
    package func acquaintance(with person: AccountID) async throws -> Acquaintance? {
        try await storage.read { [mirror] in
            try Self.acquaintances(with: [person], in: mirror, on: $0)[person]
        }
    }

    /// Whether a person is denied, and each of the denials has the same reason.
    ///
    /// - Parameter reason: The reason that was passed to ``set(_:for:handle:reason:seen:at:)``.
    /// - Throws: ``ArchiveError``, or the store's error.
    package static func isDenied(
        _ person: AccountID, onlyFor reason: String, in mirror: String,
        on connection: any StorageConnection
    ) throws -> Bool {
        let ownRecords = try people([person, person.forgottenID], of: mirror, on: connection)
        let linked = try people(linkedBy: ownRecords.compactMap(\.link), of: mirror, on: connection)
        let accounts = Set([person] + linked.map(\.id))
        let servers = try people(servers(of: Array(accounts)), of: mirror, on: connection)
        let denials = (ownRecords + linked + servers).filter { $0.stance == .deny }
        return !denials.isEmpty && denials.allSatisfy { $0.reason == reason }
    }

    /// The keys under which denials of these people's servers are stored.
    private static func servers(of people: [AccountID]) -> [AccountID] {
        Set(people.flatMap(ServerName.covering)).map(\.id)
    }

    /// Records a stance of a person, or of the operator toward them.
    ///
    /// - Parameters:
    ///   - handle: The handle they were seen with; nil keeps the known one.
    ///   - seen: The digest (``Person/seen``) that the user was shown; the call fails if the record
    ///     differs now. Nil skips this check.
    /// - Throws: `SeenChanged`; the store's error.
    package func set(
        _ stance: Stance, for person: AccountID, handle: String? = nil, reason: String? = nil,
        seen: Seen? = nil,
        at date: Date
    ) async throws {
        try await execute(
            """
            INSERT INTO people (mirror, network, account_id, handle, stance, reason, stance_ms)
            VALUES (\(mirror), \(person.network.rawValue), \(person.value), \(handle), \(stance.rawValue), \(reason),
                \(date))
            ON CONFLICT (mirror, network, account_id) DO UPDATE SET handle = COALESCE(excluded.handle, people.handle),
                stance = excluded.stance, reason = excluded.reason, stance_ms = excluded.stance_ms
            """, about: person, seen: seen)
    }

    /// Changes the record of an account, unless it differs from what the user saw.
    @discardableResult
    private func execute(_ statement: SQL, about id: AccountID, seen: Seen?) async throws -> Int {
        let mirror = mirror
        return try await storage.transaction { connection in
            try Self.require(seen, of: id, in: mirror, on: connection)
            return try connection.execute(statement)
        }
    }

    /// Fails if the record of an account differs from what the user saw; does nothing if `seen` is
    /// nil.
    private static func require(
        _ seen: Seen?, of id: AccountID, in mirror: String, on connection: any StorageConnection
    ) throws {
        guard seen != nil else { return }
        let stored = try person(id, of: mirror, on: connection)
        try seen.require(stored?.seen ?? Person.seen(id))
    }

    /// Records a contact of the bot with a person, unless the person is denied; ignores a time that
    /// is earlier than the known one.
    ///
    /// - Returns: False if the account is denied or forgotten; then nothing was recorded.
    @discardableResult
    package func recordContact(_ person: AccountID, handle: String? = nil, at date: Date)
        async throws -> Bool
    {
        try await storage.executeRepeatable(
            """
            INSERT INTO people (mirror, network, account_id, handle, last_contact_ms)
            SELECT CAST(\(mirror) AS TEXT), CAST(\(person.network.rawValue) AS TEXT), CAST(\(person.value) AS TEXT),
                CAST(\(handle) AS TEXT), CAST(\(date) AS BIGINT)
            WHERE NOT EXISTS (\(denial(of: person)))
            ON CONFLICT (mirror, network, account_id) DO UPDATE SET handle = COALESCE(excluded.handle, people.handle),
                last_contact_ms = CASE WHEN COALESCE(people.last_contact_ms, excluded.last_contact_ms)
                    > excluded.last_contact_ms THEN people.last_contact_ms ELSE excluded.last_contact_ms END
            """) == 1
    }

    /// Whether this account itself is denied or forgotten; linked accounts and the server are not
    /// considered.
    package func isDeniedItself(_ person: AccountID) async throws -> Bool {
        try await !storage.query(denial(of: person)).isEmpty
    }

    /// Selects the rows that deny this account itself or mark it as forgotten.
    private func denial(of person: AccountID) -> SQL {
        """
        SELECT 1 AS found FROM people AS known
        WHERE known.mirror = \(mirror) AND known.network = \(person.network.rawValue)
            AND known.account_id IN \(list: [person.value, person.forgottenID.value])
            AND known.stance = \(Stance.deny.rawValue)
        """
    }

    /// Returns the accounts of forgotten people among these; nothing may be kept of them.
    package func forgotten(among people: [AccountID]) async throws -> Set<AccountID> {
        guard !people.isEmpty else { return [] }
        let mirror = mirror
        let byForgottenID = Dictionary(people.map { ($0.forgottenID, $0) }) { first, _ in first }
        let tombstones = try await storage.read {
            try Self.people(Array(byForgottenID.keys), of: mirror, on: $0)
        }
        return Set(tombstones.compactMap { byForgottenID[$0.id] })
    }

    /// Removes a person from the archive, and keeps digests that prevent anything of theirs from
    /// being stored again.
    ///
    /// Removes the human's replies to them and the human's posts that mention them. The records of
    /// their accounts stay until ``removeRecords(of:wholly:)``.
    ///
    /// - Parameters:
    ///   - accounts: All accounts of the person.
    ///   - kept: Posts that are not removed.
    /// - Returns: The number of removed posts.
    package func forget(
        _ accounts: [AccountID], keeping kept: Set<PostID> = [], now: Date
    ) async throws -> Int {
        let mirror = mirror
        return try await storage.transaction { connection in
            try Archive.note(
                accounts.map(\.forgottenDigest), as: "person", of: mirror, on: connection, now: now)
            var posts: Set<PostID> = []
            for account in accounts {
                posts.formUnion(
                    try Self.posts(about: account, of: mirror, on: connection).map(\.id))
                try connection.execute(
                    """
                    INSERT INTO people (mirror, network, account_id, stance, reason, stance_ms)
                    VALUES (\(mirror), \(account.network.rawValue), \(account.forgottenID.value), \(Stance.deny.rawValue),
                        \(Self.forgottenReason), \(now))
                    ON CONFLICT (mirror, network, account_id) DO NOTHING
                    """)
            }
            posts.subtract(kept)
            try Archive.remove(Array(posts), of: mirror, on: connection)
            return posts.count
        }
    }

    /// Removes the records of accounts, after everything else about these accounts was removed.
    ///
    /// - Parameters:
    ///   - accounts: All accounts of a person.
    ///   - wholly: False while requests about the accounts are still pending: then only handle and
    ///     last contact are removed; the accounts and their links stay.
    package func removeRecords(of accounts: [AccountID], wholly: Bool) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            for account in accounts {
                let change: SQL =
                    wholly
                    ? "DELETE FROM people"
                    : "UPDATE people SET handle = NULL, last_contact_ms = NULL"
                try connection.execute(
                    change + """
                         WHERE mirror = \(mirror) AND network = \(account.network.rawValue)
                            AND account_id = \(account.value)
                        """)
                // The link of other accounts may contain this account's id, so a digest replaces
                // it.
                guard wholly else { continue }
                try connection.execute(
                    """
                    UPDATE people SET linked_to = \(account.forgottenID.value)
                    WHERE mirror = \(mirror) AND linked_to = \(Self.link(of: account))
                    """)
            }
        }
    }

    /// The last known handles of some accounts, in one statement; accounts without a handle are
    /// missing.
    package func handles(of accounts: [AccountID]) async throws -> [AccountID: String] {
        guard !accounts.isEmpty else { return [:] }
        let wanted = Set(accounts)
        let people = try await storage.query(
            Self.selection
                + " WHERE mirror = \(mirror) AND account_id IN \(list: wanted.map(\.value))"
        ).map { try Self.person($0) }
        return Dictionary(
            people.compactMap { person in
                wanted.contains(person.id) ? person.handle.map { (person.id, $0) } : nil
            }
        ) { first, _ in first }
    }

    /// The forgotten people of whom some records are still to be removed.
    ///
    /// Their rows still have the account's id; the row that is kept has an id that begins with `#`.
    package func beingForgotten() async throws -> [AccountID] {
        try await storage.query(
            Self.selection + """
                 WHERE mirror = \(mirror) AND reason = \(Self.forgottenReason) AND SUBSTR(account_id, 1, 1) <> '#'
                """
        ).map { try Self.person($0).id }
    }

    /// Marks people as being forgotten if their account ids are stored again and the ids' digests
    /// are among the forgotten ones.
    static func forgetAgain(
        _ digests: Set<String>, of mirror: String, on connection: any StorageConnection, now: Date
    ) throws {
        let rows = try connection.query(
            """
            SELECT network, account_id AS names FROM people WHERE mirror = \(mirror)
            UNION SELECT network, reply_to_author FROM posts WHERE mirror = \(mirror) AND reply_to_author IS NOT NULL
            UNION SELECT network, mentions FROM posts WHERE mirror = \(mirror) AND mentions <> ''
            UNION SELECT network, author_id FROM examples WHERE mirror = \(mirror) AND author_id IS NOT NULL
            UNION SELECT network, author FROM examples WHERE mirror = \(mirror) AND author IS NOT NULL
            UNION SELECT target_network, target_author FROM actions
                WHERE mirror = \(mirror) AND target_author IS NOT NULL AND target_network IS NOT NULL
            """)
        var accounts: Set<AccountID> = []
        for row in rows {
            guard let network = NetworkName(rawValue: try row.text("network")) else { continue }
            for name in try row.text("names").split(separator: " ") {
                let account = AccountID(network: network, value: String(name)).canonical
                if digests.contains(account.forgottenDigest) { accounts.insert(account) }
            }
        }
        for account in accounts {
            try connection.execute(
                """
                INSERT INTO people (mirror, network, account_id, stance, reason, stance_ms)
                VALUES (\(mirror), \(account.network.rawValue), \(account.value), \(Stance.deny.rawValue), \(forgottenReason),
                    \(now))
                ON CONFLICT (mirror, network, account_id) DO UPDATE SET stance = excluded.stance, reason = excluded.reason,
                    stance_ms = excluded.stance_ms
                """)
        }
    }

    /// The human's posts that answer or mention an account, oldest first.
    package func posts(about account: AccountID) async throws -> [Post] {
        let mirror = mirror
        return try await storage.read { try Self.posts(about: account, of: mirror, on: $0) }
    }

    private static func posts(
        about account: AccountID, of mirror: String, on connection: any StorageConnection
    ) throws -> [Post] {
        try connection.query(
            PostRow.selection + """
                 WHERE mirror = \(mirror) AND network = \(account.network.rawValue)
                    AND (reply_to_author = \(account.value)
                        OR REPLACE(' ' || mentions || ' ', \(" \(account.value) "), '') <> ' ' || mentions || ' ')
                ORDER BY created_ms, post_id
                """
        ).map(PostRow.post)
    }

    /// Reverts the forgetting of an account; the removed records stay removed.
    ///
    /// - Parameter seen: The digest (``Person/seen``) that the user was shown; the call fails if
    ///   the record differs now. Nil skips this check.
    /// - Returns: False if the account was not forgotten.
    /// - Throws: `SeenChanged`; the store's error.
    package func readmit(_ account: AccountID, seen: Seen? = nil) async throws -> Bool {
        let mirror = mirror
        return try await storage.transaction { connection in
            try Self.require(seen, of: account, in: mirror, on: connection)
            try connection.execute(
                """
                DELETE FROM forgotten
                WHERE mirror = \(mirror) AND kind = 'person' AND digest = \(account.forgottenDigest)
                """)
            // Otherwise a worker that has not removed everything of the person would continue.
            try connection.execute(
                """
                DELETE FROM people WHERE mirror = \(mirror) AND network = \(account.network.rawValue)
                    AND account_id = \(account.value) AND reason = \(Self.forgottenReason)
                """)
            return try connection.execute(
                """
                DELETE FROM people WHERE mirror = \(mirror) AND network = \(account.network.rawValue)
                    AND account_id = \(account.forgottenID.value)
                """) == 1
        }
    }

    /// Returns the record of one account; `nil` if there is none.
    package func person(_ id: AccountID) async throws -> Person? {
        try await storage.query(Self.selection(of: id, in: mirror)).first.map(Self.person)
    }

    /// All records, by network and id.
    package func all() async throws -> [Person] {
        try await storage.query(
            Self.selection
                + " WHERE mirror = \(mirror) AND \(Self.isPerson) ORDER BY network, account_id"
        ).map(Self.person)
    }

    /// Whether a row stands for a person and not for a server, whose id begins with `*@`.
    private static let isPerson: SQL = "SUBSTR(account_id, 1, 2) <> '*@'"

    /// The known handles of the people whom the mirror met or the human answered.
    ///
    /// - Returns: Handles; they include the host on networks where accounts are on servers.
    package func names() async throws -> Set<String> {
        Set(try await storage.query(Self.selectionOfNames(in: mirror)).map { try $0.text("name") })
    }

    /// Returns the handles of ``names()`` inside a transaction.
    package static func names(in mirror: String, on connection: any StorageConnection) throws
        -> Set<String>
    {
        Set(try connection.query(selectionOfNames(in: mirror)).map { try $0.text("name") })
    }

    private static func selectionOfNames(in mirror: String) -> SQL {
        let byName = NetworkName.known.filter(\.traits.namesAreIdentities).map(\.rawValue)
        return """
            SELECT handle AS name FROM people WHERE mirror = \(mirror) AND handle IS NOT NULL
            UNION SELECT reply_to_author FROM posts
            WHERE mirror = \(mirror) AND network IN \(list: byName) AND reply_to_author IS NOT NULL
                AND reply_to_author <> COALESCE(author, '')
            """
    }

    private static let selection: SQL = """
        SELECT network, account_id, handle, stance, reason, linked_to, last_contact_ms FROM people
        """

    static func person(
        _ id: AccountID, of mirror: String, on connection: any StorageConnection
    ) throws -> Person? {
        try connection.query(selection(of: id, in: mirror)).first.map(person)
    }

    private static func selection(of id: AccountID, in mirror: String) -> SQL {
        selection
            + " WHERE mirror = \(mirror) AND network = \(id.network.rawValue) AND account_id = \(id.value)"
    }

    /// The records of those accounts that have one.
    private static func people(
        _ ids: [AccountID], of mirror: String, on connection: any StorageConnection
    ) throws -> [Person] {
        var people: [Person] = []
        for (network, group) in Dictionary(grouping: ids, by: \.network) {
            for values in group.map(\.value).portions {
                people += try connection.query(
                    selection + """
                         WHERE mirror = \(mirror) AND network = \(network.rawValue) AND account_id IN \(list: values)
                        """
                ).map(person)
            }
        }
        return people
    }

    static func people(
        linkedBy links: [String], of mirror: String, on connection: any StorageConnection
    ) throws -> [Person] {
        try links.portions.flatMap { portion in
            try connection.query(
                selection + """
                     WHERE mirror = \(mirror) AND linked_to IN \(list: portion) ORDER BY network, account_id
                    """
            ).map(person)
        }
    }

    private static func person(_ row: SQLRow) throws -> Person {
        guard let network = NetworkName(rawValue: try row.text("network")) else {
            throw ArchiveError(column: "network", of: "people")
        }
        guard let stance = Stance(rawValue: try row.optionalText("stance") ?? Stance.none.rawValue)
        else {
            throw ArchiveError(column: "stance", of: "people")
        }
        return Person(
            id: AccountID(network: network, value: try row.text("account_id")),
            handle: try row.optionalText("handle"), stance: stance,
            reason: try row.optionalText("reason"),
            link: try row.optionalText("linked_to"),
            lastContact: try row.optionalDate("last_contact_ms"))
    }
}

// MARK: - Servers

extension People {
    /// Denies all people on a server, except those with a stance of their own.
    ///
    /// - Returns: False if the server was denied already.
    /// - Throws: `StorageError` or `CancellationError`.
    package func deny(_ server: ServerName, seen: Seen? = nil, at date: Date) async throws -> Bool {
        let id = server.id
        return try await execute(
            """
            INSERT INTO people (mirror, network, account_id, stance, reason, stance_ms)
            VALUES (\(mirror), \(id.network.rawValue), \(id.value), \(Stance.deny.rawValue), \(Self.serverReason), \(date))
            ON CONFLICT (mirror, network, account_id) DO NOTHING
            """, about: id, seen: seen) == 1
    }

    /// Removes the denial of a server; denials of domains above it stay.
    ///
    /// - Returns: False if the server was not denied.
    /// - Throws: `StorageError` or `CancellationError`.
    package func lift(_ server: ServerName, seen: Seen? = nil) async throws -> Bool {
        let id = server.id
        return try await execute(
            """
            DELETE FROM people
            WHERE mirror = \(mirror) AND network = \(id.network.rawValue) AND account_id = \(id.value)
            """, about: id, seen: seen) == 1
    }

    /// The digest of the stance toward a server, as a person is shown it.
    ///
    /// - Throws: The store's error.
    package func seen(of server: ServerName) async throws -> Seen {
        try await person(server.id)?.seen ?? Person.seen(server.id)
    }

    /// The denied servers, by name.
    ///
    /// - Throws: The store's error.
    package func deniedServers() async throws -> [ServerName] {
        try await storage.query(
            Self.selection
                + " WHERE mirror = \(mirror) AND reason = \(Self.serverReason) ORDER BY account_id"
        ).compactMap { ServerName(try Self.person($0).id) }
    }

    /// The people on servers of a network whom the mirror met or the human answered.
    ///
    /// - Throws: The store's error.
    package func metPeople(on network: NetworkName) async throws -> Set<AccountID> {
        let rows = try await storage.query(
            """
            SELECT account_id AS name FROM people
            WHERE mirror = \(mirror) AND network = \(network.rawValue) AND \(Self.isPerson)
                AND SUBSTR(account_id, 1, 1) <> '#'
            UNION SELECT reply_to_author FROM posts
            WHERE mirror = \(mirror) AND network = \(network.rawValue) AND reply_to_author IS NOT NULL
                AND reply_to_author <> COALESCE(author, '')
            """)
        return Set(try rows.map { AccountID(network: network, value: try $0.text("name")) })
    }

    /// The number of people that a mirror remembers, as part of a statement.
    package static func number(of mirror: String) -> SQL {
        "(SELECT COUNT(*) FROM people WHERE mirror = \(mirror) AND \(isPerson))"
    }
}

extension People {
    /// Records that two accounts, and all accounts linked to either of them, belong to one person.
    ///
    /// - Parameter seen: The digest (``Person/seen``) of the first account that the user was shown;
    ///   the call fails if its record differs now. Nil skips this check.
    /// - Throws: `SeenChanged`; the store's error.
    package func link(_ first: AccountID, _ second: AccountID, seen: Seen? = nil) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            try Self.require(seen, of: first, in: mirror, on: connection)
            let links = try [first, second].map {
                try Self.person($0, of: mirror, on: connection)?.link
            }
            let link = links[0] ?? links[1] ?? Self.link(of: first)
            for account in [first, second] {
                try connection.execute(
                    """
                    INSERT INTO people (mirror, network, account_id, linked_to)
                    VALUES (\(mirror), \(account.network.rawValue), \(account.value), \(link))
                    ON CONFLICT (mirror, network, account_id) DO UPDATE SET linked_to = excluded.linked_to
                    """)
            }
            guard let secondLink = links[1], secondLink != link else { return }
            try connection.execute(
                "UPDATE people SET linked_to = \(link) WHERE mirror = \(mirror) AND linked_to = \(secondLink)"
            )
        }
    }

    /// The value of ``Person/link`` that the first link of an account gets.
    private static func link(of account: AccountID) -> String {
        "\(account.network.rawValue) \(account.value)"
    }

    /// Unlinks an account from the person's other accounts, which stay linked with each other.
    package func unlink(_ account: AccountID, seen: Seen? = nil) async throws {
        try await execute(
            """
            UPDATE people SET linked_to = \(SQLValue.null)
            WHERE mirror = \(mirror) AND network = \(account.network.rawValue) AND account_id = \(account.value)
            """, about: account, seen: seen)
    }

    /// All accounts of a person, the given one first.
    package func linked(to person: AccountID) async throws -> [AccountID] {
        let mirror = mirror
        return try await storage.read { try Self.linked(to: person, of: mirror, on: $0) }
    }

    static func linked(
        to person: AccountID, of mirror: String, on connection: any StorageConnection
    ) throws -> [AccountID] {
        guard let link = try Self.person(person, of: mirror, on: connection)?.link else {
            return [person]
        }
        let others = try people(linkedBy: [link], of: mirror, on: connection).map(\.id).filter {
            $0 != person
        }
        return [person] + others
    }
}

extension People.Person {
    /// Whether the row is the tombstone of a forgotten person.
    package var isForgotten: Bool { reason == People.forgottenReason && id.isForgotten }
}
