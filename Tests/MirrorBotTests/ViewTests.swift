import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import MirrorBot
@testable import Mirroring
@testable import Outbox

/// What the views make of texts that want to harm the terminal.
@Suite struct ViewTests {
    /// Clears the screen, turns the line around, breaks it, and goes on for long.
    private static let hostile =
        "\u{1B}[2J\u{202E}evil\nsecond\rthird\u{9B}31m" + String(repeating: "日本", count: 300)

    private let plain = Terminal(descriptor: -1, environment: ["COLUMNS": "80"])

    private func expectHarmless(
        _ lines: [String], width: Int? = nil, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(!lines.isEmpty, sourceLocation: location)
        for line in lines {
            for part in line.split(separator: "\n", omittingEmptySubsequences: false) {
                expect(part.unicodeScalars, sourceLocation: location) {
                    !$0.contains { $0.properties.generalCategory == .control }
                }
                #expect(!part.unicodeScalars.contains("\u{202E}"), sourceLocation: location)
                if let width {
                    #expect(
                        Printable.width(String(part)) <= width, "\(part)", sourceLocation: location)
                }
            }
            #expect(!line.contains("\nsecond"), sourceLocation: location)
        }
    }

    // MARK: A plan

    private func slot(_ state: String, _ text: String?, due: Date = .distantFuture)
        -> PlanReport.Slot
    {
        PlanReport.Slot(
            id: "3fa9c1d04b7e", subject: "2026-11-20#1", time: "08:15", due: due, state: state,
            reason: nil, text: text,
            why: nil)
    }

    private func plan(_ slots: [PlanReport.Slot], isStored: Bool = true) throws -> PlanReport {
        PlanReport(
            day: try #require(LocalDay("2026-11-20")), timeZone: "Asia/Tokyo", isStored: isStored,
            slots: slots,
            humanHours: [], botHours: [])
    }

    @Test func aPlanIsHarmless() throws {
        let lines = PlanView.lines(
            try plan([slot("planned", Self.hostile), slot("done", nil)]), terminal: plain)
        expectHarmless(lines, width: 80)
        #expect(lines.first == "2026-11-20  Asia/Tokyo")
        expect(lines) {
            $0.contains {
                $0.hasPrefix("08:15 ○ 1 3fa9c1d planned")
                    && $0.contains(" [2J evil second third 31m日本")
            }
        }
    }

    @Test(arguments: [
        ("done", "●"), ("skipped", "×"), ("expired", "×"), ("failed", "×"), ("planned", "○"),
        ("preview", "○"),
        ("sending", "○"),
    ])
    func statesDifferByTheirSign(_ state: String, _ sign: String) throws {
        expect(PlanView.slots([slot(state, "x")], terminal: plain).first) {
            $0?.hasPrefix("08:15 \(sign) 1 3fa9c1d \(state)") == true
        }
    }

    @Test func aSlotWhoseTimeHasComeStandsOut() throws {
        #expect(
            PlanView.slots([slot("planned", "x", due: .distantPast)], terminal: plain)[0].hasPrefix(
                "08:15 ◐"))
    }

    @Test func anEmptyDayAndAPreviewSaySo() throws {
        let lines = PlanView.lines(try plan([], isStored: false), terminal: plain)
        #expect(lines.contains("no posts on this day"))
        #expect(lines[0].hasSuffix("(a preview: the plan is made when the day begins)"))
    }

    // MARK: A status

    @Test func aStatusIsHarmless() throws {
        let recent = ReportedAction(
            id: "a1", kind: .reply, state: .skipped, at: Date(timeIntervalSince1970: 1_780_000_000),
            person: ReportedPerson(account: "x:1", name: Self.hostile), reason: "denied",
            text: Self.hostile,
            why: Self.hostile)
        let report = StatusReport(
            mirror: "default", storage: "SQLite at /tmp/\u{1B}[2J/mirror-bot.sqlite",
            human: Self.hostile,
            bot: Self.hostile,
            timeZone: "Asia/Tokyo",
            archive: .init(posts: 2, limit: 100, oldest: .distantPast, newest: .distantFuture),
            classifier: .init(favorites: 1, normals: 2, seen: 3, counts: 4, waiting: nil),
            today: LocalDay("2026-11-20"), slots: [slot("planned", Self.hostile)],
            nextSlot: .distantFuture,
            recent: [recent], isRunning: true, idle: [Self.hostile])
        let lines = StatusView.lines(report, terminal: plain)
        expectHarmless(lines.filter { !$0.hasPrefix("  !") })
        expectHarmless(lines.filter { $0.hasPrefix("  a1 2026") }, width: 80)
        let idle = try #require(lines.first { $0.hasPrefix("  !") })
        #expect(!idle.contains("\u{1B}"))
        #expect(!idle.contains("\u{202E}"))
    }

    @Test func aStatusWithoutAnythingIsComplete() {
        let report = StatusReport(
            mirror: "default", storage: "nowhere", human: nil, bot: nil, timeZone: nil,
            archive: .init(posts: 0, limit: 100, oldest: nil, newest: nil), classifier: nil,
            today: nil, slots: [],
            nextSlot: nil, recent: [], isRunning: false, idle: [])
        #expect(
            StatusView.lines(report, terminal: plain) == [
                "mirror default  nowhere", "accounts    unknown → unknown", "time zone   not set",
                "archive     0 of at most 100 posts", "classifier  cannot be reached",
                "worker      not running",
                "next post   none planned",
            ])
    }

    private func status(_ change: (inout StatusReport) throws -> Void) rethrows -> [String] {
        var report = StatusReport(
            mirror: "default", storage: "nowhere", human: nil, bot: nil, timeZone: "Asia/Tokyo",
            archive: .init(posts: 0, limit: 100, oldest: nil, newest: nil), classifier: nil,
            today: nil, slots: [],
            nextSlot: nil, recent: [], isRunning: false, idle: [])
        try change(&report)
        return StatusView.lines(report, terminal: plain)
    }

    @Test func aBudgetThatWasLoweredIsNotCountedUp() throws {
        let renews = Date(timeIntervalSince1970: 1_780_000_000)
        func cost(of budget: Double) throws -> String {
            let lines = try status {
                $0.spending = try JSONDecoder().decode(
                    StatusReport.SpendingState.self,
                    from: Data(
                        """
                        {"month": "2026-11", "budget": \(budget), "spent": 4.49, "left": 0, "byPurpose": {"home": 4.49},
                        "renews": \(renews.timeIntervalSinceReferenceDate)}
                        """.utf8))
            }
            return try #require(lines.first { $0.hasPrefix("X ") })
        }
        try expect(cost(of: 5), equals: "X           $4.49 of $5.00 spent in 2026-11: home $4.49")
        try expect(cost(of: 0)) {
            $0.contains("$4.49 spent in 2026-11, more than the budget, now $0.00")
        }
    }

    /// Once, and on the mirror's clock.
    @Test func theErrorOfAFeedStandsOnce() {
        var feed = FeedHealth(feed: "bot-home")
        feed.error = "the server answered 503"
        feed.errorCode = "unavailable"
        feed.errorSince = Date(timeIntervalSince1970: 1_780_000_000)
        var facts = HealthFacts(now: Date(timeIntervalSince1970: 1_780_003_600))
        facts.zone = TimeZone(identifier: "Asia/Tokyo")
        facts.worker = .running
        facts.feeds = [feed]
        let health = Health(facts)
        let lines = status { report in
            report.feeds = [feed]
            report.obstacles = health.obstacles
            report.verdict = health.verdict
            report.idle = health.obstacles.map(\.sentence)
        }
        // Below the headline, which says it too.
        let told = lines.drop { !$0.isEmpty }.filter { $0.contains("503") }
        #expect(
            told == ["  ! bot-home cannot be read since 2026-05-29 05:26: the server answered 503"])
        #expect(lines.contains { $0.hasPrefix("  bot-home") && $0.contains("cannot be read") })
        #expect(!lines.contains { $0.contains("Z:") })
    }

    /// Each obstacle is a line of `status`, and the first line is that of `status --check`.
    @Test func whatStopsStandsInTheFirstLine() {
        var facts = HealthFacts(now: Date(timeIntervalSince1970: 1_780_003_600))
        facts.zone = TimeZone(identifier: "Asia/Tokyo")
        facts.mayPublish = false
        facts.hasPosts = false
        let health = Health(facts)
        let lines = status { report in
            report.obstacles = health.obstacles
            report.verdict = health.verdict
            report.idle = health.obstacles.map(\.sentence)
        }
        #expect(lines.first == "✖ " + health.verdict.text)
        #expect(health.checkLine(of: "m").hasSuffix(health.verdict.text))
        for obstacle in health.obstacles { #expect(lines.contains("  ! " + obstacle.sentence)) }
    }

    // MARK: A dry run and a demo

    private func action(
        _ kind: ActionKind, _ state: ActionState, author: String = Self.hostile,
        explanation: Explanation? = nil
    ) -> Action {
        let date = Date(timeIntervalSince1970: 1_780_000_000)
        let payload = DemoFixture.payload(
            kind, of: author, saying: Self.hostile, from: PostID(network: .mastodon, value: "old"))
        let intent = Intent(
            payload, state: state, due: date, expires: date, explanation: explanation)
        return Action(intent, of: "test", at: date)
    }

    @Test func aDryRunIsHarmless() throws {
        expectHarmless(ActionKind.allCases.map { DryRunView.line(action($0, .planned)) })
        #expect(
            DryRunView.line(action(.reply, .planned)).hasPrefix("would reply to  [2J evil second"))
        expectHarmless(DryRunView.lines(try plan([slot("preview", Self.hostile)])))
    }

    @Test func aDemoIsHarmless() {
        let why = Explanation(
            Self.hostile, favoriteRate: 4.2,
            features: [.init(name: Self.hostile, logOdds: 1), .init(name: "no", logOdds: -1)])
        let actions =
            ActionKind.allCases.flatMap { kind in
                ActionState.allCases.map { action(kind, $0, explanation: why) }
            } + [action(.favorite, .done, author: "pal@home.example", explanation: why)]
        var result = DemoFixture.result(actions: actions)
        result.names[.init(network: .mastodon, value: Self.hostile)] = Self.hostile
        result.texts["t"] = Self.hostile
        result.complaints = [Self.hostile]
        let lines = DemoView(result: result, terminal: plain).lines
        expectHarmless(lines)
        expectHarmless(lines.filter { !$0.hasPrefix("  !") && !$0.contains("·") }, width: 80)
        expect(lines) { $0.contains { $0.contains("★ favorite  pal@home.example: ") } }
        expect(lines) { $0.contains { $0.contains("★ favorite   [2J evil second") } }
        expect(lines) { $0.contains { $0.contains("☆ suggests   [2J evil second") } }
        expect(lines) { $0.contains { $0.hasPrefix("  !  [2J evil second") } }
    }
}
