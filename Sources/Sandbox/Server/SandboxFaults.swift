package import Foundation

/// A deliberate fault of a single request.
package enum SandboxFault: Equatable, Sendable {
    /// The connection ends before the server has done anything.
    case dropRequest
    /// The server acts, and the connection ends before an answer.
    case dropAnswer
    /// The server sends this answer, and does not act.
    case answer(status: Int, contentType: String, body: String, headers: [String: String])
    /// The server accepts the request and hangs up at once; it acts when its clock has advanced by
    /// this number of seconds.
    ///
    /// Credentials and limits are checked when the request arrives, everything else when the server
    /// acts: then a post that was made with the same key in between is recognized, and a text that
    /// reached X in between is refused.
    case actLate(after: TimeInterval)
    /// The fault is ``dropRequest`` with a reset of the connection.
    case resetRequest
    /// The fault is ``dropAnswer`` with a reset of the connection.
    case resetAnswer
    /// The server acts, announces the length of its answer, sends half of it and hangs up.
    case truncateAnswer
    /// The server acts and sends the body of its answer slowly; in real time, whatever the
    /// sandbox's clock does.
    case drip(bytesPerSecond: Int)
    /// The server acts, and its answer is followed by white space until the client leaves.
    case endlessAnswer
    /// The server accepts the request, does nothing, and sends nothing until the client leaves.
    case hang

    /// An error page as sent by a proxy in front of the server.
    package static func html(status: Int) -> SandboxFault {
        .answer(
            status: status, contentType: "text/html",
            body: "<html><body><h1>\(status)</h1></body></html>",
            headers: [:])
    }

    /// An error as reported by the server itself.
    package static func error(status: Int, message: String, headers: [String: String] = [:])
        -> SandboxFault
    {
        .answer(
            status: status, contentType: "application/json; charset=utf-8",
            body: String(decoding: (["error": .string(message)] as WireJSON).bytes, as: UTF8.self),
            headers: headers)
    }

    /// Whether the server acts, at once or later, but the client cannot get the whole answer.
    var cutsAnswer: Bool {
        switch self {
        case .dropAnswer, .actLate, .resetAnswer, .truncateAnswer, .endlessAnswer: true
        case .dropRequest, .resetRequest, .answer, .drip, .hang: false
        }
    }
}

/// Deviations from normal behavior that last until they are reset.
package struct SandboxHabits: Equatable, Sendable {
    /// The differences of the Mastodon-compatible server from Mastodon.
    package var mastodon = MastodonHabits()
    /// The differences of X's interface from its documentation.
    package var x = XHabits()
    /// The differences of the Bluesky server from the reference implementation.
    package var bluesky = BlueskyHabits()
    /// The objects that are refused individually.
    package var refusals = SandboxRefusals()
    /// The state of the human's account on all three interfaces.
    package var humanStanding = SandboxStanding.active
    /// Seconds by which the server's own clock is ahead of the world's; it dates the answers.
    package var clockSkew: TimeInterval = 0
    /// The delay of every answer to a read, in real time; changes are answered at once.
    package var readsTake: Duration = .zero
}

/// The faults of a sandbox: faults of single requests, and the ``SandboxHabits``, which can be read
/// and set as members of this object.
///
/// Everything can be changed while requests run. Faults apply to the next requests that match, in
/// the order in which they were planned.
@dynamicMemberLookup
package final class SandboxFaults: @unchecked Sendable {
    // Sendable: every access to a variable holds the lock.
    private struct Planned {
        var fault: SandboxFault
        var method: String?
        var path: String
        var parameters: Set<String>
        var needsLogin: Bool
        var remaining: Int
        var whenMet: (@Sendable (String) -> Void)?
    }

    private let lock = NSLock()
    private var planned: [Planned] = []
    private var habits = SandboxHabits()
    private var appliedCount = 0

    package init() {}

    package subscript<Habit>(dynamicMember habit: WritableKeyPath<SandboxHabits, Habit>) -> Habit {
        get { lock.withLock { habits[keyPath: habit] } }
        set { lock.withLock { habits[keyPath: habit] = newValue } }
    }

    /// The number of planned faults that have happened.
    package var applied: Int { lock.withLock { appliedCount } }

    /// Makes the next requests fail.
    ///
    /// - Parameters:
    ///   - fault: The fault of these requests.
    ///   - count: The number of requests.
    ///   - method: The method of the requests that meet the fault; nil for any.
    ///   - path: The beginning of the path of these requests.
    ///   - parameters: The query parameters of which these requests have one; empty for any
    ///     request.
    ///   - needsLogin: Whether only requests with a login fail.
    ///   - whenMet: A function that is called with path and query of every request that meets the
    ///     fault; it must return at once.
    package func failNext(
        _ fault: SandboxFault, count: Int = 1, method: String? = nil, path: String = "/",
        having parameters: Set<String> = [], needsLogin: Bool = false,
        whenMet: (@Sendable (String) -> Void)? = nil
    ) {
        lock.withLock {
            guard count > 0 else { return }
            planned.append(
                Planned(
                    fault: fault, method: method, path: path, parameters: parameters,
                    needsLogin: needsLogin,
                    remaining: count, whenMet: whenMet))
        }
    }

    /// Removes the faults that have not happened yet; habits and the clock's skew stay.
    package func clearPlanned() { lock.withLock { planned = [] } }

    /// Forgets all planned faults and habits.
    package func clear() {
        lock.withLock {
            planned = []
            habits = SandboxHabits()
        }
    }

    /// Returns the fault for a request, and uses it up.
    func take(for request: WireRequest) -> SandboxFault? {
        let matching = lock.withLock { () -> Planned? in
            guard !planned.isEmpty else { return nil }
            let method = request.method
            let path = request.path
            let names = request.query.map(\.name)
            let hasLogin = request.header("authorization") != nil
            let index = planned.firstIndex { plan in
                (plan.method == nil || plan.method == method) && path.hasPrefix(plan.path)
                    && (hasLogin || !plan.needsLogin)
                    && (plan.parameters.isEmpty || !plan.parameters.isDisjoint(with: names))
            }
            guard let index else { return nil }
            appliedCount += 1
            planned[index].remaining -= 1
            let matching = planned[index]
            if matching.remaining == 0 { planned.remove(at: index) }
            return matching
        }
        matching?.whenMet?(request.target)
        return matching?.fault
    }
}
