import Control
import Expectations
import Foundation
import Mirroring
import Posts
import TestSupport
import Testing

/// `mirror-bot rehearse`.
@Suite(.timeLimit(.minutes(30))) struct RehearseCommandTests {
    /// 2026-04-30 at six in the morning.
    private static let morning = Date(timeIntervalSince1970: 1_777_528_800)
    private static let hostile = #"</p><script>alert(1)</script> \" & ' rivers"#

    /// What the human posted from August 2025 to that morning: up to three posts a day.
    private static let posts: String = {
        var lines = ""
        for day in 1..<270 {
            for number in 0..<(1 + day % 3) {
                let minute = 900 + (day * 37 + number * 97) % 420
                let time = morning - Double(day) * Fixture.day + Double(minute - 360) * 60
                let text =
                    day % 11 == 0
                    ? hostile : "Thought \(number) of day \(day) about rivers and hills"
                lines += Fixture.line("\(day)-\(number)", text, at: time)
            }
        }
        return lines
    }()

    private let stage: Stage

    init() throws {
        let rehearsal = Rehearsal.Settings(origin: Self.morning, started: Date(), factor: 1)
        stage = try Stage(
            rehearsal.variables.merging(["TIME_ZONE": "UTC", "COLUMNS": "100"]) { $1 })
    }

    private func page(_ words: String...) async throws -> String {
        let ending = try await stage.run(
            words: ["rehearse", "--year", "2026", "--html", "-"] + words)
        #expect(ending.status == 0, "\(ending.error)")
        return ending.output
    }

    @Test func saysInPlainWordsWhatIsAlike() async throws {
        try await stage.train(Self.posts)
        let ending = try await stage.run("rehearse", "--year", "2026")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.error.isEmpty)
        let lines = ending.output.split(separator: "\n").map(String.init)
        #expect(
            lines[0]
                == "mirror default  the first 119 days of 2026 as the human and the bot lived it")
        expect(ending.output) {
            $0.contains("  the human posted 239 times on 119 of 119 days; the bot, which had ")
        }
        expect(ending.output) { $0.contains("  alike are hours ") }
        expect(ending.output) { $0.contains("  a stranger who sees a week guesses right ") }
        expect(ending.output) {
            $0.contains("  nothing is said of replies: the archive holds no reply of 2026 to ")
        }
        expect(ending.output) {
            $0.contains("  nothing is said of favorites: 0 posts of a home timeline are known ")
        }
        #expect(lines.last == "--html FILE draws both years")
        for line in lines { #expect(line.count <= 100, "\(line)") }
    }

    @Test func drawsBothYearsIntoAPage() async throws {
        try await stage.train(Self.posts)
        let ending = try await stage.run("rehearse", "--year", "2026", "--html", "year.html")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(
            ending.output.hasSuffix("both years are drawn in \(stage.workingFolder)/year.html\n"))
        let path = stage.workingFolder + "/year.html"
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let html = try String(contentsOfFile: path, encoding: .utf8)
        #expect(html.utf8.count < 80_000)
        let page = try MarkupDocument(html)
        #expect(page.all("h1").map(\.text) == ["2026, lived twice"])
        #expect(
            page.all("h2").map(\.text) == [
                "In words", "Both years", "Some weeks, side by side", "Replies", "Favorites",
            ])
        #expect(page.all("script").isEmpty)
        #expect(!html.contains("<script"))
        #expect(html.contains("&lt;script&gt;"))
        let drawing = try #require(page.all("svg").first)
        #expect(drawing.attributes["role"] == "img")
        expect(page.all("desc").first?.text) {
            $0?.hasPrefix(
                "Each day is a column. The human posted 239 times on 119 days, most of them from ")
                == true
        }
        // The same in a table: the months, and four weeks of both.
        let captions = page.all("caption").map(\.text)
        #expect(captions.first == "Posts of the human and the bot by month")
        #expect(captions.count { $0.hasPrefix("From 2026-") } == 4)
        #expect(page.all("path").count == 3)
        let again = try await stage.run("rehearse", "--year", "2026", "--html", "year.html")
        #expect(again.status == 64)
        #expect(again.error.contains("is not overwritten; name another, or add --force"))
    }

    /// Each mark stands where its post is: a day of the human's is a column of its own.
    @Test func aMarkStandsAtItsDayAndTime() async throws {
        let single = (1..<120).map { day in
            Fixture.line(
                "old-\(day)", "Old thought \(day) about rivers",
                at: Self.morning - Double(119 + day) * Fixture.day + 12 * 3_600)
        }
        // 2026-01-11 at eight in the evening, UTC.
        let date = Date(timeIntervalSince1970: 1_768_161_600)
        try await stage.train(
            single.joined() + Fixture.line("one", "The only thought of the year", at: date))
        let page = try MarkupDocument(try await page())
        let marks = try #require(page.all("path").first { $0.attributes["class"] == "hl" })
        // The eleventh column; eight minutes are a unit, and a mark is two units high.
        #expect(marks.attributes["d"] == "M55 198v2")
    }

    @Test func theSeedDrawsAnotherLife() async throws {
        try await stage.train(Self.posts)
        let usual = try await page()
        try await expect(page(), equals: usual)
        let other = try await page("--seed", "7")
        #expect(other != usual)
        try await expect(page("--seed", "7"), equals: other)
    }

    @Test func theKeysForProgramsAreTheFigures() async throws {
        try await stage.train(Self.posts)
        let ending = try await stage.run("rehearse", "--year", "2026", "--json")
        #expect(ending.status == 0, "\(ending.error)")
        let object = try JSONSerialization.jsonObject(with: Data(ending.output.utf8))
        let report = try #require(object as? [String: Any])
        #expect(report["schema"] as? String == "mirror-bot/rehearse/1")
        #expect(report["year"] as? Int == 2_026)
        #expect(report["posts_before"] as? Int == 300)
        let days = try #require(report["days"] as? [[String: Any]])
        #expect(days.count == 119)
        #expect(Set(days[0].keys) == ["day", "human", "bot", "without_text"])
        #expect(days[0]["day"] as? String == "2026-01-01")
        let judge = try #require(report["judge"] as? [String: Any])
        #expect(Set(judge.keys) == ["weeks", "right", "interval", "auc"])
        #expect(judge["weeks"] as? Int == 17)
        let likeness = try #require(report["likeness"] as? [String: Any])
        #expect(
            Set(likeness.keys) == ["hours", "posts_per_day", "first_post", "gaps", "week_totals"])
        expect(report["replies"] as? [String: String]) { $0.map { Array($0.keys) } == ["missing"] }
    }

    @Test(arguments: [
        (
            ["--year", "2027"], 64,
            "error: could not rehearse 2027: 2027 has no day that is over yet; name a year of the past, such as 2026\n"
        ),
        (
            ["--year", "2025"], 65,
            "error: could not rehearse 2025: the archive holds 0 posts from before 2025, and a mirror learns from 20 at "
                + "least; name a later year, or mirror-bot train scheduler --from FILE reads more of the past from a "
                + "downloaded archive\n"
        ),
        (
            ["--year", "2019"], 65,
            "error: could not rehearse 2019: the archive holds no posts from before the end of 2019; mirror-bot train "
                + "scheduler --from FILE reads more of the past from a downloaded archive\n"
        ),
    ])
    func aYearThatCannotBeSaysWhy(words: [String], status: Int32, error: String) async throws {
        try await stage.train(Self.posts)
        let ending = try await stage.run(words: ["rehearse"] + words)
        #expect(ending.status == status)
        #expect(ending.output.isEmpty)
        #expect(ending.error == error)
    }

    @Test(arguments: [
        ([], "Missing expected argument '--year <year>'"),
        (["--year", "0"], "--year is 0; expected a year such as 2024"),
        (["--year", "last"], "The value 'last' is invalid for '--year <year>'"),
        (["--year", "2024", "--html", "a", "--json"], "--html and --json do not go together"),
        (["--year", "2024", "--html", ""], "--html is empty"),
        (["--year", "2024", "--force"], "--force needs --html"),
        (["--year", "2024", "--favorites", ""], "--favorites is empty"),
    ])
    func aWrongUseIsMisuse(words: [String], error: String) async throws {
        let ending = try await stage.run(words: ["rehearse"] + words)
        #expect(ending.status == 64)
        #expect(ending.error.contains(error), "\(ending.error)")
    }

    @Test func withoutAZoneItSaysSo() async throws {
        try await stage.makeDatabase()
        let ending = try await stage.run(
            "rehearse", "--year", "2025", environment: ["TIME_ZONE": ""])
        #expect(ending.status == 78)
        #expect(ending.output.isEmpty)
    }

    @Test func aFileThatIsMissingIsNamed() async throws {
        try await stage.train(Self.posts)
        let ending = try await stage.run(
            "rehearse", "--year", "2026", "--favorites", "nowhere.jsonl")
        #expect(ending.status == 65)
        expect(ending.error) { $0.contains("nowhere.jsonl") }
    }

    @Test func theScoreNamesItsLongForm() async throws {
        try await stage.makeDatabase()
        let ending = try await stage.run("score")
        #expect(
            ending.output.hasSuffix(
                "mirror-bot rehearse --year YEAR shows a whole past year beside the bot's\n"))
    }
}
