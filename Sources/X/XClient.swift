import Foundation
import NetworkNames
import Networks
import Posts
import Transport

/// Sends signed requests to X.
struct XClient: NetworkClient {
    static let defaultBase = "https://api.x.com"
    /// Seconds by which two clocks may differ because of the transfer of an answer; smaller
    /// differences are ignored.
    private static let toleratedLead: TimeInterval = 60

    let server: ServerAddress
    let signer: OAuthSigner
    let http: HTTPClient
    let origin: RequestOrigin
    let memory: XMemory
    let now: @Sendable () -> Date

    var network: NetworkName { .x }
    /// A signature is valid for one address only.
    var followsRedirects: Bool { false }
    var requestIDHeaders: [String] { ["x-transaction-id", "X-Request-Id"] }
    var serverClock: ServerClock { memory.serverClock }
    var isAnonymous: Bool { false }
    var secrets: [Secret] { signer.secrets }

    /// - Parameters:
    ///   - apiBaseURL: The address of the interface; nil for X's.
    ///   - signer: The signer of requests, with the keys of the application, and the token of the
    ///     account if there is one.
    /// - Throws: `NetworkError` with code `.configuration` if `apiBaseURL` is not an address.
    init(
        apiBaseURL: String?, signer: OAuthSigner, http: HTTPClient,
        origin: RequestOrigin = RequestOrigin(),
        memory: XMemory,
        now: @escaping @Sendable () -> Date
    ) throws(NetworkError) {
        server = try ServerAddress(apiBaseURL ?? Self.defaultBase, network: .x)
        self.signer = signer
        self.http = http
        self.origin = origin
        self.memory = memory
        self.now = now
    }

    /// The answer to a call, with a status of 200 through 299.
    ///
    /// A call that X is known to refuse for now fails without a request.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    func send(_ call: NetworkCall) async throws -> HTTPResponse {
        if var earlierError = memory.pause(of: call.endpoint, at: now()) {
            earlierError.operation = call.operation
            earlierError.outcome = .notSent
            throw earlierError
        }
        let usedLead = clockLead
        var response = try await exchange(call, lead: usedLead)
        // X refuses a request with a wrong time, and its answer has the right one. If a read's
        // connection is lost before the answer, the transport repeats the same bytes, and X may
        // refuse the repeated nonce, although it has answered, and billed, the first request. A new
        // signature distinguishes both cases from refused keys.
        let newLead = response.headers.clockLead(receivedAt: now()) ?? usedLead
        let wasMistimed = abs(newLead - usedLead) > Self.toleratedLead
        if response.status == 401, wasMistimed || call.method == .get {
            response = try await exchange(call, lead: wasMistimed ? newLead : clockLead)
            // X's earlier times were wrong, or its clock was set.
            if wasMistimed, response.status != 401 { memory.serverClock.forget(exceptLast: 1) }
        }
        if let accessLevel = response.headers["x-access-level"] { memory.accessLevel = accessLevel }
        guard response.isGood else { throw refuse(call, response) }
        return response
    }

    /// Sends a call once, to the exact address, with a new signature whose time is `lead` seconds
    /// behind this machine's clock.
    private func exchange(_ call: NetworkCall, lead: TimeInterval) async throws -> HTTPResponse {
        try checkKeys(call)
        let signature = signer.authorization(
            for: OAuthSigner.Request(
                method: call.method.rawValue, url: server.base + call.path, parameters: call.query,
                extra: call.oauth,
                nonce: OAuthSigner.nonce(), timestamp: signingTime(lead: lead)))
        return try await answer(to: call, authorization: signature)
    }

    /// The answer to a request for objects, some of which may be missing.
    ///
    /// - Throws: `NetworkError` or `CancellationError`; also for an answer that is not JSON, or
    ///   that has an error instead of the requested objects.
    func answer<Item: Decodable>(
        of type: Item.Type, _ call: NetworkCall
    ) async throws -> (answer: XAnswer<Item>, response: HTTPResponse) {
        let response = try await send(call)
        return (try decode(XAnswer<Item>.self, from: response, call), response)
    }

    /// The seconds by which the local clock is ahead of X's, as far as is known.
    private var clockLead: TimeInterval { memory.serverClock.lead(at: now()) ?? 0 }

    /// The time in a signature, by X's clock as far as it is known: X refuses a time that is
    /// minutes off.
    private func signingTime(lead: TimeInterval) -> Int64 {
        let time = now() - (abs(lead) > Self.toleratedLead ? lead : 0)
        return Int64(time.timeIntervalSince1970.rounded(.down))
    }

    /// Refuses keys with a line break or space, which were copied wrongly; X would only report a
    /// wrong signature.
    private func checkKeys(_ call: NetworkCall) throws(NetworkError) {
        let keys: [(name: String, value: String?)] = [
            ("consumer key", signer.consumerKey),
            ("consumer secret", signer.consumerSecret.reveal()),
            ("access token", signer.token?.reveal()),
            ("access token secret", signer.tokenSecret?.reveal()),
        ]
        for (name, value) in keys {
            guard let value else { continue }
            guard !value.isEmpty, value.isVisibleASCII else {
                throw error(
                    call, .unauthorized, outcome: .notSent,
                    detail: "the \(name) "
                        + (value.isEmpty ? "is empty" : "holds a space or line break"))
            }
        }
    }
}

