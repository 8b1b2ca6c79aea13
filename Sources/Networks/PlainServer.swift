package import Posts

/// Access to a server by single requests, without assumptions about its program.
///
/// `doctor --probe` measures with it, because a client that decides by the program's name would
/// measure its own decisions.
///
/// - Throws: Every call throws ``NetworkError`` or `CancellationError`.
package protocol PlainServer: Sendable {
    /// Publishes a draft, whose text contains `mark`.
    ///
    /// - Returns: The server's address of the post; nil if the post at the returned address lacks
    ///   the mark.
    func publish(_ draft: Draft, mark: String) async throws -> String?

    /// Reads a post as the account itself.
    ///
    /// - Returns: Nil if the server says that the post does not exist.
    func read(_ address: String) async throws -> PlainPost?

    /// Whether a post is visible without a login; nil if the network does not allow to check.
    func isShownWithoutLogin(_ address: String) async throws -> Bool?

    /// The addresses of the account's newest posts in its own list, as the account sees it.
    func newest() async throws -> Set<String>

    /// Changes the text of a post.
    ///
    /// - Returns: Whether the server accepted the change; nil if the client never makes such
    ///   requests.
    func change(_ address: String, to draft: Draft) async throws -> Bool?

    /// Deletes a post; a refusal by the server is no error.
    func delete(_ address: String) async throws
}

/// A post as the server returns it.
package struct PlainPost: Sendable, Equatable {
    package var text: String
    package var visibility: Visibility
    /// The address of the post that this post answers.
    package var answeredAddress: String?
    /// Whether the server marks the post as edited.
    package var isChanged: Bool

    package init(text: String, visibility: Visibility, answeredAddress: String?, isChanged: Bool) {
        self.text = text
        self.visibility = visibility
        self.answeredAddress = answeredAddress
        self.isChanged = isChanged
    }
}

/// Access by the network's usual client, for a network whose client makes no decisions by the name
/// of the server's program.
package struct ClientAsServer: PlainServer {
    private let network: any SocialNetwork

    package init(_ network: any SocialNetwork) { self.network = network }

    package func publish(_ draft: Draft, mark: String) async throws -> String? {
        try await network.publish(draft).address
    }

    package func read(_ address: String) async throws -> PlainPost? {
        try await network.lookUp(address).map {
            PlainPost(
                text: $0.post.text, visibility: $0.post.visibility,
                answeredAddress: $0.replyToAddress, isChanged: $0.editedAt != nil)
        }
    }

    package func isShownWithoutLogin(_ address: String) async throws -> Bool? { nil }

    package func newest() async throws -> Set<String> {
        Set(try await network.page(.ownPosts, .newest).items.map(\.address))
    }

    package func change(_ address: String, to draft: Draft) async throws -> Bool? { nil }

    package func delete(_ address: String) async throws { try await network.delete(address) }
}
