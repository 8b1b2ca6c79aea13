package import Conduct
import Cryptography
package import Foundation
import Localization
package import Posts
package import Storage

/// Proofs by visitors of the public page that an account is theirs.
///
/// A visitor types an account and is shown three words. Once the bot reads them in a mention by
/// that account, the visitor is shown the stored data about its owner. The secret of a cookie
/// identifies the visitor, and only its digest is stored. The words are derived from the secret and
/// a stored random number: so a page can be reloaded, and a leaked database does not reveal words
/// that are still valid.
package struct ProofTable: Sendable {
    /// Seconds in which the account must say the words.
    package static let wordsLast: TimeInterval = 600
    /// Seconds for which a proof is valid, and by which a mention that was written in time may be
    /// read late.
    package static let proofLasts: TimeInterval = 3_600
    /// The most open proofs of one visitor.
    package static let mostOfVisitor = 5
    /// The most open proofs of one account.
    package static let mostOfAccount = 20
    /// Limit of the open proofs of a mirror.
    package static let mostOfMirror = 1_000
    /// The refusal of a proof beyond a limit.
    package static var tooMany: ChangeRefusal {
        ChangeRefusal(
            .full, localized("too many proofs were asked for; try again in ten minutes"))
    }
    /// Bytes of the random number of a proof.
    package static let nonceSize = 16
    /// Seconds by which the clocks of a mention's author and of the page may differ.
    private static let clockMargin: TimeInterval = 60

    private let storage: any StorageEngine
    private let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// A proof as it is shown to its visitor.
    package struct Proof: Equatable, Sendable {
        /// The state of a proof.
        package enum Progress: Equatable, Sendable {
            /// The words have to be said by then.
            case open(ProofWords, until: Date)
            /// The words were not said in time, or their mention has not been read yet.
            case over
            /// The account said the words.
            case proven(AccountID)
        }

        package let account: ProvedAccount
        package let progress: Progress
        /// Whether the words are also the human's consent to the mirror.
        package let agrees: Bool
    }

    // MARK: Asking

    /// Stores a visitor's request to prove an account.
    ///
    /// An open proof of the same account by the same visitor stays as it is if more than half of
    /// its time is left, so that pressing a button twice makes one request.
    ///
    /// - Parameters:
    ///   - visitor: The secret of the visitor's cookie.
    ///   - agrees: Whether the visitor claims to be the human, and consents to the mirror with the
    ///     words.
    ///   - nonce: ``nonceSize`` random bytes.
    /// - Throws: `ChangeRefusal` with `.full` if too many proofs are open, or with `.unknown` if
    ///   the mirror is no longer in this database; the store's error.
    package func ask(
        for account: ProvedAccount, by visitor: String, agrees: Bool = false, nonce: [UInt8],
        now: Date
    ) async throws {
        let mirror = mirror
        let nonce = nonce.hexadecimal
        let owner = digest(of: visitor)
        let wordsDigest = Self.digest(of: words(of: visitor, nonce: nonce))
        let begin = (now - Self.wordsLast).milliseconds
        try await storage.transaction { connection in
            let rows = try connection.query(
                "SELECT move_state, pause_code FROM mirrors WHERE mirror = \(mirror)")
            guard let row = rows.first, try row.optionalText("move_state") == nil,
                try row.optionalText("pause_code") != Pause.Code.removing.rawValue
            else { throw ChangeRefusal(.unknown, localized("there is no such mirror")) }
            try Self.tidy(mirror, on: connection, now: now)
            let open: SQL = """
                FROM proofs WHERE mirror = \(mirror) AND proven_ms IS NULL AND asked_ms > \(begin)
                """
            let ofAccount: SQL =
                " AND network = \(account.network.rawValue) AND name = \(account.name)"
            let reusableSince = (now - Self.wordsLast / 2).milliseconds
            let reusable = try connection.query(
                "SELECT nonce " + open + ofAccount
                    + " AND visitor = \(owner) AND asked_ms > \(reusableSince) AND agrees = \(agrees)"
            )
            guard reusable.isEmpty else { return }
            let all =
                try connection.query("SELECT COUNT(*) AS number " + open).first?.int("number") ?? 0
            let openOfAccount =
                try connection.query("SELECT COUNT(*) AS number " + open + ofAccount).first?.int(
                    "number") ?? 0
            let openOfVisitor =
                try connection.query(
                    "SELECT COUNT(*) AS number " + open + " AND visitor = \(owner)"
                ).first?.int("number") ?? 0
            guard all < Self.mostOfMirror, openOfAccount < Self.mostOfAccount,
                openOfVisitor < Self.mostOfVisitor
            else {
                throw Self.tooMany
            }
            try connection.execute(
                """
                INSERT INTO proofs (mirror, nonce, visitor, network, name, words, asked_ms, agrees)
                VALUES (\(mirror), \(nonce), \(owner), \(account.network.rawValue), \(account.name), \(wordsDigest),
                    \(now.milliseconds), \(agrees))
                """)
        }
    }

    /// Returns the latest proof of a visitor; nil if there is none, or if it ended over an hour
    /// ago.
    ///
    /// - Parameter visitor: The secret of the visitor's cookie.
    /// - Throws: The store's error.
    package func latest(of visitor: String, now: Date) async throws -> Proof? {
        let rows = try await storage.query(
            """
            SELECT network, name, nonce, asked_ms, account_id, proven_ms, agrees FROM proofs
            WHERE mirror = \(mirror) AND visitor = \(digest(of: visitor)) ORDER BY asked_ms DESC, nonce LIMIT 1
            """)
        guard let row = rows.first, let network = NetworkName(rawValue: try row.text("network"))
        else { return nil }
        let asked = try row.date("asked_ms")
        let account = ProvedAccount(network: network, name: try row.text("name"))
        let agrees = try row.boolean("agrees")
        guard let proven = try row.optionalDate("proven_ms") else {
            let end = asked + Self.wordsLast
            guard now < end + Self.proofLasts else { return nil }
            guard now < end else { return Proof(account: account, progress: .over, agrees: agrees) }
            let words = self.words(of: visitor, nonce: try row.text("nonce"))
            return Proof(account: account, progress: .open(words, until: end), agrees: agrees)
        }
        guard now < proven + Self.proofLasts, let id = try row.optionalText("account_id") else {
            return nil
        }
        return Proof(
            account: account, progress: .proven(AccountID(network: network, value: id)),
            agrees: agrees)
    }

    // MARK: Mentions

    /// An open proof whose words occur in a mention.
    package struct Match: Equatable, Sendable {
        fileprivate let nonce: String
        /// The author of the mention.
        fileprivate let author: AccountID
        /// Whether the words are also the consent to the mirror.
        fileprivate let agrees: Bool
    }

    /// A mention whose words may prove that its author owns an account.
    package struct Candidate: Sendable {
        fileprivate let mention: String
        fileprivate let author: Account
        fileprivate let written: Date
        fileprivate let words: [String]

        /// Nil for a mention without three consecutive words of the list.
        ///
        /// - Parameters:
        ///   - mention: The identity of the mention.
        ///   - author: The author, according to the network.
        ///   - written: When the mention first named the bot, by the clock of this machine.
        package init?(_ mention: PostID, by author: Account, _ text: String, written: Date) {
            let spoken = ProofWords.candidates(in: text)
            guard !spoken.isEmpty else { return nil }
            self.mention = mention.value
            self.author = author
            self.written = written
            words = spoken.map { ProofTable.digest(of: $0) }
        }
    }

    /// Returns the open proofs that some mentions complete, by the identities of the mentions.
    ///
    /// A proof is completed only by a mention by the account for which it was requested, written
    /// while its words were valid and read in time.
    ///
    /// - Throws: The store's error.
    package static func matches(
        _ candidates: [Candidate], of mirror: String, on connection: any StorageConnection,
        now: Date
    ) throws -> [String: Match] {
        guard !candidates.isEmpty else { return [:] }
        let oldest = (now - wordsLast - proofLasts).milliseconds
        let rows = try connection.query(
            """
            SELECT nonce, network, name, words, asked_ms, agrees FROM proofs
            WHERE mirror = \(mirror) AND proven_ms IS NULL AND asked_ms > \(oldest)
                AND words IN \(list: Array(Set(candidates.flatMap(\.words))))
            """)
        var matches: [String: Match] = [:]
        for row in rows {
            guard let network = NetworkName(rawValue: try row.text("network")) else { continue }
            let askedWords = try row.text("words")
            let asked = try row.date("asked_ms")
            let account = ProvedAccount(network: network, name: try row.text("name"))
            let time = asked - clockMargin...asked + wordsLast + clockMargin
            let proving = candidates.filter { candidate in
                candidate.words.contains(askedWords) && account.isNamed(by: candidate.author)
                    && (time.contains(candidate.written) || now <= asked + wordsLast)
            }
            for candidate in proving {
                matches[candidate.mention] = Match(
                    nonce: try row.text("nonce"), author: candidate.author.id,
                    agrees: try row.boolean("agrees"))
            }
        }
        return matches
    }

    /// Stores that an account said its words; a proof that is already complete stays as it is.
    ///
    /// If the words were requested as a consent, and the account is the human's, the human consents
    /// to the mirror.
    ///
    /// - Throws: The store's error.
    package static func prove(
        _ match: Match, of mirror: String, on connection: any StorageConnection, now: Date
    ) throws {
        let isNew =
            try connection.execute(
                """
                UPDATE proofs SET account_id = \(match.author.value), proven_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND nonce = \(match.nonce) AND proven_ms IS NULL
                """) == 1
        if isNew, match.agrees {
            try MirrorTable.agree(by: match.author, to: mirror, on: connection, now: now)
        }
    }

    // MARK: Removing

    /// Removes the proofs that can no longer be completed or shown.
    ///
    /// - Throws: The store's error.
    package func tidy(now: Date) async throws {
        // Usually there are none, and reading takes no lock.
        let ended = try await storage.query(
            "SELECT 1 AS found FROM proofs WHERE \(Self.ended(mirror, now)) LIMIT 1")
        guard !ended.isEmpty else { return }
        try await storage.transaction { [mirror] in try Self.tidy(mirror, on: $0, now: now) }
    }

    private static func tidy(_ mirror: String, on connection: any StorageConnection, now: Date)
        throws
    {
        try connection.execute("DELETE FROM proofs WHERE \(ended(mirror, now))")
    }

    /// The condition that a proof can no longer be completed or shown.
    private static func ended(_ mirror: String, _ now: Date) -> SQL {
        """
        mirror = \(mirror) AND (proven_ms <= \((now - proofLasts).milliseconds)
            OR (proven_ms IS NULL AND asked_ms <= \((now - wordsLast - proofLasts).milliseconds)))
        """
    }

    /// Removes the proofs of some accounts, under their identities and the names that they had.
    ///
    /// - Throws: The store's error.
    package func forget(_ accounts: [AccountID: Set<String>]) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            for (account, names) in accounts {
                let bareNames = names.map { name in name.drop { $0 == "@" }.lowercased() }
                let storedNames = bareNames + [account.value]
                try connection.execute(
                    """
                    DELETE FROM proofs WHERE mirror = \(mirror) AND network = \(account.network.rawValue)
                        AND (account_id = \(account.value) OR name IN \(list: storedNames) OR name IN (
                            SELECT proven.name FROM proofs AS proven
                            WHERE proven.mirror = \(mirror) AND proven.network = \(account.network.rawValue)
                                AND proven.account_id = \(account.value)
                        ))
                    """)
            }
        }
    }

    // MARK: Digests

    private func digest(of visitor: String) -> String {
        StableHash.digest(of: "mirror-bot proof", "visitor", mirror, visitor).hexadecimal
    }

    private static func digest(of words: ProofWords) -> String {
        StableHash.digest(of: "mirror-bot proof", "words", "\(words)").hexadecimal
    }

    private func words(of visitor: String, nonce: String) -> ProofWords {
        let code = HashFunction.sha256.code(
            of: "mirror-bot proof\0\(mirror)\0\(nonce)".utf8, key: visitor.utf8)
        return ProofWords(bits: code.prefix(ProofWords.byteCount))
    }
}

