import Foundation
import Posts

/// The network itself: lets requests in one by one and hands each to the interface that it is meant for.
actor SandboxNetwork {
    /// What becomes of a request.
    enum Outcome: Sendable {
        case answer(WireAnswer)
        /// The connection ends without an answer.
        case hangUp
    }

    private var state: SandboxState
    private var x: XWire
    private var bluesky: BlueskyWire
    private var mastodon: MastodonWire
    private let faults: SandboxFaults
    private let now: @Sendable () -> Date

    init(
        world: SandboxWorld, access: SandboxAccess, limits: SandboxRateLimits, faults: SandboxFaults,
        now: @escaping @Sendable () -> Date
    ) {
        self.state = SandboxState(world: world)
        self.x = XWire(access: access, limits: limits, faults: faults)
        self.bluesky = BlueskyWire(access: access, limits: limits, faults: faults)
        self.mastodon = MastodonWire(access: access, seed: world.configuration.seed, limits: limits, faults: faults)
        self.faults = faults
        self.now = now
    }

    /// The ledger as of now.
    var ledger: SandboxLedger {
        state.advance(to: now())
        return state.ledger
    }

    /// Acts on a request and says what to send back.
    func outcome(of request: WireRequest) -> Outcome {
        let now = now()
        state.advance(to: now)
        let fault = faults.take(method: request.method, path: request.path)
        switch fault {
        case .dropRequest:
            state.note(request, status: 0, reason: "dropped before acting", isExpected: true, at: now)
            return .hangUp
        case .answer(let status, let type, let body, let headers):
            state.note(request, status: status, reason: "injected", isExpected: true, at: now)
            let lines = [("content-type", type)] + headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            return .answer(dated(WireAnswer(status: status, headers: lines, body: Array(body.utf8)), now))
        case .dropAnswer:
            _ = answer(to: request, at: now)
            return .hangUp
        case nil:
            return .answer(dated(answer(to: request, at: now), now))
        }
    }

    private func answer(to request: WireRequest, at now: Date) -> WireAnswer {
        if XWire.owns(request) { return x.answer(request, in: &state, at: now) }
        if BlueskyWire.owns(request) { return bluesky.answer(request, in: &state, at: now) }
        return mastodon.answer(request, in: &state, at: now)
    }

    /// The sandbox's own clock dates its answers.
    private func dated(_ answer: WireAnswer, _ now: Date) -> WireAnswer {
        var answer = answer
        answer.headers.append(("date", (now + faults.clockSkew).httpDate))
        return answer
    }
}
