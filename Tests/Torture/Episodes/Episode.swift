import Control
import Foundation
import Mirroring

/// One episode of a run: some workers live and end while things go wrong.
///
/// Not to be used twice, nor by two tasks at once.
final class Episode {
    /// For how long a worker may take to come to a fault point, in real seconds.
    private var patience: Double { plan.interruptsPlanning ? 15 : 3.5 }
    /// How long a worker that is asked to end may take; DESIGN promises ten seconds.
    private static let graceful = 10.0
    /// How much longer where the machine let it starve for more than a quarter of that.
    private static let graceStarving = 60.0
    /// How long a worker is left alone after something was wrong for an hour: long enough to be
    /// late by its own fault.
    private static let recovery = 12.0

    let plan: EpisodePlan
    private let stage: Stage
    private var crew: [Hand] = []
    var outcome = EpisodeOutcome()

    /// A worker, and how often it had begun to work when it was last woken.
    private final class Hand {
        let worker: WorkerProcess
        var wakings = 0

        init(_ worker: WorkerProcess) { self.worker = worker }

        var isWorking: Bool { worker.state == .running && worker.beginnings > wakings }
    }

    init(_ plan: EpisodePlan, on stage: Stage) {
        self.plan = plan
        self.stage = stage
    }

    /// Lets the workers live and end as the plan says; in the end none is left.
    func play(_ director: FaultDirector) async throws -> EpisodeOutcome {
        if plan.shape == .fenced { await refuseOneWrite(director) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            let plan = plan
            group.addTask { await director.perform(plan) }
            defer { group.cancelAll() }
            try await perform(plan.shape)
        }
        note()
        await director.mend(after: plan.number)
        return outcome
    }

    private func perform(_ shape: EpisodeShape) async throws {
        switch shape {
        case .killed(let seconds):
            let worker = try start()
            if await lives(worker, for: seconds) { await kill(worker) }
        case .killedAt(let point, let passing):
            try await killAt(point, passing)
        case .terminated(let seconds):
            let worker = try start()
            if await lives(worker, for: seconds) { await terminate(worker) }
        case .overlapped(let first, let isKilled, let second):
            try await overlap(first, isKilled, second)
        case .frozen(let point, let passing, let meanwhile, let after):
            try await freeze(point, passing, meanwhile, after)
        case .fenced:
            try await fence()
        case .endured(let fault, let after, let seconds):
            let worker = try start()
            if await lives(worker, for: after + seconds + (fault == .noRedis ? 0 : Self.recovery)) {
                await kill(worker)
            }
        }
    }

    // MARK: Shapes

    private func killAt(_ point: FaultPoint, _ passing: Int) async throws {
        let worker = try start(fault: "kill@\(point.name)#\(passing)")
        // It comes to this point only when it is asked to end.
        if point.name == "lease.released", await lives(worker, for: 1.2) {
            worker.worker.send(SIGTERM)
        }
        let state = await look(seconds: patience, at: worker) { $0.hasEnded }
        if state == .killed(signal: SIGKILL) {
            outcome.kills += 1
            outcome.reached.append(point.name)
        } else if state.hasEnded {
            judge(worker, wasAsked: point.name == "lease.released")
        } else {
            outcome.missed.append(point.name)
            await kill(worker)
        }
    }

    private func overlap(_ first: Double, _ isKilled: Bool, _ second: Double) async throws {
        let one = try start()
        let isAlive = await lives(one, for: first / 2)
        let other = try start()
        if isAlive, await lives(one, for: first / 2) {
            if isKilled { await kill(one) } else { await terminate(one) }
        }
        if await lives(other, for: second) { await kill(other) }
    }

    private func freeze(
        _ point: FaultPoint, _ passing: Int, _ meanwhile: Double, _ after: Double
    ) async throws {
        let one = try start(fault: "stop@\(point.name)#\(passing)")
        guard await isStopped(one, at: point.name) else { return }
        let stopped = stage.clock.now
        let other = try start()
        _ = await lives(other, for: meanwhile)
        wake(one, stoppedAt: point.name, since: stopped)
        _ = await lives(one, for: after)
        for hand in [one, other] where !hand.worker.state.hasEnded { await kill(hand) }
    }

    private func fence() async throws {
        let point = "delivery.answered"
        let one = try start(fault: "stop@\(point)#1")
        guard await isStopped(one, at: point) else { return }
        let stoppedOne = stage.clock.now
        let other = try start(fault: "stop@\(point)#1")
        let isOtherStopped = await isStopped(other, at: point, orElseKilled: false)
        let stoppedOther = stage.clock.now
        wake(one, stoppedAt: point, since: stoppedOne)
        _ = await lives(one, for: 0.4)
        if isOtherStopped {
            wake(other, stoppedAt: point, since: stoppedOther)
            _ = await lives(other, for: 0.8)
        }
        for hand in [one, other] where !hand.worker.state.hasEnded { await kill(hand) }
    }

