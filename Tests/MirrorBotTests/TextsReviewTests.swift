import Expectations
import Foundation
import TestSupport
import Testing

/// `mirror-bot texts review` and `texts keep` as a person uses them.
@Suite(.timeLimit(.minutes(30))) struct TextsReviewTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "UTC"]) }

    /// Imports thirty posts that fit.
    private func train() async throws {
        let words = ["river", "kettle", "harbour", "bicycle", "lantern", "garden"]
        let lines = (0..<30).map { number in
            #"{"author":"me","id":"p\#(number)","text":"Every \#(words[number % 6]) has a secret name, number \#(number)","#
                + #""created_at":"2015-05-\#(number % 20 + 10)T08:\#(number + 10):00Z"}"#
        }
        let path = try stage.folder.write(
            Data(lines.joined(separator: "\n").utf8), to: "posts.jsonl")
        let ending = try await stage.run("train", "scheduler", "--from", path)
        #expect(ending.status == 0, "\(ending.error)")
    }

    private struct Review: Decodable {
        struct Text: Decodable { let post: String }

        let texts: [Text]
        let labels: Int
    }

    private func review() async throws -> Review {
        let ending = try await stage.run("texts", "review", "--json")
        return try JSONDecoder().decode(Review.self, from: Data(ending.output.utf8))
    }

    @Test func oneAnswerAfterTheOtherCountsAtOnce() async throws {
        try await train()
        let before = try await review()
        #expect(before.texts.count == 20)
        #expect(before.labels == 0)
        let ending = try await stage.type(
            ["texts", "review"],
            [("k keep", "k"), ("k keep", "x"), ("k keep", "N"), ("k keep", ""), ("k keep", "q")])
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output == "1 kept, 1 never sent; mirror-bot texts review goes on\n")
        #expect(ending.error.contains("\"x\" is none of the keys"))
        let after = try await review()
        #expect(after.labels == 2)
        #expect(after.texts.prefix(18).map(\.post) == before.texts.dropFirst(2).map(\.post))
        let never = try await stage.run("texts", "--only", "never")
        #expect(never.output.contains(before.texts[1].post), "\(never.output)")
        // A text that was excluded is kept after all.
        let kept = try await stage.run("texts", "keep", before.texts[1].post)
        #expect(kept.output.hasPrefix("kept: "), "\(kept.error)")
        try await expect(
            stage.run("texts", "--only", "never").output,
            equals: "no text of the kind is archived\n")
        let undone = try await stage.run("texts", "keep", "--undo", before.texts[1].post)
        #expect(undone.output.hasPrefix("not kept any more: "), "\(undone.error)")
        try await expect(review().labels, equals: 1)
        // A word that is also the name of a subcommand is found by the list.
        try await expect(stage.run("texts", "list", "review").status, equals: 0)
    }

    /// The end of the input ends a review; what was said before counts.
    @Test func aReviewWithoutATerminalReadsLines() async throws {
        try await train()
        let ending = try await stage.spawn(["texts", "review", "--limit", "3"], input: "k\nn\n")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output == "1 kept, 1 never sent; mirror-bot texts review goes on\n")
        try await expect(review().labels, equals: 2)
    }

    /// At a terminal one key is an answer, without Enter.
    @Test func atATerminalAKeyIsAnAnswer() async throws {
        try await train()
        let terminal = try PseudoTerminal()
        let program = try stage.start(
            ["texts", "review", "--limit", "2"], replacing: [0: terminal.inner])
        try await program.waitForError("1 of 2")
        try await program.waitForError("q quit: ")
        try terminal.type("k")
        try await program.waitForError("2 of 2")
        try terminal.type("n")
        let ending = await program.ending()
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output == "1 kept, 1 never sent\n")
        #expect(terminal.hasEcho)
    }
}
