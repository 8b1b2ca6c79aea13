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

@testable import Fleet
@testable import Mirroring

/// One person has one name, whoever spelled it and whenever it was stored.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct AccountSpellingTests {
    private static let person = AccountID.mastodon("stadt@bäw.example", localHost: "")

    /// Who is left alone under one spelling is left alone when a server names them by the other.
    @Test(arguments: [
        "stadt@bäw.example", "stadt@xn--bw-via.example", "@Stadt@BÄW.example",
        "https://bäw.example/@stadt",
    ])
    func whoIsDeniedIsNotAnsweredHoweverTheyAreSpelled(spelling: String) async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        try await paper.archive([pastReply("r1", to: Self.person, "good morning")])
        let parts = try await paper.parts()
        let denied = try #require(AccountID(reference: spelling, localHost: nil))
        try await paper.mirror.people.set(
            .deny, for: denied, reason: "operator", at: paper.clock.now)
        // As a server tells it.
        let told = AccountID.mastodon("Stadt@bäw.example", localHost: "home.example")
        var mention = paperPost("m1", on: .mastodon, "hello there", at: PaperMirror.now + 1)
        mention.post.author = told
        mention.author.id = told
        paper.bot.add([mention], to: .mentions)
        try await paper.wait(5)
        _ = try await Passes(parts: parts).mentions(try #require(parts.feeds.mentions))
        try await expect(paper.actions(.reply)) { $0.allSatisfy { $0.state == .skipped } }
        #expect(paper.bot.with { $0.published.isEmpty })
    }
}
