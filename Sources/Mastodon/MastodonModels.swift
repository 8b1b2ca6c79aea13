import Formats
import Foundation
import Networks
import Posts

extension MastodonAccount: Decodable {
    package init(from decoder: any Decoder) throws {
        guard let account = MastodonAccount(try WireObject(from: decoder)) else {
            throw ShapeError()
        }
        self = account
    }

    /// The hosts, with their ports, in the account's address and in the name by which other servers
    /// know it.
    var hosts: [String] { addresses.compactMap(Self.host) }

    /// The host and port of an address of the web.
    private static func host(of address: String) -> String? {
        guard let scheme = ["https://", "http://"].first(where: address.hasPrefix) else {
            return nil
        }
        return MastodonInstance.hostName(
            String(address.dropFirst(scheme.count).prefix { !"/?#".contains($0) }))
    }
}

extension MastodonStatus: Decodable {
    package init(from decoder: any Decoder) throws { try self.init(try WireObject(from: decoder)) }
}

/// An uploaded file that is in no post yet.
struct MastodonMedia: Decodable {
    let id: String

    init(from decoder: any Decoder) throws {
        guard let id = try WireObject(from: decoder).identifier("id") else { throw ShapeError() }
        self.id = id
    }
}

/// A notification in an answer.
struct MastodonNotification: Decodable {
    let type: String?
    let createdAt: Date?
    let status: LenientElement<MastodonStatus>?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        type = wire.text("type")
        createdAt = wire.date("created_at")
        status = wire.value(LenientElement<MastodonStatus>.self, "status")
    }
}

/// The result of a search.
struct MastodonSearch: Decodable {
    let statuses: [MastodonStatus]

    init(from decoder: any Decoder) throws {
        statuses = try WireObject(from: decoder).list(of: MastodonStatus.self, "statuses")
    }
}

/// The posts above and below a post in its thread.
struct MastodonContext: Decodable {
    let ancestors: [MastodonStatus]
    let descendants: [MastodonStatus]

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        ancestors = wire.list(of: MastodonStatus.self, "ancestors")
        descendants = wire.list(of: MastodonStatus.self, "descendants")
    }
}
