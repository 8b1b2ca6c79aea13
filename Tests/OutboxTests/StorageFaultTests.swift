import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// What is known and could not be stored.
@Suite struct StorageFaultTests {
    private static let now = OutboxFixture.start
    private static let delivered = DeliveryOutcome.delivered(remoteID: "u", remoteAddress: "7")

    /// An outbox whose database fails on demand.
    private struct Bench {
        let outbox: OutboxFixture
        let engine: FailingEngine
        let store: OutboxStore
        let network: ScriptedDeliverer
        let delivery: Delivery

        init(_ outcomes: [DeliveryOutcome], sightings: [LookUpOutcome] = []) async throws {
            outbox = try await OutboxFixture()
            engine = FailingEngine(outbox.storage)
            store = OutboxStore(storage: engine, mirror: "m", lease: outbox.lease)
            network = ScriptedDeliverer(outcomes: outcomes, sightings: sightings)
            delivery = Delivery(store: store, deliverer: network)
        }

        /// Fails as `failures` say while an action is delivered.
        func deliver(failing failures: [FailingEngine.Failure?]) async throws -> StorageError? {
            let action = try await outbox.store.propose(OutboxFixture.reply("a"), now: now).action
            engine.failNext(failures)
            return await StorageFaultTests.storageError {
                _ = try await delivery.deliver(action, now: { now }) { .ready($0) }
            }
        }

        func stored() async throws -> Action {
            try #require(try await outbox.store.action(.reply, subject: "a"))
        }
    }