    /// The first request that publishes something is refused for now, before the first worker can
    /// make it.
    private func refuseOneWrite(_ director: FaultDirector) async {
        await director.happen(
            TimedNetworkFault(fault: .tooMany(saysWhen: false), after: 0, hitsWritesOnly: true))
    }

    // MARK: Workers

    private func start(fault: String? = nil) throws -> Hand {
        let name = "\(plan.number)" + (crew.isEmpty ? "" : "b")
        let skew = plan.skews.indices.contains(crew.count) ? plan.skews[crew.count] : 0
        let hand = Hand(
            try stage.worker(
                "worker-\(name)", skew: skew, fault: fault,
                clockFile: crew.isEmpty && plan.clockJump != nil
                    ? stage.folder.clock(ofEpisode: plan.number) : nil,
                lacks: crew.isEmpty ? plan.lack : nil))
        crew.append(hand)
        return hand
    }

    /// Whether a worker is still there after a time; if not, its end is judged.
    private func lives(_ hand: Hand, for seconds: Double) async -> Bool {
        guard await look(seconds: seconds, at: hand, until: { $0.hasEnded }).hasEnded else {
            return true
        }
        judge(hand, wasAsked: false)
        return false
    }

    /// Whether a worker has stopped itself; if it does not come to it, it is killed.
    private func isStopped(_ hand: Hand, at point: String, orElseKilled: Bool = true) async -> Bool
    {
        let state = await look(seconds: patience, at: hand) { $0 != .running }
        if state == .stopped {
            outcome.reached.append(point)
            return true
        }
        outcome.missed.append(point)
        if state.hasEnded {
            judge(hand, wasAsked: false)
        } else if orElseKilled {
            await kill(hand)
        }
        return false
    }

    private func wake(_ hand: Hand, stoppedAt point: String, since stopped: Date) {
        outcome.stopped.append(
            StoppedWorker(point: point, stopped: stopped, woken: stage.clock.now))
        hand.wakings = hand.worker.beginnings
        hand.worker.send(SIGCONT)
    }

    private func kill(_ hand: Hand) async {
        hand.worker.send(SIGKILL)
        let state = await look(seconds: 10, at: hand) { $0.hasEnded }
        if state == .killed(signal: SIGKILL) {
            outcome.kills += 1
        } else {
            judge(hand, wasAsked: false)
        }
    }

    private func terminate(_ hand: Hand) async {
        let asked = stage.clock.now
        hand.worker.send(SIGTERM)
        var state = await look(seconds: Self.graceful, at: hand) { $0.hasEnded }
        if !state.hasEnded,
            stage.timeline.starvation(since: asked) > stage.settings.factor * Self.graceful / 4
        {
            state = await look(seconds: Self.graceStarving, at: hand) { $0.hasEnded }
        }
        guard state.hasEnded else {
            find(hand, "did not end within \(Self.graceful) s of SIGTERM")
            return await kill(hand)
        }
        judge(hand, wasAsked: true)
    }

    /// Looks at one worker, and at whether any works, until something is so.
    private func look(
        seconds: Double, at hand: Hand, until isSo: (WorkerProcess.State) -> Bool
    ) async -> WorkerProcess.State {
        await hand.worker.wait(seconds: seconds) { state in
            note()
            return isSo(state)
        }
    }

    private func note() { stage.timeline.note(isWorking: crew.contains(where: \.isWorking)) }

    // MARK: Judging

    /// Says so if a worker ended in a way that nothing explains.
    private func judge(_ hand: Hand, wasAsked: Bool) {
        switch hand.worker.state {
        case .exited(0) where wasAsked: return
        case .exited(let code) where expectedCodes.contains(code): return
        // It had not begun to listen to signals.
        case .killed(SIGTERM) where wasAsked && hand.worker.output.isEmpty: return
        case .killed(SIGKILL): outcome.kills += 1
        case .exited(let code): find(hand, "ended with \(code)")
        case .killed(let signal): find(hand, "died by signal \(signal)")
        case .running, .stopped: return
        }
    }

    /// The codes with which a worker may end by itself in this episode.
    private var expectedCodes: Set<Int32> {
        var codes: Set<Int32> = []
        if plan.storeFault?.fault.kind.endsWorkers ?? false { codes.formUnion([69, 75]) }
        if plan.refusesToken { codes.insert(77) }
        return codes
    }

    private func find(_ hand: Hand, _ what: String) {
        outcome.findings.append(
            "episode \(plan.number) (\(plan.shape)): \(hand.worker.name) \(what)")
    }
}
