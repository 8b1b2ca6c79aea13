import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// What `status` and `plan` tell.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ReportTests {
    private func status(_ mirror: HumanMirror, at hour: Double = 0) async throws -> StatusReport {
        try await StatusReporter(mirror: mirror).report(now: Sample.hour(hour))
    }

    @Test func saysWhatANewMirrorWaitsFor() async throws {
        let nothing = [
            "HUMAN_SERVER", "HUMAN_ACCESS_TOKEN", "BOT_SERVER", "BOT_ACCESS_TOKEN", "TIME_ZONE",
        ]
        let fixture = try await MirrorFixture.start(
            isTrained: false, variables: Dictionary(uniqueKeysWithValues: nothing.map { ($0, "") }))
        let report = try await status(fixture.mirror)
        #expect(
            report.idle == [
                "nothing is sent: BOT_SERVER and BOT_ACCESS_TOKEN are not set",
                "no plan is made: TIME_ZONE is not set",
                "no posts and no replies: the human's past has not been read; run mirror-bot train scheduler",
                "no favorites yet: 0 of 20 favorites, 0 of 20 normals learned; run mirror-bot train classifier --from "
                    + "ARCHIVE; normals are learned from the bot's home timeline while mirror-bot run works",
                "nothing new is learned: HUMAN_SERVER and HUMAN_ACCESS_TOKEN are not set",
            ])
        #expect(report.today == nil)
        #expect(report.timeZone == nil)
        #expect(report.nextSlot == nil)
        #expect(report.slots.isEmpty)
        #expect(report.recent.isEmpty)
        #expect(!report.isRunning)
        #expect(report.archive.posts == 0)
        #expect(report.archive.oldest == nil)
        #expect(report.human == nil)
        #expect(report.bot == nil)
    }

    @Test func saysHowToLearnFromAnAccountThatIsThere() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let report = try await status(fixture.mirror)
        let sentence =
            "no favorites yet: 0 of 20 favorites, 0 of 20 normals learned; run mirror-bot train classifier"
        #expect(report.idle.contains(sentence))
    }

    @Test(arguments: [NetworkName.x, .mastodon])
    func metricsTellWhatIsLeftOfTheMonth(_ network: NetworkName) async throws {
        let account =
            network == .x
            ? ["BOT_CONSUMER_KEY": "a", "BOT_CONSUMER_SECRET": "b", "BOT_ACCESS_TOKEN_SECRET": "d"]
            : ["BOT_SERVER": "https://bots.example"]
        let settings = [
            "BOT_NETWORK": network.rawValue, "HUMAN_NETWORK": network.rawValue,
            "X_BUDGET_USD_PER_MONTH": "5",
            "BOT_ACCESS_TOKEN": "c",
        ]
        let mirror = try await BareMirror(variables: settings.merging(account) { $1 }).open()
        let now = try #require(Date(rfc3339: "2026-11-21T12:00:00Z"))
        _ = try await mirror.spending.reserve(
            Money(microdollars: 1_250_000), for: .publish, at: now)
        let report = try await MetricsReport(
            of: mirror, build: MetricsReport.Build(version: "1", commit: "1"), now: now)
        let lines = report.exposition.text.split(separator: "\n").filter {
            $0.contains("_dollars") && $0.hasPrefix("mirrorbot")
        }.map(String.init)
        let labels = "{mirror=\"\(mirror.name)\"}"
        let expected = [
            "mirrorbot_spend_dollars_total{mirror=\"\(mirror.name)\",network=\"x\"} 1.25",
            "mirrorbot_budget_dollars\(labels) 5", "mirrorbot_budget_left_dollars\(labels) 3.75",
        ]
        #expect(lines == (network == .x ? expected : []))
    }

    @Test func missesNothingWhileAWorkerLives() async throws {
        let fixture = try await MirrorFixture.start()
        #expect(try await fixture.worker().runOnce())
        let stopped = try await status(fixture.mirror)
        #expect(
            stopped.idle == ["nothing is sent: no worker is running; start one with mirror-bot run"]
        )
        let record = try await fixture.leases.record()
        let now = Sample.origin.milliseconds
        let lease = try #require(
            try await fixture.leases.take(owner: "worker", after: record, now: now))
        let running = try await status(fixture.mirror)
        #expect(running.isRunning)
        #expect(running.idle.isEmpty)
        #expect(running.human == "haruka@sandbox.example")
        #expect(running.bot == "mirror@sandbox.example")
        #expect(running.timeZone == "Asia/Tokyo")
        #expect(running.today == Sample.day)
        #expect(running.archive.posts > 400)
        #expect(running.archive.limit == 10_000)
        try expect(#require(running.classifier?.favorites)) { $0 >= Sample.exampleCount }
        #expect(running.classifier?.waiting == nil)
        try expect(#require(running.classifier?.counts)) { $0 > 100 }
        // A worker that has not been heard of for a minute is gone.
        try await expect(status(fixture.mirror, at: 0.02)) { !$0.isRunning }
        try await fixture.leases.release(lease, now: now)
        try await expect(status(fixture.mirror)) { !$0.isRunning }
    }

    @Test func tellsOfTheSlotsAndTheLastActions() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        try await fixture.live(until: 12.1)
        let slots = try await fixture.slots()
        let report = try await status(fixture.mirror, at: 12.1)
        #expect(report.slots.map(\.subject) == slots.map(\.subject))
        #expect(report.slots.map(\.state) == slots.map(\.state.rawValue))
        #expect(report.nextSlot == slots.first { $0.due > Sample.hour(12.1) }?.due)
        #expect(report.recent.count == 10)
        #expect(report.recent.map(\.at) == report.recent.map(\.at).sorted(by: >))
        expect(report.recent) { $0.allSatisfy { $0.why != nil } }
        // The log names the people whom a decision is about.
        let decisions = fixture.log.values.filter {
            $0.contains("Decision made") && !$0.contains("kind=post")
        }
        expect(decisions, "\(decisions)") { $0.contains { $0.contains(" person=@") } }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let json = String(decoding: try encoder.encode(report), as: UTF8.self)
        #expect(json.contains("\"schema\":\"mirror-bot\\/status\\/2\""))
        #expect(!json.contains(fixture.sandbox.botToken))
        #expect(!json.contains(fixture.sandbox.humanToken))
    }

    @Test(arguments: [
        (["FAVORITE_MODE": "off"], "no favorites: FAVORITE_MODE is off"),
        (["MECAB_DICTIONARY": "/nowhere"], "no favorites: "),
        (["HUMAN_SERVER": "", "HUMAN_ACCESS_TOKEN": ""], "nothing new is learned: "),
        (
            ["HUMAN_SERVER": "", "HUMAN_ACCESS_TOKEN": "", "TRUST_ARCHIVE": "no"],
            "no posts and no replies: nobody can be asked whether the posts of the archive are still there"
        ),
        (["MIRROR": "other"], "no posts and no replies: "),
    ])
    func explainsEachSilence(_ variables: [String: String], _ reason: String) async throws {
        let fixture = try await MirrorFixture.start(variables: variables)
        let report = try await status(fixture.mirror)
        expect(report.idle) { $0.contains { $0.hasPrefix(reason) } }
    }

    @Test func tellsOfWhatMayOrMayNotHaveArrived() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, variables: ["FAVORITE_MODE": "off"])
        fixture.sandbox.faults.failNext(
            .html(status: 502), count: 1_000, method: "POST", path: "/api/v1/statuses")
        try await fixture.live(until: 12)
        let lost = try await fixture.actions().filter(\.isUnconfirmed)
        let last = try #require(lost.last)
        let report = try await status(fixture.mirror, at: 12)
        let told = try #require(report.idle.first { $0.contains("may or may not have arrived") })
        #expect(told.hasPrefix("\(lost.count) action"))
        #expect(told.contains("\(last.kind.rawValue) \(last.id)"))
        // A day later it is history.
        try await expect(status(fixture.mirror, at: 37).idle) {
            !$0.contains { $0.contains("may or may not") }
        }
    }

    @Test func tellsOfADatabaseThatTakesNoChanges() async throws {
        let fixture = try await MirrorFixture.start(.postgres)
        try await expect(status(fixture.mirror).idle) { !$0.contains { $0.contains("read-only") } }
        let url = try #require(fixture.databaseURL)
        let mirror = try await fixture.reopened(
            changing: ["DATABASE_URL": url + "&options=-cdefault_transaction_read_only%3Don"])
        let idle = try await status(mirror).idle
        expect(idle, "\(idle)") {
            $0.contains { $0.hasPrefix("nothing is sent: could not") && $0.contains("read-only") }
        }
    }

    @Test func explainsADayOfSilence() async throws {
        let fixture = try await MirrorFixture.start()
        let plan = StoredPlan(
            day: Sample.day, timeZone: Sample.zone.identifier, seed: "1", made: Sample.origin)
        #expect(try await fixture.mirror.outbox(lease: nil).store(plan, slots: []))
        let report = try await status(fixture.mirror)
        #expect(
            report.idle.contains(
                "no posts today: the plan drew a day of silence, as the human has them"))
    }

    @Test func previewsExactlyThePlanThatIsMade() async throws {
        let fixture = try await MirrorFixture.start()
        let reporter = PlanReporter(mirror: fixture.mirror, zone: Sample.zone)
        let preview = try #require(
            try await reporter.report(on: Sample.day, now: fixture.clock.now))
        #expect(!preview.isStored)
        #expect(!preview.slots.isEmpty)
        expect(preview.slots) {
            $0.allSatisfy { $0.state == "preview" && $0.text != nil && $0.why != nil }
        }
        #expect(try await fixture.worker().runOnce())
        let stored = try #require(try await reporter.report(on: Sample.day, now: fixture.clock.now))
        #expect(stored.isStored)
        #expect(stored.slots.map(\.subject) == preview.slots.map(\.subject))
        #expect(stored.slots.map(\.time) == preview.slots.map(\.time))
        #expect(stored.slots.map(\.text) == preview.slots.map(\.text))
        #expect(stored.slots.map(\.why) == preview.slots.map(\.why))
        for (first, second) in zip(stored.slots, preview.slots) {
            #expect(abs(first.due.timeIntervalSince(second.due)) < 0.001)
        }
        #expect(stored.humanHours == preview.humanHours)
        #expect(stored.timeZone == "Asia/Tokyo")
    }

    @Test func previewsOtherDaysWithoutStoringThem() async throws {
        let fixture = try await MirrorFixture.start()
        let reporter = PlanReporter(mirror: fixture.mirror, zone: Sample.zone)
        let before = try await TableContents(of: fixture.mirror.storage)
        let days = (1...5).map { Sample.day.advanced(by: $0) }
        for day in days {
            let report = try #require(try await reporter.report(on: day, now: fixture.clock.now))
            #expect(report.day == day)
            #expect(!report.isStored)
            expect(report.slots) { $0.allSatisfy { LocalTime($0.due, in: Sample.zone).day == day } }
        }
        try await expect(TableContents(of: fixture.mirror.storage), equals: before)
    }

    @Test func drawsTheHoursOfHumanAndBot() async throws {
        let fixture = try await MirrorFixture.start()
        let reporter = PlanReporter(mirror: fixture.mirror, zone: Sample.zone)
        let report = try #require(try await reporter.report(on: Sample.day, now: fixture.clock.now))
        for hours in [report.humanHours, report.botHours] {
            #expect(hours.count == 24)
            #expect(abs(hours.reduce(0, +) - 1) < 1e-9)
        }
        // The sample's human sleeps.
        #expect(report.humanHours[3] < 0.01)
        #expect(report.botHours[3] == 0)
    }

    @Test func hasNoPlanWithoutAnArchive() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let reporter = PlanReporter(mirror: fixture.mirror, zone: Sample.zone)
        try await expect(reporter.report(on: Sample.day, now: fixture.clock.now)) { $0 == nil }
    }
}
