import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Control
@testable import MirrorBot
@testable import Mirroring
@testable import Outbox

/// A demo that a test can change.
enum DemoFixture {
    /// 2026-05-28, 20:26 UTC: a Thursday.
    static let date = Date(timeIntervalSince1970: 1_780_000_000)

    static func result(actions: [Action] = [], on network: NetworkName = .mastodon) -> DemoResult {
        let past = DemoPast(
            posts: 2, oldest: date - 172_800, newest: date - 86_400, zone: DemoZone(zone: .gmt),
            origin: date,
            friends: [], humanPosts: nil)
        let summary = DemoSummary(
            days: 1, planned: 3, posted: 2, skipped: 1, replies: 4, expectedReplies: 5,
            favorites: 6, suggested: 0,
            favoritePrecision: 0.75, baseRate: 0.25, unsolicited: 7, errors: 8, duplicateSends: 9,
            cost: nil)
        return DemoResult(
            past: past, from: nil, network: network, favoritesLearned: 1, normalsLearned: 2,
            summary: summary,
            actions: actions, humanHours: [], botHours: [], names: [:], texts: [:], written: [:],
            complaints: [])
    }
}

extension DemoFixture {
    /// What an action of this kind would do with the post `t` of somebody, and an old text.
    static func payload(
        _ kind: ActionKind, of author: String, saying text: String?, from source: PostID
    ) -> Action.Payload {
        let wording = text.map { Action.Wording(source: source, text: $0, visibility: .unlisted) }
        let target = Action.Target(
            post: "t", author: AccountID(network: .mastodon, value: author), address: "address")
        return switch kind {
        case .post: .post(Slot.Name(day: .earliest, number: 1), wording)
        case .reply: .reply(Action.Reply(to: target, thread: "t", wording: wording))
        case .favorite: .favorite(target)
        }
    }
}

@Suite struct DemoViewTests {
    private static let old = PostID(network: .mastodon, value: "https://home.example/1")

    private func action(
        _ kind: ActionKind, _ state: ActionState = .done, text: String? = nil,
        reason: ReasonCode? = nil, day: Int = 0,
        why: Explanation? = nil
    ) -> Action {
        let date = DemoFixture.date + Double(day) * 86_400
        let payload = DemoFixture.payload(
            kind, of: "aoi@sandbox.example", saying: text, from: Self.old)
        let intent = Intent(
            payload, state: state, due: date, expires: date, reason: reason, explanation: why)
        return Action(intent, of: "test", at: date)
    }

    private func lines(_ result: DemoResult, columns: Int = 80) -> [String] {
        DemoView(
            result: result,
            terminal: Terminal(descriptor: -1, environment: ["COLUMNS": "\(columns)"])
        ).lines
    }

    private func lived(_ actions: [Action]) -> DemoResult {
        var result = DemoFixture.result(actions: actions)
        result.texts = ["t": "@mirror  Did it rain?\nHere too."]
        result.written = [Self.old: DemoFixture.date - 86_400 * 100]
        return result
    }

    // MARK: Actions

    @Test func aReplyShowsTheQuestionWhoAskedAndWhenTheAnswerWasFirstWritten() throws {
        let lines = lines(lived([action(.reply, text: "@aoi@sandbox.example Only a little.")]))
        let first = try #require(lines.firstIndex { $0.contains("↩") })
        #expect(lines[first] == "    20:26 ↩ reply     aoi: Did it rain? Here too.")
        #expect(lines[first + 1] == "                      → Only a little. (2026-02-17)")
    }

