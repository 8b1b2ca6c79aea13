import Archive
import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Web

/// The pages in use in Chromium: every operation without script from the page to the row, keys,
/// focus, and what the script renews; `make check-pages` asks for it.
@Suite(.enabled(if: BrowserVisit.python != nil), .timeLimit(.minutes(30)), .serialized)
struct UseInBrowserTests {
    // Nobody listens there: whatever is asked of the network fails at once.
    private static let variables = [
        "BOT_SERVER": "http://127.0.0.1:9", "HUMAN_SERVER": "http://127.0.0.1:9",
    ]

    private func visit(
        _ what: String, variables: [String: String] = Self.variables,
        check: (WebStand, String, [String: String]) async throws -> Void = { _, _, _ in }
    ) async throws {
        try await WebStand.with(variables: variables) { stand in
            _ = try await PageState.fill(stand)
            try await stand.installation.storage.execute(
                "UPDATE mirrors SET human_handle = 'mika@social.example', bot_handle = 'mika@bots.example'"
            )
            let task = BrowserVisit.Task(
                what: what, state: what, port: stand.client.port,
                names: [
                    "pal": MirrorLife.pal.reference, "password": WebStand.password,
                    "post": "https://social.example/@mika/7",
                ])
            let found = try await BrowserVisit.run(task) { try await check(stand, $0, $1) }
            for violation in found { Issue.record("\(violation)") }
        }
    }

    /// A part that somebody uses stays, another is renewed; keys; a hidden tab closes its stream.
    @Test func theScriptRenewsWhatIsNotInUse() async throws {
        var steps: [String] = []
        try await visit("use") { stand, step, values in
            // Two changes in one millisecond would have one stamp.
            if step == "tick" { return try await stand.clock.sleep(until: stand.clock.now + 1) }
            steps.append(step)
            if let slot = values["slot"] {
                try await expectMoved(slot, to: values["time"], try await stand.mirror())
            }
            guard let declined = values["declined"], let ticked = values["ticked"] else { return }
            let actions = try await stand.mirror().outbox(lease: nil).actions(withIDs: [
                declined, ticked,
            ])
            #expect(actions[declined]?.state == .skipped, "\(step)")
            #expect(actions[ticked]?.state == .suggested, "\(step)")
        }
        #expect(steps == ["one declined, another ticked", "moved by pointer", "moved by keys"])
    }

    /// A slot of the coming week, which is pinned at its new time.
    private func expectMoved(_ slot: String, to time: String?, _ mirror: HumanMirror) async throws {
        let action = try await mirror.outbox(lease: nil).action(.post, subject: slot)
        let moved = try #require(action, "\(slot)")
        let zone = try #require(TimeZone(identifier: WebStand.zone))
        #expect(moved.isPinned, "\(slot)")
        #expect(LocalTime(moved.due, in: zone).minute.description == time, "\(slot)")
    }

    /// Tab goes through a page as it is seen, nothing that has the focus is covered, and a wrong
    /// field gets it.
    @Test func everythingIsReachedByKeyboard() async throws { try await visit("keyboard") }

    /// Who is logged in, and who is not.
    @Test func aPersonLogsInAndOut() async throws {
        try await visit(
            "login", variables: Self.variables.merging(["WEB_PASSWORD": WebStand.password]) { $1 })
    }

    // MARK: Without script

    /// Every operation of the pages: the form, 303, the sentence, and the row.
    @Test func everyOperationWorksWithoutScript() async throws {
        var steps: [String] = []
        try await visit("operate") { stand, step, values in
            steps.append(step)
            try await check(step, values, try await stand.mirror())
        }
        #expect(Set(steps) == Self.operations)
    }

    private static let operations: Set<String> = [
        "skip", "restore", "move", "pin", "keep", "pause", "resume", "pause until", "reroll",
        "post", "slot", "never",
        "allow text", "forget text", "mute word", "unmute", "mute day", "mute days", "approve",
        "decline", "reopen",
        "approve ticked", "decline ticked", "keep proposed", "take back proposed", "take back",
        "deny", "allow", "link",
        "unlink", "forget person", "look", "take everything back", "set", "unset", "add zone",
        "remove zone", "theme",
        "try", "move in the week",
    ]

