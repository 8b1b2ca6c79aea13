import Foundation
import NetworkNames
import Posts

/// X's API, version 2, with OAuth 1.0a, as strict as X.
struct XWire: SandboxWire {
    private let faults: SandboxFaults
    var gate: XGate
    var login: XLogin
    private let limits: SandboxRateLimits
    var rates = RateCounter()
    var billing = XBilling()
    /// The rate limit headers of the current answer.
    var headers: [(name: String, value: String)] = []
    private var requests = 0
    private let directory: SandboxDirectory

    init(
        _ people: SandboxPopulation, access: SandboxAccess, limits: SandboxRateLimits,
        faults: SandboxFaults
    ) {
        self.directory = SandboxDirectory(people, on: .x)
        self.limits = limits
        self.faults = faults
        self.gate = XGate(access: access)
        self.login = XLogin(seed: SandboxIdentity.hash(access.x(.bot).consumerSecret))
    }

    static func owns(_ request: WireRequest) -> Bool {
        request.path.hasPrefix("/2/") || XLogin.owns(request)
    }

    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date)
        -> WireAnswer
    {
        let habits = faults.x
        requests += 1
        if let every = habits.edgeFailsEvery, every > 0, requests % every == 0 {
            state.note(
                request, status: 503, reason: "failure of the edge", isExpected: true, at: now)
            return Self.edgePage
        }
        headers = []
        var answer: WireAnswer
        do throws(XRefusal) {
            answer = try perform(request, in: &state, habits: habits, now: now)
        } catch {
            state.note(
                request, status: error.status, reason: error.reason, isExpected: error.isExpected,
                at: now)
            answer = error.answer(isOld: habits.oldErrors && [401, 429].contains(error.status))
        }
        answer.headers += headers
        answer.headers.append(
            ("x-transaction-id", String(SandboxIdentity.hash("request \(requests)"), radix: 16)))
        return answer
    }

    private mutating func perform(
        _ request: WireRequest, in state: inout SandboxState, habits: XHabits, now: Date
    ) throws(XRefusal) -> WireAnswer {
        let skew = faults.clockSkew
        let clock = now + skew
        gate.window = habits.timestampWindow
        if XLogin.owns(request) {
            return try login.answer(
                request, gate: &gate, directory: directory, clock: clock, skew: skew)
        }
        let (endpoint, segments) = try XEndpoint.of(request)
        let (grant, _) = try gate.admit(request, clock: (request.arrival ?? now) + skew, skew: skew)
        let rate = countRequest(to: endpoint, by: grant.person, at: clock)
        headers = Self.headers(rate, "x-rate-limit", isTrue: !habits.misstatesLimits, at: clock)
        headers.append(("x-access-level", grant.canWrite ? "read-write" : "read"))
        if rate.isExceeded { throw .tooMany }
        billing.begin(clock)
        try checkFunds(
            endpoint, of: grant.person, spent: state.ledger.spentMicrodollars, habits, clock)
        if endpoint.isWrite, !grant.canWrite { throw .readOnly }
        if let refusal = XRefusal(state.standing(of: grant.person), id: directory.ids[grant.person])
        {
            throw refusal
        }
        let call = try XCall(
            request, endpoint: endpoint, segments: segments, caller: grant.person,
            directory: directory,
            habits: habits, now: now, clock: clock)
        return try perform(call, in: &state)
    }

    private mutating func perform(
        _ call: XCall, in state: inout SandboxState
    ) throws(XRefusal) -> WireAnswer {
        switch call.endpoint {
        case .me: user(call.caller, &state, call)
        case .userByName: try userByName(&state, call)
        case .userPosts: try userPosts(&state, call)
        case .mentions: try mentions(&state, call)
        case .home: try home(&state, call)
        case .favorites: try favorites(&state, call)
        case .posts: try posts(&state, call)
        case .post: try post(&state, call)
        case .publish: try publish(&state, call)
        case .delete: try delete(&state, call)
        case .favorite: try favorite(&state, call)
        case .unfavorite: try unfavorite(&state, call)
        case .upload: try upload(&state, call)
        case .describe: try describe(&state, call)
        }
    }

    /// Counts a request in the current quarter of an hour.
    private mutating func countRequest(to endpoint: XEndpoint, by person: Int, at clock: Date)
        -> RateCounter.Standing
    {
        let limit = limits == .unlimited ? limits.requests : endpoint.limit
        return rates.add(
            by: "\(endpoint) \(person)", of: .init(amount: limit, period: 900), at: clock)
    }

    /// Returns the headers of a limit; if `isTrue` is false, those of a full allowance and of a
    /// reset in the past.
    static func headers(
        _ rate: RateCounter.Standing, _ prefix: String, isTrue: Bool = true, at clock: Date
    ) -> [(name: String, value: String)] {
        let (remaining, reset) =
            isTrue ? (rate.remaining, rate.reset) : (rate.allowance.amount, clock - 1)
        return [
            ("\(prefix)-limit", String(rate.allowance.amount)),
            ("\(prefix)-remaining", String(remaining)),
            ("\(prefix)-reset", String(Int64(reset.timeIntervalSince1970))),
        ]
    }

    /// - Throws: 402 when the credits are used up, 429 when the reads of the month are.
    private mutating func checkFunds(
        _ endpoint: XEndpoint, of person: Int, spent: Int, _ habits: XHabits, _ clock: Date
    ) throws(XRefusal) {
        if let credits = habits.credits, spent >= credits {
            throw .problem(
                402, "CreditsDepleted",
                "Your enrolled account does not have any credits to fulfill this request.",
                type: "credits", isExpected: billing.recordRefusal(of: person, at: clock),
                more: [("account_id", .string(XRefusal.application))])
        }
        if !endpoint.isWrite, billing.postReadsThisMonth >= habits.postReadsPerMonth {
            throw .problem(
                429, "UsageCapExceeded", "Usage cap exceeded: Monthly product cap",
                type: "usage-capped",
                isExpected: billing.recordRefusal(of: person, at: clock),
                more: [
                    ("account_id", .string(XRefusal.application)), ("product_name", "pay-per-use"),
                    ("period", "Monthly"), ("scope", "Product"),
                ])
        }
    }

    private static let edgePage = WireAnswer.text(
        "<html><head><title>X / Over capacity</title></head><body><h1>503</h1></body></html>",
        status: 503)
}

