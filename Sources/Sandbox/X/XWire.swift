import Foundation
import Posts

/// X's API, version 2, with OAuth 1.0a, as strict as X.
struct XWire: SandboxWire {
    private let faults: SandboxFaults
    var gate: XGate
    var login: XLogin
    var rates: XRates
    var billing = XBilling()
    /// The rate limit headers of the answer that is being made.
    var headers: [(name: String, value: String)] = []
    private var requests = 0
    /// Made at the first request, which brings the people.
    private var directory: XDirectory?

    init(access: SandboxAccess, limits: SandboxRateLimits, faults: SandboxFaults) {
        self.faults = faults
        self.gate = XGate(access: access)
        self.login = XLogin(seed: SandboxIdentity.hash(access.x(.bot).consumerSecret))
        self.rates = XRates(limits: limits)
    }

    static func owns(_ request: WireRequest) -> Bool {
        request.path.hasPrefix("/2/") || XLogin.owns(request)
    }

    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date) -> WireAnswer {
        let habits = faults.x
        requests += 1
        if let every = habits.edgeFailsEvery, every > 0, requests % every == 0 {
            state.note(request, status: 503, reason: "failure of the edge", isExpected: true, at: now)
            return Self.edgePage
        }
        headers = []
        var answer: WireAnswer
        do throws(XRefusal) {
            answer = try perform(request, in: &state, habits: habits, now: now)
        } catch {
            state.note(request, status: error.status, reason: error.reason, isExpected: error.isExpected, at: now)
            answer = error.answer(isOld: habits.oldErrors && [401, 429].contains(error.status))
        }
        answer.headers += headers
        answer.headers.append(("x-transaction-id", String(SandboxIdentity.hash("request \(requests)"), radix: 16)))
        return answer
    }

    private mutating func perform(
        _ request: WireRequest, in state: inout SandboxState, habits: XHabits, now: Date
    ) throws(XRefusal) -> WireAnswer {
        let directory = directory ?? XDirectory(state.population)
        self.directory = directory
        let skew = faults.clockSkew
        let clock = now + skew
        gate.window = habits.timestampWindow
        if XLogin.owns(request) {
            return try login.answer(request, gate: &gate, directory: directory, clock: clock, skew: skew)
        }
        let (endpoint, segments) = try XEndpoint.of(request)
        let (grant, _) = try gate.admit(request, clock: (request.arrival ?? now) + skew, skew: skew)
        let rate = rates.count(endpoint, by: grant.person, at: clock)
        headers = (habits.misstatesLimits ? rate.untold(at: clock) : rate).headers("x-rate-limit")
        headers.append(("x-access-level", grant.canWrite ? "read-write" : "read"))
        if rate.isExceeded { throw .tooMany }
        billing.begin(clock)
        try checkFunds(endpoint, of: grant.person, spent: state.ledger.spentMicrodollars, habits, clock)
        if endpoint.isWrite, !grant.canWrite { throw .readOnly }
        let call = try XCall(
            request, endpoint: endpoint, segments: segments, caller: grant.person, habits: habits, now: now,
            clock: clock)
        return try perform(call, in: &state, directory)
    }

    private mutating func perform(
        _ call: XCall, in state: inout SandboxState, _ directory: XDirectory
    ) throws(XRefusal) -> WireAnswer {
        switch call.endpoint {
        case .me: user(call.caller, &state, call, directory)
        case .userByName: try userByName(&state, call, directory)
        case .userPosts: try userPosts(&state, call, directory)
        case .mentions: try mentions(&state, call, directory)
        case .home: try home(&state, call, directory)
        case .favorites: try favorites(&state, call, directory)
        case .posts: try posts(&state, call, directory)
        case .post: try post(&state, call, directory)
        case .publish: try publish(&state, call, directory)
        case .delete: try delete(&state, call)
        case .favorite: try favorite(&state, call, directory)
        case .unfavorite: try unfavorite(&state, call, directory)
        }
    }

    /// - Throws: 402 when the credits are used up, 429 when the reads of the month are.
    private mutating func checkFunds(
        _ endpoint: XEndpoint, of person: Int, spent: Int, _ habits: XHabits, _ clock: Date
    ) throws(XRefusal) {
        if let credits = habits.credits, spent >= credits {
            throw .problem(
                402, "CreditsDepleted", "Your enrolled account does not have any credits to fulfill this request.",
                type: "credits", isExpected: billing.tell(person, at: clock),
                more: [("account_id", .string(XRefusal.application))])
        }
        if !endpoint.isWrite, billing.postReadsThisMonth >= habits.postReadsPerMonth {
            throw .problem(
                429, "UsageCapExceeded", "Usage cap exceeded: Monthly product cap", type: "usage-capped",
                isExpected: billing.tell(person, at: clock),
                more: [
                    ("account_id", .string(XRefusal.application)), ("product_name", "pay-per-use"),
                    ("period", "Monthly"), ("scope", "Product"),
                ])
        }
    }

    private static let edgePage = WireAnswer(
        status: 503, headers: [("content-type", "text/html; charset=utf-8")],
        body: Array("<html><head><title>X / Over capacity</title></head><body><h1>503</h1></body></html>".utf8))
}
