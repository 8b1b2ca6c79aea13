package import Foundation

/// A deliberate fault of a single request.
package enum SandboxFault: Equatable, Sendable {
    /// The connection ends before the server has done anything.
    case dropRequest
    /// The server acts, and the connection ends before an answer.
    case dropAnswer
    /// An answer instead of acting.
    case answer(status: Int, contentType: String, body: String, headers: [String: String])
    /// The server takes the request and hangs up at once; it acts when its clock has gone on by so
    /// many seconds.
    ///
    /// Whether the client may come in is decided as of the arrival, everything else as of the
    /// moment of acting: a post that was made with the same key in between is then recognised, a
    /// text that X has got in between is refused.
    case actLate(after: TimeInterval)
    /// As ``dropRequest``, but with a reset of the connection.
    case resetRequest
    /// As ``dropAnswer``, but with a reset of the connection.
    case resetAnswer
    /// The server acts, announces its whole answer, sends half of it and hangs up.
    case truncateAnswer
    /// The server acts and sends the body of its answer so slowly; in real time, whatever the
    /// sandbox's clock does.
    case drip(bytesPerSecond: Int)
    /// The server acts, and behind its answer comes white space until the client leaves.
    case endlessAnswer
    /// The server takes the request, does nothing, and says nothing until the client leaves.
    case hang

    /// An error page as a proxy in front of the server sends it.
    package static func html(status: Int) -> SandboxFault {
        .answer(
            status: status, contentType: "text/html",
            body: "<html><body><h1>\(status)</h1></body></html>",
            headers: [:])
    }

    /// An error as the server itself reports it.
    package static func error(status: Int, message: String, headers: [String: String] = [:])
        -> SandboxFault
    {
        .answer(
            status: status, contentType: "application/json; charset=utf-8",
            body: String(decoding: (["error": .string(message)] as WireJSON).bytes, as: UTF8.self),
            headers: headers)
    }

    /// Whether the server acts, at once or later, and the client cannot get the whole answer.
    var cutsAnswer: Bool {
        switch self {
        case .dropAnswer, .actLate, .resetAnswer, .truncateAnswer, .endlessAnswer: true
        case .dropRequest, .resetRequest, .answer, .drip, .hang: false
        }
    }
}

/// Deviations from usual behaviour that last until they are switched back.
package struct SandboxHabits: Equatable, Sendable {
    /// How the Mastodon-compatible server differs from Mastodon.
    package var mastodon = MastodonHabits()
    /// How X's interface differs from its documentation.
    package var x = XHabits()
    /// How the Bluesky server differs from the reference implementation.
    package var bluesky = BlueskyHabits()
    /// Which objects are refused alone.
    package var refusals = SandboxRefusals()
    /// The state of the human's account on all three interfaces.
    package var humanStanding = SandboxStanding.active
    /// How far the server's own clock is ahead of the world's, in seconds; its answers are dated by
    /// it.
    package var clockSkew: TimeInterval = 0
    /// How long every answer to a question takes, in real time; changes are answered at once.
    package var readsTake: Duration = .zero
}

/// The fault switchboard of a sandbox: faults of single requests, and the ``SandboxHabits``, each
/// by its own name.
///
/// Everything can be switched while requests run. Faults apply to the next
/// requests that match, in the order they were planned.
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
    private var taken = 0

    package init() {}

    package subscript<Habit>(dynamicMember habit: WritableKeyPath<SandboxHabits, Habit>) -> Habit {
        get { lock.withLock { habits[keyPath: habit] } }
        set { lock.withLock { habits[keyPath: habit] = newValue } }
    }

    /// How many planned faults have happened.
    package var applied: Int { lock.withLock { taken } }

    /// Lets the next requests fail.
    ///
    /// - Parameters:
    ///   - fault: What happens to them.
    ///   - count: How many requests.
    ///   - method: Only requests with this method; nil for any.
    ///   - path: Only requests whose path begins so.
    ///   - parameters: Only requests with one of these in their query; empty for any.
    ///   - needsLogin: Whether only requests with a login fail.
    ///   - whenMet: Called with path and query of every request that meets the fault; must return
    ///     at once.
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

    /// Forgets the faults that have not happened yet; habits and the clock's skew stay.
    package func clearPlanned() { lock.withLock { planned = [] } }

    /// Forgets all planned faults and habits.
    package func clear() {
        lock.withLock {
            planned = []
            habits = SandboxHabits()
        }
    }

    /// The fault for a request, which is thereby used up.
    func take(for request: WireRequest) -> SandboxFault? {
        let met = lock.withLock { () -> Planned? in
            guard !planned.isEmpty else { return nil }
            let method = request.method
            let path = request.path
            let names = request.query.map(\.name)
            let hasLogin = request.header("authorization") != nil
            let index = planned.firstIndex { plan in
                plan.method ?? method == method && path.hasPrefix(plan.path)
                    && (hasLogin || !plan.needsLogin)
                    && (plan.parameters.isEmpty || !plan.parameters.isDisjoint(with: names))
            }
            guard let index else { return nil }
            taken += 1
            planned[index].remaining -= 1
            let met = planned[index]
            if met.remaining == 0 { planned.remove(at: index) }
            return met
        }
        met?.whenMet?(request.target)
        return met?.fault
    }
}
