import Archive
import Expectations
import Fixtures
import Foundation
import Posts
import Testing

@testable import Control
@testable import Mirroring

/// On X an account is matched to one elsewhere only with the person's consent.
@Suite(.mirrors) struct LinkConsentTests {
    private func desk() async throws -> Desk {
        let paper = try await PaperMirror(bot: .mastodon)
        return Desk(paper.mirror, zone: PaperMirror.zone)
    }

    @Test func withoutConsentNothingIsLinked() async throws {
        let desk = try await desk()
        let link = LinkPeople(first: "x:12345", second: "ann@social.example")
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await desk.perform(PersonRequest(link))
        }
        #expect(refusal?.code == .notAllowed)
        let words = refusal?.description ?? ""
        #expect(words.contains("express consent"))
        #expect(words.contains("https://developer.x.com/en/developer-terms/policy"))
        #expect(words.contains("--consented"))
        let person = AccountID(network: .x, value: "12345")
        try await expect(desk.mirror.people.linked(to: person).count) { $0 <= 1 }
    }

    @Test func withConsentTheyAreOne() async throws {
        let desk = try await desk()
        let link = LinkPeople(first: "x:12345", second: "ann@social.example", consented: true)
        let change = try await desk.perform(PersonRequest(link))
        #expect(change.sameAs == ["ann@social.example"])
        // The way back from unlinking does not ask for the consent again.
        let unlinked = try await desk.perform(PersonRequest(UnlinkPerson(account: "x:12345")))
        let wayBack = try #require(unlinked.wayBack)
        #expect(wayBack.arguments.contains("--consented"))
    }

    @Test(arguments: [("x:12345", "x:678"), ("ann@a.example", "ann@b.example")])
    func elsewhereNobodyIsAsked(first: String, second: String) async throws {
        let desk = try await desk()
        let change = try await desk.perform(PersonRequest(LinkPeople(first: first, second: second)))
        #expect(change.sameAs.count == 1)
    }
}
