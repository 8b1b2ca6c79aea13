package import Foundation
package import Posts
package import Settings
import Storage

/// The kind of login with which the owner opened the human's account.
package enum OwnerLogin: Sendable {
    /// With credentials from the settings or an earlier login; after a stop they are no new
    /// consent.
    case standing
    /// With a new login of a person, whose secrets differ from the earlier ones.
    case fresh

    /// The login of an account in the settings or of an earlier login; nil without an account, or
    /// if it needs no secret.
    init?(of account: AccountConfiguration?) {
        guard account?.credentials.opensAccount == true else { return nil }
        self = .standing
    }
}

extension MirrorRecord {
    /// Counts the owner's login to the human's account as consent, unless the human has stopped the
    /// mirror.
    mutating func agree(by login: OwnerLogin, at now: Date) {
        guard stopped == nil || login == .fresh, consent?.isByAccount != true else { return }
        consent = HumanConsent(.login, at: now)
        stopped = nil
    }
}

extension HumanConsent {
    /// Whether the human's own account agreed.
    package var isByAccount: Bool { ground.isByAccount }
}

/// The consent to mirror the human, and its withdrawal.
extension MirrorTable {
    /// Stores the consent that the settings of a starting process state, unless the human's account
    /// has given its own.
    ///
    /// After a stop the statement is ignored, because it may be older than the stop; `mirror-bot
    /// set` makes a new one.
    ///
    /// - Throws: The store's error.
    package func noteStatement(_ ground: HumanConsent.Ground?, now: Date) async throws {
        guard let ground else { return }
        try await update(now: now) { record, _ in
            guard record.stopped == nil, record.consent?.isByAccount != true,
                record.consent?.ground != ground
            else {
                return
            }
            record.consent = HumanConsent(ground, at: now)
        }
    }

    /// Stores that the human's account said the words of consent, in the transaction that records
    /// the mention; does nothing for another account.
    static func agree(
        by account: AccountID, to mirror: String, on connection: any StorageConnection, now: Date
    ) throws {
        guard try isHuman(account, of: mirror, on: connection) else { return }
        try connection.execute(
            """
            UPDATE mirrors SET consent = \(HumanConsent.Ground.words.rawValue), consent_ms = \(now.milliseconds),
                consent_words = NULL, stopped_ms = NULL, version = version + 1
            WHERE mirror = \(mirror) AND COALESCE(consent, '') <> \(HumanConsent.Ground.login.rawValue)
            """)
    }

    /// Ends the consent at the human's request: nothing is sent until somebody consents again.
    ///
    /// - Throws: The store's error.
    package func stop(now: Date) async throws {
        try await storage.transaction { [mirror] in try Self.stop(mirror, on: $0, now: now) }
    }

    static func stop(_ mirror: String, on connection: any StorageConnection, now: Date) throws {
        try connection.execute(
            """
            UPDATE mirrors SET consent = NULL, consent_ms = NULL, consent_words = NULL,
                stopped_ms = \(now.milliseconds), version = version + 1
            WHERE mirror = \(mirror)
            """)
    }

    /// Whether an account is the human's: the account that the mirror is bound to, or the author of
    /// its archive.
    ///
    /// - Throws: The store's error.
    package func isHuman(_ account: AccountID) async throws -> Bool {
        try await storage.read { [mirror] in try Self.isHuman(account, of: mirror, on: $0) }
    }

    static func isHuman(
        _ account: AccountID, of mirror: String, on connection: any StorageConnection
    ) throws -> Bool {
        let account = account.canonical
        guard !account.value.isEmpty else { return false }
        if try record(mirror, connection)?.human?.canonical == account { return true }
        // Fast enough: an archive has at most ARCHIVE_LIMIT posts, and this runs only when somebody
        // says the words.
        return try !connection.query(
            """
            SELECT 1 AS found FROM posts
            WHERE mirror = \(mirror) AND network = \(account.network.rawValue) AND author = \(account.value) LIMIT 1
            """
        ).isEmpty
    }
}
