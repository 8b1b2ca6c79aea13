import Expectations
import Foundation
import TestSupport
import Testing

/// `mirror-bot evaluate texts` as a person runs it.
@Suite(.timeLimit(.minutes(2))) struct EvaluateTextsTests {
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
        let posts, fit, unfit, sometimes, problems: Int
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
