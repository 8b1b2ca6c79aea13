import Foundation
import NetworkNames
import Posts

/// The network itself: admits requests one by one and passes each to its interface.
actor SandboxNetwork {
    /// The way in which an answer is sent.
    enum Manner: Equatable, Sendable {
        case whole
        /// The answer has no `Content-Length`; it ends with the connection.
        case unmeasured
        /// The connection ends without an answer.
        case nothing(isReset: Bool)
        /// Nothing is sent until the client leaves.
        case silence
        case truncated
        case dripping(bytesPerSecond: Int)
        case endless
    }

    /// The answer to a request, and how it is sent.
    struct Outcome: Sendable {
        var answer = WireAnswer(status: 0)
        var manner = Manner.whole
        /// The delay before the answer is sent.
        var delay: Duration = .zero
        /// The index in ``SandboxLedger/writes``; nil for a request that is no write.
        var write: Int?
    }

    /// A request that is executed later.
    private struct LateRequest: Sendable {
        var date: Date
        var request: WireRequest
        /// The write that the request asks for; nil if it is no write.
        var write: SandboxLedger.Write?
    }

    private var state: SandboxState
    private var x: XWire
    private var bluesky: BlueskyWire
    private var mastodon: MastodonWire
    /// The late requests, sorted by their dates, and by arrival if these are equal.
    private var lateRequests: [LateRequest] = []
    /// The index in the ledger of each object that is refused individually.
    private var refused: [SandboxRefusals.Target: Int] = [:]
    private let faults: SandboxFaults
    private let now: @Sendable () -> Date

    init(
        world: SandboxWorld, access: SandboxAccess, limits: SandboxRateLimits,
        faults: SandboxFaults,
        now: @escaping @Sendable () -> Date
    ) {
        self.state = SandboxState(world: world)
        self.x = XWire(world.population, access: access, limits: limits, faults: faults)
        self.bluesky = BlueskyWire(world.population, access: access, limits: limits, faults: faults)
        self.mastodon = MastodonWire(
            access: access, seed: world.configuration.seed, limits: limits, faults: faults)
        self.faults = faults
        self.now = now
    }

    /// The ledger as of now.
    var ledger: SandboxLedger {
        advance(to: now())
        var ledger = state.ledger
        ledger.pendingWrites = lateRequests.compactMap(\.write)
        return ledger
    }

    /// Executes a request and returns the answer to send.
    func outcome(of request: WireRequest) -> Outcome {
        let now = now()
        advance(to: now)
        let fault = faults.take(for: request) ?? refusal(of: request, at: now)
        var write = write(of: request, at: now)
        write?.fault = fault
        if write != nil, fault?.cutsAnswer == true { state.ledger.cutAnswers += 1 }
        if case .actLate(let delay) = fault {
            postpone(request, write: write, by: delay, at: now)
            return Outcome(manner: .nothing(isReset: false))
        }
        let answer = answer(to: request, fault: fault, at: now)
        return Outcome(
            answer: dated(answer ?? WireAnswer(status: 0), at: now),
            manner: fault == nil && answer?.omitsLength == true ? .unmeasured : Manner(fault),
            delay: delay(of: request),
            write: write.map { recordWrite($0, answer: answer) })
    }

    /// The text of every post so far, by its id on a network.
    func texts(on network: NetworkName) -> [String: String] {
        advance(to: now())
        return Dictionary(
            state.posts.values.map { (state.identity(of: $0, on: network), $0.text) },
            uniquingKeysWith: { $1 })
    }

    /// Makes people mention the bot, one after another.
    func say(_ utterances: [SandboxUtterance]) -> [SandboxLedger.Mention] {
        let now = now()
        advance(to: now)
        return utterances.compactMap { state.say($0, at: now) }
    }

    /// The answer to a request for an object that is refused individually.
    private func refusal(of request: WireRequest, at now: Date) -> SandboxFault? {
        let refusals = faults.refusals
        guard !refusals.rules.isEmpty, let target = SandboxRefusals.Target(request),
            !isMirrored(target),
            let verdict = refusals.verdict(on: target, at: now)
        else { return nil }
        // The newest page is refused again in every stretch of `Rule.lasting` seconds.
        if let index = refused[target] {
            let refusedObject = state.ledger.refusedObjects[index]
            let isOver = refusedObject.until.map { $0 <= now } == true
            if !isOver { return verdict.answer.fault(on: request) }
            if !target.isNewest { return nil }
        }
        refused[target] = state.ledger.refusedObjects.count
        state.ledger.refusedObjects.append(
            .init(
                object: target.object, name: target.name, answer: verdict.answer, since: now,
                until: verdict.lasting.map { now + $0 }))
        return verdict.answer.fault(on: request)
    }

    /// Whether a target is one of the two accounts that the mirror connects.
    private func isMirrored(_ target: SandboxRefusals.Target) -> Bool {
        guard target.object == .person else { return false }
        return [SandboxPopulation.human, SandboxPopulation.bot].contains { index in
            let person = state.people[index]
            let names = [
                String(MastodonEntities.accountID(index)), person.id(on: .x).value,
                person.handle(on: .x),
                person.id(on: .bluesky).value, person.handle(on: .bluesky),
            ]
            return names.contains(target.name)
        }
    }

    /// The delay of an answer, in real time.
    private func delay(of request: WireRequest) -> Duration {
        if request.method == "GET" { return faults.readsTake }
        let isPost = request.method == "POST" && request.path == "/api/v1/statuses"
        return isPost ? faults.mastodon.postsTake : .zero
    }

    /// Records whether the answer to a write arrived.
    func recordAnswerEnd(of write: Int, isWhole: Bool) {
        state.ledger.recordAnswerEnd(of: write, isWhole: isWhole)
    }

    /// Executes a request, or applies the fault in place of that, and returns the answer; nil if
    /// the fault is to send none.
    private func answer(to request: WireRequest, fault: SandboxFault?, at now: Date)
        -> WireAnswer?
    {
        state.requestOutcome = nil
        switch fault {
        case .dropRequest, .resetRequest, .hang:
            state.note(
                request, status: 0, reason: "dropped before acting", isExpected: true, at: now)
            return nil
        case .answer(let status, let type, let body, let headers):
            state.note(request, status: status, reason: "injected", isExpected: true, at: now)
            let headerLines =
                [("content-type", type)]
                + headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            return WireAnswer(status: status, headers: headerLines, body: Array(body.utf8))
        default:
            return act(on: request, at: now, cutsAnswer: fault?.cutsAnswer == true)
        }
    }

    private func act(on request: WireRequest, at now: Date, cutsAnswer: Bool) -> WireAnswer {
        state.requestOutcome = nil
        state.humanStanding = faults.humanStanding
        x.gate.cutsAnswer = cutsAnswer
        if request.method == "GET", let picture = state.picture(at: request.path) { return picture }
        // Every server shows a web page at `/`, to any client.
        if request.method == "GET", request.path == "/" {
            return .page(title: "A sandbox", paragraph: "People and their posts live here.")
        }
        if XWire.owns(request) { return x.answer(request, in: &state, at: now) }
        if BlueskyWire.owns(request) { return bluesky.answer(request, in: &state, at: now) }
        return mastodon.answer(request, in: &state, at: now)
    }

    /// Returns an answer with a `Date` header, by the sandbox's clock and its skew.
    private func dated(_ answer: WireAnswer, at now: Date) -> WireAnswer {
        var answer = answer
        answer.headers.append(("date", (now + faults.clockSkew).httpDate))
        return answer
    }
}

