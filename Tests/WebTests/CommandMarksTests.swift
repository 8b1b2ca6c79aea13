import Control
import Expectations
import Mirroring
import Posts
import Settings
import Testing

@testable import Web

/// Sentences of the program mark the commands and settings that they name, and nothing else.
@Suite(.timeLimit(.minutes(30))) struct CommandMarksTests {
    /// The sentence with its code between brackets.
    private static func marked(_ sentence: String) -> String {
        CommandMarks(sentence).parts.map { $0.isCode ? "[\($0.text)]" : "\($0.text)" }.joined()
    }

    private static let commands = [
        "start one with [mirror-bot run]",
        "[mirror-bot login mastodon --as bot] logs in again",
        "the server needs it (see [mirror-bot zones])",
        "nothing is sent: log in again: [mirror-bot login NETWORK --as bot].",
        "[mirror-bot run --once] was called every 5 min, and last ended at 2026-11-24 08:00",
        "run [mirror-bot resume] if that is intended",
        "[mirror-bot retire --cancel] takes that back",
        "[mirror-bot login x --as human --server https://far.example --rebind] lets the mirror follow",
        "the rest: [mirror-bot train scheduler --from ARCHIVE]; [mirror-bot doctor] says more",
        "was sent; [mirror-bot undo 2026-11-24#2] takes it back",
        "as in [mirror-bot plan move next 20:15], or so",
        "run [mirror-bot doctor --probe], which publishes an unlisted post",
        "see [mirror-bot undo proposed]",
        "for your decision: [mirror-bot suggestions --mirror ann]",
        "[mirror-bot set --mirror ann MAX_PER_DAY=3] is proposed",
        "[mirror-bot status --home '/srv/the mirrors' --mirror ann] says why",
        "[mirror-bot people deny NAME] leaves one alone",
        "is not applied; run [mirror-bot migrate]",
        "[mirror-bot status] says why, and [mirror-bot doctor] what to do.",
    ]
    private static let settings = [
        "[TIME_ZONE] is not set; the archive says Asia/Tokyo",
        "or [TRUST_ARCHIVE=yes] publishes them",
        "[FITNESS], [LINKS] and [MEDIA] decide on some",
        "one log-in for all (set [WEB_USER_HEADER])",
        "assumes [X_APP_OWNER=none], [MAX_PER_DAY=50].",
        "[QUIET_HOURS=23:00-07:00,12:00-13:00], then",
        "[MAX_PER_DAY] from 50 to 3.",
    ]
    private static let words = [
        "", "an update of mirror-bot", "the machine on which mirror-bot runs",
        "mirror-bot knows no such word", "It is X, A or NOBODY.", "MAX_PER_DAYS and MY_LINKS",
        "@FITNESS and #LINKS were there", "One person: LINKS@far.example, MEDIA@far.example",
        "\"mirror-bot run\" is no slot; \"LINKS\" is none",
        "“set QUIET_HOURS=none, says mirror-bot config” is muted",
        "a \"quotation without an end: mirror-bot run", "新しいパン屋のライ麦パンがおいしい。",
    ]

    @Test(arguments: commands + settings) func commandsAndSettingsAreCode(_ expected: String) {
        let sentence = expected.replacing("[", with: "").replacing("]", with: "")
        #expect(Self.marked(sentence) == expected)
        #expect(CommandMarks(sentence).parts.map(\.text).joined() == sentence)
        #expect(TerminalWords(html: CommandMarks(sentence).markup.text).found == [])
        #expect(TerminalWords(sentence).found != [])
    }

    @Test(arguments: words) func otherWordsStayText(_ sentence: String) {
        #expect(Self.marked(sentence) == sentence)
        #expect(CommandMarks(sentence).markup == "\(sentence)")
    }

    @Test func backticksGiveWayToTheMark() {
        #expect(
            Self.marked("step 40 is missing; run `mirror-bot migrate`; `make deps` too")
                == "step 40 is missing; run [mirror-bot migrate]; `make deps` too")
    }

    @Test func everySettingIsKnown() {
        for setting in AnySetting.all {
            #expect(Self.marked("\(setting.name) is no") == "[\(setting.name)] is no")
            guard setting.isSecret else { continue }
            #expect(Self.marked("in \(setting.name)_FILE") == "in [\(setting.name)_FILE]")
        }
    }

    @Test func theMarkupStaysText() {
        let marks = CommandMarks("<b> & mirror-bot set MIRROR=<i>, \u{202E}LINKS")
        #expect(
            marks.markup.text
                == "&lt;b&gt; &amp; <code>mirror-bot set MIRROR=&lt;i&gt;</code>,  LINKS")
    }

    @Test func aSentenceThatBeginsWithACommandStaysAsItIs() {
        #expect(Words.capitalized("mirror-bot run starts one") == "mirror-bot run starts one")
        #expect(Words.capitalized("mirror it") == "Mirror it")
    }

    /// What somebody wrote is no sentence of the program.
    @Test func textsOfPostsAreNotMarked() async throws {
        let text = "Say mirror-bot run and HUMAN_CONSENT=yes to post"
        try await WebStand.with(text: { "\(text) \($0)." }) { stand in
            let page = try await stand.client.send("/m/mika/texts?fitness=all")
            #expect(page.status == 200)
            #expect(page.body.contains("<bdi>\(text) "))
        }
    }

    // MARK: Refusals

    /// A refusal, and the page that it names or the words that it has for a browser.
    private static let refusals:
        [(operation: @Sendable (Desk) async throws -> Void, page: String)] =
            [
                ({ _ = try await $0.perform(PauseMirror(until: "soon")) }, "“Until” is \"soon\""),
                ({ _ = try await $0.perform(RetireMirror(date: "soon")) }, "“When” is \"soon\""),
                (
                    { _ = try await $0.perform(AddZone(zone: "Asia/Tokyo")) },
                    "give “From”, “To” or both"
                ),
                (
                    { _ = try await $0.perform(AddZone(zone: "Asia/Tokyo", from: "soon")) },
                    "such as 2019-03-01 and 2020-06-30"
                ),
                (
                    { _ = try await $0.perform(RemoveZone(time: "2018-01-01")) },
                    "the page Settings lists them"
                ),
                (
                    { _ = try await $0.perform(RemoveZone(time: "Asia/Tokyo")) },
                    "the page Settings lists the zones that are"
                ),
                (
                    { _ = try await $0.perform(ForgetText(.days(from: "soon", to: nil))) },
                    "such as 2019-03-01 and 2019-06-30"
                ),
                (
                    { _ = try await $0.perform(SkipSlot(slot: "4e17b0c2a913")) },
                    "that one is no action of this mirror; the page Actions lists all"
                ),
                (
                    { _ = try await $0.perform(ApproveSuggestion(id: "4e17b0c2a913")) },
                    "that one is no waiting suggestion; see the page Waiting"
                ),
                (
                    { _ = try await $0.perform(PublishPost(post: "https://far.example/1")) },
                    "give its address, or choose it on the page Texts"
                ),
                (
                    { _ = try await $0.perform(DenyPeople(account: "x:ann")) },
                    "which the page People shows"
                ),
            ]

    /// What a page refuses it says in the words of a page; the same in a terminal names commands,
    /// options or ids.
    @Test(arguments: refusals.indices)
    func aRefusalNamesTheControlsOfThePage(_ index: Int) async throws {
        let (operation, page) = Self.refusals[index]
        let stage = try await PageStage.open()
        let desk = try await stage.request("").desk
        let error = await #expect(throws: ChangeRefusal.self) { try await operation(desk) }
        let refusal = try #require(error)
        #expect(refusal.text.page.contains(page), "\(refusal.text.page)")
        let left = TerminalWords(refusal.text.page).found.filter { AnySetting.named($0) == nil }
        #expect(left == [], "\(refusal.text.page)")
        #expect(refusal.description != refusal.text.page)
        await stage.close()
    }

    /// A page that a sentence names is one of the navigation.
    @Test(arguments: [
        NamedControl.people, .zones, .suggestions, .health, .plan(of: .earliest), .textID, .skip,
        .actionNames("4"), .undo("4"), .restoring("4"), .moving("4"),
    ])
    func theNamedPageIsThere(_ control: NamedControl) throws {
        let name = try #require(control.page.firstMatch(of: /the page ([A-Z][a-z]+)/)).output.1
        expect(PageSection.allCases.map(\.title)) { $0.contains(String(name)) }
        #expect(control.terminal.contains("mirror-bot "))
    }
}
