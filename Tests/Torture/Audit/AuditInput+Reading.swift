import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import Storage

extension AuditInput {
    /// Reads what a mirror's database says, and puts it beside what its network says.
    ///
    /// What happened to the run is left for the caller to fill in.
    ///
    /// - Parameters:
    ///   - mirror: Its name.
    ///   - origin: When a mirror counts as activated that says nothing about it.
    ///   - feeds: What `status` says about them.
    ///   - now: When the last worker ended.
    /// - Throws: The store's error.
    static func read(
        _ mirror: String, in storage: any StorageEngine, since origin: Date, zone: TimeZone,
        feeds: [Hearing.Feed],
        rules: AuditRules, ledger: SandboxLedger, now: Date, patience: TimeInterval
    ) async throws -> AuditInput {
        let outbox = OutboxStore(storage: storage, mirror: mirror, lease: nil)
        let slots = try await slots(of: mirror, in: storage)
        let items = feeds.isEmpty ? [] : try await Hearing.items(of: mirror, in: storage)
        var plans: [StoredPlan] = []
        for day in slots.keys.sorted() {
            plans += [try await outbox.plan(for: day)].compactMap(\.self)
        }
        let activated = try await MirrorTable(storage: storage, mirror: mirror).record().activated
        return AuditInput(
            rules: rules, zone: zone, activated: activated ?? origin, now: now, plans: plans,
            slots: slots,
            actions: try await outbox.recent(1_000_000), ledger: ledger, kills: 0,
            cutAnswers: ledger.cutAnswers,
            hearing: Hearing(feeds: feeds, items: items), patience: patience)
    }

    private static func slots(of mirror: String, in storage: any StorageEngine) async throws
        -> [LocalDay: Int]
    {
        let rows = try await storage.query(
            "SELECT local_day, slots FROM plans WHERE mirror = \(mirror)")
        return Dictionary(
            uniqueKeysWithValues: try rows.compactMap { row in
                try LocalDay(row.text("local_day")).map { ($0, try row.int("slots")) }
            })
    }
}
