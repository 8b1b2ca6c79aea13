/// A change at a network that is ready to leave: what had to be read, renewed and reserved for it
/// is done.
///
/// Between the moment in which the change is recorded as leaving and its first byte there is no
/// other request. So a person who forbids it in time waits for one request at most.
///
/// A departure is used once: either ``send(while:)`` or ``withdraw()``.
package struct Departure<Answer: Sendable>: Sendable {
    /// Whether a request may still leave; asked right before its first byte, on the thread of the
    /// HTTP client.
    package typealias Condition = @Sendable () -> Bool

    private let request: @Sendable (Condition?) async throws -> Answer
    private let withdrawal: @Sendable () async -> Void

    /// - Parameters:
    ///   - request: Leaves on every condition: made twice it changes the same thing.
    ///   - withdrawal: Gives back what was reserved for it.
    package init(
        request: @escaping @Sendable () async throws -> Answer,
        withdrawal: @escaping @Sendable () async -> Void = {}
    ) {
        self.init(conditionally: { _ in try await request() }, withdrawal: withdrawal)
    }

    /// - Parameters:
    ///   - request: Fails as one that was not sent if its condition does not hold; nil for always.
    ///   - withdrawal: Gives back what was reserved for it.
    package init(
        conditionally request: @escaping @Sendable (Condition?) async throws -> Answer,
        withdrawal: @escaping @Sendable () async -> Void = {}
    ) {
        self.request = request
        self.withdrawal = withdrawal
    }

    /// Makes the request, at once.
    ///
    /// - Parameter mayLeave: Whether it may still leave; nil for always.
    /// - Throws: ``NetworkError``, whose ``NetworkError/outcome`` says whether the change may have
    ///   happened; `CancellationError`.
    package func send(while mayLeave: Condition? = nil) async throws -> Answer {
        try await request(mayLeave)
    }

    /// Gives back what was reserved for a request that will not be made.
    package func withdraw() async { await withdrawal() }
}

extension SocialNetwork {
    /// Prepares a draft and publishes it at once; see ``prepare(_:)-(Draft)``.
    package func publish(_ draft: Draft) async throws -> PublishedPost {
        try await prepare(draft).send()
    }

    /// Prepares a favorite and gives it at once; see ``prepare(_:)-(FavoriteDraft)``.
    package func favorite(_ favorite: FavoriteDraft) async throws {
        try await prepare(favorite).send()
    }

    /// Prepares another text and publishes it at once; see ``prepareEdit(_:_:)``.
    package func edit(_ address: String, _ draft: Draft) async throws {
        try await prepareEdit(address, draft).send()
    }
}
