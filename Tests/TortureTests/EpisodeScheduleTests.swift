import Control
import Expectations
import Mirroring
import Posts
import Testing

@testable import Torture

@Suite struct EpisodeScheduleTests {
    private func plans(
        _ count: Int, network: NetworkName = .mastodon, store: TortureStore = .sqlite,
        seed: UInt64 = 1,
        hasPerson: Bool = false
    ) -> [EpisodePlan] {
        var schedule = EpisodeSchedule(
            network: network, store: store, seed: seed, hasPerson: hasPerson)
        return (0..<count).map { _ in schedule.next() }
    }

    @Test func theSameSeedGivesTheSameEpisodes() {
        #expect(plans(300) == plans(300))
        #expect(plans(300) != plans(300, seed: 2))
    }

    @Test(arguments: [NetworkName.mastodon, .x, .bluesky])
    func everyFaultPointHasItsTurn(_ network: NetworkName) {
        func drawn(hasPerson: Bool) -> [FaultPoint] {
            plans(300, network: network, hasPerson: hasPerson).compactMap { plan in
                if case .killedAt(let point, _) = plan.shape { point } else { nil }
            }
        }
        // Where nobody wants anything taken back, no worker comes there.
        expect(drawn(hasPerson: false)) { $0.allSatisfy { !$0.name.hasPrefix("undo.") } }
        let points = drawn(hasPerson: true)
        let expected = FaultPoint.all.filter {
            !$0.name.hasPrefix("upload.") && (network != .x || $0.name != "delivery.resend-stored")
        }
        #expect(Set(points) == Set(expected))
        // In turns: none comes a second time before all came once.
        let turns = points.dropFirst(2).prefix(expected.count - 2)
        #expect(Set(turns).count == turns.count)
    }

    @Test func nobodyIsStoppedWhereNoWorkerComesOnX() {
        let points = plans(2_000, network: .x).compactMap { plan -> String? in
            if case .frozen(let point, _, _, _) = plan.shape { point.name } else { nil }
        }
        #expect(Set(points).count == 8)
        #expect(!points.contains("delivery.resend-stored"))
    }

    @Test func theFirstDaysPlanIsInterrupted() {
        let names = plans(2).map { plan -> String in
            if case .killedAt(let point, 1) = plan.shape { point.name } else { "\(plan.shape)" }
        }
        #expect(names == ["plan.drawn", "plan.stored"])
    }

    @Test(arguments: TortureStore.allCases)
    func everyFaultComes(_ store: TortureStore) {
        let all = plans(3_000, store: store)
        let network = Set(all.flatMap(\.networkFaults).map { Self.name($0.fault) })
        #expect(network.count == NetworkFault.Kind.allCases.count)
        let faults = Set(all.compactMap(\.storeFault).map(\.fault.kind))
        #expect(faults == Set(StoreFault.Kind.all(on: store)))
        #expect(faults.count == [.sqlite: 2, .postgres: 10, .cluster: 13][store])
    }

    /// In as many episodes as 200 kills need at least.
    @Test(arguments: [UInt64(1), 2, 3, 4, 5], TortureStore.allCases)
    func everyKindHasItsTurns(_ seed: UInt64, _ store: TortureStore) {
        let plans = plans(170, store: store, seed: seed)
        let longFaults = plans.compactMap { plan -> LongFault? in
            if case .endured(let fault, _, _) = plan.shape { fault } else { nil }
        }
        let names =
            plans.flatMap(\.networkFaults).map(\.fault.kind.rawValue)
            + plans.compactMap(\.storeFault).map(\.fault.kind.rawValue)
            + plans.compactMap(\.clockJump).map(\.kind.rawValue)
            + plans.compactMap(\.lack).map(\.rawValue)
            + longFaults.map(\.rawValue)
        #expect(Set(names) == FaultChoice.kinds(on: store))
    }

    @Test func aDayIsLostOnceInALongTime() {
        let days = plans(1_300).filter { $0.clockJump?.kind == .dayAhead }
        #expect(days.count == 2)
        expect(days) {
            $0.allSatisfy { $0.networkFaults.isEmpty && $0.storeFault == nil && $0.number > 100 }
        }
    }

