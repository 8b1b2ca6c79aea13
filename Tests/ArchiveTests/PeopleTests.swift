import Archive
import Foundation
import Posts
import Testing

@Suite struct PeopleTests {
    private let aoi = TestArchive.friend
    private let onX = AccountID(network: .x, value: "12345")
    private let onBluesky = AccountID(network: .bluesky, value: "did:plc:abc")
    private let now = Date(milliseconds: 1_795_000_000_000)
    /// Kept for as long as the test, for its folder goes with it.
    private let archive: TestArchive

    init() async throws { archive = try await TestArchive() }

    private var people: People { archive.people }

    @Test func somebodyUnknownHasNoStanceAndNoLinks() async throws {
        #expect(try await people.stance(of: aoi) == .none)
        #expect(try await people.linked(to: aoi) == [aoi])
        #expect(try await people.all().isEmpty)
    }

    @Test func theLastStanceCountsAndKeepsTheHandle() async throws {
        try await people.set(.allow, for: aoi, handle: "Aoi@home.example", reason: "asked", at: now)
        #expect(try await people.stance(of: aoi) == .allow)
        try await people.set(.deny, for: aoi, reason: "said stop", at: now)
        #expect(try await people.stance(of: aoi) == .deny)
        let person = try #require(try await people.all().first)
        #expect(person.handle == "Aoi@home.example")
        #expect(person.reason == "said stop")
        #expect(person.lastContact == nil)
        try await people.set(.none, for: aoi, at: now)
        #expect(try await people.stance(of: aoi) == .none)
        #expect(try await people.all().count == 1)
    }

    @Test func theLatestContactIsKept() async throws {
        try await people.set(.deny, for: aoi, at: now)
        try await people.recordContact(aoi, handle: "aoi", at: now)
        try await people.recordContact(aoi, at: now.addingTimeInterval(-60))
        #expect(try await people.all().first?.lastContact == now)
        try await people.recordContact(aoi, at: now.addingTimeInterval(60))
        let person = try #require(try await people.all().first)
        #expect(person.lastContact == now.addingTimeInterval(60))
        #expect(person.stance == .deny)
        #expect(person.handle == "aoi")
    }

    @Test func linkingJoinsGroupsWhateverTheOrder() async throws {
        let fourth = AccountID(network: .x, value: "4")
        try await people.link(aoi, onX)
        try await people.link(onBluesky, fourth)
        #expect(try await people.linked(to: aoi) == [aoi, onX])
        try await people.link(fourth, onX)
        #expect(try await Set(people.linked(to: aoi)) == [aoi, onX, onBluesky, fourth])
        #expect(try await people.linked(to: onBluesky).first == onBluesky)
        try await people.link(aoi, onX)
        #expect(try await people.linked(to: onX).count == 4)
    }

    @Test func whoSaidNoOnOneNetworkIsDeniedOnAll() async throws {
        try await people.link(aoi, onX)
        try await people.set(.allow, for: aoi, at: now)
        #expect(try await people.stance(of: onX) == .allow)
        try await people.set(.deny, for: onX, at: now)
        #expect(try await people.stance(of: aoi) == .deny)
    }

    @Test func stancesOfManyAreThoseOfEach() async throws {
        let denied = AccountID(network: .mastodon, value: "denied@home.example")
        let allowed = AccountID(network: .bluesky, value: "did:plc:allowed")
        let alias = AccountID(network: .x, value: "99")
        try await people.link(aoi, onX)
        try await people.link(allowed, alias)
        try await people.set(.deny, for: onX, at: now)
        try await people.set(.deny, for: denied, at: now)
        try await people.set(.allow, for: allowed, at: now)
        try await people.recordContact(onBluesky, at: now)
        let strangers = (0..<1_200).map { AccountID(network: .mastodon, value: "stranger\($0)@far.example") }
        let asked = [aoi, onX, denied, allowed, alias, onBluesky, aoi] + strangers
        let stances = try await people.stances(of: asked)
        #expect(stances.count == 6 + strangers.count)
        #expect(stances[aoi] == .deny && stances[onX] == .deny && stances[denied] == .deny)
        #expect(stances[allowed] == .allow && stances[alias] == .allow && stances[onBluesky] == People.Stance.none)
        #expect(strangers.allSatisfy { stances[$0] == People.Stance.none })
        for person in Set(asked.prefix(7)) { #expect(try await people.stance(of: person) == stances[person]) }
        #expect(try await people.stances(of: []).isEmpty)
    }

    @Test func theSameLettersOnAnotherNetworkAreSomebodyElse() async throws {
        let elsewhere = AccountID(network: .x, value: aoi.value)
        try await people.set(.deny, for: aoi, at: now)
        #expect(try await people.stances(of: [elsewhere, aoi]) == [elsewhere: .none, aoi: .deny])
    }

    @Test func mirrorsKnowTheirOwnPeople() async throws {
        let other = People(storage: archive.storage, mirror: "other")
        try await people.link(aoi, onX)
        try await people.set(.deny, for: aoi, at: now)
        #expect(try await other.stance(of: aoi) == .none)
        #expect(try await other.linked(to: aoi) == [aoi])
        #expect(try await other.all().isEmpty)
    }

    // MARK: Forgetting

    @Test func ofWhoIsForgottenOnlyADigestIsLeft() async throws {
        let test = try await TestArchive()
        let (friend, other) = (TestArchive.friend, AccountID(network: .mastodon, value: "aoi2@home.example"))
        var naming = post("naming", at: 2)
        naming.mentions = [other, friend]
        var near = post("near", at: 3)
        near.mentions = [other]
        let posts = [post("plain", at: 0), post("answer", at: 1, replyTo: friend), naming, near]
        try await test.store(posts)
        try await test.people.set(.allow, for: friend, handle: "Aoi", reason: "operator", at: Date(milliseconds: 1))
        try await test.people.recordContact(other, handle: "Aoi2", at: Date(milliseconds: 2))
        #expect(try await test.people.posts(about: friend).map(\.id.value) == ["answer", "naming"])
        #expect(try await test.people.forget([friend], now: Date(milliseconds: 3)) == 2)
        #expect(try await test.archive.count() == 2)
        // While something has to end, it stays known who they are, and nothing else.
        try await test.people.letGo([friend], wholly: false)
        #expect(try await test.people.person(friend)?.handle == nil)
        #expect(try await test.people.person(friend) != nil)
        try await test.people.letGo([friend], wholly: true)
        #expect(try await test.people.all().filter { !$0.isForgotten }.map(\.id) == [other])
        #expect(try await test.people.person(friend) == nil)
        let stances = try await test.people.stances(of: [other, friend])
        #expect(stances == [friend: .deny, other: .none])
        #expect(try await test.people.forgotten(among: [other, friend]) == [friend])
        // What is about them does not come in again, and another person is not mistaken for them.
        let summary = try await test.store(posts)
        #expect(summary.unwanted == 2 && summary.alreadyKnown == 2)
        #expect(try await test.people.forget([friend], now: Date(milliseconds: 4)) == 0)
        #expect(try await test.people.readmit(friend))
        #expect(try await !test.people.readmit(friend))
        #expect(try await test.people.stance(of: friend) == .none)
        #expect(try await test.store(posts).stored == 2)
    }
}
