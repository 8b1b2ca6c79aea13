import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// Two workers on one database, each with connections of its own.
@Suite struct TwoWorkersTests {
    enum Database: String, CaseIterable, CustomTestStringConvertible {
        case sqlite = "SQLite"
        case postgres = "PostgreSQL"

        var testDescription: String { rawValue }
    }

    /// Every way in which a worker changes the outbox.
    enum Change: String, CaseIterable, Sendable {
        case storePlan, propose, claim, beginSending, withdraw, resend, confirm, postpone,
            awaitLookUp
        case end, expire, lookAgain, requireLease
    }

    private static let now = OutboxFixture.start

    /// A database, and the worker that holds its mirror.
    private final class Office: Sendable {
        let first: any StorageEngine
        let second: any StorageEngine
        let lease: Lease
        private let folder: TemporaryDirectory?

        init(_ database: Database) async throws {
            let location: StorageLocation
            switch database {
            case .sqlite:
                let folder = try TemporaryDirectory()
                self.folder = folder
                try await MigratedDatabase.copy(to: folder.path("test.sqlite"))
                location = .sqlite(path: folder.path("test.sqlite"))
            case .postgres:
                folder = nil
                location = .postgres(url: try await MigratedDatabase.onPostgres())
            }
            first = try await Storage.open(location)
            second = try await Storage.open(location)
            try await first.agree(to: "m")
            lease = try #require(
                try await LeaseTable(storage: first, mirror: "m").take(
                    owner: "first", after: nil, now: 0))
        }

        var store: OutboxStore { OutboxStore(storage: first, mirror: "m", lease: lease) }

        /// The second worker takes the lease away from the first, which fell silent.
        func takeOver() async throws -> OutboxStore {
            let leases = LeaseTable(storage: second, mirror: "m")
            let record = try await leases.record()
            let lease = try #require(try await leases.take(owner: "second", after: record, now: 1))
            return OutboxStore(storage: second, mirror: "m", lease: lease)
        }

