import Fixtures
import Foundation
import Testing

@testable import Control
@testable import Settings

/// Commands that a sentence proposes are about the mirror that the sentence is about.
@Suite struct CommandWordsTests {
    @Test(arguments: [
        ("start one with mirror-bot run", "start one with mirror-bot run --mirror ann"),
        (
            "run mirror-bot train classifier --from FILE",
            "run mirror-bot train classifier --mirror ann --from FILE"
        ),
        ("mirror-bot setup leads through all", "mirror-bot setup --mirror ann leads through all"),
        ("mirror-bot login mastodon --as bot", "mirror-bot login --mirror ann mastodon --as bot"),
        ("see mirror-bot people list", "see mirror-bot people list --mirror ann"),
        ("mirror-bot status --mirror ann", "mirror-bot status --mirror ann"),
        ("an update of mirror-bot", "an update of mirror-bot"),
        ("mirror-bot mirrors pause ben", "mirror-bot mirrors pause ben"),
        ("mirror-bot migrate", "mirror-bot migrate"),
    ])
    func commandsAreAboutTheMirror(_ text: String, _ expected: String) {
        #expect(CommandWords.adding(["--mirror", "ann"], to: text) == expected)
        #expect(CommandWords.adding([], to: text) == text)
    }

    /// Every obstacle of a mirror that a command has to name.
    @Test func remediesNameTheMirror() {
        var facts = HealthTests.wellFacts()
        facts.flags = ["--mirror", "ann"]
        facts.worker = .absent
        facts.knowsPast = false
        facts.suggestions = 2
        let obstacles = facts.obstacles
        #expect(!obstacles.isEmpty)
        for obstacle in obstacles {
            if let command = obstacle.remedy?.command {
                #expect(command.hasSuffix("--mirror ann"), "\(command)")
            }
            let sentence = obstacle.sentence
            let named = sentence.ranges(of: "--mirror ann").count
            #expect(named == sentence.ranges(of: "mirror-bot ").count, "\(sentence)")
        }
    }
}