/// The account that a visitor of the public page claims.
package struct ProvedAccount: Hashable, Sendable {
    package let network: NetworkName
    /// The identity, or the name without `@` in lower case if names are not identities.
    package let name: String

    init(network: NetworkName, name: String) {
        self.network = network
        self.name = name
    }

    /// The account that a person typed, whether or not anything is stored about it.
    ///
    /// - Parameters:
    ///   - text: The account as a person types it: `@ann@social.example`, `@ann`, `x:12345`, a DID.
    ///   - network: The bot's network.
    ///   - localHost: The host of the bot's server, which completes a name without a host; nil if
    ///     there is none.
    /// - Throws: `ChangeRefusal` with `.unusable` if the text names no account of that network.
    package init(_ text: String, on network: NetworkName, localHost: String?) throws {
        let traits = network.traits
        let shown = text.prefix(60)
        let bare = text.hasPrefix("@") ? String(text.dropFirst()) : text
        if !traits.namesAreIdentities, traits.isHandle(bare) {
            self.init(network: network, name: bare.lowercased())
            return
        }
        guard let id = AccountID(reference: text, localHost: localHost), id.network == network,
            ServerName(id) == nil,
            traits.namesAreIdentities ? traits.isHandle(id.value) : traits.isIdentity(id.value)
        else {
            let example =
                traits.namesAreIdentities
                ? "@ann@social.example"
                : localized("the name that \(traits.displayName) shows, as @ann")
            throw ChangeRefusal(
                .unusable,
                localized(
                    "\"\(shown)\" is no account on \(traits.displayName), where the bot is; expected \(example)"
                )
            )
        }
        self.init(network: network, name: id.value)
    }

    /// The account's name as shown to people.
    package var shown: String {
        let id = AccountID(network: network, value: name)
        if network.traits.namesAreIdentities { return "@\(id.shown)" }
        return network.traits.isIdentity(name) ? id.reference : "@\(name)"
    }

    /// Whether the author of a post is this account.
    func isNamed(by author: Account) -> Bool {
        guard author.id.network == network else { return false }
        return author.id.value == name
            || !network.traits.namesAreIdentities && author.handle.lowercased() == name
    }
}
