import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Whether a person who decides sees what about, and for how long and how much.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct SuggestionListTests {
    private static let word = "quillwort"

    /// A mirror whose replies wait for a person, with a mention of somebody whom the human answered
    /// before.
    private func mirror(
        _ engine: Engine = .sqlite, on network: NetworkName, saying text: String,
        handle: String = "friend.example"
    ) async throws -> (paper: PaperMirror, parts: WorkerParts) {
        let paper = try await PaperMirror(
            engine, bot: network, variables: ["REVIEW": "replies", "X_ACKNOWLEDGE_POLICY": "yes"])
        let friend = AccountID(network: network, value: "friend")
        try await paper.archive([pastReply("r1", to: friend, "you are right about that")])
        _ = try await paper.parts()
        try await paper.wait(60)
        var mention = paperPost("1", on: network, text, at: paper.clock.now, mentions: ["bot"])
        mention.author.handle = handle
        paper.bot.add([mention], to: .mentions)
        let parts = try await paper.parts()
        for pass in Passes(parts: parts).inOrder { _ = try await pass.run() }
        return (paper, parts)
    }

    private func suggestion(_ paper: PaperMirror) async throws -> SuggestionList.Suggestion {
        try #require(try await SuggestionList(of: paper.mirror, .init(limit: 10)).suggestions.first)
    }

    /// The text that is kept with actions.
    private func kept(_ paper: PaperMirror) async throws -> [String] {
        try await paper.mirror.storage.lenient.query(
            "SELECT target_text FROM actions WHERE target_text IS NOT NULL"
        )
        .map { try $0.text("target_text") }
    }

    @Test(arguments: NetworkName.allCases) func aReplyIsShownWithItsMention(_ network: NetworkName)
        async throws
    {
        let (paper, _) = try await mirror(on: network, saying: "is \(Self.word) a fern?\0")
        let shown = try await suggestion(paper)
        #expect(shown.about == "is \(Self.word) a fern?")
        #expect(shown.text?.hasSuffix("you are right about that") == true)
        #expect(shown.expires > paper.clock.now)
        // Networks whose identities are no names are asked for the name once, and tell it with the
        // mention.
        #expect(shown.person?.name == (network == .mastodon ? "@friend" : "@friend.example"))
        #expect(shown.person?.account == (network == .x ? "x:friend" : "friend"))
        let report = try await ExplainReporter(mirror: paper.mirror).report(
            on: shown.id, now: paper.clock.now)
        #expect(report.target?.text == shown.about)
        #expect(report.person == shown.person)
        #expect(report.expires == shown.expires)
    }

    @Test func aLongPostIsShownInPart() async throws {
        let (paper, _) = try await mirror(
            on: .mastodon, saying: String(repeating: "fern ", count: 2_000))
        try await expect(suggestion(paper).about?.count, equals: 1_000)
    }

    enum End: String, CaseIterable, Sendable {
        case approved, dismissed, skipped, expired, forgotten, rebound
    }

    /// Only who decides needs what others said.
    @Test(arguments: End.allCases, Engine.allCases)
    func theMentionIsKeptUntilSomebodyDecided(_ end: End, _ engine: Engine) async throws {
        let (paper, parts) = try await mirror(
            engine, on: .bluesky, saying: "is \(Self.word) a fern?")
        try await expect(kept(paper).count, equals: 1)
        let shown = try await suggestion(paper)
        let now = paper.clock.now
        let review = SuggestionReview(mirror: paper.mirror)
        switch end {
        case .approved: _ = try await review.approve(shown.id, now: now)
        case .dismissed: _ = try await review.dismiss(shown.id, now: now)
        case .skipped:
            #expect(try await paper.mirror.outbox(lease: nil).skip(shown.id, now: now) != nil)
        case .expired:
            try await paper.wait(8 * 86_400)
            _ = try await parts.store.expire(now: paper.clock.now)
        case .forgotten:
            _ = try await paper.mirror.forget(
                AccountID(network: .bluesky, value: "friend"), now: now)
            let rows = try await paper.mirror.storage.lenient.query(
                "SELECT target_name FROM actions")
            expect(try rows.map { try $0.optionalText("target_name") }) {
                $0.allSatisfy { $0 == nil }
            }
        case .rebound:
            try await paper.mirror.storage.transaction { connection in
                try OutboxStore.endActionsOfPreviousAccount(of: "test", on: connection, now: now)
            }
        }
        try await expect(kept(paper), equals: [])
        try await expect(SuggestionList(of: paper.mirror, .init(limit: 10)).suggestions) {
            $0.isEmpty
        }
    }

    /// What is sent at once is for nobody to read before.
    @Test func whatNobodyDecidesAboutKeepsNoText() async throws {
        let paper = try await PaperMirror(bot: .bluesky)
        try await paper.archive([
            pastReply("r1", to: AccountID(network: .bluesky, value: "friend"), "thanks a lot, dear")
        ])
        _ = try await paper.parts()
        try await paper.wait(60)
        paper.bot.add(
            [paperPost("1", on: .bluesky, Self.word, at: paper.clock.now, mentions: ["bot"])],
            to: .mentions)
        for pass in Passes(parts: try await paper.parts()).inOrder { _ = try await pass.run() }
        try await expect(paper.actions(.reply).map(\.state), equals: [.done])
        try await expect(kept(paper), equals: [])
    }

    // MARK: Names

    /// Handles come from wherever the mirror met them, the surest first.
    @Test func handlesAreFoundWhereverTheyAreKnown() async throws {
        let (paper, _) = try await mirror(on: .bluesky, saying: "hello", handle: "friend.example")
        let mirror = paper.mirror
        func id(_ name: String) -> AccountID {
            AccountID(network: .bluesky, value: "did:plc:\(name)")
        }
        try await mirror.people.recordContact(id("met"), handle: "met.example", at: paper.clock.now)
        func post(_ name: String, _ text: String, _ mentions: [AccountID]) -> Post {
            Post(
                id: PostID(network: .bluesky, value: name),
                author: AccountID(network: .bluesky, value: "human"),
                text: text,
                createdAt: PaperMirror.now - 200 * 86_400, visibility: .public, mentions: mentions)
        }
        try await paper.archive([
            post("a", "at the lake with @named.Example. It rained", [id("named")]),
            post("b", "with @one.example and @two.example", [id("one"), id("two")]),
            post("c", "mail me@home.example about @pal.example", [id("unclear")]),
            post("d", "so says @Pal", [id("display")]),
        ])
        let asked = ["met", "named", "one", "two", "unclear", "display", "stranger"].map(id)
        let friend = AccountID(network: .bluesky, value: "friend")
        try await expect(
            mirror.handles(of: asked + [friend, .mastodon("ann@far.example", localHost: "")]),
            equals: [
                id("met"): "met.example", id("named"): "named.example", friend: "friend.example",
                .mastodon("ann@far.example", localHost: ""): "ann@far.example",
            ])
        try await mirror.people.set(.allow, for: id("named"), at: paper.clock.now)
        let list = try await PeopleList(of: mirror, PeopleList.Search())
        #expect(list.people.first { $0.account == "did:plc:named" }?.handle == "named.example")
        #expect(list.people.first { $0.account == "friend" }?.handle == "friend.example")
        let report = try await PersonReport(
            on: id("named"), in: mirror, zone: .gmt, now: paper.clock.now)
        #expect(report.accounts.map(\.handle) == ["named.example"])
    }
}
