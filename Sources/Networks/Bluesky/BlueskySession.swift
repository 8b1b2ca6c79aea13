import Foundation
import Posts

/// What a server gave for an app password, and whose it is.
struct BlueskySession: Sendable {
    let did: String
    let handle: String?
    /// The server that keeps the account's records; every call goes there.
    let server: ServerAddress
    /// Opens the account for about two hours.
    let access: Secret
    /// Buys the next pair, once.
    let refresh: Secret

    /// Whether both are the same pair of tokens.
    func isSame(as other: BlueskySession) -> Bool {
        access.reveal() == other.access.reveal() && refresh.reveal() == other.refresh.reveal()
    }
}

extension BlueskySession {
    /// The text to keep in a ``CredentialStore``.
    ///
    /// - Parameters:
    ///   - identifier: The configured account.
    ///   - entryway: The configured entryway; tokens of one set of servers are never shown to another.
    /// - Returns: What ``init(sealed:for:at:)`` reads.
    /// - Throws: Nothing that the values of a session can cause.
    func sealed(for identifier: String, at entryway: ServerAddress) throws -> Secret {
        let stored = StoredBlueskySession(
            identifier: identifier, entryway: entryway.base, did: did, handle: handle, pds: server.base,
            access: access.reveal(), refresh: refresh.reveal())
        return Secret(String(decoding: try JSONBody.encoded(stored), as: UTF8.self))
    }

    /// What ``sealed(for:at:)`` made; nil for what is not about the same account at the same servers.
    init?(sealed: Secret, for identifier: String, at hosts: BlueskyHosts) {
        guard let stored = JSONBody.decoded(StoredBlueskySession.self, Array(sealed.reveal().utf8)),
            stored.entryway == hosts.entryway.base, [stored.identifier, stored.did].contains(identifier),
            BlueskyName.isDID(stored.did),
            let server = stored.pds == hosts.entryway.base
                ? hosts.entryway : ServerAddress(named: stored.pds, besides: hosts)
        else { return nil }
        self.init(
            did: stored.did, handle: stored.handle, server: server, access: Secret(stored.access),
            refresh: Secret(stored.refresh))
    }
}

private struct StoredBlueskySession: Codable {
    let identifier: String
    let entryway: String
    let did: String
    let handle: String?
    let pds: String
    let access: String
    let refresh: String
}

/// What `createSession` and `refreshSession` answer.
struct BlueskyTokens: Decodable {
    let access: Secret
    let refresh: Secret
    let did: String
    let handle: String?
    let document: DIDDocument?
    /// False for an account that is switched off; `status` says how.
    let isActive: Bool

    private enum CodingKeys: String, CodingKey {
        case did, handle, didDoc, active
        case access = "accessJwt"
        case refresh = "refreshJwt"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let access = container.text(.access), let refresh = container.text(.refresh),
            let did = container.text(.did), BlueskyName.isDID(did), !access.isEmpty, !refresh.isEmpty
        else { throw BlueskyShapeError() }
        self.access = Secret(access)
        self.refresh = Secret(refresh)
        self.did = did
        handle = container.text(.handle).flatMap { BlueskyName.handle($0) }
        document = container.value(DIDDocument.self, .didDoc)
        isActive = container.flag(.active) ?? true
    }
}
