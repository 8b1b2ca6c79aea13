import Archive
import Expectations
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
        try await expect(people.stance(of: aoi), equals: .none)
        try await expect(people.linked(to: aoi), equals: [aoi])
        try await expect(people.all()) { $0.isEmpty }
    }

    @Test func theLastStanceCountsAndKeepsTheHandle() async throws {
        try await people.set(.allow, for: aoi, handle: "Aoi@home.example", reason: "asked", at: now)
        try await expect(people.stance(of: aoi), equals: .allow)
        try await people.set(.deny, for: aoi, reason: "said stop", at: now)
        try await expect(people.stance(of: aoi), equals: .deny)
        let person = try #require(try await people.all().first)
        #expect(person.handle == "Aoi@home.example")
        #expect(person.reason == "said stop")
        #expect(person.lastContact == nil)
        try await people.set(.none, for: aoi, at: now)
        try await expect(people.stance(of: aoi), equals: .none)
        try await expect(people.all().count, equals: 1)
    }

    @Test func theNamesOfPeopleAreThoseTheyWereMetUnderAndOfWhomTheHumanAnswered() async throws {
        try await expect(people.names()) { $0.isEmpty }
        try await people.recordContact(onX, handle: "Zed_X", at: now)
        try await people.recordContact(onBluesky, at: now)
        let human = AccountID(network: .mastodon, value: "human@home.example")
        let answers = [aoi, AccountID(network: .x, value: "777")].enumerated().map {
            index, person in
            Post(
                id: PostID(network: person.network, value: "\(index)"), author: human, text: "yes",
                createdAt: now,
                replyTo: ReplyTarget(author: person))
        }
        _ = try await archive.archive.store(answers, timeZone: .gmt, limit: nil)
        try await expect(people.names(), equals: ["Zed_X", aoi.value])
    }

    @Test func theLatestContactIsKept() async throws {
        try await people.set(.allow, for: aoi, at: now)
        try await people.recordContact(aoi, handle: "aoi", at: now)
        try await people.recordContact(aoi, at: now.addingTimeInterval(-60))
        try await expect(people.all().first?.lastContact, equals: now)
        try await people.recordContact(aoi, at: now.addingTimeInterval(60))
        let person = try #require(try await people.all().first)
        #expect(person.lastContact == now.addingTimeInterval(60))
        #expect(person.stance == .allow)
        #expect(person.handle == "aoi")
    }

    @Test func noContactIsRecordedOfWhoIsLeftAlone() async throws {
        #expect(try await people.recordContact(aoi, at: now))
        try await expect(people.isDeniedItself(aoi), equals: false)
        try await people.set(.deny, for: aoi, at: now)
        #expect(try await !people.recordContact(aoi, at: now.addingTimeInterval(60)))
        try await expect(people.person(aoi)?.lastContact, equals: now)
        try await expect(people.isDeniedItself(aoi), equals: true)
        // Of who was forgotten no row appears again.
        let gone = AccountID(network: .mastodon, value: "gone@far.example")
        _ = try await people.forget([gone], now: now)
        try await people.removeRecords(of: [gone], wholly: true)
        #expect(try await !people.recordContact(gone, at: now))
        try await expect(people.person(gone), equals: nil)
    }

    @Test func linkingJoinsGroupsWhateverTheOrder() async throws {
        let fourth = AccountID(network: .x, value: "4")
        try await people.link(aoi, onX)
        try await people.link(onBluesky, fourth)
        try await expect(people.linked(to: aoi), equals: [aoi, onX])
        try await people.link(fourth, onX)
        try await expect(Set(people.linked(to: aoi)), equals: [aoi, onX, onBluesky, fourth])
        try await expect(people.linked(to: onBluesky).first, equals: onBluesky)
        try await people.link(aoi, onX)
        try await expect(people.linked(to: onX).count, equals: 4)
    }

    @Test func whoSaidNoOnOneNetworkIsDeniedOnAll() async throws {
        try await people.link(aoi, onX)
        try await people.set(.allow, for: aoi, at: now)
        try await expect(people.stance(of: onX), equals: .allow)
        try await people.set(.deny, for: onX, at: now)
        try await expect(people.stance(of: aoi), equals: .deny)
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
        let strangers = (0..<1_200).map {
            AccountID(network: .mastodon, value: "stranger\($0)@far.example")
        }
        let asked = [aoi, onX, denied, allowed, alias, onBluesky, aoi] + strangers
        let stances = try await people.stances(of: asked)
        #expect(stances.count == 6 + strangers.count)
        #expect(stances[aoi] == .deny)
        #expect(stances[onX] == .deny)
        #expect(stances[denied] == .deny)
        #expect(stances[allowed] == .allow)
        #expect(stances[alias] == .allow)
        #expect(stances[onBluesky] == People.Stance.none)
        expect(strangers) { $0.allSatisfy { stances[$0] == People.Stance.none } }
        for person in Set(asked.prefix(7)) {
            try await expect(people.stance(of: person), equals: stances[person])
        }
        try await expect(people.stances(of: [])) { $0.isEmpty }
    }

    @Test func theSameLettersOnAnotherNetworkAreSomebodyElse() async throws {
        let elsewhere = AccountID(network: .x, value: aoi.value)
        try await people.set(.deny, for: aoi, at: now)
        try await expect(
            people.stances(of: [elsewhere, aoi]), equals: [elsewhere: .none, aoi: .deny])
    }

    @Test func mirrorsKnowTheirOwnPeople() async throws {
        let other = People(storage: archive.storage, mirror: "other")
        try await people.link(aoi, onX)
        try await people.set(.deny, for: aoi, at: now)
        try await expect(other.stance(of: aoi), equals: .none)
        try await expect(other.linked(to: aoi), equals: [aoi])
        try await expect(other.all()) { $0.isEmpty }
    }

    // MARK: Servers

    private func server(_ name: String) throws -> ServerName {
        try #require(ServerName(reference: name))
    }

    private func ann(at host: String) -> AccountID {
        AccountID(network: .mastodon, value: "ann@\(host)")
    }

    @Test func aDeniedServerCoversEverybodyOnItUntilThatIsLifted() async throws {
        let far = try server("*@far.example")
        #expect(try await people.deny(far, at: now))
        #expect(try await !people.deny(far, at: now))
        let asked = [
            "far.example", "a.far.example", "far.example:8443", "nofar.example", "example",
        ].map(ann)
        try await expect(
            people.stances(of: asked),
            equals: [
                asked[0]: .deny, asked[1]: .deny, asked[2]: .deny, asked[3]: .none, asked[4]: .none,
            ])
        for person in asked {
            try await expect(people.stance(of: person), equals: people.stances(of: asked)[person])
        }
        try await expect(people.deniedServers(), equals: [far])
        // A server is nobody.
        try await expect(people.all()) { $0.isEmpty }
        try await expect(people.metPeople(on: .mastodon)) { $0.isEmpty }
        #expect(try await people.lift(far))
        #expect(try await !people.lift(far))
        try await expect(people.stances(of: asked)) { $0.values.allSatisfy { $0 == .none } }
    }

    @Test(arguments: [true, false])
    func aWordAboutAPersonGoesBeforeOneAboutTheirServer(isFirst: Bool) async throws {
        let pal = ann(at: "far.example")
        let foe = AccountID(network: .mastodon, value: "foe@far.example")
        func say() async throws {
            try await people.set(.allow, for: pal, at: now)
            try await people.set(.deny, for: foe, at: now)
        }
        if isFirst { try await say() }
        _ = try await people.deny(server("*@far.example"), at: now)
        if !isFirst { try await say() }
        try await expect(people.stances(of: [pal, foe]), equals: [pal: .allow, foe: .deny])
        try await people.set(.none, for: pal, at: now)
        try await expect(people.stance(of: pal), equals: .deny)
        _ = try await people.lift(server("*@far.example"))
        try await expect(people.stances(of: [pal, foe]), equals: [pal: .none, foe: .deny])
    }

    @Test func whoeverIsLinkedToSomebodyOnADeniedServerIsDenied() async throws {
        try await people.link(onX, ann(at: "far.example"))
        _ = try await people.deny(server("*@far.example"), at: now)
        try await expect(
            people.stances(of: [onX, onBluesky]), equals: [onX: .deny, onBluesky: .none])
        try await expect(people.stance(of: ann(at: "far.example")), equals: .deny)
        try await people.set(.allow, for: onX, at: now)
        try await expect(people.stance(of: ann(at: "far.example")), equals: .allow)
    }

    @Test func serversAreDeniedByAMirror() async throws {
        let other = People(storage: archive.storage, mirror: "other")
        _ = try await people.deny(server("*@far.example"), at: now)
        try await expect(other.stance(of: ann(at: "far.example")), equals: .none)
        try await expect(other.deniedServers()) { $0.isEmpty }
    }

    @Test func manyPeopleOnManyServersAreAskedForAtOnce() async throws {
        _ = try await people.deny(server("*@h7.example"), at: now)
        _ = try await people.deny(server("*@deep.h8.example"), at: now)
        let asked = (0..<1_200).map {
            AccountID(network: .mastodon, value: "p\($0)@sub.h\($0 % 10).example")
        }
        let stances = try await people.stances(of: asked)
        expect(asked) {
            $0.allSatisfy { (stances[$0] == .deny) == $0.value.hasSuffix("h7.example") }
        }
    }

    @Test func theKnownAreThoseMetAndThoseWhomTheHumanAnswered() async throws {
        try await people.recordContact(ann(at: "far.example"), at: now)
        try await archive.store([post("1", replyTo: aoi), post("2", replyTo: TestArchive.human)])
        _ = try await people.deny(server("*@far.example"), at: now)
        _ = try await people.forget([ann(at: "gone.example")], now: now)
        try await expect(people.metPeople(on: .mastodon), equals: [aoi, ann(at: "far.example")])
        try await expect(people.metPeople(on: .x)) { $0.isEmpty }
    }

    // MARK: Forgetting

    @Test func ofWhoIsForgottenOnlyADigestIsLeft() async throws {
        let test = try await TestArchive()
        let friend = TestArchive.friend
        let other = AccountID(network: .mastodon, value: "aoi2@home.example")
        var naming = post("naming", at: 2)
        naming.mentions = [other, friend]
        var near = post("near", at: 3)
        near.mentions = [other]
        let posts = [post("plain", at: 0), post("answer", at: 1, replyTo: friend), naming, near]
        try await test.store(posts)
        try await test.people.set(
            .allow, for: friend, handle: "Aoi", reason: "operator", at: Date(milliseconds: 1))
        try await test.people.recordContact(other, handle: "Aoi2", at: Date(milliseconds: 2))
        try await expect(
            test.people.posts(about: friend).map(\.id.value), equals: ["answer", "naming"])
        try await expect(test.people.forget([friend], now: Date(milliseconds: 3)), equals: 2)
        try await expect(test.archive.count(), equals: 2)
        // While something has to end, it stays known who they are, and nothing else.
        try await test.people.removeRecords(of: [friend], wholly: false)
        try await expect(test.people.person(friend)?.handle, equals: nil)
        try await expect(test.people.person(friend)) { $0 != nil }
        try await test.people.removeRecords(of: [friend], wholly: true)
        try await expect(test.people.all().filter { !$0.isForgotten }.map(\.id), equals: [other])
        try await expect(test.people.person(friend), equals: nil)
        let stances = try await test.people.stances(of: [other, friend])
        #expect(stances == [friend: .deny, other: .none])
        try await expect(test.people.forgotten(among: [other, friend]), equals: [friend])
        // What is about them does not come in again, and another person is not mistaken for them.
        let summary = try await test.store(posts)
        #expect(summary.unwanted == 2)
        #expect(summary.alreadyKnown == 2)
        try await expect(test.people.forget([friend], now: Date(milliseconds: 4)), equals: 0)
        #expect(try await test.people.readmit(friend))
        #expect(try await !test.people.readmit(friend))
        try await expect(test.people.stance(of: friend), equals: .none)
        try await expect(test.store(posts).stored, equals: 2)
    }
}
