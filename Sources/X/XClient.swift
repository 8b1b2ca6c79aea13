import Foundation
import Localization
import NetworkNames
import Networks
import Posts
import Transport

/// Sends signed requests to X.
struct XClient: NetworkClient {
    static let defaultBase = "https://api.x.com"
    /// Seconds by which the clock of X and of this machine may differ without a correction, because
    /// the transfer of an answer takes time.
    private static let toleratedLead: TimeInterval = 60

    let server: ServerAddress
    let signer: OAuthSigner
    let http: HTTPClient
    let origin: RequestOrigin
    let memory: XMemory
    let now: @Sendable () -> Date

    var network: NetworkName { .x }
    /// False, because a signature is valid for one address only.
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

    /// Sends a call, and returns its answer, which has a status of 200 through 299.
    ///
    /// If an earlier refusal says that X refuses such calls for some time, no request is sent.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    func send(_ call: NetworkCall) async throws -> HTTPResponse {
        if var earlierError = memory.error(pausing: call.endpoint, at: now()) {
            earlierError.operation = call.operation
            earlierError.outcome = .notSent
            throw earlierError
        }
        let assumedLead = clockLead
        var response = try await exchange(call, lead: assumedLead)
        // X refuses a request with a wrong time, and its answer has the right one. If a read's
        // connection is lost before the answer, the transport repeats the same bytes, and X may
        // refuse the repeated nonce, although it has answered, and billed, the first request. A new
        // signature distinguishes both cases from refused keys.
        let newLead = response.headers.clockLead(receivedAt: now()) ?? assumedLead
        let wasMistimed = abs(newLead - assumedLead) > Self.toleratedLead
        if response.status == 401, wasMistimed || call.method == .get {
            response = try await exchange(call, lead: wasMistimed ? newLead : clockLead)
            // X accepts its newest time, so the times in its earlier answers were wrong, or its
            // clock was set.
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
            (localized("consumer key"), signer.consumerKey),
            (localized("consumer secret"), signer.consumerSecret.reveal()),
            (localized("access token"), signer.token?.reveal()),
            (localized("access token secret"), signer.tokenSecret?.reveal()),
        ]
        for (name, value) in keys {
            guard let value else { continue }
            guard !value.isEmpty, value.isVisibleASCII else {
                throw error(
                    call, .unauthorized, outcome: .notSent,
                    detail: value.isEmpty
                        ? localized("the \(name) is empty")
                        : localized("the \(name) holds a space or line break"))
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
        if let scope = refusal.pausedCalls(after: call) {
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
    /// The kind of call to which one of X's rate limits applies, whichever objects the call names.
    var endpoint: String { operation == .logIn ? path : operation.rawValue }

    /// A key that is equal for calls that read the same part of a feed, or the same object.
    ///
    /// The lower bound `since_id` is left out: a later request for new items also returns the items
    /// of an earlier one whose answer was lost.
    fileprivate var readKey: String {
        let parametersOfRead: Set<String> = ["ids", "pagination_token", "until_id", "start_time"]
        return path + "?"
            + PercentEncoding.query(query.filter { parametersOfRead.contains($0.name) })
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

    /// The maximum number of bought objects that are remembered.
    ///
    /// An object that is not remembered may be counted twice, so the counted cost is never too low.
    private static let maximumBought = 200_000
    /// The most reads with lost answers that are remembered; the reservations for others are not
    /// given back.
    private static let maximumLost = 200

    // Sendable: every access to a variable holds the lock.
    private let lock = NSLock()
    /// The account that the last ``keep(_:isProtected:)`` stored; nil before the first.
    private var verified: (account: Account, isProtected: Bool?)?
    private var lastStanding: AccountStanding?
    private var storedAccessLevel: String?
    /// The refusals that hold back calls, and how long they do so.
    private var pauses: [Scope: (error: NetworkError, pause: Cooldown)] = [:]
    /// The day in UTC on which the objects in `bought` were bought.
    private var boughtDay = 0
    /// The highest price that was paid for each object, by its unique name.
    private var bought: [String: Money] = [:]
    /// The reservations for reads whose answers were lost, by ``NetworkCall/readKey``.
    private var lostReads: [String: XPurse.Reservation] = [:]
    /// The costs that could not be recorded in the book yet.
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
            lastStanding = .active
        }
    }

    /// The last state of the account that X reported; nil before the first.
    var standing: AccountStanding? {
        get { lock.withLock { lastStanding } }
        set { lock.withLock { lastStanding = newValue } }
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

    /// The error that holds back calls of a kind now; nil if such calls may be made.
    func error(pausing endpoint: String, at now: Date) -> NetworkError? {
        lock.withLock {
            pauses = pauses.filter { !$0.value.pause.isOver(at: now) }
            return (pauses[.everything] ?? pauses[.endpoint(endpoint)])?.error
        }
    }

    // MARK: Bought objects and lost reads

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
    /// - Returns: The reservation that does not stay stored if there are two for the same read;
    ///   otherwise nil.
    func addLostRead(_ reservation: XPurse.Reservation, of call: NetworkCall)
        -> XPurse.Reservation?
    {
        lock.withLock {
            guard let earlier = lostReads[call.readKey] else {
                if lostReads.count < Self.maximumLost { lostReads[call.readKey] = reservation }
                return nil
            }
            let replacesEarlier =
                reservation.amount > earlier.amount || !earlier.isOfSameDay(as: reservation)
            lostReads[call.readKey] = replacesEarlier ? reservation : earlier
            return replacesEarlier ? earlier : reservation
        }
    }

    /// Removes and returns the reservation for the same read whose answer was lost.
    func takeLostRead(like call: NetworkCall) -> XPurse.Reservation? {
        lock.withLock { lostReads.removeValue(forKey: call.readKey) }
    }

    // MARK: Costs that are not recorded yet

    /// Stores the part of a cost that exceeds its reservation and could not be recorded.
    func addDebt(_ debt: XPurse.Reservation) { lock.withLock { debts.append(debt) } }

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
