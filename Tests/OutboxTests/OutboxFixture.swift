import Foundation
import NetworkNames
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// A migrated database with an outbox that holds its lease.
struct OutboxFixture {
    static let start = Date(timeIntervalSince1970: 1_763_600_000)

    /// What the database is.
    enum Engine: CaseIterable, CustomTestStringConvertible {
        case sqlite, postgres

        var testDescription: String { self == .sqlite ? "SQLite" : "PostgreSQL" }
    }

    let folder: TemporaryDirectory
    private let database: PostgresServer.Borrowed?
    let storage: any StorageEngine
    let leases: LeaseTable
    let lease: Lease
    let store: OutboxStore

    init(_ engine: Engine = .sqlite) async throws {
        folder = try TemporaryDirectory()
        let opened: any StorageEngine
        switch engine {
        case .sqlite:
            opened = try await MigratedDatabase.openCopy(at: folder.path("test.sqlite"))
            database = nil
        case .postgres:
            let url = try await MigratedDatabase.onPostgres()
            opened = try await Storage.open(.postgres(url: url))
            database = PostgresServer.Borrowed(url)
        }
        storage = StrictEngine(opened) { Issue.record(Comment(rawValue: $0)) }
        try await opened.agree(to: "m")
        leases = LeaseTable(storage: storage, mirror: "m")
        guard let lease = try await leases.take(owner: "first", after: nil, now: 0) else {
            throw TestSupportError("the lease of a new database was taken")
        }
        self.lease = lease
        store = OutboxStore(storage: storage, mirror: "m", lease: lease)
    }

    /// When something of these kinds wants attention, where answers are looked up after 90 seconds.
    func nextWorkTime(_ kinds: [ActionKind], now: Date = Self.start) async throws -> Date? {
        try await store.nextWorkTime(kinds, lookUpAfter: 90, now: now)
    }

    /// Puts posts with these ids into the archive.
    func archive(_ ids: [String]) async throws {
        for id in ids {
            try await storage.execute(
                """
                INSERT INTO posts (mirror, network, post_id, text, created_ms, minute, local_day, is_reply,
                    visibility, has_media, mentions, sensitive, time_trusted)
                VALUES ('m', 'mastodon', \(id), 'text', 0, 0, '1970-01-01', FALSE, 'public', FALSE, '', FALSE, TRUE)
                """)
        }
    }

    /// When the archive's posts were last used, as it notes.
    func lastUses() async throws -> [String: Date] {
        let rows = try await storage.query(
            "SELECT post_id, last_used_ms FROM posts WHERE mirror = 'm' AND last_used_ms IS NOT NULL"
        )
        return Dictionary(try rows.map { (try $0.text("post_id"), try $0.date("last_used_ms")) }) {
            first, _ in first
        }
    }

    static func reply(_ subject: String, text: String = "hello", expires: TimeInterval = 86_400)
        -> Intent
    {
        Intent(.reply(answer(subject, text: text)), due: start, expires: start + expires)
    }

    /// An answer to mika, as ``reply(_:text:expires:)`` has it.
    static func answer(_ subject: String, text: String = "hello") -> Action.Reply {
        Action.Reply(
            to: Action.Target(
                post: subject, author: AccountID(network: .mastodon, value: "mika@example.com"),
                address: "address-\(subject)"), thread: "thread",
            wording: Action.Wording(
                source: PostID(network: .mastodon, value: "source-\(subject)"), text: text,
                language: "ja",
                visibility: .unlisted))
    }

    /// Proposes a reply and lets it be delivered.
    func deliver(
        _ subject: String, by delivery: Delivery, expires: TimeInterval = 86_400,
        at time: Date = Self.start
    ) async throws -> Action {
        let action = try await store.propose(Self.reply(subject, expires: expires), now: time)
            .action
        return try await delivery.deliver(action, now: { time }) { .ready($0) }
    }

