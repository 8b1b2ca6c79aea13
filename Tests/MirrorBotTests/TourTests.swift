import Control
import Foundation
import Mirroring
import TestSupport
import Testing

/// The README's tour, line for line, in a home that has never seen mirror-bot.
@Suite(.timeLimit(.minutes(30))) struct TourTests {
    /// The commands of the block that begins with `mirror-bot demo`, without what explains them.
    private static func commands() throws -> [String] {
        let text = try Repository.text(of: "README.md")
        let blocks = text.components(separatedBy: "```sh\n").dropFirst().map {
            $0.components(separatedBy: "\n```")[0]
        }
        let tour = try #require(
            blocks.first { $0.hasPrefix("mirror-bot demo --") && $0.contains("--keep") })
        return tour.split(separator: "\n").map { line in
            // A comment, unlike the number of a slot, stands behind a space and before one.
            String(line.firstRange(of: " # ").map { line[..<$0.lowerBound] } ?? line)
                .trimmingCharacters(
                    in: .whitespaces)
        }
    }

    /// The words of a command as a shell reads them.
    private static func words(_ command: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote = Character?.none
        var isOpen = false
        for character in command {
            switch (character, quote) {
            case (let sign, .some(let end)) where sign == end: quote = nil
            case ("'", nil), ("\"", nil):
                quote = character
                isOpen = true
            case (" ", nil):
                if isOpen { words.append(word) }
                word = ""
                isOpen = false
            default:
                word = word + String(character)
                isOpen = true
            }
        }
        return Array((isOpen ? words + [word] : words).dropFirst())
    }

    /// What else a person may say to a mirror, each of which ends well on any store.
    private static let others = [
        "status --json", "stats", "stats --json", "plan --json", "plan pin next",
        "plan reroll 2026-06-04",
        "explain --text bread --author ann@social.example", "suggestions", "suggestions --json",
        "set MAX_PER_DAY=3", "unset MAX_PER_DAY", "set REVIEW=all", "mirrors", "mirrors --json",
        "config", "doctor",
        "score", "people list", "people deny kent@sandbox.example",
        "people allow kent@sandbox.example",
        "people report daichi@sandbox.example", "people report daichi@sandbox.example --json",
        "forget --day 12-24 --yes", "forget list --json",
        "forget --undo --day 12-24", "undo --since 1d --favorites --yes --json",
        "people forget daichi@sandbox.example --yes", "undo --resume", "undo proposed",
        "undo proposed --keep", "profile --yes", "profile --json", "migrate", "run --dry-run",
    ]

    @Test(arguments: [false, true]) func theTourOfTheReadmeLeadsToItsEnd(onPostgres: Bool)
        async throws
    {
        let commands = try Self.commands()
        #expect(commands.count > 10)
        // Six in the morning in Tokyo, when the day's posts are still to come, or eleven at night,
        // when they are over.
        let rehearsal = Rehearsal.Settings(
            origin: Date(timeIntervalSince1970: 1_780_434_000 + (onPostgres ? 61_200 : 0)),
            started: Date(), factor: 1)
        let stage = try Stage(rehearsal.variables.merging(["MIRROR_BOT_HOME": ""]) { $1 })
        let demo = try stage.start(Self.words(commands[0]))
        try await demo.waitForError("cd tour")
        let tour = stage.workingFolder + "/tour"
        var environment: [String: String] = [:]
        let server = onPostgres ? try await PostgresServer.start(password: "planted4711") : nil
        if let server {
            let moved = try await stage.start(["move", "--to", server.url()], in: tour).ending()
            try #require(moved.status == 0, "\(moved.error)")
            environment["DATABASE_URL"] = server.url()
        }
        // Whatever time it is, the plan of today has posts to come, and the next one is today's.
        let plan = try await stage.start(["plan", "--json"], in: tour, environment: environment)
            .ending()
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(plan.output.utf8)) as? [String: Any])
        let slots = try #require(report["slots"] as? [[String: Any]])
        #expect(slots.count { $0["state"] as? String == "planned" } >= 5, "\(plan.output)")
        let shown = try await stage.start(["plan"], in: tour, environment: environment).ending()
        let today = shown.output.prefix(10)
        let skipped = try await stage.start(
            ["plan", "skip", "next"], in: tour, environment: environment
        ).ending()
        #expect(skipped.output.hasPrefix("\(today)#"), "\(skipped.output)")
        for command in commands.dropFirst() + Self.others.map({ "mirror-bot \($0)" }) {
            let ending = try await stage.start(
                Self.words(command), in: tour, environment: environment
            ).ending()
            // No worker runs, which one command is right to find.
            let isExpected = ending.status == 0 || command.contains("doctor")
            #expect(isExpected, "\(command): \(ending.status) \(ending.error)")
            let isSilent = ["--html", "--once"].contains(where: command.contains)
            #expect(!ending.output.isEmpty || isSilent, "\(command)")
            #expect(!(ending.output + ending.error).contains("planted4711"), "\(command)")
        }
        demo.send(SIGTERM)
        _ = await demo.ending()
        #expect(FileManager.default.fileExists(atPath: tour + "/mirror.html"))
        withExtendedLifetime(server) {}
    }
}
