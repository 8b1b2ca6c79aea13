import Foundation
import Outbox
import Storage
import TestSupport

/// One life of an outbox: some actions, workers that come and go, a network, and trouble.
struct History {
    /// How long the actions may wait, in seconds.
    private static let patiences: [TimeInterval] = [900, 7_200, 86_400]
    /// Looks at the outbox while there is trouble.
    private static let looks = 20

    let seed: UInt64
    let memory: ModelNetwork.Memory
    private let fate: Fate
    private let world: ModelWorld
    /// Somebody sets the clocks of all machines in this one.
    private let isClockSet: Bool

    init(seed: UInt64, memory: ModelNetwork.Memory, storage: any StorageEngine) {
        self.seed = seed
        self.memory = memory
        fate = Fate(seed: seed)
        world = ModelWorld(
            fate: fate, memory: memory, tellsTime: seed.isMultiple(of: 2), storage: storage,
            mirror: "\(memory) \(seed)"
        )
        isClockSet = fate.draw(5) == 0
    }

    /// Lives it, and tells what is wrong with how it ended.
    func live() async throws -> (problems: [String], tally: Fate.Tally) {
        let subjects = try await decide()
        let office = Office(world)
        let setAt = isClockSet ? fate.draw(Self.looks) : -1
        for look in 0..<Self.looks {
            if look == setAt {
                world.setClocks(by: [-3_600, -600, 300, 5_400, 86_400][fate.draw(5)])
            }
            world.advance(Double(1 + fate.draw(fate.draw(10) == 0 ? 300 : 60)))
            try await office.look()
        }
        fate.calmDown()
        let rest = try await office.settle()
        return try await audit(subjects, rest)
    }

    private func decide() async throws -> [String] {
        try await world.storage.agree(to: world.mirror)
        let leases = LeaseTable(storage: world.storage, mirror: world.mirror)
        guard let lease = try await leases.take(owner: "planner", after: nil, now: 0) else {
            throw Killed()
        }
        let store = OutboxStore(storage: world.storage, mirror: world.mirror, lease: lease)
        let subjects = (0..<(2 + fate.draw(3))).map { "subject-\($0)" }
        for (number, subject) in subjects.enumerated() {
            var intent = OutboxFixture.reply(subject, text: "text of \(subject)")
            intent.due = OutboxFixture.start + Double(fate.draw(600))
            intent.expires = intent.due + Self.patiences[number % Self.patiences.count]
            _ = try await store.propose(intent, now: OutboxFixture.start)
        }
        return subjects
    }

    // MARK: The end

    private func audit(
        _ subjects: [String], _ rest: String?
    ) async throws -> (problems: [String], tally: Fate.Tally) {
        let store = OutboxStore(storage: world.storage, mirror: world.mirror, lease: nil)
        var problems = [rest].compactMap(\.self)
        for subject in subjects {
            guard let action = try await store.action(.reply, subject: subject) else {
                problems.append("\(subject) is gone")
                continue
            }
            let count = world.network.posts(about: subject)
            let story =
                "\(subject): \(action.state) \(action.reason ?? "-"), \(count) posts, "
                + "\(fate.troubles(of: subject).map { "\($0.value) \($0.key)" }.sorted())"
            if let problem = problem(of: action, count) { problems.append("\(problem); \(story)") }
            fate.count { tally in
                tally.actions += 1
                if action.state == .done { tally.delivered += 1 }
                if action.state == .expired { tally.expired += 1 }
                if action.isUnconfirmed { tally.unconfirmed += 1 }
            }
        }
        let tally = fate.tally
        if tally.unconfirmed > doubts(tally.troubles) {
            problems.append("more unconfirmed than lost")
        }
        fate.count { [repeated = world.network.repeated] in $0.repeated = repeated }
        return (problems.map { "\(memory) \(seed): \($0)" }, fate.tally)
    }

    /// How often it could not be known whether a request acted.
    private func doubts(_ troubles: [Fate.Trouble: Int]) -> Int {
        [.crash, .pause, .lostRequest, .lostAnswer, .lateAct].reduce(0) { $0 + (troubles[$1] ?? 0) }
    }

