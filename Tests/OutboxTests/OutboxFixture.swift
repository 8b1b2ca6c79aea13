import Foundation
import Outbox
import Posts
import Storage
import TestSupport

/// A migrated database with an outbox that holds its lease.
struct OutboxFixture {
    static let start = Date(timeIntervalSince1970: 1_763_600_000)

    let folder: TemporaryDirectory
    let storage: any StorageEngine
    let leases: LeaseTable
    let lease: Lease
    let store: OutboxStore

    init() async throws {
        folder = try TemporaryDirectory()
        storage = try await Storage.open(.sqlite(path: folder.path("test.sqlite")))
        _ = try await Migrations.apply(to: storage)
        leases = LeaseTable(storage: storage, mirror: "m")
        guard let lease = try await leases.take(owner: "first", after: nil, now: 0) else {
            throw TestSupportError("the lease of a new database was taken")
        }
        self.lease = lease
        store = OutboxStore(storage: storage, mirror: "m", lease: lease)
    }

    static func reply(_ subject: String, text: String = "hello", expires: TimeInterval = 86_400) -> Intent {
        Intent(
            kind: .reply, subject: subject, due: start, expires: start + expires,
            sourcePost: PostID(network: .mastodon, value: "source-\(subject)"), targetPost: subject,
            targetAuthor: AccountID(network: .mastodon, value: "mika@example.com"), targetAddress: "address-\(subject)",
            thread: "thread", visibility: .unlisted, language: "ja", text: text)
    }

    static func slot(_ number: Int, due: Date = start) -> Intent {
        Intent(
            kind: .post, subject: StoredPlan.subject(day: day, slot: number), due: due, expires: due + 900,
            sourcePost: PostID(network: .mastodon, value: "post-\(number)"), text: "text \(number)")
    }

    static let day = LocalDay(ordinal: 20_411)

    static let plan = StoredPlan(day: day, timeZone: "Asia/Tokyo", seed: "17", made: start)
}

/// A network whose answers are written down beforehand, for outcomes no server can be made to give on demand.
actor ScriptedDeliverer: Deliverer {
    nonisolated let requestDeadline: Duration = .seconds(30)
    nonisolated let resendWindow: Duration?
    private var outcomes: [DeliveryOutcome]
    private var sightings: [LookUpOutcome]
    private(set) var sent: [Action] = []

    init(outcomes: [DeliveryOutcome], sightings: [LookUpOutcome] = [], resendWindow: Duration? = .seconds(3_000)) {
        self.outcomes = outcomes
        self.sightings = sightings
        self.resendWindow = resendWindow
    }

    func send(_ action: Action) async -> DeliveryOutcome {
        sent.append(action)
        return outcomes.isEmpty ? .refused(reason: "script-ended") : outcomes.removeFirst()
    }

    func lookUp(_ action: Action) async -> LookUpOutcome {
        sightings.isEmpty ? .absent : sightings.removeFirst()
    }
}