/// The requested writes, before they are checked.
extension XWire {
    func draft(of request: WireRequest, at now: Date) -> SandboxLedger.Write? {
        // A request to no known endpoint (nil here) writes nothing.
        guard let (endpoint, _) = try? XEndpoint.of(request) else { return nil }
        switch endpoint {
        case .publish:
            let members = request.members
            let reply = members["reply"]
            return SandboxLedger.Write(
                at: now, kind: reply == nil ? .post : .reply, text: members["text"]?.text,
                target: reply?["in_reply_to_tweet_id"]?.text)
        case .favorite:
            return SandboxLedger.Write(
                at: now, kind: .favorite, target: request.members["tweet_id"]?.text)
        default:
            return nil
        }
    }
}

/// The cost of the requests by X's price list of April 2026.
struct XBilling: Sendable {
    /// The prices, in millionths of a US dollar.
    enum Price {
        static let postRead = 5_000
        static let userRead = 10_000
        static let favoriteRead = 1_000
        static let ownedRead = 1_000
        static let post = 15_000
        static let postWithLink = 200_000
        static let summonedReply = 10_000
        static let interaction = 15_000
        static let removal = 10_000
        /// The price of an upload; the list has none, so this is its price for anything that is
        /// created.
        static let upload = 15_000
        static let metadata = 5_000
    }

    /// The objects that were billed today; the same object is billed once a day.
    private var billed: Set<String> = []
    private var day = 0
    private var month = ""
    private(set) var postReadsThisMonth = 0
    /// The time at which a person was last refused for used-up credits or reads of the month.
    private var refusedAt: [Int: Date] = [:]

    /// Seconds after a refusal in which the person must not send further requests.
    private static let quietSeconds = 3_600.0
    /// Seconds after a refusal in which requests are excused, because they were already on their
    /// way.
    private static let grace = 60.0

    /// Begins a new day or month of the server's clock, in UTC.
    mutating func begin(_ clock: Date) {
        let today = Int((clock.timeIntervalSince1970 / 86_400).rounded(.down))
        if today != day {
            day = today
            billed = []
        }
        let thisMonth = String(clock.rfc3339.prefix(7))
        if thisMonth != month {
            month = thisMonth
            postReadsThisMonth = 0
        }
    }

    /// Returns the price of the read objects, without those already paid for on the same day.
    mutating func read(posts: [SandboxPost], users: [Int], price: Int) -> Int {
        var sum = 0
        for post in posts where billed.insert("post \(post.id)").inserted {
            sum += price
            postReadsThisMonth += 1
        }
        for user in users where billed.insert("user \(user)").inserted { sum += Price.userRead }
        return sum
    }

    /// Records a refusal for used-up credits or reads; returns whether the person could not have
    /// expected it.
    mutating func recordRefusal(of person: Int, at clock: Date) -> Bool {
        guard let refused = refusedAt[person],
            clock.timeIntervalSince(refused) < Self.quietSeconds
        else {
            refusedAt[person] = clock
            return true
        }
        return clock.timeIntervalSince(refused) <= Self.grace
    }
}