    @Test func anHourIsAsLongAsTheClocksSay() {
        var schedule = EpisodeSchedule(network: .mastodon, store: .sqlite, seed: 1, hour: 12)
        let seconds = (0..<200).compactMap { _ -> Double? in
            if case .endured(_, _, let seconds) = schedule.next().shape { seconds } else { nil }
        }
        #expect(seconds.count >= 3)
        #expect(Set(seconds) == [12])
    }

    @Test func everyShapeComes() {
        let shapes = Set(plans(500).map { Self.name($0.shape) })
        #expect(
            shapes == [
                "killed", "killedAt", "terminated", "overlapped", "frozen", "fenced", "endured",
            ])
    }

    @Test func whatTheFenceSavesIsDisturbedByNothingElse() {
        let fenced = plans(1_000).filter { $0.shape == .fenced }
        #expect(!fenced.isEmpty)
        expect(fenced) { $0.allSatisfy { $0.networkFaults.isEmpty && $0.storeFault == nil } }
    }

    @Test func clocksDifferByMinutesAtMost() {
        let skews = plans(500).flatMap(\.skews)
        expect(skews) { $0.allSatisfy { abs($0) <= EpisodeSchedule.longestSkew } }
        expect(skews) { $0.contains { $0 > 60 } }
        expect(skews) { $0.contains { $0 < -60 } }
        #expect(skews.contains(0))
    }

    @Test func aLookUpIsForcedWhereAWorkerIsToDieAfterIt() {
        let plans = plans(500).filter { plan in
            if case .killedAt(let point, _) = plan.shape {
                point.name == "delivery.looked-up"
            } else {
                false
            }
        }
        #expect(!plans.isEmpty)
        expect(plans) {
            $0.allSatisfy { plan in
                plan.networkFaults.allSatisfy { $0.hitsWritesOnly && $0.after == 0 }
            }
        }
        expect(plans) { $0.allSatisfy { $0.networkFaults.count == 2 } }
    }

    @Test func aRunCanBeConfined() {
        let points = FaultPoint.all.filter { $0.name == "delivery.answered" }
        let filter = EpisodeFilter(kinds: [.killedAt], points: points, networkFaults: [.actLate])
        var schedule = EpisodeSchedule(network: .x, store: .postgres, seed: 1, filter: filter)
        let plans = (0..<50).map { _ in schedule.nextQuiet() }
        let shapes = plans.compactMap { plan -> FaultPoint? in
            if case .killedAt(let point, _) = plan.shape { point } else { nil }
        }
        #expect(shapes.count == 50)
        #expect(Set(shapes) == Set(points))
        #expect(Set(plans.flatMap(\.networkFaults).map { Self.name($0.fault) }) == ["actLate"])
        expect(plans) { $0.allSatisfy { $0.storeFault == nil && $0.networkFaults.count == 2 } }
    }

    @Test func quietEpisodesChangeNoOther() {
        var schedule = EpisodeSchedule(network: .mastodon, store: .sqlite, seed: 1)
        let plans = (0..<200).map { $0.isMultiple(of: 3) ? schedule.nextQuiet() : schedule.next() }
        let isQuiet = plans.map {
            $0.shape == .terminated(after: 4) && $0.networkFaults.isEmpty && $0.skews == [0, 0]
        }
        // Never in a row without end, nor while the first day is planned.
        #expect(isQuiet.prefix(3) == [false, false, false])
        #expect(isQuiet.count(where: \.self) == 66)
        var drawn = zip(plans, isQuiet).filter { !$1 }.map(\.0)
        for index in drawn.indices { drawn[index].number = index + 1 }
        #expect(drawn == self.plans(drawn.count))
        let row = (0..<10).map { _ in schedule.nextQuiet().shape == .terminated(after: 4) }
        #expect(row.count(where: { !$0 }) == 2)
    }

    /// The name of a case, without its values.
    private static func name(_ value: Any) -> String {
        String("\(value)".prefix { $0 != "(" })
    }
}
