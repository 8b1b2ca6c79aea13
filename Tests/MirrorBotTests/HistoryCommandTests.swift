import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import TestSupport
import Testing

@testable import MirrorBot

/// `mirror-bot history`, and the last actions of `status`.
@Suite(.timeLimit(.minutes(30))) struct HistoryCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "UTC"]) }

    /// A post that was sent, and a reply and a favorite that were not, each a day older than the
    /// one before.
    private func act() async throws {
        try await stage.train(Fixture.lines())
        try await stage.withMirror { mirror in
            let outbox = mirror.outbox(lease: nil)
            let now = mirror.clock.now
            let text = String(repeating: "Bread that rises slowly 日本語のパン ", count: 6)
            let wording = Action.Wording(
                source: PostID(network: .mastodon, value: "1"), text: text, visibility: .unlisted)
            let pal = Action.Target(
                post: "https://social.example/1",
                author: AccountID(
                    network: .mastodon,
                    value: "somebody.with.a.long.name@a-long-server.social.example"),
                address: "1")
            let intents = [
                Intent(
                    .post(Slot.Name(day: LocalTime(now, in: .gmt).day, number: 1), wording),
                    state: .done, due: now,
                    expires: now),
                Intent(
                    .reply(Action.Reply(to: pal, thread: "t", wording: wording)), state: .skipped,
                    due: now,
                    expires: now, reason: "asked-to-stop"),
                Intent(
                    .favorite(pal), state: .failed, due: now, expires: now, reason: "unconfirmed"),
            ]
            for (age, intent) in intents.enumerated() {
                _ = try await outbox.propose(intent, now: now - Double(age) * 86_400)
            }
        }
    }

    @Test(arguments: [40, 60, 72, 80, 120]) func fitsTheTerminal(_ columns: Int) async throws {
        try await act()
        for words in [["history"], ["status"]] {
            let ending = try await stage.run(words: words, environment: ["COLUMNS": "\(columns)"])
            let lines = ending.output.split(separator: "\n").map(String.init)
            let start =
                try #require(
                    words == ["history"] ? 0 : lines.firstIndex { $0.hasSuffix("last actions") })
                + (words == ["history"] ? 0 : 1)
            let shown = lines[start...]
            #expect(shown.count >= 3)
            for line in shown { #expect(Printable.width(line) <= columns, "\(line)") }
            #expect(shown.contains { $0.contains("skipped, asked-to-stop") })
            // One line of `status` tells how to take back what was obeyed in doubt.
            #expect(
                shown.contains { $0.contains("reverted by: mirror-bot people") }
                    == (words == ["status"]))
        }
    }

    /// Our own signs are of the locale; texts of others stay as they are.
    @Test(arguments: [("C", false), ("POSIX", false), ("C.UTF-8", true), ("", true)])
    func cutsWithSignsThatTheLocaleHas(_ locale: String, _ isUnicode: Bool) async throws {
        try await act()
        for columns in ["40", "100"] {
            let ending = try await stage.run(
                "history", environment: ["LC_ALL": locale, "COLUMNS": columns])
            #expect(ending.output.contains("…") == isUnicode)
            #expect(ending.output.contains("...") == !isUnicode)
        }
    }

    /// A page that does not list everything says how much there is, as its JSON does.
    @Test func tellsHowMuchThereIs() async throws {
        try await act()
        let page = try await stage.run("history", "--limit", "1")
        #expect(page.output.contains("\nin all: 1 post done, 1 reply skipped, 1 favorite failed\n"))
        try await expect(stage.run("history").output) { !$0.contains("in all") }
        let json = try await stage.run("history", "--limit", "1", "--json").output
        #expect(json.contains("\"total\" : 3"))
        try await expect(stage.run("history", "--json", "bread").output) {
            !$0.contains("\"total\"")
        }
    }

    @Test func tellsWhatTheBotDidLastWeek() async throws {
        try await act()
        let week = try await stage.run("history", "--since", "7d")
        #expect(week.output.split(separator: "\n").count == 3)
        let day = try await stage.run("history", "--since", "12h")
        #expect(day.output.split(separator: "\n").count == 1)
        #expect(day.output.contains("post"))
        try await expect(stage.run("history", "--since", "7d", "--kind", "reply").output) {
            $0.contains("reply") && !$0.contains("favorite")
        }
        try await expect(stage.run("history", "--since", "7d", "--state", "done").output) {
            $0.split(separator: "\n").count == 1
        }
        let person = try await stage.run(
            "history", "--person", "@somebody.with.a.long.name@a-long-server.social.example")
        #expect(person.output.split(separator: "\n").count == 2)
        try await expect(stage.run("history", "--since", "1m", "--kind", "reply").output) {
            $0.hasPrefix("nothing of the kind")
        }
    }
}
