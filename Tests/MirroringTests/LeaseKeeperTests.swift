import Expectations
import Foundation
import Logging
import Outbox
import Storage
import TestSupport
import Testing

@testable import Mirroring

/// A lease that beats beside work, however long that takes.
@Suite(.timeLimit(.minutes(30))) struct LeaseKeeperTests {
    private struct Office {
        let folder: TemporaryDirectory
        let storage: any StorageEngine
        let table: LeaseTable
        let keeper: LeaseKeeper

        init() async throws {
            folder = try TemporaryDirectory()
            storage = try await MigratedDatabase.openCopy(at: folder.path("test.sqlite"))
            table = LeaseTable(storage: storage, mirror: "m")
            keeper = LeaseKeeper(
                table: table, clock: SystemClock(),
                timing: LeaseTiming(silenceLimit: .milliseconds(60)),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
    }

    @Test func beatsForAsLongAsTheWorkTakes() async throws {
        let office = try await Office()
        let lease = try #require(try await office.keeper.acquireNow())
        let first = try #require(try await office.table.record()).beat
        // Work that takes twice as long as a silent holder is waited for.
        let last = try await office.keeper.holding(lease) { [table = office.table] in
            var beat = first
            while beat < first + 12 { beat = try #require(try await table.record()).beat }
            return beat
        }
        #expect(last >= first + 12)
        try await expect(office.table.record()?.lease(of: lease.owner), equals: lease)
        await office.storage.close()
    }

    @Test func endsTheWorkOfAWorkerThatWasReplaced() async throws {
        let office = try await Office()
        let lease = try #require(try await office.keeper.acquireNow())
        let error = await #expect(throws: OutboxError.self) {
            try await office.keeper.holding(lease) { [table = office.table] in
                // Unless a beat comes between.
                while try await table.take(owner: "other", after: table.record(), now: 0) == nil {}
                // Only ends when it is cancelled.
                while true {
                    try Task.checkCancellation()
                    _ = try await table.record()
                }
            }
        }
        #expect(error?.code == .leaseLost)
        await office.storage.close()
    }
}
