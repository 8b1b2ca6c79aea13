/// A change at a network that is ready to leave: what had to be read, renewed and reserved for it is done.
///
/// Between the moment in which the change is recorded as leaving and its first byte there is no other request. So a person
/// who forbids it in time waits for one request at most.
///
/// A departure is used once: either ``send(while:)`` or ``withdraw()``.
package struct Departure<Answer: Sendable>: Sendable {
    private let request: @Sendable () async throws -> Answer
    private let withdrawal: @Sendable () async -> Void

    /// - Parameters:
    ///   - withdrawal: Gives back what was reserved for it.
    package init(
        request: @escaping @Sendable () async throws -> Answer,
        withdrawal: @escaping @Sendable () async -> Void = {}
    ) {
        (self.request, self.withdrawal) = (request, withdrawal)
    }

    /// Makes the request, at once.
    ///
    /// - Parameter mayLeave: Whether it may still leave; asked right before its first byte, on the
    ///   thread of the HTTP client. One that may not fails as one that was not sent. Nil for always.
    /// - Throws: ``NetworkError``, whose ``NetworkError/outcome`` says whether the change may have happened;
    ///   `CancellationError`.
    package func send(while mayLeave: (@Sendable () -> Bool)? = nil) async throws -> Answer {
        try await LeavingCondition.$current.withValue(mayLeave) { try await request() }
    }

    /// Gives back what was reserved for a request that will not be made.
    package func withdraw() async { await withdrawal() }
}

/// The condition on which the requests of a task may leave.
enum LeavingCondition {
    @TaskLocal static var current: (@Sendable () -> Bool)?
}

extension SocialNetwork {
    /// Prepares a draft and publishes it at once; see ``prepare(_:)-(Draft)``.
    package func publish(_ draft: Draft) async throws -> PublishedPost { try await prepare(draft).send() }

    /// Prepares a favorite and gives it at once; see ``prepare(_:)-(FavoriteDraft)``.
    package func favorite(_ favorite: FavoriteDraft) async throws { try await prepare(favorite).send() }

    /// Prepares another text and publishes it at once; see ``prepareEdit(_:_:)``.
    package func edit(_ address: String, _ draft: Draft) async throws { try await prepareEdit(address, draft).send() }
}
