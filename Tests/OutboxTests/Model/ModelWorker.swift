import Foundation
import Outbox
import Posts
import Storage
import TestSupport

/// The end of a process, as seen by what it was doing.
struct Killed: Error {}

/// The world around the workers of one history: time, the network and the database.
final class ModelWorld: @unchecked Sendable {
    let fate: Fate
    let network: ModelNetwork
    /// One database serves all histories, each under a name of its own.
    let storage: any StorageEngine
    let mirror: String
    // Sendable because every access to a variable holds the lock.
    private let lock = NSLock()
    private var time = OutboxFixture.start
    private var jump: TimeInterval = 0
    private let origin = ContinuousClock.now
    private var intruder: (@Sendable () async throws -> Void)?

    init(
        fate: Fate, memory: ModelNetwork.Memory, tellsTime: Bool, storage: any StorageEngine,
        mirror: String
    ) {
        self.fate = fate
        self.mirror = mirror
        self.storage = storage
        network = ModelNetwork(memory, tellsTime: tellsTime)
    }

    /// The time that really is.
    var now: Date { lock.withLock { time } }

    /// What the clock on the wall shows beyond that.
    var error: TimeInterval { lock.withLock { jump } }

    /// The clock that nobody sets.
    var instant: ContinuousClock.Instant {
        origin + .milliseconds(Int64(now.timeIntervalSince(OutboxFixture.start) * 1_000))
    }

    func advance(_ seconds: TimeInterval) {
        let now = lock.withLock { () -> Date in
            time += seconds
            return time
        }
        network.pass(to: now)
    }

    func setClocks(by seconds: TimeInterval) { lock.withLock { jump += seconds } }

    /// What happens while a worker stands still; none while it happens.
    func onPause(_ intruder: (@Sendable () async throws -> Void)?) {
        lock.withLock { self.intruder = intruder }
    }

    /// Lets another worker take over, now and then.
    func mayPause(_ percent: Int) async throws {
        guard let intruder = lock.withLock({ intruder }), fate.strikes(.pause, percent) else {
            return
        }
        onPause(nil)
        try await intruder()
    }
}

/// A worker's process, which can be killed at any instant.
final class ModelWorker: @unchecked Sendable {
    let world: ModelWorld
    /// How far its machine's clock is wrong.
    let skew: TimeInterval
    // Sendable because every access to a variable holds the lock.
    private let lock = NSLock()
    private var isKilled = false
    private var heardLead: TimeInterval?

    init(_ world: ModelWorld, skew: TimeInterval) {
        self.world = world
        self.skew = skew
    }

    var now: Date { world.now + world.error + skew }

    var isDead: Bool { lock.withLock { isKilled } }

    /// How far the clock was ahead of the network's when it answered last; nil if it does not tell.
    var clockLead: TimeInterval? { lock.withLock { heardLead } }

    /// Hears an answer, which may carry the network's time in whole seconds.
    func hear() {
        guard world.network.tellsTime else { return }
        let shown = Date(timeIntervalSince1970: world.now.timeIntervalSince1970.rounded(.down))
        let lead = now.timeIntervalSince(shown)
        lock.withLock { heardLead = lead }
    }

    func die() { lock.withLock { isKilled = true } }

    /// The outbox under a lease of this worker's own.
    func open() async throws -> (store: OutboxStore, delivery: Delivery) {
        let engine = ModelEngine(worker: self, engine: world.storage)
        let leases = LeaseTable(storage: world.storage, mirror: world.mirror)
        let record = try await leases.record()
        guard let lease = try await leases.take(owner: UUID().uuidString, after: record, now: 0)
        else {
            throw Killed()
        }
        let store = OutboxStore(storage: engine, mirror: world.mirror, lease: lease)
        let delivery = Delivery(
            store: store, deliverer: ModelDeliverer(worker: self), onStep: { [self] in passed($0) },
            uptime: { [world] in world.instant })
        return (store, delivery)
    }

    private func passed(_ step: DeliveryStep) {
        guard !isDead, world.fate.strikes(.crash, 4) else { return }
        world.fate.count { $0.crashes[step, default: 0] += 1 }
        die()
    }
}

/// The database as one worker reaches it.
private struct ModelEngine: StorageEngine {
    let worker: ModelWorker
    let engine: any StorageEngine

    var kind: StorageKind { engine.kind }

    func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        guard unit != .read, unit != .query else {
            guard !worker.isDead else { throw Killed() }
            return try await engine.run(unit, body)
        }
        let fate = worker.world.fate
        try await worker.world.mayPause(1)
        guard !worker.isDead else { throw Killed() }
        if fate.strikes(.databaseDown, 2) { throw FailingEngine.error(.unavailable) }
        let value = try await engine.run(unit, body)
        if fate.strikes(.crash, 1) {
            worker.die()
            throw Killed()
        }
        if fate.strikes(.commitLost, 2) { throw FailingEngine.error(.outcomeUnknown) }
        return value
    }

    func scratch(of mirror: String) async throws -> any StorageEngine {
        try await engine.scratch(of: mirror)
    }

    func backup(to path: String) async throws { try await engine.backup(to: path) }

    func close() async {}
}

/// The network as one worker reaches it.
private struct ModelDeliverer: ImmediateDeliverer {
    let worker: ModelWorker

    var requestDeadline: Duration { .seconds(30) }
    var resendWindow: Duration? { worker.world.network.memory.resendWindow }
    var clockLead: TimeInterval? { worker.clockLead }

    func send(_ action: Action) async -> DeliveryOutcome {
        let world = worker.world
        let fate = worker.world.fate
        fate.attend(to: action.subject)
        // Between the commit and the request a worker may stand still and be replaced; the request
        // leaves all the same, which nothing can make up for where nothing is recognised.
        let isForgetful = world.network.memory == .forgetful
        if !isForgetful { try? await world.mayPause(2) }
        guard !worker.isDead else { return .unknown(reason: "killed") }
        world.advance(Double(fate.draw(20)))
        if fate.strikes(.refusal, 3) {
            worker.hear()
            return .refused(reason: "rejected", detail: "the server answered 422")
        }
        if fate.strikes(.tooBusy, isForgetful ? 20 : 10) {
            // The refusal may arrive long after another worker has taken over.
            try? await world.mayPause(isForgetful ? 60 : 20)
            return .notSent(reason: "rate-limited", cause: .tooBusy, retryAfter: nil)
        }
        if fate.strikes(.lostRequest, 8) { return .unknown(reason: "timeout") }
        if fate.strikes(.lateAct, 8) {
            // What acts after the look-up acts twice on a server that has forgotten the key.
            world.network.receive(
                action, actingAt: world.now + Double(10 + fate.draw(isForgetful ? 40 : 1_200)))
            return .unknown(reason: "timeout")
        }
        world.network.receive(action, at: world.now)
        if fate.strikes(.lostAnswer, isForgetful ? 25 : 10) { return .unknown(reason: "timeout") }
        worker.hear()
        return .delivered(remoteID: action.subject, remoteAddress: nil)
    }

    func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
        -> LookUpOutcome
    {
        let world = worker.world
        let fate = worker.world.fate
        fate.attend(to: action.subject)
        guard !worker.isDead else { return .unavailable(reason: "killed", retryAfter: nil) }
        if fate.strikes(.lookUpDown, 8) {
            return .unavailable(reason: "unavailable", cause: .serverTrouble, retryAfter: nil)
        }
        worker.hear()
        return world.network.posts(about: action.subject, since: departure - 3_600) > 0
            ? .found(remoteID: action.subject, remoteAddress: nil) : .absent
    }
}