/// Interpreting answers with errors.
extension XClient {
    /// Interprets an answer with a bad status, and stores an error that affects later calls too.
    func refuse(_ call: NetworkCall, _ response: HTTPResponse) -> NetworkError {
        refusalInFront(call, response)
            ?? refuse(call, response, problems: XProblem.all(in: response))
    }

    /// Interprets the problems in an answer, which may have a good status but no result.
    func refuse(_ call: NetworkCall, _ response: HTTPResponse, problems: [XProblem]) -> NetworkError
    {
        let refusal = XRefusal(
            status: response.status, problems: problems,
            isVerifying: call.operation == .verifyAccount,
            pacing: XPacing(response.headers, receivedAt: now()))
        let code = refusal.code
        var failure = error(
            call, response, code, outcome: outcome(of: code, status: response.status),
            detail: refusal.detail,
            words: words(of: problems))
        failure.retryAfter = refusal.retryAfter
        if let scope = refusal.pause(of: call) {
            failure.concernsAccount = scope == .everything
            memory.pause(scope, for: failure, at: now())
        }
        if let standing = AccountStanding(problems, answering: call) { memory.standing = standing }
        return failure
    }

    /// The name and text of the first problem that has them, cleaned for printing.
    ///
    /// The rest of a body is never kept, nor any markup, because it may be the page of a proxy.
    private func words(of problems: [XProblem]) -> String? {
        let name = problems.lazy.compactMap { $0.kind ?? $0.code.map(String.init) }.first
        let description = problems.lazy.compactMap { $0.detail ?? $0.title }.first {
            !$0.isEmpty && !$0.contains("<")
        }
        return printable([name, description].compactMap(\.self).joined(separator: ": "))
    }
}

extension NetworkCall {
    /// The kind of call for limits: X limits each kind, whatever the calls are about.
    var endpoint: String { operation == .logIn ? path : operation.rawValue }

    /// A key that is equal for calls that read the same part of a feed, or the same object.
    ///
    /// A later look at new items returns all items of an earlier one that were not paid for since.
    fileprivate var reading: String {
        let parametersOfPlace: Set<String> = ["ids", "pagination_token", "until_id", "start_time"]
        return path + "?"
            + PercentEncoding.query(query.filter { parametersOfPlace.contains($0.name) })
    }
}

/// A network's state between calls.
final class XMemory: @unchecked Sendable {
    /// The calls that a refusal concerns.
    enum Scope: Hashable, Sendable {
        case everything
        /// The calls of one kind; see ``NetworkCall/endpoint``.
        case endpoint(String)
    }

    /// The most bought objects that are remembered; a forgotten one is counted twice, so the cost
    /// is never too low.
    private static let maximumBought = 200_000
    /// The most reads with lost answers that are remembered; the others stay paid.
    private static let maximumLost = 200

    // Sendable: every access to a variable holds the lock.
    private let lock = NSLock()
    private var verified: (account: Account, isProtected: Bool?)?
    private var named: AccountStanding?
    private var storedAccessLevel: String?
    private var pauses: [Scope: (error: NetworkError, pause: Cooldown)] = [:]
    private var boughtDay = 0
    private var bought: [String: Money] = [:]
    private var lost: [String: XPurse.Reservation] = [:]
    private var debts: [XPurse.Reservation] = []