    private static func storageError(_ body: () async throws -> Void) async -> StorageError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? StorageError
        }
    }

    /// The row may say that it is being sent; whoever sends knows that nothing has left.
    @Test(arguments: [FailingEngine.Failure.before, .after])
    func whatNeverLeftIsPutBackInLine(failure: FailingEngine.Failure) async throws {
        let bench = try await Bench([Self.delivered])
        let error = try await bench.deliver(failing: [nil, failure])
        #expect(error != nil)
        await expect(bench.network.sent) { $0.isEmpty }
        try await expect(bench.stored().state, equals: (failure == .before ? .claimed : .sending))
        // Whatever asks first, before the database answers again nothing else happens.
        bench.engine.setDown(true)
        let early = await Self.storageError {
            _ = try await bench.delivery.reconcile(at: Self.now + 91)
        }
        #expect(early != nil)
        bench.engine.setDown(false)
        let back = try await bench.delivery.reconcile(at: Self.now + 1)
        #expect(back.map(\.state) == [.planned])
        let waiting = try await bench.stored()
        #expect(waiting.sends == 0)
        #expect(waiting.attempts == 0)
        #expect(waiting.sending == nil)
        #expect(waiting.nextAttempt == nil)
        await expect(bench.network.lookUps, equals: 0)
        let due = try #require(try await bench.store.due([.reply], now: Self.now + 2).first)
        let done = try await bench.delivery.deliver(due, now: { Self.now + 2 }) { .ready($0) }
        #expect(done.state == .done)
        #expect(done.attempts == 1)
    }

    /// No `reconcile` in between, and the failed action is the next to be delivered.
    @Test(arguments: [FailingEngine.Failure.before, .after])
    func theNextDeliveryPaysFirst(failure: FailingEngine.Failure) async throws {
        let bench = try await Bench([Self.delivered])
        _ = try await bench.deliver(failing: [nil, failure])
        let stale = try await bench.stored()
        let error = await outboxError {
            _ = try await bench.delivery.deliver(stale, now: { Self.now + 2 }) { .ready($0) }
        }
        #expect(error?.code == .stateChanged)
        let done = try await bench.delivery.deliver(bench.stored(), now: { Self.now + 2 }) {
            .ready($0)
        }
        #expect(done.state == .done)
        #expect(done.attempts == 1)
        #expect(done.sends == 1)
        await expect(bench.network.sent.count, equals: 1)
        try await expect(bench.delivery.reconcile(at: Self.now + 300)) { $0.isEmpty }
        try await expect(bench.stored(), equals: done)
    }

    @Test(arguments: [FailingEngine.Failure.before, .after])
    func anAnswerIsStoredFirstThingWhenTheDatabaseIsBack(failure: FailingEngine.Failure)
        async throws
    {
        let bench = try await Bench([Self.delivered])
        let error = try await bench.deliver(failing: [nil, nil, failure])
        #expect(error != nil)
        bench.engine.failNext([.before, .before])
        for _ in 0..<2 {
            let again = await Self.storageError {
                _ = try await bench.delivery.reconcile(at: Self.now + 200)
            }
            #expect(again != nil)
        }
        let stored = try await bench.delivery.reconcile(at: Self.now + 200)
        #expect(stored.map(\.state) == (failure == .before ? [.done] : []))
        let done = try await bench.stored()
        #expect(done.state == .done)
        #expect(done.remoteID == "u")
        #expect(done.updated == Self.now)
        await expect(bench.network.lookUps, equals: 0)
        await expect(bench.network.sent.count, equals: 1)
    }

    @Test(arguments: [FailingEngine.Failure.before, .after])
    func aRefusalForNowIsStoredLater(failure: FailingEngine.Failure) async throws {
        let busy = DeliveryOutcome.notSent(
            reason: "rate-limited", cause: .tooBusy, retryAfter: Self.now + 300)
        let bench = try await Bench([busy, Self.delivered])
        _ = try await bench.deliver(failing: [nil, nil, failure])
        _ = try await bench.delivery.reconcile(at: Self.now + 299)
        let waiting = try await bench.stored()
        #expect(waiting.state == .planned)
        #expect(waiting.sends == 0)
        #expect(waiting.attempts == 1)
        // A little after the time that was named.
        let next = try #require(waiting.nextAttempt)
        #expect(next > Self.now + 301)
        #expect(next < Self.now + 336)
        await expect(bench.network.lookUps, equals: 0)
    }

    /// What is remembered is worth nothing once another worker holds the mirror.
    @Test func aRememberedAnswerDoesNotPassTheFence() async throws {
        let bench = try await Bench([Self.delivered])
        _ = try await bench.deliver(failing: [nil, nil, .before])
        let record = try #require(try await bench.outbox.leases.record())
        try await expect(bench.outbox.leases.take(owner: "second", after: record, now: 1)) {
            $0 != nil
        }
        let error = await outboxError { _ = try await bench.delivery.reconcile(at: Self.now + 91) }
        #expect(error?.code == .leaseLost)
        try await expect(bench.stored().state, equals: .sending)
    }

    @Test(arguments: [FailingEngine.Failure.before, .after])
    func aResendThatNeverLeftDoesNotCount(failure: FailingEngine.Failure) async throws {
        let bench = try await Bench([.unknown(reason: "timeout"), Self.delivered])
        try await expect(bench.deliver(failing: [])) { $0 == nil }
        bench.engine.failNext([failure])
        let error = await Self.storageError {
            _ = try await bench.delivery.reconcile(at: Self.now + 91)
        }
        #expect(error != nil)
        await expect(bench.network.sent.count, equals: 1)
        let done = try await bench.delivery.reconcile(at: Self.now + 92)
        #expect(done.last?.state == .done)
        try await expect(bench.stored().sends, equals: 2)
        try await expect(bench.stored().attempts, equals: 2)
        // It was looked up again before the second request left.
        await expect(bench.network.lookUps, equals: 2)
        await expect(bench.network.sent.count, equals: 2)
    }

    @Test(arguments: [FailingEngine.Failure.before, .after])
    func aResendTakenBackTwiceIsTakenBackOnce(failure: FailingEngine.Failure) async throws {
        let nothing = DeliveryOutcome.notSent(
            reason: "transport", cause: .unreachable, retryAfter: nil)
        let bench = try await Bench([
            .unknown(reason: "timeout"), nothing, .unknown(reason: "timeout"),
        ])
        try await expect(bench.deliver(failing: [])) { $0 == nil }
        bench.engine.failNext([nil, failure])
        let error = await Self.storageError {
            _ = try await bench.delivery.reconcile(at: Self.now + 91)
        }
        #expect(error != nil)
        _ = try await bench.delivery.reconcile(at: Self.now + 92)
        let waiting = try await bench.stored()
        #expect(waiting.state == .sending)
        #expect(waiting.sends == 1)
        #expect(waiting.attempts == 2)
        _ = try await bench.delivery.reconcile(at: Self.now + 300)
        try await expect(bench.stored().sends, equals: 2)
        _ = try await bench.delivery.reconcile(at: Self.now + 600)
        try await expect(bench.stored()) { $0.isUnconfirmed }
    }

    @Test func whatIsFoundAndNotStoredIsStoredWithoutASecondLook() async throws {
        let bench = try await Bench(
            [.unknown(reason: "timeout")], sightings: [.found(remoteID: "u", remoteAddress: "7")])
        try await expect(bench.deliver(failing: [])) { $0 == nil }
        bench.engine.failNext([.before])
        let error = await Self.storageError {
            _ = try await bench.delivery.reconcile(at: Self.now + 91)
        }
        #expect(error != nil)
        try await expect(bench.delivery.reconcile(at: Self.now + 92).map(\.state), equals: [.done])
        await expect(bench.network.lookUps, equals: 1)
    }

    /// After a kill nobody remembers; the look-up takes the place of that.
    @Test func anotherProcessLooksInsteadOfRemembering() async throws {
        let bench = try await Bench(
            [Self.delivered], sightings: [.found(remoteID: "u", remoteAddress: "7")])
        _ = try await bench.deliver(failing: [nil, nil, .before])
        let next = Delivery(store: bench.outbox.store, deliverer: bench.network)
        try await expect(next.reconcile(at: Self.now + 89)) { $0.isEmpty }
        try await expect(next.reconcile(at: Self.now + 90).map(\.state), equals: [.done])
        await expect(bench.network.lookUps, equals: 1)
    }

    // MARK: The end of the worker

    /// A worker that is to end sends nothing more, and says so.
    @Test func whatIsCancelledBeforeItLeavesIsPutBackInLine() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: [Self.delivered])
        let running = RunningTask()
        let delivery = Delivery(
            store: outbox.store, deliverer: network,
            onStep: { step in if step == .sendingStored { running.cancel() } })
        let task = Task { try await outbox.deliver("a", by: delivery) }
        running.set(task)
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        let waiting = try #require(try await outbox.store.action(.reply, subject: "a"))
        #expect(waiting.state == .planned)
        #expect(waiting.sends == 0)
        #expect(waiting.attempts == 0)
        await expect(network.sent) { $0.isEmpty }
    }

    @Test func anAnswerIsStoredThoughTheWorkerIsToEnd() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: [Self.delivered])
        let running = RunningTask()
        let delivery = Delivery(
            store: outbox.store, deliverer: network,
            onStep: { step in if step == .answered { running.cancel() } })
        let task = Task { try await outbox.deliver("a", by: delivery) }
        running.set(task)
        let done = try await task.value
        #expect(done.state == .done)
        try await expect(outbox.store.action(.reply, subject: "a"), equals: done)
    }
}

/// The task that a step cancels, which may begin before the test holds it.
private final class RunningTask: @unchecked Sendable {
    // Sendable because every access to a variable holds the lock.
    private let condition = NSCondition()
    private var task: Task<Action, any Error>?

    func set(_ task: Task<Action, any Error>) {
        condition.withLock {
            self.task = task
            condition.signal()
        }
    }

    func cancel() {
        condition.withLock {
            while task == nil { condition.wait() }
            task?.cancel()
        }
    }
}

/// The error of the outbox that `body` throws.
func outboxError(_ body: () async throws -> Void) async -> OutboxError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? OutboxError
    }
}
