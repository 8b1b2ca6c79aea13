import Expectations
import Foundation
import TestSupport
import Testing

/// `mirror-bot evaluate texts` as a person runs it.
@Suite(.timeLimit(.minutes(30))) struct EvaluateTextsTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    private func write(_ text: String, to name: String) throws -> String {
        try stage.folder.write(Data(text.utf8), to: name)
    }

    private func evaluate(_ words: String...) async throws -> Ending {
        try await stage.run(words: ["evaluate", "texts"] + words)
    }

    private static let lines = [
        #"{"id":"1","text":"Rivers forget nothing","language":"en","created_at":"2015-05-01T08:00:00Z","fit":true}"#,
        #"{"id":"2","text":"Tonight the moon is a coin","language":"en","fit":false,"reason":"time-bound"}"#,
        #"{"id":"3","text":"Good morning, kettle","language":"en","fit":false,"reason":"dated"}"#,
        #"{"id":"4","text":"昨日は雨だった","language":"ja","fit":true}"#,
        #"{"id":"5","text":"Find us at the window","language":"en","fit":false,"reason":"event"}"#,
        #"{"id":"6","text":"An answer","reply_to_author":"mira"}"#,
        #"{"id":"7","text":"Not for all","visibility":"private"}"#,
        #"{"id":"8","text":"RT @mira: not mine"}"#, "no json",
    ]

    private struct Answer: Decodable {
        let schema: String
        struct Cost: Decodable, Equatable {
            let reason: String
            let line: Int?
            let refuses, restricts, demotes, alone: Int
        }

        let posts, fit, plain, unfit, sometimes, problems: Int
        let costs, rows: [Cost]
        let later: [String: Int]
        let byReason: [String: Int]
        let precision, recall, poolShare: Double?
        let samples: [String: [[String: String]]]
    }

    @Test func theTextsOfAFileAreJudgedAndComparedWithLabels() async throws {
        let path = try write(Self.lines.joined(separator: "\n"), to: "texts.jsonl")
        let ending = try await evaluate("--from", path, "--labels", path, "--json")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.error.contains("1 posts cannot be read"), "\(ending.error)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let answer = try decoder.decode(Answer.self, from: Data(ending.output.utf8))
        #expect(answer.schema == "mirror-bot/evaluate-texts/1")
        #expect(answer.posts == 6)
        #expect(answer.fit == 2)
        #expect(answer.unfit == 4)
        #expect(answer.sometimes == 1)
        #expect(answer.byReason == ["time-bound": 2, "greeting-time": 1, "names-somebody": 1])
        // Of three that the rules find among the labelled ones a person finds two, and one more.
        #expect(answer.precision == 2.0 / 3)
        #expect(answer.recall == 2.0 / 3)
        let plain = try await evaluate("--from", path, "--samples", "1")
        #expect(plain.status == 0)
        #expect(plain.output.contains("times 04:00..10:59"))
        #expect(!plain.output.contains("precision"))
    }

    /// One text with a link and a time, one with a link, one about public affairs.
    @Test func whatEachRuleCostsIsShown() async throws {
        let texts = [
            #"{"id":"1","text":"Tonight: slow bread https://example.org/1","fit":false}"#,
            #"{"id":"2","text":"All about slow bread https://example.org/2","fit":true}"#,
            #"{"id":"3","text":"The parliament owns no bicycle","fit":false}"#,
            #"{"id":"4","text":"Rivers forget nothing","fit":true}"#,
        ]
        let path = try write(texts.joined(separator: "\n"), to: "costs.jsonl")
        let ending = try await evaluate("--from", path, "--labels", path, "--json")
        #expect(ending.status == 0, "\(ending.error)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let answer = try decoder.decode(Answer.self, from: Data(ending.output.utf8))
        #expect(answer.fit == 3)
        #expect(answer.plain == 1)
        #expect(answer.later == ["with-link": 1, "public-affairs": 1])
        // A link alone is nothing that a person finds unfit; public affairs are.
        #expect(answer.precision == 1)
        #expect(answer.recall == 1)
        func cost(_ reason: String) -> Answer.Cost? { answer.costs.first { $0.reason == reason } }
        #expect(
            cost("with-link")
                == Answer.Cost(
                    reason: "with-link", line: nil, refuses: 0, restricts: 0, demotes: 2, alone: 1))
        #expect(
            cost("time-bound")
                == Answer.Cost(
                    reason: "time-bound", line: nil, refuses: 1, restricts: 0, demotes: 0, alone: 0)
        )
        #expect(cost("public-affairs")?.alone == 1)
        expect(answer.rows) { $0.allSatisfy { $0.line != nil } }
        #expect(answer.rows.map(\.demotes).reduce(0, +) == 3)
        let shown = try await evaluate("--from", path)
        #expect(shown.output.contains("what each rule costs"), "\(shown.output)")
        let strict = try await stage.run(
            words: ["evaluate", "texts", "--from", path, "--labels", path, "--json"],
            environment: ["FITNESS": "strict"]
        )
        #expect(try decoder.decode(Answer.self, from: Data(strict.output.utf8)).recall == 0.5)
    }

    /// Simulated persons who would not speak of kettles: what comes first after their labels is
    /// seldom about one.
    @Test func whatIsLearnedFromPersonsIsMeasured() async throws {
        struct Measured: Decodable {
            struct Learning: Decodable {
                struct Row: Decodable {
                    let texts: String
                    let labels: Int
                    let outOfPlace, inPlaceFirst: Double
                }

                let persons: Int
                let rows: [Row]
            }

            let learning: Learning
        }
        let lines = (0..<120).map { number in
            let (subject, isFit) = number % 2 == 0 ? ("wide river", true) : ("copper kettle", false)
            return #"{"id":"\#(number)","text":"Every \#(subject) has a name","fit":\#(isFit)}"#
        }
        let path = try write(lines.joined(separator: "\n"), to: "texts.jsonl")
        let ending = try await evaluate(
            "--from", path, "--labels", path, "--persons", "20", "--json")
        #expect(ending.status == 0, "\(ending.error)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let learning = try decoder.decode(Measured.self, from: Data(ending.output.utf8)).learning
        #expect(learning.persons == 20)
        #expect(learning.rows.filter { $0.texts == "all" }.map(\.labels) == [0, 12, 20, 50])
        let none = learning.rows[0]
        let fifty = learning.rows[3]
        #expect(none.inPlaceFirst == 1)
        expect(none.outOfPlace) { (0.4...0.6).contains($0) }
        #expect(fifty.outOfPlace < 0.1)
        #expect(fifty.inPlaceFirst > 0.9)
        let again = try await evaluate(
            "--from", path, "--labels", path, "--persons", "20", "--json")
        #expect(again.output == ending.output)
        let shown = try await evaluate("--from", path, "--labels", path, "--persons", "20")
        #expect(shown.output.contains("learned from persons"))
        try await expect(evaluate("--from", path, "--persons", "20").status, equals: 64)
    }

    @Test func wrongUseIsExplained() async throws {
        try await expect(evaluate("--from", stage.folder.path("nowhere")).status, equals: 65)
        let texts = try write(Self.lines[0], to: "texts.jsonl")
        let labels = try write(#"{"id":"1"}"#, to: "labels.jsonl")
        let ending = try await evaluate("--from", texts, "--labels", labels)
        #expect(ending.status == 65)
        #expect(ending.error.contains("fit is missing"))
        try await expect(evaluate("--from", texts, "--samples", "-1").status, equals: 64)
        try await expect(evaluate("--from", texts, "--time-zone", "Berlin").status, equals: 64)
        try await expect(evaluate("--from", "-", "--labels", "-").status, equals: 64)
    }
}
