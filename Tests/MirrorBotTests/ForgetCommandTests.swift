import Archive
import Control
import Expectations
import Favorites
import Foundation
import Mirroring
import Outbox
import Posts
import TestSupport
import Testing

/// `forget`, `people forget` and `people report`, as a person types them.
@Suite(.timeLimit(.minutes(30))) struct ForgetCommandTests {
    private static let zone = ["TIME_ZONE": "UTC"]

    /// A machine, with an embedded store or a server, that knows these posts.
    private func stage(onServer: Bool, _ lines: String = Fixture.lines(days: 60, perDay: 6))
        async throws -> Stage
    {
        guard onServer else {
            let stage = try Stage(Self.zone)
            try await stage.train(lines)
            return stage
        }
        let stage = try await Stage.onServer(Self.zone)
        try await stage.train(lines)
        return stage
    }

    private func count(_ stage: Stage) async throws -> Int {
        try await stage.withMirror { try await $0.archive.count() }
    }

    @Test(arguments: [false, true]) func aPostIsForgottenForGood(onServer: Bool) async throws {
        let stage = try await stage(onServer: onServer)
        // Nobody can be asked here.
        let asked = try await stage.run("forget", "7-1")
        #expect(asked.status == 64)
        #expect(asked.error.contains("answer y, or pass --yes"))
        try await expect(count(stage), equals: 360)
        let tomorrow = String(Date(timeIntervalSinceNow: 86_400).rfc3339.prefix(10))
        let pinned = try await stage.run("plan", "pin", "\(tomorrow)#1", "7-1")
        try #require(pinned.status == 0, "\(pinned.error)")
        let gone = try await stage.run("forget", "7-1", "--yes")
        #expect(gone.status == 0, "\(gone.error)")
        #expect(gone.output.hasPrefix("forgotten: Loaf 1 of morning 7\n"), "\(gone.error)")
        #expect(gone.output.contains("\(tomorrow)#1 at "))
        #expect(gone.output.contains(" is pinned: no text; mirror-bot plan pin "))
        try await expect(
            stage.run("forget", "7-1", "--yes").output, equals: "that was forgotten already\n")
        try await stage.train(Fixture.lines(days: 60, perDay: 6))
        try await expect(count(stage), equals: 359)
        let list = try await stage.run("forget", "list")
        let digest = PostID(network: .mastodon, value: "7-1").forgottenDigest
        #expect(list.status == 0)
        #expect(list.output.hasSuffix("  post    \(digest)\n"))
        let undone = try await stage.run("forget", "--undo", "7-1")
        #expect(undone.output == "reverted; posts return when they are read again\n")
        try await expect(
            stage.run("forget", "--undo", "7-1").output,
            equals: "nothing to do: that was not forgotten\n")
        try await expect(
            stage.run("forget", "list").output, equals: "nothing is forgotten or muted\n")
        try await stage.train(Fixture.lines(days: 60, perDay: 6))
        try await expect(count(stage), equals: 360)
    }

    @Test(arguments: [false, true]) func wordsAndDaysAreMuted(onServer: Bool) async throws {
        let stage = try await stage(onServer: onServer)
        let word = try await stage.run("forget", "--word", "MORNING 7", "--yes", "--json")
        #expect(word.status == 0, "\(word.error)")
        for part in [#""schema" : "mirror-bot/forget/1""#, #""removed" : 6"#, #""is_new" : true"#] {
            #expect(word.output.contains(part), "\(part)")
        }
        try await expect(count(stage), equals: 354)
        try await stage.train(Fixture.lines(days: 60, perDay: 6))
        try await expect(count(stage), equals: 354)
        // Nothing leaves, so nothing is asked.
        let day = try await stage.run("forget", "--day", "02-29")
        #expect(day.status == 0)
        #expect(
            day.output == "muted: 02-29\nto take it back: mirror-bot forget --undo --day 02-29\n")
        let span = try await stage.run("forget", "--from", "2019-03-01", "--to", "2019-06-30")
        #expect(span.status == 0)
        #expect(
            span.output == """
                muted: 2019-03-01 to 2019-06-30
                to take it back: mirror-bot forget --undo --from 2019-03-01 --to 2019-06-30

                """)
        try await expect(
            stage.run("forget", "--day", "02-29").output, equals: "that was muted already: 02-29\n")
        let list = try await stage.run("forget", "list").output
        #expect(list.contains("  word    morning 7\n"))
        #expect(list.contains("  span    2019-03-01 to 2019-06-30\n"))
        try await expect(stage.run("forget", "list", "--json").output) {
            $0.contains(#""kind" : "day""#)
        }
        for words in [
            ["--word", "morning 7"], ["--day", "02-29"],
            ["--from", "2019-03-01", "--to", "2019-06-30"],
        ] {
            let undone = try await stage.run(words: ["forget", "--undo"] + words)
            #expect(undone.output.hasPrefix("reverted"), "\(words): \(undone.error)")
        }
        try await expect(
            stage.run("forget", "list").output, equals: "nothing is forgotten or muted\n")
        // All posts are of these days: nothing is left to send, and the times are still known.
        let all = try await stage.run("forget", "--from", "1990-01-01")
        #expect(all.status == 0)
        let plan = try await stage.plan()
        expect(plan.slots) { $0.allSatisfy { $0.text == nil } }
        expect(plan.humanHours) { $0.contains { $0 > 0 } }
    }

    @Test func whatCannotBeForgottenIsRefused() async throws {
        let stage = try await stage(onServer: false, Fixture.lines(days: 2))
        for words in [
            [], ["--yes"], ["7-1", "--word", "a"], ["nothing", "--yes"], ["--word", "", "--yes"],
            ["--day", "tomorrow"],
            ["--to", "2019-01-01"], ["--from", "2019-02-01", "--to", "2019-01-01"],
            ["--from", "soon"],
        ] {
            let ending = try await stage.run(words: ["forget"] + words)
            #expect(ending.status == 64, "\(words): \(ending.output)")
        }
        try await expect(count(stage), equals: 2)
    }

    @Test(arguments: [false, true]) func aPersonSeesWhatIsKnownOfThemAndIsForgotten(onServer: Bool)
        async throws
    {
        let stage = try await stage(onServer: onServer)
        let answer = """
            {"id":"r1","author":"me@home.example","text":"@pal@home.example <b>bread</b>\\u001b[31m","created_at":\
            "2025-01-01T10:00:00Z","reply_to_author":"pal@home.example"}

            """
        try await stage.train(answer)
        let learned = try await stage.run(
            "train", "classifier", "--from", "-", input: Fixture.examples(20))
        try #require(learned.status == 0, "\(learned.error)")
        try await expect(count(stage), equals: 361)

        let text = try await stage.run("people", "report", "@Pal@home.example")
        #expect(text.status == 0, "\(text.error)")
        #expect(text.output.hasPrefix("pal@home.example"), "\(text.error)")
        #expect(text.output.contains("<b>bread</b>"))
        #expect(text.output.contains("fresh bread from the oven 4"))
        #expect(!text.output.contains("\u{1B}"))
        let json = try await stage.run("people", "report", "pal@home.example", "--json")
        #expect(json.output.contains(#""schema" : "mirror-bot/person/1""#))
        let file = stage.folder.path("pal.html")
        try await expect(
            stage.run("people", "report", "pal@home.example", "--html", file).status, equals: 0)
        let page = try MarkupDocument(try String(contentsOfFile: file, encoding: .utf8))
        #expect(page.all("script").isEmpty)
        #expect(page.all("b").isEmpty)
        expect(page.all("body").first?.text) { $0?.contains("<b>bread</b>") == true }
        try await expect(
            stage.run("people", "report", "pal@home.example", "--html", file).status, equals: 64)
        try await expect(
            stage.run("people", "report", "pal@home.example", "--json", "--html", "-").status,
            equals: 64)

        let asked = try await stage.run("people", "forget", "pal@home.example")
        #expect(asked.status == 64)
        #expect(asked.error.contains("nothing was forgotten"))
        let gone = try await stage.run("people", "forget", "pal@home.example", "--yes")
        #expect(
            gone.output == """
                forgotten: pal@home.example
                  1 of the human's posts, which answered or named them
                  20 of their posts, which were learned

                """, "\(gone.error)")
        let status = try await stage.withMirror { try await $0.favorites().status() }
        #expect(status.seen == 0)
        #expect(status.favorites == 0)
        #expect(status.normals == 0)
        try await expect(count(stage), equals: 360)
        try await expect(stage.run("people", "list").output) { !$0.contains("pal") }
        try await expect(stage.run("forget", "list").output) { $0.contains("  person  ") }
        let empty = try await stage.run("people", "report", "pal@home.example")
        #expect(empty.output.hasPrefix("pal@home.example, forgotten"))
        #expect(!empty.output.contains("bread"))
        // Nothing of theirs comes in again until that is taken back.
        try await stage.train(answer)
        let refused = try await stage.run(
            "train", "classifier", "--from", "-", input: Fixture.examples(20))
        #expect(refused.status == 0, "\(refused.error)")
        try await expect(count(stage), equals: 360)
        try await expect(stage.withMirror { try await $0.favorites().status().seen }, equals: 0)
        let allowed = try await stage.run("people", "allow", "pal@home.example")
        #expect(
            allowed.output == "no longer forgotten: pal@home.example\nallowed: pal@home.example\n")
        try await stage.train(answer)
        try await expect(count(stage), equals: 361)
        let again = try await stage.run("people", "forget", "pal@home.example", "--yes", "--json")
        #expect(again.output.contains(#""posts" : 1"#))
        #expect(again.output.contains("mirror-bot/people-forget/1"))
    }
}