    /// What the store holds after a step.
    private func check(_ step: String, _ values: [String: String], _ mirror: HumanMirror)
        async throws
    {
        let outbox = mirror.outbox(lease: nil)
        func state(_ name: String) async throws -> Action? {
            let id = try #require(values[name], "\(step)")
            return try await outbox.actions(withIDs: [id])[id]
        }
        func count(_ sql: SQL) async throws -> Int {
            try await mirror.storage.query(sql).first?.int("count") ?? -1
        }
        switch step {
        case "skip": try await #expect(state("id")?.state == .skipped)
        case "restore": try await #expect(state("id")?.state == .planned)
        case "move":
            let moved = try #require(try await state("id"))
            let zone = try #require(TimeZone(identifier: WebStand.zone))
            #expect(LocalTime(moved.due, in: zone).minute.description == "23:17")
            #expect(moved.isPinned)
        case "move in the week":
            let slot = try #require(values["slot"])
            try await expectMoved(slot, to: values["time"], mirror)
        case "pin":
            try await #expect(state("id")?.text == "Post number 7.")
            try await #expect(state("id")?.isPinned == true)
        case "keep": try await #expect(state("id")?.isPinned == true)
        case "pause":
            #expect(
                try await mirror.table.pause(at: WebStand.now)?.until == WebStand.now + 3 * 3_600)
        case "pause until":
            #expect(try await mirror.table.pause(at: WebStand.now)?.reason == "a <b>walk</b>")
        case "resume": #expect(try await mirror.table.pause(at: WebStand.now) == nil)
        case "reroll":
            try await #expect(
                count("SELECT COUNT(*) AS count FROM actions WHERE reason = 'rerolled'") > 0)
        case "post", "slot":
            try await #expect(outbox.waitingPosts().contains { $0.text == values["text"] })
        case "never": try await #expect(count("SELECT COUNT(*) AS count FROM never_texts") == 1)
        case "allow text":
            try await #expect(count("SELECT COUNT(*) AS count FROM never_texts") == 0)
        case "forget text":
            let text = try #require(values["text"])
            try await #expect(
                count("SELECT COUNT(*) AS count FROM posts WHERE text = \(text)") == 0)
        case "mute word", "mute day", "mute days":
            try await #expect(count("SELECT COUNT(*) AS count FROM muted") == 1)
        case "unmute": try await #expect(count("SELECT COUNT(*) AS count FROM muted") == 0)
        case "approve": try await #expect(state("id")?.state == .planned)
        case "decline": try await #expect(state("id")?.state == .skipped)
        case "reopen": try await #expect(state("id")?.state == .suggested)
        case "approve ticked", "decline ticked":
            let state: ActionState = step == "approve ticked" ? .planned : .skipped
            let ids = try #require(values["ids"]).split(separator: " ").map(String.init)
            try await #expect(outbox.actions(withIDs: ids).values.map(\.state) == [state, state])
        case "keep proposed":
            try await #expect(
                outbox.proposedUndos().map(\.id).contains(values["id"] ?? "") == false)
        case "take back proposed", "take back":
            try await #expect(outbox.wantedUndos().map(\.id).contains(values["id"] ?? ""))
        case "deny": try await #expect(mirror.people.stance(of: MirrorLife.pal) == .deny)
        case "allow": try await #expect(mirror.people.stance(of: MirrorLife.pal) == .allow)
        case "link": try await #expect(mirror.people.linked(to: MirrorLife.pal).count == 2)
        case "unlink": try await #expect(mirror.people.linked(to: MirrorLife.pal).count == 1)
        // What a reply says that is under way is forgotten once that has ended.
        case "forget person":
            try await #expect(
                mirror.people.posts(about: MirrorLife.pal).map(\.id.value) == ["answer-0"])
        case "look":
            #expect(
                try await mirror.lastFindings()?.findings.contains { $0.subject == "database" }
                    == true)
        case "take everything back":
            let all = try await Undoing(mirror: mirror).outlookOnEverything().requests
            try await #expect(outbox.wantedUndos().count >= max(5, all))
        case "set": try await #expect(SettingsChange(of: mirror).settings.map(\.value) == ["3"])
        case "unset": try await #expect(SettingsChange(of: mirror).settings.isEmpty)
        case "add zone": try await #expect(count("SELECT COUNT(*) AS count FROM zones") == 1)
        case "remove zone": try await #expect(count("SELECT COUNT(*) AS count FROM zones") == 0)
        default: break
        }
    }
}
