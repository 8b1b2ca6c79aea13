/// A change at a network that is ready to be sent: everything that had to be read, renewed and
/// reserved for it is done.
///
/// Once the store says that the change is being sent, the next request is the change itself. So a
/// person who forbids the change at that moment waits for one request at most.
///
/// A departure is used once: either ``send(while:)`` or ``withdraw()``.
package struct Departure<Answer: Sendable>: Sendable {
    /// Whether the request may still be sent; called right before its first byte, on the thread of
    /// the HTTP client.
    package typealias Condition = @Sendable () -> Bool

    private let request: @Sendable (Condition?) async throws -> Answer
    private let withdrawal: @Sendable () async -> Void

    /// - Parameters:
    ///   - request: Sends the request unconditionally, because sending it twice makes the same
    ///     change.
    ///   - withdrawal: Releases everything that was reserved for the request.
    package init(
        request: @escaping @Sendable () async throws -> Answer,
        withdrawal: @escaping @Sendable () async -> Void = {}
    ) {
        self.init(conditionally: { _ in try await request() }, withdrawal: withdrawal)
    }

    /// - Parameters:
    ///   - request: Sends the request, unless its condition returns false: then it throws an error
    ///     with outcome `notSent`. A nil condition is always true.
    ///   - withdrawal: Releases everything that was reserved for the request.
    package init(
        conditionally request: @escaping @Sendable (Condition?) async throws -> Answer,
        withdrawal: @escaping @Sendable () async -> Void = {}
    ) {
        self.request = request
        self.withdrawal = withdrawal
    }

    /// Sends the request at once.
    ///
    /// - Parameter mayLeave: Returns whether the request may still be sent; nil to send it always.
    /// - Throws: ``NetworkError``, whose ``NetworkError/outcome`` says whether the change may have
    ///   happened; `CancellationError`.
    package func send(while mayLeave: Condition? = nil) async throws -> Answer {
        try await request(mayLeave)
    }

    /// Releases everything that was reserved for a request that is not sent.
    package func withdraw() async { await withdrawal() }
}

extension SocialNetwork {
    /// Prepares and publishes a draft; see ``prepare(_:)-(Draft)``.
    package func publish(_ draft: Draft) async throws -> PublishedPost {
        try await prepare(draft).send()
    }

    /// Prepares and gives a favorite; see ``prepare(_:)-(FavoriteDraft)``.
    package func favorite(_ favorite: FavoriteDraft) async throws {
        try await prepare(favorite).send()
    }

    /// Prepares and publishes another text; see ``prepareEdit(_:_:)``.
    package func edit(_ address: String, _ draft: Draft) async throws {
        try await prepareEdit(address, draft).send()
    }
}
