import Foundation
import Outbox
import Storage
import TestSupport
import Testing

/// Thousands of short histories with everything that can go wrong, on a small exact network.
///
/// What is killed, cut and repeated is drawn from the number of the history, so one that fails
/// fails again: `OUTBOX_HISTORIES=first..<last` lives only some of them.
@Suite struct OutboxModelTests {
    private static let usual = 0..<150

    private static var range: Range<Int> {
        let parts =
            ProcessInfo.processInfo.environment["OUTBOX_HISTORIES"]?.components(separatedBy: "..<")
            ?? []
        guard parts.count == 2, let first = Int(parts[0]), let last = Int(parts[1]), first < last
        else { return usual }
        return first..<last
    }

    @Test(arguments: ModelNetwork.Memory.allCases)
    func nothingIsSentTwiceOrLost(memory: ModelNetwork.Memory) async throws {
        let storage = try await Self.database()
        var tally = Fate.Tally()
        var problems: [String] = []
        for number in Self.range {
            let history = History(seed: UInt64(number), memory: memory, storage: storage)
            let (found, part) = try await history.live()
            problems += found
            tally.add(part)
        }
        await storage.close()
        #expect(
            problems.isEmpty,
            "\(problems.count) problems: \(problems.prefix(10).joined(separator: "\n"))")
        if Self.range == Self.usual { expectEverythingHappened(tally, memory) }
    }

    /// A database in memory.
    private static func database() async throws -> any StorageEngine {
        let folder = try TemporaryDirectory()
        let file = try await Storage.open(.sqlite(path: folder.path("test.sqlite")))
        try await Migrations.apply(to: file)
        let copy = try await file.scratch(of: "m")
        await file.close()
        return copy
    }

    /// A model that reaches nothing finds nothing.
    private func expectEverythingHappened(_ tally: Fate.Tally, _ memory: ModelNetwork.Memory) {
        for trouble in Fate.Trouble.allCases {
            #expect(tally.troubles[trouble, default: 0] > 5, "\(trouble)")
        }
        for step in DeliveryStep.allCases where step != .resendStored || memory != .never {
            #expect(tally.crashes[step, default: 0] > 1, "\(step)")
        }
        #expect(tally.leasesLost > 5)
        #expect(tally.expired > 1)
        #expect(tally.unconfirmed > 1)
        #expect(tally.delivered * 10 > tally.actions * 7)
        if memory != .forgetful { #expect(tally.sighted > 1) }
        if [.hour, .ever].contains(memory) { #expect(tally.repeated > 5) }
    }
}
