import Expectations
import Foundation
import TestSupport
import Testing

/// `mirror-bot evaluate classifier`.
@Suite(.timeLimit(.minutes(30))) struct EvaluateClassifierCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    // MARK: Files

    /// A timeline: every third post is about bread and favorited, one of them is not.
    private static func timeline(_ count: Int, name: String) -> [String] {
        (0..<count).map { number in
            let isFavorite = number % 3 == 0 && number != 6
            let text = number % 3 == 0 ? "fresh bread" : "rain and meetings"
            return line("\(name)\(number)", text, isFavorite, at: number)
        }
    }

    private static func line(_ id: String, _ text: String, _ isFavorite: Bool, at minute: Int = 0)
        -> String
    {
        let time = String(format: "2026-01-10T%02d:%02d:00Z", minute / 60, minute % 60)
        return
            #"{"id":"\#(id)","author":"pal","text":"\#(text)","created_at":"\#(time)","favorite":\#(isFavorite)}"#
    }

    private func write(_ lines: [String], to name: String) throws -> String {
        try stage.folder.write(Data((lines.joined(separator: "\n") + "\n").utf8), to: name)
    }

    private func timelines(train: Int = 90, test: Int = 30) throws -> (train: String, test: String)
    {
        (
            try write(Self.timeline(train, name: "a"), to: "train.jsonl"),
            try write(Self.timeline(test, name: "b"), to: "test.jsonl")
        )
    }

    private func json(_ ending: Ending) throws -> [String: Any] {
        #expect(ending.status == 0, "\(ending.error)")
        let object = try JSONSerialization.jsonObject(with: Data(ending.output.utf8))
        return try #require(object as? [String: Any])
    }

    private func evaluate(_ words: String..., environment: [String: String] = [:]) async throws
        -> Ending
    {
        try await stage.run(words: ["evaluate", "classifier"] + words, environment: environment)
    }

    // MARK: Figures

    @Test func printsFiguresWithTheirMeaning() async throws {
        let (train, test) = try timelines()
        let ending = try await evaluate("--train", train, "--test", test)
        #expect(ending.status == 0)
        #expect(ending.error.isEmpty)
        let lines = ending.output.split(separator: "\n")
        #expect(lines[1] == "learned     90 posts, 29 of them favorites")
        #expect(lines[2] == "base rate   29 favorites in 90 posts (32.2%)")
        #expect(lines[3] == "predicted   9 favorites in 30 posts (30.0%)")
        // Ten posts are about bread; nine of them were favorited.
        let precision = try #require(
            lines.first { $0.contains("precision  ") && !$0.contains("average") })
        #expect(precision.contains("0.900  9 of the bot's 10 favorites are the human's too"))
        let recall = try #require(lines.first { $0.contains("recall") })
        #expect(recall.contains("1.000  9 of the human's 9 favorites are the bot's too"))
        for name in [
            "ROC AUC", "average precision", "best F1", "F1", "Brier score", "calibration error",
        ] {
            expect(lines, "\(name) is missing") { $0.contains { $0.hasPrefix("  \(name)  ") } }
        }
        try expect(stage.files().keys.sorted(), "a database was made") {
            $0.allSatisfy { !$0.hasSuffix(".sqlite") }
        }
    }

    @Test func printsJSON() async throws {
        let (train, test) = try timelines()
        let answer = try json(
            try await evaluate("--train", train, "--test", test, "--json", "--features", "nouns"))
        #expect(answer["schema"] as? String == "mirror-bot/evaluate-classifier/1")
        #expect(answer["n_train"] as? Int == 90)
        #expect(answer["n_test"] as? Int == 30)
        #expect(answer["precision"] as? Double == 0.9)
        #expect(answer["recall"] as? Double == 1)
        // 21 other posts, of which one is tied with the nine favorites.
        let area = try #require(answer["roc_auc"] as? Double)
        #expect(abs(area - 20.5 / 21) < 1e-9)
        let average = try #require(answer["average_precision"] as? Double)
        #expect(abs(average - 0.9) < 1e-9)
        #expect(answer["features"] as? String == "nouns")
        #expect(answer["prequential"] as? Bool == false)
        #expect(answer["threshold"] as? Double == 2)
        for key in ["f1", "brier", "ece", "posts_per_second"] {
            let value = try #require(answer[key] as? Double, "\(key) is missing")
            #expect(value > 0)
        }
    }

    @Test func plainAndLearnedWeightsStandSideBySide() async throws {
        let (train, test) = try timelines()
        let files = [
            "evaluate", "classifier", "--train", train, "--test", test, "--features", "content",
        ]
        let ending = try await stage.run(words: files)
        let lines = ending.output.split(separator: "\n").map(String.init)
        let table = try #require(lines.firstIndex { $0.hasPrefix("weights ") })
        #expect(lines[table].split(separator: " ") == ["weights", "plain", "learned"])
        let names = lines[(table + 1)...].prefix(7).map {
            $0.dropFirst(2).prefix(19).trimmingCharacters(in: .whitespaces)
        }
        #expect(
            names == [
                "average precision", "ROC AUC", "log loss", "calibration error", "precision",
                "recall",
                "favorites given",
            ])
        #expect(lines[table + 8].hasPrefix("  words for count "))
        #expect(lines[table + 5].hasSuffix("    0.900    0.900"))
        #expect(lines[table + 7].hasSuffix("       10       10"))

        let learned = try json(try await stage.run(words: files + ["--json"]))
        let set = ["OLD_BOT": "yes"]
        let plain = try json(try await stage.run(words: files + ["--json"], environment: set))
        let given = try json(
            try await stage.run(
                words: files + ["--json", "--weights", "learned"], environment: set))
        #expect(learned["weights"] is [String: Any])
        #expect(plain["weights"] is NSNull)
        #expect(given["weights"] is [String: Any])
        for (answer, side) in [(learned, "weighted"), (plain, "plain"), (given, "weighted")] {
            let figures = try #require(answer[side] as? [String: Any])
            for key in ["average_precision", "roc_auc", "log_loss", "ece", "precision", "recall"] {
                #expect(figures[key] as? Double == answer[key] as? Double, "\(key)")
                #expect(figures[key] is Double, "\(key)")
            }
            #expect(answer.keys.contains("equal_threshold"))
            #expect(answer["learned_weights"] is [String: Any])
        }
        let losses = [learned, plain].map { $0["log_loss"] as? Double ?? .nan }
        #expect(losses[0] != losses[1])
    }

    @Test func pairsStandBesideWordsAlone() async throws {
        let (train, test) = try timelines()
        let lines = try await evaluate("--train", train, "--test", test, "--features", "pairs")
            .output
            .split(separator: "\n").map(String.init)
        let table = try #require(lines.firstIndex { $0.hasPrefix("weights ") })
        #expect(
            lines[table].split(separator: " ") == ["weights", "plain", "learned", "no", "pairs"])
        expect(lines[table + 8]) { $0.contains(", pairs for ") }
        let pairs = try json(
            try await evaluate("--json", "--train", train, "--test", test, "--features", "pairs"))
        let words = try json(
            try await evaluate("--json", "--train", train, "--test", test, "--features", "content"))
        let alone = try #require(pairs["words_alone"] as? [String: Any])
        let weighted = try #require(words["weighted"] as? [String: Any])
        let figures = try #require(alone["weighted"] as? [String: Any])
        #expect(figures["log_loss"] as? Double == weighted["log_loss"] as? Double)
        #expect(words["words_alone"] == nil)
        let weights = try #require(pairs["weights"] as? [String: Any])
        expect(Set(weights.keys)) { $0.isSuperset(of: ["pairs_for", "pairs_against"]) }
    }

    @Test(arguments: ["spelling", "full"]) func spellingStandsBesideWordsAlone(_ choice: String)
        async throws
    {
        let (train, test) = try timelines()
        let lines = try await evaluate("--train", train, "--test", test, "--features", choice)
            .output
            .split(separator: "\n").map(String.init)
        let table = try #require(lines.firstIndex { $0.hasPrefix("weights ") })
        #expect(lines[table].split(separator: " ") == ["weights", "plain", "learned", "words"])
        expect(lines[table + 8]) { $0.contains(", spelling for ") && $0.contains(", form for ") }
        expect(lines.first) { $0?.contains("runs of letters, form") == true }
        let found = try json(
            try await evaluate("--json", "--train", train, "--test", test, "--features", choice))
        #expect(found["features"] as? String == choice)
        #expect(found["words_alone"] is [String: Any])
        let weights = try #require(found["weights"] as? [String: Any])
        expect(Set(weights.keys)) {
            $0.isSuperset(of: ["spelling_for", "spelling_against", "form_for", "form_against"])
        }
    }

    @Test func whatHasNoValueIsNullOrADash() async throws {
        let train = try write(Self.timeline(90, name: "a"), to: "train.jsonl")
        let test = try write([Self.line("b", "rain and meetings", false)], to: "test.jsonl")
        let answer = try json(try await evaluate("--train", train, "--test", test, "--json"))
        for key in ["roc_auc", "average_precision", "precision", "recall", "f1", "best_f1"] {
            #expect(answer[key] is NSNull, "\(key)")
        }
        let table = try await evaluate("--train", train, "--test", test)
        #expect(
            table.output.contains("  ROC AUC                  -  needs favorites and other posts\n")
        )
        #expect(
            table.output.contains("  precision                -  the bot would favorite nothing\n"))
        #expect(
            table.output.contains("  recall                   -  the human favorited nothing\n"))
        #expect(!table.output.contains("nan"))
    }

    @Test func theThresholdAndTheWordsAreThoseOfTheSettings() async throws {
        let (train, test) = try timelines()
        let files = ["--train", train, "--test", test, "--json"]
        let settings = ["FAVORITE_RATE_THRESHOLD": "1e9", "FEATURES": "nouns"]
        let set = try json(
            try await stage.run(words: ["evaluate", "classifier"] + files, environment: settings))
        #expect(set["threshold"] as? Double == 1e9)
        #expect(set["fired"] as? Int == 0)
        #expect(set["features"] as? String == "nouns")
        let flags = files + ["--threshold", "1.5", "--features", "content"]
        let given = try json(
            try await stage.run(words: ["evaluate", "classifier"] + flags, environment: settings))
        #expect(given["threshold"] as? Double == 1.5)
        #expect(given["fired"] as? Int == 10)
        #expect(given["features"] as? String == "content")
    }

    @Test func nothingFiresBeforeEnoughWasLearned() async throws {
        let (train, test) = try timelines(train: 30)
        let ending = try await evaluate("--train", train, "--test", test)
        #expect(
            ending.output.contains(
                "the bot would favorite nothing; too little was learned: 9 of 20"))
        #expect(
            try json(try await evaluate("--train", train, "--test", test, "--json"))["waiting"]
                is String)
    }

    @Test func writesThePredictions() async throws {
        let (train, test) = try timelines()
        let path = stage.folder.path("predictions.tsv")
        let ending = try await evaluate("--train", train, "--test", test, "--predictions", path)
        #expect(ending.status == 0)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let rows = text.split(separator: "\n").map { $0.split(separator: "\t") }
        #expect(rows.map { String($0[0]) } == (0..<30).map { "b\($0)" })
        expect(rows) {
            $0.allSatisfy { $0.count == 2 && $0[1].wholeMatch(of: /-?\d+\.\d{9}/) != nil }
        }
        try expect(#require(Double(rows[0][1]))) { $0 > 0 }
        try expect(#require(Double(rows[1][1]))) { $0 < 0 }
    }

    @Test func learnsAlongTheWay() async throws {
        // The file is not in the order of time.
        let test = try write(Self.timeline(120, name: "b").reversed(), to: "test.jsonl")
        let path = stage.folder.path("predictions.tsv")
        let cold = try json(
            try await evaluate("--test", test, "--prequential", "--json", "--predictions", path))
        #expect(cold["prequential"] as? Bool == true)
        #expect(cold["n_train"] as? Int == 0)
        #expect(cold["n_test"] as? Int == 120)
        let rows = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(rows[0] == "b0\t-2.197224577")
        let train = try write(Self.timeline(90, name: "a"), to: "train.jsonl")
        let warm = try await evaluate("--train", train, "--test", test, "--prequential")
        #expect(
            warm.output.contains(
                "learned     90 posts, 29 of them favorites, and each post after its prediction\n"))
        #expect(warm.output.contains(", in the order of time\n"))
        let untimed = try write(
            [#"{"id":"1","text":"bread","favorite":true}"#], to: "untimed.jsonl")
        let unordered = try await evaluate("--test", untimed, "--prequential")
        #expect(unordered.output.contains(", in the order of the file, which lacks times\n"))
    }

    @Test func theHelpNamesEveryFlag() async throws {
        let help = try await stage.run("evaluate", "classifier", "--help")
        #expect(help.status == 0)
        for flag in [
            "--train", "--test", "--prequential", "--features", "--threshold", "--base-rate-tail",
            "--base-rate-from",
            "--predictions", "--json", "--weights",
        ] { #expect(help.output.contains("\(flag) "), "\(flag) is missing") }
        try await expect(stage.run("evaluate", "--help").output) { $0.contains("\n  classifier ") }
    }

    // MARK: The base rate

    /// Favorites, then other posts, as a training from the network has them.
    private func seed() throws -> String {
        let lines = (0..<40).map {
            Self.line("s\($0)", $0 < 20 ? "fresh bread" : "rain and meetings", $0 < 20)
        }
        return try write(lines, to: "seed.jsonl")
    }

    @Test func theTailOfASeedIsThatOfTheTimelineBesideIt() async throws {
        let (train, test) = try timelines()
        let seed = try seed()
        let answer = try json(
            try await evaluate("--train", seed, "--test", test, "--base-rate-tail", "10", "--json"))
        #expect(answer["n_train"] as? Int == 40)
        #expect(answer["base_rate"] as? [String: Int] == ["posts": 10, "favorites": 3])
        #expect(answer["base_rate_file"] as? String == train)
        let table = try await evaluate("--train", seed, "--test", test, "--base-rate-tail", "10")
        #expect(
            table.output.contains(
                "base rate   3 favorites in 10 posts (30.0%), at the end of \(train)\n"))
    }

    @Test func theTailOfATimelineIsItsOwn() async throws {
        let (train, test) = try timelines()
        let answer = try json(
            try await evaluate("--train", train, "--test", test, "--base-rate-tail", "4", "--json"))
        #expect(answer["base_rate"] as? [String: Int] == ["posts": 4, "favorites": 1])
        #expect(answer["n_train_favorites"] as? Int == 29)
    }

    @Test func theBaseRateMayComeFromAnyFile() async throws {
        let (train, test) = try timelines()
        let other = try write(Self.timeline(8, name: "c"), to: "other.jsonl")
        let all = try json(
            try await evaluate(
                "--train", train, "--test", test, "--base-rate-from", other, "--json"))
        #expect(all["base_rate"] as? [String: Int] == ["posts": 8, "favorites": 2])
        let last = try json(
            try await evaluate(
                "--train", train, "--test", test, "--base-rate-from", other, "--base-rate-tail",
                "5", "--json"))
        #expect(last["base_rate"] as? [String: Int] == ["posts": 5, "favorites": 1])
    }

    @Test func theTailOfASeedAloneTellsNothing() async throws {
        let test = try write(Self.timeline(9, name: "b"), to: "test.jsonl")
        let ending = try await evaluate(
            "--train", try seed(), "--test", test, "--base-rate-tail", "10")
        #expect(ending.status == 65)
        #expect(ending.output.isEmpty)
        #expect(ending.error.contains("seed.jsonl"))
        #expect(ending.error.contains("--base-rate-from"))
    }

    // MARK: Bad input

    @Test func keepsTheGoodLinesAndNamesTheBadOnes() async throws {
        let train = try write(
            Self.timeline(60, name: "a") + [
                "secret words", #"{"id":"u","author":"a","text":"no label"}"#,
            ],
            to: "train.jsonl")
        let test = try write(Self.timeline(12, name: "a"), to: "test.jsonl")
        let ending = try await evaluate("--train", train, "--test", test, "--json")
        let answer = try json(ending)
        #expect(answer["left_out_train"] as? Int == 2)
        #expect(answer["left_out_test"] as? Int == 0)
        #expect(answer["repeated"] as? Int == 12)
        #expect(ending.error.contains("warning: 2 lines of \(train) are left out: "))
        #expect(ending.error.contains("train.jsonl, line 61: not valid JSON; 1 without a label\n"))
        #expect(ending.error.contains("warning: 12 of the predicted posts were also learned"))
        #expect(!ending.error.contains("secret words"))
    }

    @Test func whatIsNoLabelledFileIsBadData() async throws {
        let good = try write(Self.timeline(9, name: "a"), to: "good.jsonl")
        let bad = [
            try write(["just words"], to: "words.txt"), try write([""], to: "empty.jsonl"),
            try write([#"{"id":"1","author":"a","text":"no label"}"#], to: "unlabelled.jsonl"),
            try write(
                [#"{"id":"1","author":"a","text":"few","favorite":true,"visibility":"private"}"#],
                to: "few.jsonl"),
            try stage.folder.write(Data([0x50, 0x4B, 3, 4, 0xFF, 0, 0xFE]), to: "archive.zip"),
            stage.workingFolder, "/nowhere/posts.jsonl",
        ]
        for path in bad {
            for words in [["--train", path, "--test", good], ["--train", good, "--test", path]] {
                let ending = try await stage.run(
                    words: ["evaluate", "classifier", "--json"] + words)
                #expect(ending.status == 65, "\(words)")
                #expect(ending.output.isEmpty)
                #expect(
                    ending.error.hasPrefix("error: could not import \(path): "), "\(ending.error)")
                #expect(ending.error.split(separator: "\n").count == 1)
            }
        }
    }

    @Test func hostilePostsAreHarmless() async throws {
        let texts = [
            "\\u0000", "\\ud83d\\ude00", String(repeating: "a", count: 90_000), "\\u001b[2J\\u202e",
            "@", "#",
            "http://",
            String(repeating: "\\u0301", count: 5_000), "\\t", "\\ufdfa\\ufdfa",
        ]
        let lines = texts.enumerated().map { Self.line("\u{1F600}\($0)", $1, $0 % 2 == 0) }
        let path = try write(
            lines + lines + ["\u{0}", String(repeating: "[", count: 100_000)], to: "hostile.jsonl")
        for flags in [[], ["--prequential"]] {
            let ending = try await stage.run(
                words: ["evaluate", "classifier", "--train", path, "--test", path, "--json"] + flags
            )
            let answer = try json(ending)
            #expect(answer["n_test"] as? Int ?? 0 > 10)
            #expect(!ending.error.contains("\u{1B}"))
        }
    }

    @Test(arguments: [
        ["--test", "x"], ["--train", "x"], ["--train", "-", "--test", "-"],
        ["--train", "x", "--test", "y", "--threshold", "0"],
        ["--train", "x", "--test", "y", "--threshold", "nan"],
        ["--train", "x", "--test", "y", "--features", "verbs"],
        ["--train", "x", "--test", "y", "--weights", "heavy"],
        ["--train", "x", "--test", "y", "--base-rate-tail", "0"],
        ["--test", "y", "--prequential", "--base-rate-tail", "5"],
        ["--train", "x", "--test", "y", "--predictions", "x"],
        ["--train", "x", "--test", "./y", "--predictions", "y"],
    ])
    func misuseIsNamed(_ words: [String]) async throws {
        let ending = try await stage.run(words: ["evaluate", "classifier"] + words)
        #expect(ending.status == 64)
        #expect(ending.output.isEmpty)
        #expect(ending.error.hasPrefix("error: "))
        #expect(ending.error.contains("--"))
    }

    @Test func readsStandardInput() async throws {
        let (train, _) = try timelines()
        let ending = try await stage.run(
            "evaluate", "classifier", "--train", train, "--test", "-", "--json",
            input: Self.timeline(30, name: "b").joined(separator: "\n"))
        try expect(json(ending)["n_test"] as? Int, equals: 30)
    }

    @Test func tellsWhyPredictionsCannotBeWritten() async throws {
        let (train, test) = try timelines()
        let ending = try await evaluate(
            "--train", train, "--test", test, "--predictions", "/nowhere/p.tsv")
        #expect(ending.status == 69)
        #expect(ending.output.isEmpty)
        #expect(
            ending.error == """
                error: could not write the predictions to /nowhere/p.tsv: the folder /nowhere does not exist; make it with \
                mkdir -p /nowhere

                """)
        let full = try await evaluate(
            "--train", train, "--test", test, "--predictions", "/dev/full")
        #expect(full.status == 69)
        #expect(full.error.contains("the disk is full"))
    }

    @Test func settingsThatAreWrongAreNamed() async throws {
        let (train, test) = try timelines()
        for (name, value) in [
            ("MECAB_DICTIONARY", "/nowhere/dictionary"), ("FAVORITE_RATE_THRESHOLD", "much"),
        ] {
            let ending = try await evaluate(
                "--train", train, "--test", test, environment: [name: value])
            #expect(ending.status == 78)
            #expect(ending.error.contains(name))
        }
        // The dictionary is given by its folder, so MeCab's own settings do not matter.
        let ending = try await evaluate(
            "--train", train, "--test", test, environment: ["MECABRC": "/nowhere/mecabrc"])
        #expect(ending.status == 0)
    }
}
