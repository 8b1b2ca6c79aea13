package import Foundation
package import Posts

/// The outcome of one request.
package enum DeliveryOutcome: Sendable {
    /// The network confirmed the action.
    case delivered(remoteID: String?, remoteAddress: String?)
    /// The network did nothing; a retry may succeed.
    case notSent(reason: ReasonCode, cause: RetryRule.Cause = .other, retryAfter: Date?)
    /// The network refused the request for good, with a detail for people.
    case refused(reason: ReasonCode, detail: String? = nil)
    /// The network reports a duplicate; only a look-up can confirm it.
    case duplicate
    /// The answer was lost, so the outcome is unknown.
    case unknown(reason: ReasonCode)
}

/// A prepared request of an action.
package struct PreparedRequest: Sendable {
    /// Whether a request may still leave; asked right before its first byte, on any thread.
    package typealias Condition = @Sendable () -> Bool

    private let request: @Sendable (@escaping Condition) async -> DeliveryOutcome
    private let withdrawal: @Sendable () async -> Void

    /// - Parameters:
    ///   - request: Makes the request immediately, without any other request before it, if the
    ///     condition holds when its first byte is due. A lost answer is an outcome.
    ///   - withdrawal: Releases the reservations if the request is not made.
    package init(
        request: @escaping @Sendable (@escaping Condition) async -> DeliveryOutcome,
        withdrawal: @escaping @Sendable () async -> Void = {}
    ) {
        self.request = request
        self.withdrawal = withdrawal
    }

    /// Makes the request at once, or not at all if the condition does not hold by then.
    package func send(while mayLeave: @escaping Condition) async -> DeliveryOutcome {
        await request(mayLeave)
    }

    /// Releases the reservations of a request that will not be made.
    package func withdraw() async { await withdrawal() }
}

/// The result of preparing a request.
package enum RequestPreparation: Sendable {
    case ready(PreparedRequest)
    /// The preparation failed temporarily; a retry may succeed.
    case notNow(reason: ReasonCode, cause: RetryRule.Cause = .other, retryAfter: Date?)
    /// The request is impossible, with a detail for people.
    case refused(reason: ReasonCode, detail: String? = nil)
}

/// The result of looking an action up at the network.
package enum LookUpOutcome: Sendable {
    case found(remoteID: String?, remoteAddress: String?)
    case absent
    /// The network shows posts that may or may not be the action's, with a detail for people.
    case undecided(detail: String)
    /// The network could not be asked; retry later.
    case unavailable(reason: ReasonCode, cause: RetryRule.Cause = .other, retryAfter: Date?)
}

/// The result of uploading a picture.
package enum UploadOutcome: Sendable {
    /// The network has the picture, under this identifier; a post may contain it once it is ready.
    case uploaded(reference: String, isReady: Bool)
    /// A retry may succeed; an upload that succeeded unnoticed is in no post.
    case notSent(reason: ReasonCode, cause: RetryRule.Cause = .other, retryAfter: Date?)
    /// The picture is gone or not acceptable, with a detail for people.
    case refused(reason: ReasonCode, detail: String?)
}

/// The operations of a network that delivery needs.
package protocol Deliverer: Sendable {
    /// Prepares a request of the action: reads, renews tokens, and reserves money, up to the
    /// request itself.
    func prepare(_ action: Action) async -> RequestPreparation
    /// Uploads a picture of a post, or asks whether an uploaded one is ready; never throws.
    ///
    /// - Parameters:
    ///   - place: The index of the picture.
    func upload(_ place: Int, of action: Action) async -> UploadOutcome
    /// Reads the bot's own posts back to before `departure`, or asks for the favorite.
    ///
    /// - Parameters:
    ///   - departure: The time of the action's first request, or earlier.
    ///   - others: Other posts of the bot that were or may have been sent since then, and must not
    ///     be mistaken for the action's post.
    func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
        -> LookUpOutcome
    /// The maximum duration of a request, after which its answer counts as lost.
    var requestDeadline: Duration { get }
    /// The time after the first request during which the network honors its key; nil if a text must
    /// never be sent twice.
    var resendWindow: Duration? { get }
    /// The lead of the local clock over the network's, in seconds, at the last answer; nil if
    /// unknown.
    var clockLead: TimeInterval? { get }
}

extension Deliverer {
    /// Uploads are not supported.
    package func upload(_ place: Int, of action: Action) async -> UploadOutcome {
        .refused(reason: .outbox(.incomplete), detail: "no pictures are sent")
    }
}

/// The result of the last check before sending.
package enum Preparation: Sendable {
    /// Send the action with this final text.
    case ready(Action)
    /// Do not send it, for this reason.
    case skip(reason: ReasonCode)
    /// Retry later: a fact for the check is not available now.
    case wait(reason: ReasonCode, cause: RetryRule.Cause, retryAfter: Date?)
}

extension Duration {
    /// The duration in seconds.
    package var timeInterval: TimeInterval {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