/// Writes, and requests that are executed late.
extension SandboxNetwork {
    /// Returns the write that a request asks for; `nil` if it is no write.
    private func write(of request: WireRequest, at now: Date) -> SandboxLedger.Write? {
        guard request.method == "POST" else { return nil }
        if XWire.owns(request) { return x.draft(of: request, at: now) }
        if BlueskyWire.owns(request) { return bluesky.draft(of: request, at: now) }
        return mastodon.draft(of: request, at: now)
    }

    /// Adds a write to the ledger with its effect, and returns its index.
    private func recordWrite(_ write: SandboxLedger.Write, answer: WireAnswer?) -> Int {
        var write = write
        write.status = answer?.status
        write.postID = state.requestOutcome.map { String($0.post) }
        write.effect =
            state.requestOutcome?.effect
            ?? (answer == nil || write.isInjected ? .notActed : .refused)
        state.ledger.writes.append(write)
        return state.ledger.writes.count - 1
    }

    private func postpone(
        _ request: WireRequest, write: SandboxLedger.Write?, by delay: TimeInterval, at now: Date
    ) {
        var late = LateRequest(date: now + max(0, delay), request: request, write: write)
        late.request.arrival = now
        late.write?.date = late.date
        mastodon.hold(late.request, until: late.date)
        let index = self.lateRequests.firstIndex { $0.date > late.date } ?? self.lateRequests.count
        self.lateRequests.insert(late, at: index)
    }

    /// Applies all events and late requests up to and including `now`, in the order of time.
    private func advance(to now: Date) {
        while let next = lateRequests.first, next.date <= now {
            lateRequests.removeFirst()
            state.advance(to: next.date)
            let answer = act(on: next.request, at: next.date, cutsAnswer: true)
            if let write = next.write { _ = recordWrite(write, answer: answer) }
        }
        state.advance(to: now)
    }
}

extension SandboxNetwork.Manner {
    fileprivate init(_ fault: SandboxFault?) {
        self =
            switch fault {
            case nil, .answer: .whole
            case .dropRequest, .dropAnswer, .actLate: .nothing(isReset: false)
            case .resetRequest, .resetAnswer: .nothing(isReset: true)
            case .truncateAnswer: .truncated
            case .drip(let bytesPerSecond): .dripping(bytesPerSecond: bytesPerSecond)
            case .endlessAnswer: .endless
            case .hang: .silence
            }
    }
}

extension SandboxLedger.Write {
    /// Whether a fault gave the answer in place of the server.
    fileprivate var isInjected: Bool {
        if case .answer = fault { true } else { false }
    }
}
