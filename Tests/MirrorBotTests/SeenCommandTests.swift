import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Settings
import Testing

/// `--seen`, the ways back, and the reports that a person searches, through the command line.
@Suite(.timeLimit(.minutes(30))) struct SeenCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "Asia/Tokyo"]) }

    private var tomorrow: LocalDay {
        get throws {
            let zone = try #require(TimeZone(identifier: "Asia/Tokyo"))
            return LocalTime(Date(), in: zone).day.advanced(by: 1)
        }
    }

    private func decoded<Value: Decodable>(_ type: Value.Type, _ words: String...) async throws
        -> Value
    {
        try await decoded(type, words)
    }

    private func decoded<Value: Decodable>(_ type: Value.Type, _ words: [String]) async throws
        -> Value
    {
        let ending = try await stage.run(words: words + ["--json"])
        try #require(ending.status == 0, "\(ending.error)")
        return try Stage.decode(type, from: ending)
    }

    // MARK: What was seen

    @Test func aSlotThatSomebodyMovedIsNotSkipped() async throws {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let plan = try await stage.plan("--date", "\(tomorrow)")
        let slot = try #require(plan.slots.first)
        let seen = try #require(slot.seen?.description)
        try await expect(stage.run("plan", "move", slot.subject, "23:48").status, equals: 0)
        let refused = try await stage.run("plan", "skip", slot.subject, "--seen", seen)
        #expect(refused.status == 75)
        #expect(
            refused.error
                == "error: it has changed since it was shown; nothing was done, look again\n")
        let again = try #require(
            try await stage.plan("--date", "\(tomorrow)").slots.first { $0.id == slot.id })
        #expect(again.state == "planned")
        let now = try #require(again.seen?.description)
        try await expect(stage.run("plan", "skip", slot.subject, "--seen", now).status, equals: 0)
    }

    @Test func aDayThatIsAsItWasShownIsDrawnAnew() async throws {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let seen = try #require(try await stage.plan("--date", "\(tomorrow)").seen?.description)
        try await expect(
            stage.run("plan", "reroll", "\(tomorrow)", "--seen", seen).status, equals: 0)
        try await expect(
            stage.run("plan", "reroll", "\(tomorrow)", "--seen", seen).status, equals: 75)
    }

    @Test(arguments: ["", "1234", "0123456789abcdeg"]) func whatIsNoDigestIsRefused(_ text: String)
        async throws
    {
        let ending = try await stage.run("pause", "--seen", text)
        #expect(ending.status == 64)
        #expect(ending.error.contains("expected the 16 digits that a report gives as seen"))
    }

    @Test func aPauseIsKnownByItsDigest() async throws {
        try await stage.makeDatabase()
        let seen = try #require(try await stage.status().pauseSeen?.description)
        let pause = try await decoded(
            PauseChange.self, "pause", "--reason", "a funeral", "--seen", seen)
        #expect(pause.wayBack?.command == "mirror-bot resume")
        try await expect(stage.run("pause", "--seen", seen).status, equals: 75)
        try await expect(stage.run("resume", "--seen", pause.seen.description).status, equals: 0)
    }

    // MARK: Back

    @Test func whatWasLeftOutIsSentAfterAll() async throws {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let slot = try #require(try await stage.plan("--date", "\(tomorrow)").slots.first)
        let skipped = try await stage.run("plan", "skip", slot.subject)
        #expect(
            skipped.output.hasSuffix("to take it back: mirror-bot plan restore \(slot.subject)\n"))
        let twice = try await stage.run("plan", "skip", slot.subject)
        #expect(twice.status == 65)
        #expect(twice.error.contains("mirror-bot plan restore \(slot.subject)"))
        let restored = try await stage.run("plan", "restore", slot.subject)
        #expect(restored.status == 0)
        let after = try #require(
            try await stage.plan("--date", "\(tomorrow)").slots.first { $0.id == slot.id })
        #expect(after.state == "planned")
        #expect(after.text == slot.text)
        #expect(after.due == slot.due)
        try await expect(stage.run("plan", "restore", slot.subject).status, equals: 65)
    }

    @Test func aTextThatWasNeverToBeSentMayBeAgain() async throws {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let post = try #require(try await decoded(TextList.self, "texts").texts.first)
        let never = try await stage.run("never", post.post)
        #expect(never.output.contains("to take it back: mirror-bot never --undo \(post.post)\n"))
        try await expect(
            decoded(TextList.self, "texts", "--only", "never").texts.map(\.post),
            equals: [post.post])
        let back = try await stage.run("never", "--undo", post.post)
        #expect(back.output == "may be sent again: \(post.text)\n")
        try await expect(
            decoded(TextList.self, "texts", "--only", "never").texts.map(\.post), equals: [])
        // What the rules make of it is found out with the next plan.
        _ = try await stage.plan("--date", "\(tomorrow)")
        try await expect(decoded(TextList.self, "texts", "--only", "fit").texts.map(\.post)) {
            $0.contains(post.post)
        }
    }

    // MARK: Looking

    @Test func textsAreFoundByTheirWordsAndPageByPage() async throws {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let all = try await decoded(TextList.self, "texts", "--limit", "1000").texts
        #expect(all.count == 90)
        #expect(all.map(\.created) == all.map(\.created).sorted(by: >))
        let word = try #require(all[40].text.split(separator: " ").last.map(String.init))
        let found = try await decoded(TextList.self, "texts", word.uppercased(), "--limit", "1000")
            .texts
        #expect(found.map(\.post) == all.filter { $0.text.contains(word) }.map(\.post))
        var paged: [String] = []
        var next: String? = nil
        repeat {
            let words = ["texts", "--limit", "7"] + (next.map { ["--after", $0] } ?? [])
            let page = try await decoded(TextList.self, words)
            paged += page.texts.map(\.post)
            next = page.next
        } while next != nil
        #expect(paged == all.map(\.post))
        try await expect(stage.run("texts", "--after", "nowhere").status, equals: 64)
        try await expect(
            stage.run("texts", "no-such-word").output, equals: "no text of the kind is archived\n")
    }

    @Test func theHistoryIsFoundByKindStateAndWords() async throws {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let slot = try #require(try await stage.plan("--date", "\(tomorrow)").slots.first)
        try await expect(stage.run("plan", "skip", slot.subject).status, equals: 0)
        let skipped = try await decoded(ActionList.self, "history", "--state", "skipped").actions
        #expect(skipped.map(\.id) == [slot.id])
        #expect(skipped.first?.reasonText == "a person skipped it")
        let word = try #require(slot.text)
        let found = try await decoded(ActionList.self, "history", word).actions
        expect(found.map(\.id)) { $0.contains(slot.id) }
        try await expect(
            decoded(ActionList.self, "history", "--kind", "reply").actions.isEmpty, equals: true)
        try await expect(
            decoded(ActionList.self, "history", "--since", "2099-01-01").actions.isEmpty,
            equals: true)
        let text = try await stage.run("history", "--state", "skipped")
        #expect(text.output.contains("skipped, by-person"))
        try await expect(
            decoded(ActionList.self, "history", "--day", "2019-01-01").actions.isEmpty, equals: true
        )
        for wrong in [
            ["--kind", "like"], ["--since", "yesterday"], ["--after", "nowhere"], ["--limit", "0"],
            ["--day", "2026-02-30"], ["--day", "2026-01-01", "--since", "6h"],
        ] {
            try await expect(stage.run(words: ["history"] + wrong).status, equals: 64)
        }
    }

    @Test func peopleAreFoundByWordsAndByWhatWasSaid() async throws {
        try await stage.makeDatabase()
        for (word, account) in [("deny", "pal@near.example"), ("allow", "ann@far.example")] {
            try await expect(stage.run("people", word, account).status, equals: 0)
        }
        try await expect(
            decoded(PeopleList.self, "people", "list", "--stance", "denied").people.map(\.account),
            equals: ["pal@near.example"])
        try await expect(
            decoded(PeopleList.self, "people", "list", "ANN").people.map(\.account),
            equals: ["ann@far.example"])
        try await expect(stage.run("people", "list", "nobody").output, equals: "nobody\n")
        try await expect(stage.run("people", "list", "--stance", "hated").status, equals: 64)
    }
}
