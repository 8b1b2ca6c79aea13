import Foundation
import Posts
import Testing

@testable import Sandbox
@testable import Torture

@Suite struct FleetOracleTests {
    private static let end = Date(timeIntervalSince1970: 1_780_300_000)

    private func action(
        _ state: String, kind: String = "post", due: TimeInterval = -3_600, remoteID: String = ""
    ) -> FleetOracle.ActionRow {
        FleetOracle.ActionRow(
            mirror: "m00000", kind: kind, state: state, due: Self.end + due, remoteID: remoteID,
            reason: "")
    }

    private func delivery(_ uri: String, at offset: TimeInterval, replyTo: Int64? = nil)
        -> TownLedger.Delivery
    {
        .init(household: 0, id: 1, uri: uri, date: Self.end + offset, replyTo: replyTo)
    }

    private func values(
        _ ledger: TownLedger, _ actions: [FleetOracle.ActionRow],
        plans: (mirrors: Int, made: [TimeInterval]) = (0, [])
    ) -> [String: FleetRow] {
        let oracle = FleetOracle(ledger: ledger, actions: actions, end: Self.end, poll: 60)
        let rows = oracle.rows("x", "x") + oracle.timeRows(plans: plans)
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0) })
    }

    @Test func acceptsWhatAgrees() {
        var ledger = TownLedger()
        ledger.deliveries = [delivery("a", at: -3_600)]
        ledger.mentions = [
            .init(
                household: 0, id: 7, date: Self.end - 900, deservesReply: true,
                answered: Self.end - 830)
        ]
        let rows = values(ledger, [action("done", remoteID: "a")], plans: (2, [-30, 200]))
        #expect(rows.values.filter { !$0.isMet }.map(\.name) == [])
        #expect(rows["day_slot_worst"]?.value == 0)
        #expect(rows["day_answer_worst"]?.value == 70)
        #expect(rows["day_plan_worst"]?.value == 200)
    }

    @Test func findsWhatWasLostAndWhatNoRowKnows() {
        var ledger = TownLedger()
        ledger.deliveries = [delivery("a", at: -3_600)]
        let rows = values(ledger, [action("done", remoteID: "b")])
        #expect(rows["x_lost"]?.isMet == false)
        #expect(rows["x_unexplained"]?.isMet == false)
    }

    @Test func findsWhatIsLateOrMissing() {
        var ledger = TownLedger()
        ledger.deliveries = [delivery("a", at: -3_400)]
        ledger.mentions = [
            .init(
                household: 0, id: 7, date: Self.end - 900, deservesReply: true,
                answered: Self.end - 800),
            .init(household: 0, id: 8, date: Self.end - 100, deservesReply: true),
            .init(household: 0, id: 9, date: Self.end - 50, deservesReply: true),
            .init(household: 0, id: 10, date: Self.end - 900, deservesReply: false),
        ]
        let actions = [
            action("done", remoteID: "a"), action("planned", due: -181),
            action("planned", due: -179),
            action("expired"), action("skipped"),
        ]
        let rows = values(ledger, actions, plans: (3, [301]))
        #expect(rows["day_slot_worst"]?.isMet == false)
        #expect(rows["day_slots_open"]?.value == 1)
        #expect(rows["day_slots_failed"]?.value == 1)
        #expect(rows["day_answer_worst"]?.isMet == false)
        #expect(rows["day_unanswered"]?.value == 1)
        #expect(rows["day_plan_worst"]?.isMet == false)
        #expect(rows["day_plans_missing"]?.value == 2)
    }

    @Test func judgesConductAtEverySize() {
        var report = FleetReport(judgesGoals: false)
        report.rows = [FleetRow(name: "a", title: "a", value: 3, unit: "MiB", limit: 2)]
        #expect(report.isPassed)
        report.judgesGoals = true
        #expect(!report.isPassed)
        report = FleetReport(rows: [.oracle("b", "b", 1)], judgesGoals: false)
        #expect(!report.isPassed)
        #expect(report.lines.contains { $0.hasPrefix("b ") && $0.hasSuffix("NO") })
    }
}

/// A fleet of twenty mirrors with the program as it is built.
@Suite(.serialized) struct FleetSmokeTests {
    @Test(.timeLimit(.minutes(30)), arguments: [FleetPlan.Launch.each])
    func measuresASmallFleet(launch: FleetPlan.Launch) async throws {
        var plan = FleetPlan(program: try WorkerProgram.path(), seed: 1)
        plan.launch = launch
        plan.mirrors = 20
        plan.hosts = 5
        plan.seconds = 12
        plan.poll = 10
        plan.judgesGoals = false
        plan.sizes = [3]
        plan.dayMirrors = 6
        plan.dayWorkers = 2
        plan.hours = 3.2
        plan.factor = 120
        let report = try await FleetBench(plan: plan, say: { _ in }).run()
        #expect(report.isPassed, "\(report.lines.joined(separator: "\n"))")
        func value(_ name: String) -> Double { report.rows.first { $0.name == name }?.value ?? -1 }
        #expect(value("idle_requests") > 0)
        #expect(value("idle_ratio") > 0)
        #expect(value("idle_statements") > 0)
        #expect(value("day_answers") + value("day_unanswered") > 0)
    }
}
