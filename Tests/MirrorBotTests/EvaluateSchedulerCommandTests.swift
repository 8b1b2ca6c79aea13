import Expectations
import Foundation
import TestSupport
import Testing

/// `mirror-bot evaluate scheduler`.
@Suite(.timeLimit(.minutes(30))) struct EvaluateSchedulerCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    /// A table in which each author posts around an hour of the day, for so many days, at their own
    /// offset.
    private static func table(
        _ authors: [(name: String, hour: Int, days: Int)], offset: String = "+09:00"
    ) -> String {
        var text = "author,timestamp,kind\n"
        for (name, hour, days) in authors {
            for number in 0..<days {
                let date = String(format: "2026-%02d-%02d", 1 + number / 28, 1 + number % 28)
                let time = String(format: "%02d:%02d:%02d", hour, (number * 7) % 50, number % 60)
                let quoted = name.replacing("\"", with: "\"\"")
                text += "\"\(quoted)\",\(date)T\(time)\(offset),post\n"
                if number % 3 == 0 {
                    let later = String(format: "%02d:%02d:00", hour + 1, number % 50)
                    text += "\"\(quoted)\",\(date)T\(later)\(offset),post\n"
                }
            }
        }
        return text
    }

    private func write(_ text: String, to name: String = "events.csv") throws -> String {
        try stage.folder.write(Data(text.utf8), to: name)
    }

    private func evaluate(_ words: String..., input: String? = nil, columns: Int = 100) async throws
        -> Ending
    {
        let words = ["evaluate", "scheduler"] + words
        guard let input else {
            return try await stage.run(words: words, environment: ["COLUMNS": "\(columns)"])
        }
        return try await stage.run(words[0], words[1], words[2], words[3], words[4], input: input)
    }

    private func json(_ ending: Ending) throws -> [String: Any] {
        #expect(ending.status == 0, "\(ending.error)")
        let object = try JSONSerialization.jsonObject(with: Data(ending.output.utf8))
        return try #require(object as? [String: Any])
    }

    // MARK: Figures

    @Test func printsARowForEachAuthorTheMedianAndWhatTheColumnsMean() async throws {
        let path = try write(
            Self.table([("ada", 7, 120), ("bob", 12, 150), ("eve", 22, 90), ("few", 9, 3)]))
        let ending = try await evaluate("--events", path)
        #expect(ending.status == 0)
        #expect(ending.error.isEmpty)
        let lines = ending.output.split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        #expect(
            lines[0].split(separator: " ").joined(separator: " ")
                == "posts log-likelihood posts a day gaps first post")
        let rows = lines[2...5].map { $0.split(separator: " ") }
        #expect(rows.map(\.first) == ["ada", "bob", "eve", "median"])
        #expect(rows[0].count == 12)
        #expect(rows[0][1] == "128" && rows[0][2] == "32")
        expect(rows) { $0.allSatisfy { row in row.suffix(9).allSatisfy { Double($0) != nil } } }
        expect(lines) {
            $0.contains {
                $0.hasPrefix("median gain per post: ") && $0.contains(" over the histogram")
            }
        }
        for column in [
            "learn, test", "model", "hist", "kernel", "posts a day", "gaps", "first post", "AUC",
            "human",
        ] {
            expect(lines, "\(column) is not explained") {
                $0.contains { $0.hasPrefix(column + " ") }
            }
        }
        #expect(lines.contains("left out 1:"))
        #expect(lines.contains("  few: there are 4 posts; at least 20 are needed"))
        for line in lines { #expect(line.count <= 100, "too wide: \(line)") }
    }

    @Test func printsOneObjectForPrograms() async throws {
        let path = try write(Self.table([("ada", 7, 120), ("few", 9, 3)]))
        let report = try json(try await evaluate("--events", path, "--json"))
        #expect(report["schema"] as? String == "mirror-bot/evaluate-scheduler/1")
        #expect(report["time_zone"] is NSNull)
        let rows = try #require(report["authors"] as? [[String: Any]])
        let median = try #require(report["median"] as? [String: Any])
        #expect(rows.map { $0["author"] as? String } == ["ada"])
        for key in [
            "log_likelihood", "log_likelihood_histogram", "log_likelihood_kernel20",
            "tv_daily_counts", "ks_gaps",
            "ks_first_post", "human_tv_daily_counts", "human_ks_gaps", "human_ks_first_post",
            "n_train", "n_test",
        ] {
            let value = try #require(rows[0][key] as? Double, "\(key) is missing")
            #expect(median[key] as? Double == value)
        }
        #expect(rows[0]["n_train"] as? Int == 128 && rows[0]["n_test"] as? Int == 32)
        let leftOut = try #require(report["left_out"] as? [[String: Any]])
        #expect(leftOut.first?["reason"] as? String == "there are 4 posts; at least 20 are needed")
        // The same again, to the last digit.
        let first = try await evaluate("--events", path, "--json").output
        try await expect(evaluate("--events", path, "--json").output, equals: first)
    }

    @Test func botAndHumanAreToldApartByWhatIsKnownOfOthers() async throws {
        let path = try write(Self.table([("ada", 7, 300), ("bob", 12, 320), ("eve", 22, 290)]))
        let report = try json(try await evaluate("--events", path, "--json"))
        #expect(report["schedule_model"] as? String == "days")
        let told = try #require(report["bot_or_human"] as? [String: Any])
        #expect(told["people"] as? Int == 3)
        let area = try #require(told["auc"] as? Double)
        #expect((0.3...1).contains(area))
        let older = try json(try await evaluate("--events", path, "--model", "kernel", "--json"))
        #expect(older["schedule_model"] as? String == "kernel")
        try expect(#require(older["bot_or_human"] as? [String: Any])["auc"] as? Double) {
            $0 != area
        }
        let lines = try await evaluate("--events", path).output.split(separator: "\n").map(
            String.init)
        let sentence = String(
            format: "bot or human, told by what is known of the days of other authors: AUC %.3f",
            area)
        expect(lines) { $0.contains { $0.hasPrefix(sentence) } }
        let wrong = try await evaluate("--events", path, "--model", "guess")
        #expect(wrong.status == 64)
    }

    @Test func readsFilesFoldersAndStandardInputAlike() async throws {
        let one = Self.table([("ada", 7, 120)])
        let other = Self.table([("bob", 12, 150)])
        try FileManager.default.createDirectory(
            atPath: stage.folder.path("tables"), withIntermediateDirectories: false)
        let paths = [try write(one, to: "tables/a.csv"), try write(other, to: "tables/b.csv")]
        let files = try await evaluate("--events", paths[0], paths[1], "--json")
        #expect(files.status == 0, "\(files.error)")
        try await expect(
            evaluate("--events", paths[0], "--events", paths[1], "--json").output,
            equals: files.output)
        try await expect(
            evaluate("--events", stage.folder.path("tables"), "--json").output, equals: files.output
        )
        let alone = try await evaluate("--events", paths[0], "--json")
        try await expect(
            evaluate("--events", "-", "--json", input: one).output, equals: alone.output)
    }

    @Test func timesAreTakenAtTheirOwnOffsetUnlessAZoneIsGiven() async throws {
        let zoned = try write(Self.table([("ada", 7, 200)], offset: "-05:00"), to: "zoned.csv")
        let plain = try write(Self.table([("ada", 7, 200)], offset: "Z"), to: "plain.csv")
        let own = try json(try await evaluate("--events", zoned, "--json"))
        // What cannot be measured is null.
        let ownMedian = try #require(own["median"] as? NSDictionary)
        let plainMedian =
            try json(try await evaluate("--events", plain, "--json"))["median"] as? NSDictionary
        #expect(plainMedian == ownMedian)
        let moved = try json(
            try await evaluate("--events", zoned, "--time-zone", "Asia/Tokyo", "--json"))
        #expect(moved["time_zone"] as? String == "Asia/Tokyo")
        let movedMedian = try #require(moved["median"] as? NSDictionary)
        #expect(movedMedian != ownMedian)
    }

    @Test func anArchiveIsMeasuredWithoutAMirror() async throws {
        let path = try write(Fixture.lines(days: 60, perDay: 2), to: "posts.jsonl")
        let before = try stage.files()
        let report = try json(try await evaluate("--from", path, "--json"))
        #expect(report["time_zone"] as? String == "UTC")
        let rows = try #require(report["authors"] as? [[String: Any]])
        #expect(rows.count == 1)
        #expect(rows[0]["n_train"] as? Int == 96 && rows[0]["n_test"] as? Int == 24)
        #expect(rows[0]["tv_daily_counts"] as? Double == 0)
        let moved = try json(
            try await evaluate("--from", path, "--time-zone", "Asia/Tokyo", "--json"))
        #expect(moved["time_zone"] as? String == "Asia/Tokyo")
        try expect(stage.files(), equals: before, "something was written")
    }

    // MARK: What cannot be used

    @Test(arguments: [
        [], ["--events"], ["--events", "a.csv", "--from", "b.zip"], ["--events", "-", "-"],
        ["--events", "a.csv", "--time-zone", "Mars/Olympus"],
        ["--events", "a.csv", "--time-zone", ""],
    ])
    func misuseIsToldApart(_ words: [String]) async throws {
        let ending = try await stage.run(words: ["evaluate", "scheduler"] + words)
        #expect(ending.status == 64)
        #expect(ending.output.isEmpty)
        #expect(ending.error.hasPrefix("error: "))
        #expect(ending.error.contains("--events"))
        try expect(stage.files()) { $0.isEmpty }
    }

    @Test(arguments: [
        ("author,timestamp\nada,soon\n", "line 2: timestamp is no date"),
        ("author,timestamp\nada,0001-01-01T00:00:00Z\n", "line 2: timestamp is no date"),
        ("name,time\nada,2026-01-01T00:00:00Z\n", "line 1: there is no column author"),
        ("author,timestamp\n\"ada,2026-01-01T00:00:00Z\n", "line 2: a quote is not closed"),
        ("", "it is empty"),
    ])
    func aBadTableIsNamedWithItsLineAndCause(_ text: String, _ cause: String) async throws {
        let path = try write(text)
        let ending = try await evaluate("--events", path)
        #expect(ending.status == 65)
        #expect(ending.output.isEmpty)
        #expect(
            ending.error.hasPrefix("error: could not import \(path): \(cause)"), "\(ending.error)")
    }

    /// Relative paths are named as they were given, which they are not where the process works in
    /// another folder.
    @Test func whatIsNotThereIsBadData() async throws {
        for words in [["--events", "missing.csv"], ["--from", "missing.zip"]] {
            let ending = try await stage.spawn(["evaluate", "scheduler"] + words)
            #expect(ending.status == 65)
            #expect(
                ending.error.contains(
                    "could not import \(words[1]): there is no such file or folder"))
        }
    }

    @Test func nobodyWithEnoughPostsIsAnErrorWithTheReasons() async throws {
        let far = "far,2000-01-01T00:00:00Z\nfar,9999-12-31T23:59:59Z\n"
        let crowd = (0..<30).map { "crowd,2026-01-01T00:\($0 + 10):00Z\n" }.joined()
        let many = (0..<30).map { "many,2026-01-\(10 + $0 % 20)T00:00:00Z\n" }.joined()
        let path = try write(
            "author,timestamp\none,2026-01-01T00:00:00Z\n" + crowd + many
                + far.replacing("far,", with: "many,"))
        for words in [[], ["--json"]] {
            let ending = try await stage.run(
                words: ["evaluate", "scheduler", "--events", path] + words)
            #expect(ending.status == 65)
            #expect(ending.output.isEmpty)
            let lines = ending.error.split(separator: "\n").map(String.init)
            #expect(lines.first == "error: could not evaluate anybody")
            #expect(lines.contains("  one: there is 1 post; at least 20 are needed"))
            expect(lines) {
                $0.contains {
                    $0.hasPrefix(
                        "  crowd: four fifths of the posts are of the first day, 2026-01-01")
                }
            }
            expect(lines) {
                $0.contains {
                    $0.hasPrefix("  many: 2000-01-01 and 9999-12-31 are more than a hundred years")
                }
            }
        }
    }

    @Test(arguments: [60, 80, 100, 200])
    func hostileNamesDoNoHarm(_ columns: Int) async throws {
        let name =
            "\u{1B}[2J\u{202E}evil\nsecond\rthird\u{9B}31m\"" + String(repeating: "日本", count: 150)
        let path = try write(Self.table([(name, 7, 120), (name + "2", 9, 2), ("ada", 22, 60)]))
        let ending = try await evaluate("--events", path, columns: columns)
        #expect(ending.status == 0)
        let isHarmless = ending.output.unicodeScalars.allSatisfy { scalar in
            scalar == "\n"
                || (scalar.properties.generalCategory != .control && scalar != "\u{202E}")
        }
        #expect(isHarmless)
        #expect(ending.output.contains(" [2J evil"))
        #expect(!ending.output.contains("\nsecond"))
        let report = try json(try await evaluate("--events", path, "--json"))
        let rows = try #require(report["authors"] as? [[String: Any]])
        #expect(rows.map { $0["author"] as? String } == [name, "ada"])
    }
}
