import Foundation

/// The interface of one kind of network, in front of the one state.
///
/// Every interface lives on the same port and sees the same people and posts, each under the names of its network. It
/// answers as a strict server of its kind would, refusals included, and notes those in the ledger.
protocol SandboxWire: Sendable {
    /// Whether the request is meant for this interface; the path decides, and where two share one the query.
    static func owns(_ request: WireRequest) -> Bool

    /// What a `POST` is to publish or favorite, as far as it can be read without judging it; nil if it is neither.
    mutating func draft(of request: WireRequest, in state: SandboxState) -> WireDraft?

    /// Acts on a request and says what to send back.
    ///
    /// - Parameters:
    ///   - request: As it came over the wire.
    ///   - state: The network; everything up to `now` has happened in it.
    ///   - now: The sandbox's clock.
    /// - Returns: An answer, be it a refusal.
    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date) -> WireAnswer
}

/// A request to publish, reply or favorite, before anybody has looked at whether it may.
struct WireDraft: Equatable, Sendable {
    var kind: SandboxLedger.Write.Kind
    var key: String?
    var text: String?
    /// The sandbox's own number of the answered or favorited post.
    var target: String?
}

extension SandboxState {
    /// Notes in the ledger that a request was refused.
    ///
    /// `isExpected` says that it was not the client's fault.
    mutating func note(
        _ request: WireRequest, status: Int, reason: String, isExpected: Bool, at now: Date
    ) {
        record(
            .init(
                date: now, method: request.method, path: request.path, status: status, reason: reason,
                isExpected: isExpected))
    }
}