        func close() async {
            await first.close()
            await second.close()
        }
    }

    private func withOffice(_ database: Database, _ body: (Office) async throws -> Void)
        async throws
    {
        let office = try await Office(database)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(office))
        } catch {
            result = .failure(error)
        }
        await office.close()
        try result.get()
    }

    /// A process that slept through the loss of its lease finds every door closed.
    @Test(arguments: Database.allCases) func noLateWritePassesTheFence(database: Database)
        async throws
    {
        try await withOffice(database) { office in
            let old = office.store
            let claimed = try await old.claim(try await propose("claimed", old), now: Self.now)
            let sending = try await begin("sending", old)
            let planned = try await propose("planned", old, expires: -60)
            let new = try await office.takeOver()
            let before = try await new.recent(100)
            for change in Change.allCases {
                let error = await outboxError {
                    try await make(
                        change, by: old, claimed: claimed, sending: sending, planned: planned)
                }
                #expect(error?.code == .leaseLost, "\(change)")
            }
            try await expect(new.recent(100), equals: before)
            try await expect(new.plan(for: OutboxFixture.day), equals: nil)
            // The same changes are open to who holds the lease.
            for change in Change.allCases
            where ![.withdraw, .postpone, .awaitLookUp].contains(change) {
                let error = await outboxError {
                    try await make(
                        change, by: new, claimed: claimed, sending: sending, planned: planned)
                }
                #expect(error?.code != .leaseLost, "\(change)")
            }
        }
    }

    private func make(
        _ change: Change, by store: OutboxStore, claimed: Claimed, sending: Departed,
        planned: Action
    ) async throws {
        let now = Self.now + 100
        switch change {
        case .storePlan:
            _ = try await store.store(OutboxFixture.plan, slots: [OutboxFixture.slot(1)])
        case .propose: _ = try await propose("new", store)
        case .claim: _ = try await store.claim(planned, now: now)
        case .beginSending:
            _ = try await store.beginSending(
                claimed, lookUp: now + 90, deadline: .seconds(30), now: now)
        case .withdraw: _ = try await store.withdraw(claimed, now: now)
        case .resend:
            _ = try await store.resend(sending, lookUp: now + 90, deadline: .seconds(30), now: now)
        case .confirm:
            _ = try await store.confirm(sending, remoteID: "u", remoteAddress: nil, now: now)
        case .postpone:
            _ = try await store.giveBack(sending, until: now, reason: "unavailable", now: now)
        case .awaitLookUp:
            _ = try await store.awaitLookUp(sending, at: now, reason: "timeout", now: now)
        case .end: _ = try await store.end(claimed, as: .failed, reason: "rejected", now: now)
        case .expire: _ = try await store.expire(now: now)
        case .lookAgain: try await store.lookAgain(sending, at: now)
        case .requireLease: try await store.requireLease()
        }
    }

    private func propose(
        _ subject: String, _ store: OutboxStore, expires: TimeInterval = 86_400
    ) async throws -> Action {
        try await store.propose(OutboxFixture.reply(subject, expires: expires), now: Self.now)
            .action
    }

    private func begin(_ subject: String, _ store: OutboxStore) async throws -> Departed {
        let claimed = try await store.claim(try await propose(subject, store), now: Self.now)
        return try await store.beginSending(
            claimed, lookUp: Self.now + 90, deadline: .seconds(30), now: Self.now)
    }

    /// The case that needs the fence: a refusal of the old worker's request that arrives when the
    /// new one has sent again.
    ///
    /// Put back in line, the action would be sent a third time.
    @Test(arguments: Database.allCases) func aLateRefusalDoesNotPutBackInLineWhatWasSentAgain(
        database: Database
    ) async throws {
        try await withOffice(database) { office in
            let action = try await propose("a", office.store)
            let network = Network()
            let late = MeetingDeliverer(
                network,
                outcome: .notSent(reason: "unavailable", cause: .serverTrouble, retryAfter: nil)
            ) {
                let new = Delivery(store: try await office.takeOver(), deliverer: network)
                let settled = try await new.reconcile(at: Self.now + 91)
                #expect(settled.map(\.state) == [.done])
                #expect(settled.map(\.sends) == [2])
            }
            let old = Delivery(store: office.store, deliverer: late)
            let error = await outboxError {
                _ = try await old.deliver(action, now: { Self.now }) { .ready($0) }
            }
            #expect(error?.code == .leaseLost)
            let stored = try #require(try await office.store.action(.reply, subject: "a"))
            #expect(stored.state == .done)
            try await expect(office.store.due([.reply], now: Self.now + 3_600)) { $0.isEmpty }
            await expect(network.sent.count, equals: 1)
        }
    }

    /// The old worker stands still between the commit and its request, and asks before it sends.
    @Test(arguments: Database.allCases) func aWorkerThatStoodStillAsksBeforeItSends(
        database: Database
    ) async throws {
        try await withOffice(database) { office in
            let clock = SteppingClock()
            let oldNetwork = Network()
            let newNetwork = Network()
            let action = try await propose("a", office.store)
            let engine = FailingEngine(office.first)
            let old = Delivery(
                store: OutboxStore(storage: engine, mirror: "m", lease: office.lease),
                deliverer: oldNetwork,
                onStep: { step in if step == .sendingStored { clock.advance(120) } },
                uptime: { clock.instant })
            let stores = Recorded<OutboxStore>()
            let error = await outboxError {
                _ = try await old.deliver(action, now: { clock.now }) { claimed in
                    // The next change is the one that says that the request leaves.
                    engine.interruptNext { stores.add(try await office.takeOver()) }
                    return .ready(claimed)
                }
            }
            #expect(error?.code == .leaseLost)
            await expect(oldNetwork.sent) { $0.isEmpty }
            let store = try #require(stores.values.first)
            let settled = try await Delivery(store: store, deliverer: newNetwork).reconcile(
                at: clock.now)
            #expect(settled.map(\.state) == [.done])
            await expect(newNetwork.sent.count, equals: 1)
        }
    }

    /// The old worker ends in order while the new one waits: nothing is sent twice and nothing is
    /// left over.
    ///
    /// Wrong clocks are nothing to a database: one of them lives through them.
    @Test(arguments: [(Database.sqlite, -240.0), (.sqlite, 0), (.sqlite, 240), (.postgres, 0)])
    func anOverlappingDeployDeliversEverythingOnce(
        database: Database, skew: Double
    ) async throws {
        try await withOffice(database) { office in
            let network = Network()
            for number in 0..<6 { _ = try await propose("a\(number)", office.store) }
            let old = Delivery(store: office.store, deliverer: network)
            for action in try await office.store.due([.reply], now: Self.now, limit: 3) {
                _ = try await old.deliver(action, now: { Self.now }) { .ready($0) }
            }
            // One is taken and not sent, one is sent and its answer is lost with the old worker.
            let rest = try await office.store.due([.reply], now: Self.now)
            _ = try await office.store.claim(rest[0], now: Self.now)
            let claimed = try await office.store.claim(rest[1], now: Self.now)
            let sending = try await office.store.beginSending(
                claimed, lookUp: Self.now + 90, deadline: .seconds(30), now: Self.now)
            _ = await network.send(sending.action)
            try await LeaseTable(storage: office.first, mirror: "m").release(office.lease, now: 1)
            let store = try await office.takeOver()
            let new = Delivery(store: store, deliverer: network)
            for minute in 0..<30 {
                let time = Self.now + skew + Double(minute) * 30
                _ = try await new.reconcile(at: time)
                for action in try await store.due([.reply], now: time) {
                    _ = try await new.deliver(action, now: { time }) { .ready($0) }
                }
            }
            let states = try await store.recent(100).map(\.state)
            #expect(states.count == 6)
            #expect(Set(states) == [.done])
            await expect(network.sent.map(\.subject).sorted(), equals: (0..<6).map { "a\($0)" })
        }
    }

    /// A network that remembers what it was sent.
    private actor Network: ImmediateDeliverer {
        nonisolated let requestDeadline: Duration = .seconds(30)
        nonisolated let resendWindow: Duration? = .seconds(3_000)
        nonisolated let clockLead: TimeInterval? = nil
        private(set) var sent: [Action] = []

        func send(_ action: Action) async -> DeliveryOutcome {
            sent.append(action)
            return .delivered(remoteID: action.subject, remoteAddress: nil)
        }

        func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
            -> LookUpOutcome
        {
            sent.contains { $0.key == action.key }
                ? .found(remoteID: action.subject, remoteAddress: nil) : .absent
        }
    }

    /// A request during which something else happens, and which has done nothing in the end.
    private struct MeetingDeliverer: ImmediateDeliverer {
        let network: Network
        let outcome: DeliveryOutcome
        let meanwhile: @Sendable () async throws -> Void

        init(
            _ network: Network, outcome: DeliveryOutcome,
            meanwhile: @escaping @Sendable () async throws -> Void
        ) {
            self.network = network
            self.outcome = outcome
            self.meanwhile = meanwhile
        }

        var requestDeadline: Duration { network.requestDeadline }
        var resendWindow: Duration? { network.resendWindow }
        var clockLead: TimeInterval? { network.clockLead }

        func send(_ action: Action) async -> DeliveryOutcome {
            do {
                try await meanwhile()
            } catch {
                Issue.record(error)
            }
            return outcome
        }

        func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
            -> LookUpOutcome
        {
            await network.lookUp(action, since: departure, among: others)
        }
    }
}
