import Archive
import Expectations
import Foundation
import HTTPTypes
import Outbox
import Posts
import Testing

@testable import Control
@testable import Mirroring
@testable import Web

/// The operations of the pages Texts and Settings: from the form to the row, and back.
@Suite(.timeLimit(.minutes(30))) struct LikenessOperationsTests {
    private static let post = "https://home.example/@ann/1000"

    private func setting(_ stage: PageStage, _ name: String) async throws -> String? {
        try await SettingsChange(of: stage.mirror).settings.first { $0.name == name }?.value
    }

    /// The fields that a confirmation sends.
    private func form(_ question: Web.Confirmation) -> [(String, String)] {
        question.fields + (question.seen.map { [("seen", $0.description)] } ?? [])
    }

    /// Presses the button beside a sentence.
    private func undo(_ said: Said, _ page: any MirrorPage.Type, _ stage: PageStage) async throws
        -> Said?
    {
        let button = try #require(said.wayBack)
        let pattern = String(button.action.dropFirst("/m/test".count))
        let reply = try await stage.answer(page, .post, pattern, form: button.fields)
        return try #require(reply.way).said
    }

    // MARK: Settings

    @Test func aValueIsShownFirstThenSetAndTakenBack() async throws {
        let stage = try await PageStage.open()
        let asked = try await stage.answer(
            SettingsPage.self, .get, "/settings/set",
            query: [("name", "MAX_PER_DAY"), ("value", "3")])
        let question = try #require(asked.question)
        #expect(question.lead == "MAX_PER_DAY from 50 to 3.")
        #expect(
            question.notes.first
                == "Today stays as planned (0 to come); tomorrow will have at most 3.")
        #expect(try await setting(stage, "MAX_PER_DAY") == nil)
        let done = try await stage.answer(
            SettingsPage.self, .post, question.action, form: form(question))
        let said = try #require(done.way?.said)
        #expect(said.text.hasPrefix("MAX_PER_DAY is 3 now; taken up within a minute"))
        #expect(try await setting(stage, "MAX_PER_DAY") == "3")
        let undone = try await undo(said, SettingsPage.self, stage)
        #expect(undone?.text == "MAX_PER_DAY is no longer set here.")
        #expect(try await setting(stage, "MAX_PER_DAY") == nil)
        let again = try await undo(try #require(undone), SettingsPage.self, stage)
        #expect(try await setting(stage, "MAX_PER_DAY") == "3")
        #expect(again?.wayBack?.verb == "Use the default again")
        await stage.close()
    }

    @Test(arguments: [
        ("QUIET_HOURS", "23:00-25:00"), ("MAX_PER_DAY", "many"), ("FITNESS", "<script>"),
        ("TIME_ZONE", "Mars"),
        ("DATABASE_URL", "postgres://elsewhere"), ("SECRET_KEY", "x"), ("NOTHING", "1"),
        ("MAX_PER_DAY", " "),
    ])
    func aValueThatCannotBeUsedIsKeptInItsForm(_ name: String, _ value: String) async throws {
        let stage = try await PageStage.open()
        for (method, pattern) in [(.get, "/settings/set"), (.post, "/settings")]
            as [(HTTPRequest.Method, String)]
        {
            let fields = [("name", name), ("value", value)]
            let reply = try await stage.answer(
                SettingsPage.self, method, pattern, query: method == .get ? fields : [],
                form: method == .get ? [] : fields)
            let content = try #require(reply.content)
            let page = try RenderedPage(content, of: SettingsPage.self)
            if page.html.contains("id=\"v-\(name)\""), !value.contains("<"), value != " " {
                #expect(page.html.contains("aria-invalid=\"true\" aria-describedby=\"e-\(name)\""))
                #expect(page.html.contains("id=\"e-\(name)\""))
                #expect(page.html.contains("value=\"\(value)\""))
            }
            #expect(try await setting(stage, name) == nil)
        }
        await stage.close()
    }

    @Test func whatSomebodyElseSetMeanwhileIsNotOverwritten() async throws {
        let stage = try await PageStage.open()
        let asked = try await stage.answer(
            SettingsPage.self, .get, "/settings/set",
            query: [("name", "MAX_PER_DAY"), ("value", "3")])
        let question = try #require(asked.question)
        try await stage.mirror.set(["MAX_PER_DAY": "9"], now: PageStage.now)
        let reply = try await stage.answer(
            SettingsPage.self, .post, "/settings", form: form(question))
        #expect(reply.content != nil)
        #expect(try await setting(stage, "MAX_PER_DAY") == "9")
        await stage.close()
    }

    @Test func aZoneIsShownFirstThenNotedAndTakenBack() async throws {
        let stage = try await PageStage.open()
        try await stage.archive((0..<5).map { "Bread number \($0)." })
        let query = [("zone", "Asia/Tokyo"), ("from", "2026-04-01"), ("to", "2026-04-30")]
        let question = try #require(
            try await stage.answer(SettingsPage.self, .get, "/settings/zone", query: query).question
        )
        #expect(
            question.lead
                == "From 2026-04-01 to 2026-04-30: 5 archived posts of that time count by that clock."
        )
        let done = try await stage.answer(
            SettingsPage.self, .post, question.action, form: form(question))
        let said = try #require(done.way?.said)
        #expect(
            said.text
                == "Noted: Asia/Tokyo, from 2026-04-01 to 2026-04-30. 5 posts have another hour now."
        )
        let page = try RenderedPage(
            try await stage.content(SettingsPage.self, "/settings"), of: SettingsPage.self)
        #expect(page.html.contains("from 2026-04-01 to 2026-04-30</th><td>Asia/Tokyo</td>"))
        let removal = try #require(
            try await stage.answer(
                SettingsPage.self, .get, "/settings/zone",
                query: [("zone", "Asia/Tokyo"), ("remove", "2026-04-01")]
            ).question)
        #expect(removal.lead == "5 archived posts of that time count by UTC again.")
        let removed = try await stage.answer(
            SettingsPage.self, .post, removal.action, form: form(removal))
        let back = try await undo(try #require(removed.way?.said), SettingsPage.self, stage)
        #expect(back?.text.hasPrefix("Noted: Asia/Tokyo") == true)
        await stage.close()
    }

    @Test(
        arguments: [
            [("zone", "Mars")], [("zone", "Asia/Tokyo")],
            [("zone", "Asia/Tokyo"), ("from", "yesterday")],
            [("zone", "Asia/Tokyo"), ("from", "2026-02-01"), ("to", "2026-01-01")], [],
        ] as [[(String, String)]])
    func aZoneThatCannotBeNotedIsKeptInItsForm(_ query: [(String, String)]) async throws {
        let stage = try await PageStage.open()
        let reply = try await stage.answer(SettingsPage.self, .get, "/settings/zone", query: query)
        let page = try RenderedPage(try #require(reply.content), of: SettingsPage.self)
        for (name, value) in query {
            #expect(page.html.contains("name=\"\(name)\"") && page.html.contains(value))
        }
        await stage.close()
    }

    // MARK: Texts

    @Test func aTextIsNeverSentAndSentAgain() async throws {
        let stage = try await PageStage.open()
        try await stage.archive(["The bread of the old bakery.", "Another one."])
        let ask = try #require(TextsPage.confirmations["never"])
        let question = try await ask(
            try await stage.request("/confirm/never", query: [("post", Self.post)]))
        #expect(question.things.map(\.text) == ["The bread of the old bakery."])
        let done = try await stage.answer(
            TextsPage.self, .post, question.action, form: form(question))
        let said = try #require(done.way?.said)
        #expect(said.text == "That text is never sent.")
        let never = try await stage.content(TextsPage.self, "/texts", query: [("fitness", "never")])
        let page = try RenderedPage(never, of: TextsPage.self)
        #expect(page.count("<p class=\"at\">") == 1)
        #expect(page.html.contains("Let it be sent again"))
        let undone = try await undo(said, TextsPage.self, stage)
        #expect(undone?.text == "That text may be sent again.")
        // Pressing twice does once.
        let twice = try await undo(said, TextsPage.self, stage)
        #expect(twice?.text == "Nothing to do: that text was not left out.")
        await stage.close()
    }

    /// Each text of a review has a form of its own, and none that was answered is asked for again.
    @Test func aReviewAsksOfOneTextAfterTheOther() async throws {
        let stage = try await PageStage.open()
        try await stage.archive(["The bread of the old bakery.", "Another one is round."])
        try await stage.mirror.archive.prepare(by: stage.mirror.textJudge(zone: .gmt))
        func page() async throws -> RenderedPage {
            let review = try await stage.content(TextsPage.self, "/texts", query: [("review", "1")])
            return try RenderedPage(review, of: TextsPage.self)
        }
        try await expect(page().count(">Keep it</button>"), equals: 2)
        let text = try #require(try await TextReview(of: stage.mirror, atMost: 10).texts.first)
        let wrong = [("post", text.post), ("review", "1"), ("seen", "0123456789abcdef")]
        let refused = try await stage.answer(TextsPage.self, .post, "/texts/keep", form: wrong)
        #expect(refused.content != nil)
        let form = [("post", text.post), ("review", "1"), ("seen", text.seen.description)]
        let done = try await stage.answer(TextsPage.self, .post, "/texts/keep", form: form)
        let said = try #require(done.way?.said)
        #expect(said.text == "That text is kept.")
        try await expect(page().count(">Keep it</button>"), equals: 1)
        let undone = try await undo(said, TextsPage.self, stage)
        #expect(undone?.text == "Nothing is learned from that text any more.")
        try await expect(page().count(">Keep it</button>"), equals: 2)
        let never = try await stage.answer(TextsPage.self, .post, "/texts/never", form: form)
        #expect(never.way?.said?.text == "That text is never sent.")
        try await expect(page().count(">Keep it</button>"), equals: 1)
        await stage.close()
    }

    @Test func aTextThatChangedIsNotDecidedAbout() async throws {
        let stage = try await PageStage.open()
        try await stage.archive(["The bread of the old bakery."])
        let ask = try #require(TextsPage.confirmations["forget"])
        let question = try await ask(
            try await stage.request("/confirm/forget", query: [("post", Self.post)]))
        var fields = question.fields
        fields.append(("seen", "0123456789abcdef"))
        let reply = try await stage.answer(TextsPage.self, .post, question.action, form: fields)
        #expect(reply.content != nil)
        #expect(try await stage.mirror.archive.count() == 1)
        let done = try await stage.answer(
            TextsPage.self, .post, question.action, form: form(question))
        #expect(done.way?.said?.text == "The post is forgotten.")
        #expect(try await stage.mirror.archive.count() == 0)
        let back = try await undo(try #require(done.way?.said), TextsPage.self, stage)
        #expect(back?.text.hasPrefix("Allowed again") == true)
        await stage.close()
    }

    @Test func aWordIsMutedAndAllowedAgain() async throws {
        let stage = try await PageStage.open()
        try await stage.archive(["The bread of the old bakery.", "Rain.", "More BREAD."])
        let asked = try await stage.answer(
            TextsPage.self, .get, "/muted", query: [("word", "bread")])
        let question = try #require(asked.question)
        #expect(question.verb == "Mute it and remove 2 posts")
        let done = try await stage.answer(
            TextsPage.self, .post, question.action, form: form(question))
        #expect(done.way?.said?.text == "“bread” is muted. 2 posts left the archive.")
        #expect(try await stage.mirror.archive.count() == 1)
        let page = try RenderedPage(
            try await stage.content(TextsPage.self, "/texts"), of: TextsPage.self)
        #expect(
            page.html.contains(
                "<th scope=\"row\"><bdi>bread</bdi></th><td data-name=\"kind\">word</td>"))
        let entry = try #require(
            try await Forgetting(mirror: stage.mirror, zone: .gmt).list().first?.seen)
        #expect(page.html.contains("name=\"entry\" value=\"\(entry)\""))
        let removed = try await stage.answer(
            TextsPage.self, .post, "/muted/remove", form: [("entry", entry.description)])
        #expect(removed.way?.said?.text.hasPrefix("Allowed again") == true)
        let again = try await stage.answer(
            TextsPage.self, .post, "/muted/remove", form: [("entry", entry.description)])
        #expect(again.way?.said?.text.hasPrefix("Nothing to do") == true)
        await stage.close()
    }

    @Test(
        arguments: [
            ([("day", "12-24")], "12-24", "every year"),
            ([("day", "2026-04-18")], "2026-04-18", "day"),
            ([("from", "2026-04-01"), ("to", "2026-04-30")], "2026-04-01 to 2026-04-30", "time"),
            ([("from", "2026-04-01")], "from 2026-04-01 on", "time"),
        ] as [([(String, String)], String, String)])
    func aTimeIsMutedAndAllowedAgain(
        _ fields: [(String, String)], _ name: String, _ kind: String
    ) async throws {
        let stage = try await PageStage.open()
        try await stage.archive(["The bread of the old bakery."])
        let question = try #require(
            try await stage.answer(TextsPage.self, .get, "/muted", query: fields).question)
        let done = try await stage.answer(
            TextsPage.self, .post, question.action, form: form(question))
        #expect(done.way?.said?.text.hasSuffix("is muted.") == true)
        let page = try RenderedPage(
            try await stage.content(TextsPage.self, "/texts"), of: TextsPage.self)
        #expect(page.html.contains("<bdi>\(name)</bdi></th><td data-name=\"kind\">\(kind)</td>"))
        let entry = try #require(
            try await Forgetting(mirror: stage.mirror, zone: .gmt).list().first)
        let removed = try await stage.answer(
            TextsPage.self, .post, "/muted/remove",
            form: [("entry", try #require(entry.seen).description)])
        #expect(removed.way?.said?.text.hasPrefix("Allowed again") == true)
        #expect(try await Forgetting(mirror: stage.mirror, zone: .gmt).list().isEmpty)
        await stage.close()
    }

    @Test(arguments: [[("word", "\u{200B}")], [("day", "Christmas")], [("from", "2026-13-01")], []])
    func whatCannotBeMutedIsKeptInItsForm(_ fields: [(String, String)]) async throws {
        let stage = try await PageStage.open()
        let reply = try await stage.answer(TextsPage.self, .get, "/muted", query: fields)
        let page = try RenderedPage(try #require(reply.content), of: TextsPage.self)
        if let (_, value) = fields.first, value != "\u{200B}" {
            #expect(page.html.contains("value=\"\(value)\""))
        }
        await stage.close()
    }

    @Test func aTextIsPostedOrPutIntoASlot() async throws {
        let stage = try await PageStage.open()
        try await stage.archive(["The bread of the old bakery.", "Rain over the harbor."])
        _ = try await stage.mirror.table.notePast(.whole, now: PageStage.now)
        let ask = try #require(TextsPage.confirmations["post"])
        let question = try await ask(
            try await stage.request("/confirm/post", query: [("post", Self.post)]))
        #expect(question.things.map(\.text) == ["The bread of the old bakery."])
        #expect(question.notes.first == "Costs nothing.")
        let done = try await stage.answer(
            TextsPage.self, .post, question.action, form: form(question))
        let said = try #require(done.way?.said)
        #expect(
            said.text == "It is sent as soon as the worker comes to it.")
        let waiting = try await stage.mirror.outbox(lease: nil).waitingPosts()
        #expect(waiting.compactMap(\.text).contains("The bread of the old bakery."))
        #expect(
            said.wayBack?.action
                == "/m/test/slots/\(waiting.first { $0.text?.contains("bread") == true }?.id ?? "")/skip"
        )
        await stage.close()
    }

    @Test(arguments: ["post", "never", "forget"])
    func aPostThatIsNotThereIsRefused(_ name: String) async throws {
        let stage = try await PageStage.open()
        let ask = try #require(TextsPage.confirmations[name])
        for query in [[("post", "https://home.example/@ann/1")], []] {
            let request = try await stage.request("/confirm/\(name)", query: query)
            await #expect(throws: ChangeRefusal.self) { _ = try await ask(request) }
        }
        let reply = try await stage.answer(
            TextsPage.self, .post, "/texts/\(name)", form: [("post", "elsewhere")])
        #expect(reply.content != nil)
        await stage.close()
    }

    // MARK: Favorites

    @Test func aPostWithoutWordsIsNotJudged() async throws {
        let stage = try await PageStage.open()
        for text in ["", "  \n", String(repeating: "x", count: 30_001)] {
            let reply = try await stage.answer(
                FavoritesPage.self, .post, "/favorites/try", form: [("text", text)])
            #expect(reply.content != nil)
        }
        await stage.close()
    }
}