    /// X's clock, according to its answers.
    let serverClock: ServerClock

    /// - Parameter uptime: A function that reads the monotonic clock, in seconds; nil for the
    ///   system's.
    init(uptime: (@Sendable () -> TimeInterval)? = nil) {
        serverClock = ServerClock(uptime: uptime)
    }

    /// The account of the credentials; nil before it is known.
    var account: Account? { lock.withLock { verified?.account } }

    /// Whether only followers see the account's posts; nil if unknown.
    var isProtected: Bool? { lock.withLock { verified?.isProtected } }

    func keep(_ account: Account, isProtected: Bool?) {
        lock.withLock {
            verified = (account, isProtected)
            named = .active
        }
    }

    /// The last state of the account that X reported; nil before the first.
    var standing: AccountStanding? {
        get { lock.withLock { named } }
        set { lock.withLock { named = newValue } }
    }

    /// The access level of the credentials, in X's words: `read`, `read-write`,
    /// `read-write-directmessages`.
    var accessLevel: String? {
        get { lock.withLock { storedAccessLevel } }
        set { lock.withLock { storedAccessLevel = newValue } }
    }

    // MARK: Pauses

    /// Holds back calls of a kind until the error's `NetworkError.retryAfter`.
    func pause(_ scope: Scope, for error: NetworkError, at now: Date) {
        lock.withLock {
            pauses[scope] = (error, Cooldown(begun: now, until: error.retryAfter ?? now))
        }
    }

    /// The reason why no call may be made now; nil if one may.
    func pause(of endpoint: String, at now: Date) -> NetworkError? {
        lock.withLock {
            pauses = pauses.filter { $0.value.pause.end(at: now) != nil }
            return (pauses[.everything] ?? pauses[.endpoint(endpoint)])?.error
        }
    }

    // MARK: Bought

    /// Buys objects, each of which X bills once in a UTC day.
    ///
    /// - Parameters:
    ///   - prices: The price of each object, by its unique name.
    /// - Returns: The cost of the objects that were not yet paid for on this day.
    func buy(_ prices: [String: Money], at time: Date) -> Money {
        lock.withLock {
            let day = Self.day(of: time)
            if day != boughtDay {
                boughtDay = day
                bought = [:]
            }
            var cost = Money.zero
            for (name, price) in prices {
                let paid = bought[name] ?? .zero
                guard price > paid else { continue }
                cost = cost + (price - paid)
                if bought[name] != nil || bought.count < Self.maximumBought { bought[name] = price }
            }
            return cost
        }
    }

    /// The number of the day in UTC.
    static func day(of time: Date) -> Int {
        Int((time.timeIntervalSince1970 / 86_400).rounded(.down))
    }

    /// Stores the reservation for a read whose answer was lost.
    ///
    /// - Returns: The earlier reservation for the same read, which is no longer stored.
    func lose(_ reservation: XPurse.Reservation, of call: NetworkCall) -> XPurse.Reservation? {
        lock.withLock {
            guard let earlier = lost[call.reading] else {
                if lost.count < Self.maximumLost { lost[call.reading] = reservation }
                return nil
            }
            let isDearer =
                reservation.amount > earlier.amount || !earlier.isOfTheDay(of: reservation)
            lost[call.reading] = isDearer ? reservation : earlier
            return isDearer ? earlier : reservation
        }
    }

    /// Removes and returns the reservation for the same read whose answer was lost.
    func find(_ call: NetworkCall) -> XPurse.Reservation? {
        lock.withLock { lost.removeValue(forKey: call.reading) }
    }

    // MARK: Owed

    /// Stores a cost beyond a reservation that could not be recorded.
    func owe(_ debt: XPurse.Reservation) { lock.withLock { debts.append(debt) } }

    /// Whether there are unrecorded costs that no call is recording.
    var hasDebts: Bool { lock.withLock { !debts.isEmpty } }

    /// Removes and returns the unrecorded costs, which the caller must record.
    func takeDebts() -> [XPurse.Reservation] {
        lock.withLock {
            defer { debts = [] }
            return debts
        }
    }
}