    @Test func aFavoriteShowsThePostAndTwoWordsWhy() {
        let features = [("@aoi@sandbox.example", 2.0), ("rain", 1), ("here", 0.5), ("too", -1)]
        let why = Explanation("s", features: features.map { .init(name: $0.0, logOdds: $0.1) })
        #expect(
            lines(lived([action(.favorite, why: why)]))
                .contains("    20:26 ★ favorite  aoi: Did it rain? Here too. (aoi, rain)"))
    }

    @Test func aPostShowsItsTextAndItsDate() {
        #expect(
            lines(lived([action(.post, text: "A loaf.")])).contains(
                "    20:26 ● post      A loaf. (2026-02-17)"))
        #expect(
            lines(lived([action(.post, text: "A loaf.")]), columns: 40).contains(
                "  20:26 ● A loaf. (2026-02-17)"))
    }

    @Test func repeatedSilencesAreOneLine() throws {
        let reasons: [ReasonCode] = [
            "no-past-reply", "asked-to-stop", "no-past-reply", "new-rule", "no-past-reply",
        ]
        let actions = reasons.map { reason in
            action(.reply, .skipped, reason: reason, why: Explanation("some sentence"))
        }
        let all = lines(lived(actions + [action(.post, .expired, reason: "too-late")]))
        #expect(
            all.filter { $0.contains("·") } == [
                "          · 3 mentions of people never answered before: silence",
                "          · 1 post expired: too-late",
                "          · 1 mention that asked the bot to stop: silence",
                "          · 1 mention (some sentence): silence",
            ])
    }

    @Test func daysAfterTheFirstAreSummedUp() {
        var result = lived(
            [
                action(.post, text: "x"), action(.post, text: "y", day: 1),
                action(.reply, text: "z", day: 1),
                action(.reply, text: "z", day: 1),
                action(.reply, .skipped, reason: "denied", day: 1),
                action(.favorite, .suggested, day: 1),
            ])
        result.summary.days = 3
        let lines = lines(result)
        #expect(lines.contains("  Thu 2026-05-28"))
        #expect(lines.contains("  Fri 2026-05-29 1 post, 2 replies, 1 suggestion, 1 silence"))
        #expect(lines.contains("  Sat 2026-05-30 nothing"))
        #expect(lines.count { $0.contains("●") } == 1)
    }

    // MARK: Facts and figures

    @Test func theFiguresAreTheNetworks() {
        let lines = lines(DemoFixture.result())
        #expect(lines.contains("  posts        2 of 3 planned, 1 skipped"))
        #expect(lines.contains("  replies      4 of 5 expected"))
        #expect(
            lines.contains(
                "  favorites    6, 75% of them what the human would favorite (by chance: 25%)"))
        #expect(lines.contains("  sent twice   9"))
        expect(lines) { !$0.contains { $0.contains("cost") } }
    }

    @Test func onXItSaysWhatTheDaysWouldHaveCost() {
        var result = DemoFixture.result()
        result.summary.days = 2
        result.summary.cost = 0.5
        #expect(
            lines(result).contains(
                "  cost on X    $0.50 for these 2 days, at this pace $7.50 a month; here nothing"))
    }

    @Test func onXItSaysWhatTheCostAssumesAndWhomItDoesNotTellApart() {
        var result = DemoFixture.result(on: .x)
        result.summary.days = 3
        result.costs = (["X_HOME_POSTS_PER_DAY=2000", "the prices of 2026-04-20"], 0.3)
        let text = lines(result, columns: 200).joined(separator: "\n")
        #expect(
            text.contains(
                "the cost assumes X_HOME_POSTS_PER_DAY=2000, the prices of 2026-04-20; $3.00 a month is for home timelines, "
                    + "which are not read by default"))
        #expect(text.contains("X does not tell which accounts are bots: they are taken for people"))
        #expect(!lines(DemoFixture.result()).joined().contains("bots: they"))
    }

    @Test func saysWhatIsAssumedSimulatedAndMissing() {
        var result = DemoFixture.result()
        result.past.zone.assumption = "this machine's"
        result.from = "/tmp/a.zip"
        result.favoritesLearned = 0
        result.summary.favoritePrecision = nil
        let text = lines(result, columns: 200).joined(separator: "\n")
        #expect(
            text.contains("the time zone is assumed (this machine's); --time-zone sets another"))
        #expect(text.contains("no favorites: the archive holds no likes with a text"))
        #expect(text.contains("simulated: the network, its clock, and everybody in it"))
        #expect(!text.contains("by chance"))
    }

    @Test(arguments: [
        (nil, "  mirror-bot demo --from archive.zip"),
        ("/a/b-1.zip", "  mirror-bot train scheduler --from /a/b-1.zip"),
        ("it's mine.zip", #"  mirror-bot train scheduler --from 'it'\''s mine.zip'"#),
    ])
    func endsWithTheNextCommand(from: String?, command: String) {
        var result = DemoFixture.result()
        result.from = from
        #expect(lines(result).last == command)
    }

    @Test(arguments: [40, 60, 80, 120]) func noLineIsWiderThanTheTerminal(columns: Int) {
        let long = String(repeating: "very long bread ", count: 12)
        let why = Explanation(long, features: [.init(name: long, logOdds: 1)])
        var result = lived(
            ActionKind.allCases.flatMap { kind in
                ActionState.allCases.map { action(kind, $0, text: long, reason: "r", why: why) }
            })
        result.texts = ["t": long]
        result.summary.days = 3
        result.summary.cost = 1_234
        result.from = "a.zip"
        result.costs = (
            ["X_HOME_POSTS_PER_DAY=2000", "X_APP_OWNER=none", "the prices of 2026-04-20"], 700
        )
        result.past.zone.assumption = "from the hours without posts"
        for line in lines(result, columns: columns).dropLast() {
            #expect(Printable.width(line) <= columns, "\(line)")
        }
    }

    /// Every sign has a sign of ASCII as wide.
    @Test(arguments: ["LC_ALL", "LANG"]) func aPlainLocaleSeesPlainSigns(variable: String) {
        let plain = Terminal(descriptor: -1, environment: [variable: "C"])
        let rich = Terminal(descriptor: -1, environment: ["LC_ALL": "C.UTF-8", "LANG": "C"])
        let shown = lines(lived(ActionKind.allCases.map { action($0, .done, text: "bread") }))
        for line in shown {
            #expect(rich.shown(line) == line)
            let isPlain = plain.shown(line).utf8.allSatisfy { $0 < 128 }
            #expect(isPlain, "\(plain.shown(line))")
            #expect(Printable.width(plain.shown(line)) == Printable.width(line))
        }
        let view = DemoLine.text(
            LocalTime(DemoFixture.date, in: .gmt), .init(posts: 4, replies: 12, favorites: 7),
            columns: 79)
        #expect(plain.shown(view) == "2026-05-28 20:26  * 4 posts  < 12 replies  + 7 favorites")
    }

    // MARK: While it lives

    @Test(arguments: [
        (79, "2026-05-28 20:26  ● 4 posts  ↩ 12 replies  ★ 7 favorites"),
        (39, "2026-05-28 20:26 ●4 ↩12 ★7"),
        (20, "2026-05-28 20:26 ●4…"),
    ])
    func theLineFitsTheTerminal(columns: Int, line: String) {
        let received = DemoLine.Counts(posts: 4, replies: 12, favorites: 7)
        #expect(
            DemoLine.text(LocalTime(DemoFixture.date, in: .gmt), received, columns: columns) == line
        )
    }
}
