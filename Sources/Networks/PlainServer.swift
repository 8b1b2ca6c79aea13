package import Posts

/// A server as it answers single requests, without what a client believes of its program.
///
/// `doctor --probe` measures through it: a client that decides by the program's name would measure
/// its own decisions.
///
/// - Throws: Every call throws ``NetworkError`` or `CancellationError`.
package protocol PlainServer: Sendable {
    /// Publishes a draft, whose text holds `mark`.
    ///
    /// - Returns: The server's name for the post; nil if it names a post without the mark.
    func publish(_ draft: Draft, mark: String) async throws -> String?

    /// Reads a post as the account itself.
    ///
    /// - Returns: Nil if the server says that there is no such post.
    func read(_ address: String) async throws -> PlainPost?

    /// Whether a post is shown to somebody without a login; nil where nobody can ask.
    func isShownWithoutLogin(_ address: String) async throws -> Bool?

    /// The addresses of the account's newest posts, as its own list shows them to it.
    func newest() async throws -> Set<String>

    /// Gives a post another text.
    ///
    /// - Returns: Whether the server accepted it; nil where no such request is ever made.
    func change(_ address: String, to draft: Draft) async throws -> Bool?

    /// Deletes a post; that the server refuses is no error.
    func delete(_ address: String) async throws
}

/// A post as the server describes it.
package struct PlainPost: Sendable, Equatable {
    package var text: String
    package var visibility: Visibility
    /// The address of the answered post.
    package var answers: String?
    /// The server says that the post was changed.
    package var isChanged: Bool
}

/// A server whose client decides nothing by the program's name.
package struct ClientAsServer: PlainServer {
    private let network: any SocialNetwork

    package init(_ network: any SocialNetwork) { self.network = network }

    package func publish(_ draft: Draft, mark: String) async throws -> String? {
        try await network.publish(draft).address
    }

    package func read(_ address: String) async throws -> PlainPost? {
        try await network.lookUp(address).map {
            PlainPost(
                text: $0.post.text, visibility: $0.post.visibility, answers: $0.replyToAddress,
                isChanged: $0.editedAt != nil)
        }
    }

    package func isShownWithoutLogin(_ address: String) async throws -> Bool? { nil }

    package func newest() async throws -> Set<String> {
        Set(try await network.page(.ownPosts, .newest).items.map(\.address))
    }

    package func change(_ address: String, to draft: Draft) async throws -> Bool? { nil }

    package func delete(_ address: String) async throws { try await network.delete(address) }
}