    static func slot(_ number: Int, due: Date = start, from source: String? = nil) -> Intent {
        let wording = Action.Wording(
            source: PostID(network: .mastodon, value: source ?? "post-\(number)"),
            text: "text \(number)",
            visibility: .unlisted)
        return Intent(
            .post(Slot.Name(day: day, number: number), wording), due: due, expires: due + 900)
    }

    static let day = LocalDay(ordinal: 20_411)

    static let plan = StoredPlan(day: day, timeZone: "Asia/Tokyo", seed: "17", made: start)
}

/// A network whose answers are written down beforehand, for outcomes no server can be made to give
/// on demand.
actor ScriptedDeliverer: ImmediateDeliverer {
    nonisolated let requestDeadline: Duration = .seconds(30)
    nonisolated let resendWindow: Duration?
    private nonisolated let tellLead: @Sendable () -> TimeInterval?
    private var outcomes: [DeliveryOutcome]
    private var sightings: [LookUpOutcome]
    private(set) var sent: [Action] = []
    private(set) var lookUps = 0
    private(set) var departure: Date?

    init(
        outcomes: [DeliveryOutcome], sightings: [LookUpOutcome] = [],
        resendWindow: Duration? = .seconds(3_000),
        clockLead: @escaping @Sendable () -> TimeInterval? = { nil }
    ) {
        self.outcomes = outcomes
        self.sightings = sightings
        self.resendWindow = resendWindow
        tellLead = clockLead
    }

    nonisolated var clockLead: TimeInterval? { tellLead() }

    func send(_ action: Action) async -> DeliveryOutcome {
        sent.append(action)
        return outcomes.isEmpty ? .refused(reason: "script-ended") : outcomes.removeFirst()
    }

    func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
        -> LookUpOutcome
    {
        lookUps += 1
        self.departure = departure
        return sightings.isEmpty ? .absent : sightings.removeFirst()
    }
}

/// A wall clock that only the test moves, and a clock beside it that nobody sets.
final class SteppingClock: @unchecked Sendable {
    // Sendable because every access to a variable holds the lock.
    private let lock = NSLock()
    private var wall: Date
    private var real = ContinuousClock.now
    private var settings: TimeInterval = 0

    init(_ start: Date = OutboxFixture.start) { wall = start }

    var now: Date { lock.withLock { wall } }

    var instant: ContinuousClock.Instant { lock.withLock { real } }

    /// Lets time pass.
    func advance(_ seconds: TimeInterval) {
        lock.withLock {
            wall += seconds
            real += .milliseconds(Int64(seconds * 1_000))
        }
    }

    /// Sets the wall clock, forward or back; no time passes.
    func set(by seconds: TimeInterval) {
        lock.withLock {
            wall += seconds
            settings += seconds
        }
    }

    /// By how much the wall clock is ahead of the right time.
    var lead: TimeInterval { lock.withLock { settings } }
}

/// Values in the order in which they came.
final class Recorded<Value: Sendable>: @unchecked Sendable {
    // Sendable because every access to `recorded` holds the lock.
    private let lock = NSLock()
    private var recorded: [Value] = []

    var values: [Value] { lock.withLock { recorded } }

    func add(_ value: Value) { lock.withLock { recorded.append(value) } }
}

extension OutboxStore {
    /// When the next answer wants to be looked up that was lost; 90 seconds after its request if
    /// nothing else is said.
    func nextLookUp() async throws -> Date? {
        try await nextWorkTime([], lookUpAfter: 90, now: .distantFuture)
    }
}

extension Delivery {
    /// Settles what can be settled while the clock stands still.
    func reconcile(
        at time: Date, allows: @Sendable (Action) async throws -> Bool = { _ in true }
    ) async throws -> [Action] {
        try await reconcile(now: { time }, allows: allows)
    }
}

/// A deliverer that needs nothing before its request.
protocol ImmediateDeliverer: Deliverer {
    func send(_ action: Action) async -> DeliveryOutcome
}

extension ImmediateDeliverer {
    func prepare(_ action: Action) async -> RequestPreparation {
        .ready(PreparedRequest { _ in await send(action) })
    }
}
