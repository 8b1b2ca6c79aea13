import Foundation

/// What Bluesky calls a record everywhere: whose it is, its kind and its key.
struct RecordAddress: Hashable, Sendable {
    static let postCollection = "app.bsky.feed.post"
    static let likeCollection = "app.bsky.feed.like"
    static let profileCollection = "app.bsky.actor.profile"

    let repository: String
    let collection: String
    let key: String

    init(repository: String, collection: String, key: String) {
        self.repository = repository
        self.collection = collection
        self.key = key
    }

    /// - Parameter uri: `at://did:…/collection/key`; nil for every other text, one with a handle included.
    init?(_ uri: String) {
        guard uri.utf8.count <= 4_096, uri.hasPrefix("at://") else { return nil }
        let parts = uri.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, BlueskyName.isDID(parts[0]), Self.isCollection(parts[1]), Self.isKey(parts[2])
        else { return nil }
        self.init(repository: parts[0], collection: parts[1], key: parts[2])
    }

    var uri: String { "at://\(repository)/\(collection)/\(key)" }

    var isPost: Bool { collection == Self.postCollection }

    private static func isCollection(_ text: String) -> Bool {
        text.utf8.count <= 317 && text.contains(".")
            && text.utf8.allSatisfy { BlueskyName.isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x2E }
    }

    /// Letters, digits and `.-_:~`, as the protocol has it.
    private static func isKey(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { BlueskyName.isLetterOrDigit($0) || ".-_:~".utf8.contains($0) }
    }
}

/// One version of a record: its address and the digest of its content.
struct RecordReference: Hashable, Sendable {
    let address: RecordAddress
    let cid: String

    /// Nil if one of the two cannot be that.
    init?(uri: String?, cid: String?) {
        guard let address = uri.flatMap({ RecordAddress($0) }), let cid, (1...256).contains(cid.utf8.count),
            cid.utf8.allSatisfy(BlueskyName.isLetterOrDigit)
        else { return nil }
        self.address = address
        self.cid = cid
    }

    /// - Parameter text: As ``text`` gives it; nil for every other.
    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        self.init(uri: parts[0], cid: parts[1])
    }

    /// What stands in ``ObservedPost/address``: both, for a reply and a favorite need both.
    var text: String { "\(address.uri) \(cid)" }
}

extension RecordReference: Codable {
    private enum CodingKeys: CodingKey {
        case uri, cid
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let reference = RecordReference(uri: container.text(.uri), cid: container.text(.cid)) else {
            throw BlueskyShapeError()
        }
        self = reference
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(address.uri, forKey: .uri)
        try container.encode(cid, forKey: .cid)
    }
}

/// A value lacks what nothing can be done without.
struct BlueskyShapeError: Error {}
