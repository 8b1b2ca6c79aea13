package import Foundation
package import Posts

/// What became of one request.
package enum DeliveryOutcome: Sendable {
    /// The network confirmed it.
    case delivered(remoteID: String?, remoteAddress: String?)
    /// Nothing happened at the network, and trying again may help.
    case notSent(reason: String, cause: RetryRule.Cause = .other, retryAfter: Date?)
    /// The network refused it for good; the detail is for people.
    case refused(reason: String, detail: String? = nil)
    /// The network says that this text was published already; true only if a look-up finds it.
    case duplicate
    /// The answer was lost: it may or may not have happened.
    case unknown(reason: String)
}

/// An action's request, ready to leave.
package struct PreparedRequest: Sendable {
    private let request: @Sendable () async -> DeliveryOutcome
    private let withdrawal: @Sendable () async -> Void

    /// - Parameters:
    ///   - request: Makes the request at once, and nothing before it. A lost answer is an outcome.
    ///   - withdrawal: Gives back what was reserved for it, if it is not made.
    package init(
        request: @escaping @Sendable () async -> DeliveryOutcome,
        withdrawal: @escaping @Sendable () async -> Void = {}
    ) {
        (self.request, self.withdrawal) = (request, withdrawal)
    }

    /// Makes the request, at once.
    package func send() async -> DeliveryOutcome { await request() }

    /// Gives back what was reserved for a request that will not be made.
    package func withdraw() async { await withdrawal() }
}

/// What became of preparing a request.
package enum RequestPreparation: Sendable {
    case ready(PreparedRequest)
    /// Not now: what had to be asked first could not be, and trying again may help.
    case notNow(reason: String, cause: RetryRule.Cause = .other, retryAfter: Date?)
    /// It cannot be made; the detail is for people.
    case refused(reason: String, detail: String? = nil)
}

/// What looking an action up at the network found.
package enum LookUpOutcome: Sendable {
    case found(remoteID: String?, remoteAddress: String?)
    case absent
    /// The network shows what may be it and may be something else, or nothing could tell it from something else; the
    /// detail is for people.
    case undecided(detail: String)
    /// The network could not be asked; ask again later.
    case unavailable(reason: String, cause: RetryRule.Cause = .other, retryAfter: Date?)
}

/// What became of giving the network a picture.
package enum UploadOutcome: Sendable {
    /// The network has it, and calls it so; until it is ready it may be in no post.
    case uploaded(reference: String, isReady: Bool)
    /// Trying again may help; what the network may have got all the same is in no post.
    case notSent(reason: String, cause: RetryRule.Cause = .other, retryAfter: Date?)
    /// The picture is gone, or nothing that the network takes; the detail is for people.
    case refused(reason: String, detail: String?)
}

/// The side of a network that delivery needs.
package protocol Deliverer: Sendable {
    /// Does all that sending the action once needs, up to the request itself: reading, renewing, reserving.
    func prepare(_ action: Action) async -> RequestPreparation
    /// Gives the network one of the pictures that go along with a post; of one that it has it asks whether that is ready.
    /// Never throws.
    ///
    /// - Parameters:
    ///   - place: Which of them, from 0.
    func upload(_ place: Int, of action: Action) async -> UploadOutcome
    /// Reads the bot's own posts back to before `departure`, or asks for the favorite.
    ///
    /// - Parameters:
    ///   - departure: When its first request left, or some time before.
    ///   - others: What else was sent, or may have been, at that time: the posts of the bot that are not the action's.
    func lookUp(_ action: Action, since departure: Date, among others: [Action]) async -> LookUpOutcome
    /// How long a prepared request may take before its answer counts as lost.
    var requestDeadline: Duration { get }
    /// How long after the first attempt the network still recognises the same key; nil if a text must never be sent twice.
    var resendWindow: Duration? { get }
    /// By how many seconds the local clock was ahead of the network's when it answered last; nil before it told.
    var clockLead: TimeInterval? { get }
}

extension Deliverer {
    /// Nothing can be uploaded.
    package func upload(_ place: Int, of action: Action) async -> UploadOutcome {
        .refused(reason: "has-media", detail: nil)
    }
}

/// What an action looks like right before it is sent.
package enum Preparation: Sendable {
    /// Send this, with its final text.
    case ready(Action)
    /// Do not send, for this reason.
    case skip(reason: String)
    /// Not now: what must be known first cannot be asked.
    case wait(reason: String, cause: RetryRule.Cause, retryAfter: Date?)
}

extension Duration {
    /// The duration in seconds.
    package var timeInterval: TimeInterval {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