    private func problem(of action: Action, _ count: Int) -> String? {
        let troubles = fate.troubles(of: action.subject)
        guard count <= 1 else { return "duplicate" }
        switch action.state {
        case .done: return count == 1 ? nil : "done, and nothing was published"
        case .planned, .claimed, .sending, .skipped, .suggested, .undone: return "not settled"
        case .expired, .failed: break
        }
        guard count == 0 else { return "published, and not done" }
        if action.state == .expired {
            return isClockSet || action.expires < world.now - 3_600
                ? waited(action) : "expired too early"
        }
        if action.reason == "rejected" {
            return troubles[.refusal] == nil ? "refused by nobody" : nil
        }
        guard action.isUnconfirmed else { return "failed for no known reason" }
        guard doubts(troubles) > 0 else { return "unconfirmed without reason" }
        return memory == .never ? nil : lost(action, troubles)
    }

    /// What may wait for a day does not expire in an hour of trouble.
    private func waited(_ action: Action) -> String? {
        let patience = action.expires.timeIntervalSince(action.due)
        return patience > 7_200 && !isClockSet ? "lost: it had time and was never sent" : nil
    }

    /// Where the network recognises what is sent again, one doubt is no reason to give up.
    private func lost(_ action: Action, _ troubles: [Fate.Trouble: Int]) -> String? {
        let hadTime = action.expires.timeIntervalSince(action.due) > 7_200
        let wasHeld = troubles[.lookUpDown] != nil || troubles[.refusal] != nil
        return hadTime && !wasHeld && !isClockSet && doubts(troubles) < 2
            ? "lost: it could have been sent again" : nil
    }
}

/// Where the workers of a history sit: one holds the lease, and another takes it when that one dies
/// or stands still.
private final class Office: @unchecked Sendable {
    // Sendable because its calls do not overlap; an intruder acts while the holder stands still.
    private let world: ModelWorld
    private var worker: ModelWorker?
    private var store: OutboxStore?
    private var delivery: Delivery?

    init(_ world: ModelWorld) { self.world = world }

    /// One look of the worker that holds the mirror; a new one where it has died.
    func look() async throws {
        if worker == nil || worker?.isDead == true { try await hire() }
        world.onPause { [self] in try await replace() }
        defer { world.onPause(nil) }
        try await work(limit: 3)
    }

    /// Lets the workers go on without trouble until nothing is left to do.
    ///
    /// - Returns: What is wrong if that does not end.
    func settle() async throws -> String? {
        for _ in 0..<500 {
            if worker == nil || worker?.isDead == true { try await hire() }
            guard let worker, let delivery else { return "nobody works" }
            guard let next = try await delivery.nextWorkTime([.reply], now: worker.now) else {
                return nil
            }
            world.advance(max(next.timeIntervalSince(worker.now), 1))
            try await work(limit: 3)
        }
        return "there is no end to it"
    }

    private func hire() async throws {
        let worker = ModelWorker(world, skew: Double(world.fate.draw(5) - 2) * 60)
        (store, delivery) = try await worker.open()
        self.worker = worker
    }

    /// The holder stands still for minutes, and another worker acts in its place.
    private func replace() async throws {
        world.advance(Double(30 + world.fate.draw(300)))
        try await hire()
        for _ in 0..<(1 + world.fate.draw(4)) {
            world.advance(Double(1 + world.fate.draw(120)))
            try await work(limit: 3)
            if worker?.isDead == true { return }
        }
    }

    private func work(limit: Int) async throws {
        guard let worker, let store, let delivery else { return }
        do {
            for action in try await delivery.reconcile(now: { worker.now })
            where action.state == .done {
                let late =
                    action.sending.map { action.updated.timeIntervalSince($0) > 599 } ?? false
                if late { world.fate.count { $0.sighted += 1 } }
            }
            _ = try await store.expire(now: worker.now)
            for action in try await store.due([.reply], now: worker.now, limit: limit) {
                world.fate.attend(to: action.subject)
                world.advance(1)
                _ = try await delivery.deliver(action, now: { worker.now }) { .ready($0) }
            }
        } catch is Killed {
            worker.die()
        } catch let error as OutboxError where error.code == .leaseLost {
            world.fate.count { $0.leasesLost += 1 }
            worker.die()
        } catch is OutboxError {
            // It was changed meanwhile; the next look sees how.
        } catch is StorageError {
            // The database was gone for a moment.
        }
        world.fate.attend(to: nil)
    }
}
