import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import MirrorBot

/// `mirror-bot stats` and `mirror-bot report`.
@Suite(.timeLimit(.minutes(30))) struct StatsCommandTests {
    private static let zone = TimeZone(identifier: "Asia/Tokyo") ?? .gmt
    /// Words alone, which are told by hand here.
    private static let settings = ["TIME_ZONE": "Asia/Tokyo", "FEATURES": "content"]
    /// In whole seconds.
    private let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

    /// When the human posted: through all hours and weekdays, the last time two days ago.
    private var human: [Date] { (0..<90).map { now - 2 * 86_400 - Double($0) * 17_200 } }
    /// When the bot did.
    private var bot: [Date] { (0..<25).map { now - 3_600 - Double($0) * 40_000 } }

    /// A mirror with posts of both, favorites, and what was left out.
    private func live(on store: StoreUnderTest) async throws -> Stage {
        let stage = try await store.stage(Self.settings)
        try await stage.withMirror { mirror in
            try await mirror.belong()
            let own = human.enumerated().map { Life.post("p\($0)", "Loaf number \($0)", at: $1) }
            let answers = (0..<3).map {
                Life.post("a\($0)", "@ann@pal.example Yes", at: human[$0], to: Life.ann)
            }
            let pictures = (0..<2).map {
                Life.post("m\($0)", "Look at \($0)", at: human[0] + 1, hasMedia: true)
            }
            try await mirror.remember(own + answers + pictures, zone: Self.zone)
            try await mirror.learnBread()
            let day = try #require(LocalDay("2026-01-01"))
            for (number, date) in bot.enumerated() {
                let wording = Action.Wording(
                    source: own[number].id, text: own[number].text, visibility: .unlisted)
                // The plan was earlier than the sending, which counts.
                try await mirror.note(
                    .post(Slot.Name(day: day, number: number + 1), wording), .done,
                    at: date - 7_200, sent: date)
            }
            for number in 0..<4 {
                try await mirror.note(.favorite(Life.target("f\(number)")), .done, at: now)
            }
            let reasons: [ReasonCode] = ["no-past-reply", "person-cap", "no-past-reply"]
            for (number, reason) in reasons.enumerated() {
                try await mirror.note(
                    .reply(Action.Reply(to: Life.target("r\(number)"), thread: "t")), .skipped,
                    at: now, reason: reason)
            }
            try await mirror.note(
                .favorite(Life.target("late")), .expired, at: now, reason: "undecided")
            try await mirror.note(.favorite(Life.target("waits")), .suggested, at: now)
        }
        return stage
    }

    private func stats(_ stage: Stage) async throws -> StatsReport {
        try Stage.decode(StatsReport.self, from: try await stage.run("stats", "--json"))
    }

    /// Weekday from Monday and hour in Tokyo, by Foundation's calendar.
    private func place(_ date: Date) -> (weekday: Int, hour: Int) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = Self.zone
        let parts = calendar.dateComponents([.weekday, .hour], from: date)
        return (((parts.weekday ?? 0) + 5) % 7, parts.hour ?? 0)
    }

    private func week(_ dates: [Date]) -> [[Int]] {
        dates.map(place).reduce(into: Array(repeating: Array(repeating: 0, count: 24), count: 7)) {
            $0[$1.weekday][$1.hour] += 1
        }
    }

    @Test(arguments: StoreUnderTest.allCases) func countsWhatThereIs(store: StoreUnderTest)
        async throws
    {
        let stage = try await live(on: store)
        let report = try await stats(stage)
        #expect(report.schema == "mirror-bot/stats/1")
        #expect(report.timeZone == "Asia/Tokyo")
        // Pictures are posts as well, when it comes to time.
        let posts = human + [human[0] + 1, human[0] + 1]
        for (rhythm, dates) in [(report.humanPosts, posts), (report.botPosts, bot)] {
            let expected = week(dates)
            #expect(rhythm.week == expected)
            #expect(rhythm.posts == dates.count)
            #expect(rhythm.weekdays == expected.map { $0.reduce(0, +) })
            let hours = (0..<24).map { hour in expected.reduce(0) { $0 + $1[hour] } }
            #expect(rhythm.hours == hours)
        }
        let today = LocalTime(now, in: Self.zone).day
        #expect(report.days.map(\.day) == (0..<28).map { today.advanced(by: $0 - 27) })
        for day in report.days {
            #expect(day.humanPosts == posts.count { LocalTime($0, in: Self.zone).day == day.day })
            #expect(day.posts == bot.count { LocalTime($0, in: Self.zone).day == day.day })
        }
        #expect(report.days.map(\.favorites).reduce(0, +) == 4)
    }

    @Test(arguments: StoreUnderTest.allCases) func ranksAuthorsAndWords(store: StoreUnderTest)
        async throws
    {
        let report = try await stats(try await live(on: store))
        #expect(
            report.authors.map { "\($0.name) \($0.favorites) \($0.normals) \($0.given)" } == [
                "@pal@pal.example 40 0 0", "@ann@pal.example 0 40 4",
            ])
        let expected = ExpectedRate.ofBread
        #expect(report.wordsFor.map(\.word) == ["fresh", "bread"])
        #expect(report.wordsFor.map(\.favorites) == [40, 30])
        #expect(report.wordsFor.map(\.normals) == [0, 0])
        #expect(report.wordsAgainst.map(\.word) == ["meeting", "rain"])
        #expect(report.wordsAgainst.map(\.favorites) == [0, 10])
        #expect(report.wordsAgainst.map(\.normals) == [40, 40])
        for (word, counts) in zip(
            report.wordsFor + report.wordsAgainst, [(40, 0), (30, 0), (0, 40), (10, 40)])
        {
            #expect(
                abs(word.logOdds - expected.evidence(Double(counts.0), Double(counts.1))) < 1e-9)
        }
    }

    @Test(arguments: StoreUnderTest.allCases) func saysWhatIsLeftOutAndWhatIsStored(
        store: StoreUnderTest
    ) async throws {
        let stage = try await live(on: store)
        func leftOut() async throws -> [String] {
            try await stats(stage).leftOut.map {
                "\($0.part.rawValue) \($0.state ?? "-") \($0.count) \($0.reason.code)"
            }
        }
        try await expect(
            leftOut(),
            equals: [
                "archive - 92 not-judged", "archive - 3 is-reply", "reply skipped 2 no-past-reply",
                "reply skipped 1 person-cap", "favorite expired 1 undecided",
            ])
        // A plan judges the texts first.
        try await expect(stage.run("plan").status, equals: 0)
        try await expect(
            leftOut().prefix(2), equals: ["archive - 3 is-reply", "archive - 2 has-media"])
        let stored = try await stats(stage).stored
        #expect(stored.map(\.count) == [95, 80, 34, 0, 0, 0])
        #expect(stored[0].keeps == "the newest 10000" && stored[2].keeps.hasPrefix("400 days"))
    }

    @Test(arguments: [40, 50, 80, 200]) func fitsTheTerminal(columns: Int) async throws {
        let stage = try await live(on: .sqlite)
        let ending = try await stage.run("stats", environment: ["COLUMNS": "\(columns)"])
        #expect(ending.status == 0)
        #expect(ending.error.isEmpty)
        let lines = ending.output.split(separator: "\n").map(String.init)
        for line in lines { #expect(Printable.width(line) <= min(columns, 80), "\(line)") }
        for title in [
            "hours", "weekdays", "days, ", "favorites by author", "favorites by word",
            "left out, and why",
        ] {
            expect(lines, "\(title)") { $0.contains { $0.hasPrefix(title) } }
        }
        expect(lines) {
            $0.contains { $0.hasPrefix("  Mon ") && $0.contains("█") && $0.hasSuffix("%") }
        }
        let weight = String(format: "%+.2f", ExpectedRate.ofBread.evidence(40, 0))
        expect(lines) {
            $0.contains { $0.hasPrefix("  fresh ") && $0.hasSuffix(" 40      0  \(weight)") }
        }
        expect(lines) { $0.contains { $0.hasPrefix("        3  the post is a reply") } }
        expect(lines) { $0.contains { $0.hasPrefix("        1  skipped: today's limit for") } }
    }

    @Test func aMirrorThatKnowsNothingSaysSo() async throws {
        let stage = try await StoreUnderTest.sqlite.stage(Self.settings)
        let ending = try await stage.run("stats", environment: ["COLUMNS": "80"])
        #expect(ending.status == 0)
        #expect(
            ending.output.hasPrefix(
                "mirror default\n0 posts of the human, 0 of the bot, clock of Asia/Tokyo\n"))
        #expect(ending.output.contains("no posts to plot yet"))
        try await expect(stage.run("stats", "--svg", "-").output) {
            $0.contains("The human has no posts.")
        }
        try await expect(stage.run("report", "--html", "-").output) {
            $0.contains("No day can be planned yet.")
        }
        let zoneless = try await StoreUnderTest.sqlite.stage().run("stats")
        #expect(zoneless.status == 78)
        #expect(zoneless.error.contains("leads through all steps; next is the human's account"))
    }

    // MARK: Files

    private static let files = [["stats", "--svg"], ["report", "--html"]]

    @Test(arguments: files) func aFileIsMadeWholeForItsOwnerAlone(words: [String]) async throws {
        let stage = try await live(on: .sqlite)
        let path = stage.workingFolder + "/made"
        let ending = try await stage.run(words: words + ["made"])
        #expect(ending.status == 0)
        #expect(ending.output.isEmpty)
        #expect(ending.error.isEmpty)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let text = String(
            decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
        let document = try MarkupDocument(text)
        #expect(document.elements.first?.name == (words[0] == "stats" ? "svg" : "html"))
        expect(document.elements) { $0.contains { $0.text.contains("me@home.example") } }
        try expect(
            FileManager.default.contentsOfDirectory(atPath: stage.workingFolder), equals: ["made"])
        // The same on standard output, but for its time.
        let printed = try await stage.run(words: words + ["-"])
        try expect(
            MarkupDocument(printed.output).elements.map(\.name),
            equals: document.elements.map(\.name))
    }

    @Test(arguments: files) func whatIsThereIsReplacedOnlyWhenToldTo(words: [String]) async throws {
        let stage = try await live(on: .sqlite)
        let path = stage.workingFolder + "/there"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        let refused = try await stage.run(words: words + ["there"])
        #expect(refused.status == 64)
        #expect(
            refused.error.contains(
                "there exists already, and is not overwritten; name another, or add --force"))
        #expect(FileManager.default.contents(atPath: path) == Data("mine".utf8))
        try await expect(stage.run(words: words + ["there", "--force"]).status, equals: 0)
        let text = String(
            decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
        _ = try MarkupDocument(text)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try expect(
            FileManager.default.contentsOfDirectory(atPath: stage.workingFolder), equals: ["there"])
    }

    @Test(arguments: files) func whereNoFileCanBeNoneIsLeft(words: [String]) async throws {
        let stage = try await live(on: .sqlite)
        let target = stage.folder.path("target")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: target))
        try FileManager.default.createSymbolicLink(
            atPath: stage.workingFolder + "/link", withDestinationPath: target)
        try FileManager.default.createDirectory(
            atPath: stage.workingFolder + "/folder", withIntermediateDirectories: false)
        for (name, status) in [
            ("link", 64), ("folder", 64), ("nowhere/file", 69), ("/proc/file", 69),
        ] {
            let ending = try await stage.run(words: words + [name, "--force"])
            #expect(ending.status == Int32(status), "\(name): \(ending.error)")
            #expect(ending.output.isEmpty, "\(name): \(ending.error)")
        }
        #expect(FileManager.default.contents(atPath: target) == Data("mine".utf8))
        let left = try FileManager.default.contentsOfDirectory(atPath: stage.workingFolder).sorted()
        #expect(left == ["folder", "link"])
    }

    @Test(arguments: [
        ["stats", "--svg", "a", "--json"], ["stats", "--svg", ""], ["stats", "--force"], ["report"],
        ["report", "--html", ""],
    ]) func whatDoesNotGoTogetherIsMisuse(_ words: [String]) async throws {
        let ending = try await Stage().run(words: words)
        #expect(ending.status == 64)
        #expect(ending.output.isEmpty)
        #expect(ending.error.contains("Usage: mirror-bot \(words[0])"))
    }

    // MARK: The page

    /// Names, texts and words of others are text, through the whole program.
    @Test(arguments: StoreUnderTest.allCases) func whatOthersWroteStaysText(store: StoreUnderTest)
        async throws
    {
        let account = ["BOT_SERVER": "https://bots.example", "BOT_ACCESS_TOKEN": "planted"]
        let stage = try await store.stage(Self.settings.merging(account) { $1 })
        let hostile = "\u{202E}</table><script>alert(1)</script>\"'&"
        try await stage.withMirror { mirror in
            try await mirror.belong(toHandle: hostile)
            try await mirror.remember(
                // Some on every day, so that every plan has texts.
                (0..<160).map {
                    Life.post(
                        "p\($0)", "\(hostile) loaf \($0)",
                        at: now - 40 * 86_400 - Double($0) * 20_000)
                },
                zone: Self.zone)
            let person = AccountID(network: .mastodon, value: "<b>bob@pal.example")
            try await mirror.note(
                .reply(Action.Reply(to: Life.target("1", of: person), thread: "t")), .skipped,
                at: now,
                reason: "person-cap", why: Explanation(hostile))
            try await mirror.storage.execute(
                "INSERT INTO feeds (mirror, feed, error, error_ms) VALUES ('default', 'bot-home', \(hostile), 1)"
            )
        }
        let ending = try await stage.run("report", "--html", "-")
        #expect(ending.status == 0, "\(ending.error)")
        let page = try MarkupDocument(ending.output)
        #expect(page.all("script").isEmpty)
        expect(page.all("b").map(\.text)) { $0.allSatisfy { !$0.contains("pal.example") } }
        let shown = " </table><script>alert(1)</script>\"'&"
        #expect(page.all("h1").first?.text == "The mirror of @\(shown)")
        expect(page.all("li")) { $0.contains { $0.text.contains(shown) } }
        expect(page.all("bdi")) { $0.contains { $0.text == "@<b>bob@pal.example" } }
        expect(page.all("p")) { $0.contains { $0.text == shown } }
        let texts = page.all("bdi").map(\.text).filter { $0.contains(" loaf ") }
        #expect(!texts.isEmpty)
        expect(texts) { $0.allSatisfy { $0.contains("</table><script>alert(1)</script>") } }
        #expect(!ending.output.unicodeScalars.contains("\u{202E}"))
    }

    @Test func thePageHasThePlanAndTheReasons() async throws {
        let stage = try await live(on: .sqlite)
        let page = try MarkupDocument(try await stage.run("report", "--html", "-").output)
        let text = try #require(page.all("body").first).text
        let tomorrow = try await stage.plan(
            "--date", "\(LocalTime(now, in: Self.zone).day.advanced(by: 1))")
        for slot in tomorrow.slots { #expect(text.contains(try #require(slot.text))) }
        #expect(text.contains("there is no earlier reply to this person to answer with"))
        #expect(text.contains("public posts of the human, replies among them"))
        for action in try await stage.status().recent {
            #expect(text.contains(action.id.prefix(7)))
        }
    }
}
