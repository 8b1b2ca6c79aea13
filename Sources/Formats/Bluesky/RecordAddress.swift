import Posts

/// The address of a Bluesky record: its owner, its kind and its key.
package struct RecordAddress: Hashable, Sendable {
    package static let postCollection = "app.bsky.feed.post"
    package static let likeCollection = "app.bsky.feed.like"
    package static let profileCollection = "app.bsky.actor.profile"

    package let repository: String
    package let collection: String
    package let key: String

    package init(repository: String, collection: String, key: String) {
        self.repository = repository
        self.collection = collection
        self.key = key
    }

    /// - Parameter uri: `at://did:…/collection/key`; the result is nil for any other text,
    ///   including an address with a handle in place of the DID.
    package init?(_ uri: String) {
        guard uri.utf8.count <= 4_096, uri.hasPrefix("at://") else { return nil }
        let parts = uri.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 3, BlueskyName.isDID(parts[0]), Self.isCollection(parts[1]),
            Self.isKey(parts[2])
        else { return nil }
        self.init(repository: parts[0], collection: parts[1], key: parts[2])
    }

    package var uri: String { "at://\(repository)/\(collection)/\(key)" }

    package var isPost: Bool { collection == Self.postCollection }

    private static func isCollection(_ text: String) -> Bool {
        text.utf8.count <= 317 && text.contains(".")
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x2D || $0 == 0x2E }
    }

    /// Letters, digits and `.-_:~`, as the protocol allows.
    private static func isKey(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || ".-_:~".utf8.contains($0) }
    }
}

/// A reference to one version of a record: its address and the digest of its content.
package struct RecordReference: Hashable, Sendable {
    package let address: RecordAddress
    package let cid: String

    /// Nil if one of the two is invalid.
    package init?(uri: String?, cid: String?) {
        guard let address = uri.flatMap({ RecordAddress($0) }), let cid, BlueskyName.isDigest(cid)
        else { return nil }
        self.address = address
        self.cid = cid
    }

    /// - Parameter text: The form of ``text``; the result is nil for any other.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        self.init(uri: parts[0], cid: parts[1])
    }

    /// The address and the digest, separated by a space; replies and favorites need both.
    package var text: String { "\(address.uri) \(cid)" }
}

extension RecordReference {
    /// Nil if the object names no version of a record.
    package init?(_ wire: some WireFields) {
        self.init(uri: wire.text("uri"), cid: wire.text("cid"))
    }
}
