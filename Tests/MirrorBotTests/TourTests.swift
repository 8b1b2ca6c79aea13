import Foundation
import Mirroring
import TestSupport
import Testing

/// The README's tour, line for line, in a home that has never seen mirror-bot.
@Suite(.timeLimit(.minutes(5))) struct TourTests {
    /// The commands of the block that begins with `mirror-bot demo`, without what explains them.
    private static func commands() throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```sh\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
        let tour = try #require(blocks.first { $0.hasPrefix("mirror-bot demo --") && $0.contains("--keep") })
        return tour.split(separator: "\n").map { line in
            // A comment, unlike the number of a slot, stands behind a space and before one.
            String(line.firstRange(of: " # ").map { line[..<$0.lowerBound] } ?? line).trimmingCharacters(
                in: .whitespaces)
        }
    }

    /// The words of a command as a shell reads them.
    private static func words(_ command: String) -> [String] {
        var words: [String] = []
        var (word, quote, isOpen) = ("", Character?.none, false)
        for character in command {
            switch (character, quote) {
            case (let sign, .some(let end)) where sign == end: quote = nil
            case ("'", nil), ("\"", nil): (quote, isOpen) = (character, true)
            case (" ", nil):
                if isOpen { words.append(word) }
                (word, isOpen) = ("", false)
            default: (word, isOpen) = (word + String(character), true)
            }
        }
        return Array((isOpen ? words + [word] : words).dropFirst())
    }

    @Test func theTourOfTheReadmeLeadsToItsEnd() async throws {
        let commands = try Self.commands()
        #expect(commands.count > 10)
        // Six in the morning in Tokyo: the day's posts are still to come.
        let rehearsal = Rehearsal.Settings(
            origin: Date(timeIntervalSince1970: 1_780_434_000), started: Date(), factor: 1)
        let stage = try Stage(rehearsal.variables.merging(["MIRROR_BOT_HOME": ""]) { $1 })
        let demo = try stage.start(Self.words(commands[0]))
        try await demo.waitForError("cd tour")
        for command in commands.dropFirst() {
            let ending = try await stage.start(Self.words(command), in: stage.workingFolder + "/tour").ending()
            #expect(ending.status == 0, "\(command): \(ending.error)")
            #expect(!ending.output.isEmpty || command.contains("--html") || command.contains("--once"), "\(command)")
        }
        demo.send(SIGTERM)
        _ = await demo.ending()
        #expect(FileManager.default.fileExists(atPath: stage.workingFolder + "/tour/mirror.html"))
    }
}
