import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// People who want to be left alone, and posts that the human takes back.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct CourtesyTests {
    private static let aoi = Sample.person("aoi")

    @Test func neverAnswersWhoIsOnTheDenyList() async throws {
        let fixture = try await MirrorFixture.start(from: 8.5)
        try await fixture.mirror.people.set(
            .deny, for: Self.aoi, reason: "operator", at: fixture.clock.now)
        try await fixture.live(until: 13.5)
        let ledger = await fixture.sandbox.ledger
        let decided = try await fixture.actions(.reply).filter { $0.target?.author == Self.aoi }
        #expect(decided.count >= 3)
        expect(decided) { $0.allSatisfy { $0.state == .skipped && $0.reason == "denied" } }
        expect(ledger.notifications) { !$0.contains { $0.recipient == Self.aoi.value } }
        expect(ledger.favorites) { !$0.contains { $0.author == Self.aoi.value } }
        #expect(ledger.summary.replies > 0)
        #expect(ledger.summary.favorites > 0)
    }

    @Test func neverAnswersWhoIsOnADeniedServer() async throws {
        let fixture = try await MirrorFixture.start(from: 8.5)
        let server = try #require(ServerName.covering(Self.aoi).first)
        let desk = Desk(fixture.mirror, zone: Sample.zone)
        _ = try await desk.perform(DenyPeople(account: server.reference))
        try await fixture.live(until: 13.5)
        let ledger = await fixture.sandbox.ledger
        let decided = try await fixture.actions(.reply).filter {
            $0.target.map { server.covers($0.author) } ?? false
        }
        expect(decided.filter { $0.reason == "denied" }.count) { $0 >= 3 }
        expect(decided) { $0.allSatisfy { $0.state == .skipped } }
        expect(ledger.notifications) {
            !$0.contains { server.covers(AccountID(network: .mastodon, value: $0.recipient)) }
        }
        expect(ledger.favorites) {
            !$0.contains { server.covers(AccountID(network: .mastodon, value: $0.author)) }
        }
    }

    @Test func asksAgainRightBeforeItSends() async throws {
        let fixture = try await MirrorFixture.start(from: 8.5)
        // Nothing can be sent for hours, and by then somebody said no.
        let busy = SandboxFault.error(
            status: 429, message: "Too many requests", headers: ["Retry-After": "900"])
        fixture.sandbox.faults.failNext(busy, count: 1_000, method: "POST")
        try await fixture.live(
            until: 12.5,
            events: [
                (
                    11.8,
                    {
                        try await fixture.mirror.people.set(
                            .deny, for: Self.aoi, at: fixture.clock.now)
                        fixture.sandbox.faults.clear()
                    }
                )
            ])
        let decided = try await fixture.actions(.reply).filter { $0.target?.author == Self.aoi }
        expect(decided) { $0.contains { $0.attempts > 0 } }
        expect(decided) { $0.allSatisfy { $0.state == .skipped && $0.reason == "denied" } }
        let ledger = await fixture.sandbox.ledger
        expect(ledger.notifications) { !$0.contains { $0.recipient == Self.aoi.value } }
        #expect(ledger.summary.replies > 0)
    }

    /// One who was denied, one who is linked to them, one who was forgotten, one whose server is
    /// denied and one whom nothing is said of.
    @Test(arguments: Engine.allCases) func whoIsDeniedIsAskedForAsTheRequestLeaves(_ engine: Engine)
        async throws
    {
        let mirror = try await BareMirror(engine, variables: ["TIME_ZONE": "UTC"]).open()
        let store = mirror.outbox(lease: nil)
        let now = BareMirror.now
        try await mirror.storage.agree(to: "test")
        let people = [
            "denied@home.example", "linked@home.example", "gone@home.example", "ann@a.far.example",
            "other@home.example",
        ].map { AccountID(network: .mastodon, value: $0) }
        try await mirror.people.link(people[0], people[1])
        var claimed: [Claimed] = []
        for person in people {
            let target = Action.Target(
                post: "https://home.example/\(person.value)", author: person, address: "1")
            let decided = try await store.propose(
                Intent(.favorite(target), due: now, expires: now + 900), now: now)
            claimed.append(try await store.claim(decided.action, now: now))
        }
        try await mirror.people.set(.deny, for: people[0], at: now)
        _ = try await mirror.people.forget([people[2]], now: now)
        _ = try await mirror.people.deny(
            try #require(ServerName(reference: "*@far.example")), at: now)
        for action in claimed.dropLast() {
            let error = await #expect(throws: OutboxError.self) {
                try await store.beginSending(
                    action, lookUp: now + 60, deadline: .seconds(30), now: now)
            }
            #expect(error?.code == .denied)
        }
        try await expect(
            store.beginSending(claimed[4], lookUp: now + 60, deadline: .seconds(30), now: now)
                .state, equals: .sending)
    }

    // MARK: What was decided a while ago

    /// Somebody's post, and a favorite of it that was decided now and may leave for two days.
    private func favorite(
        _ variables: [String: String] = [:]
    ) async throws -> (paper: PaperMirror, parts: WorkerParts, subject: String) {
        let paper = try await PaperMirror(bot: .mastodon, variables: variables)
        let post = paperPost("theirs", on: .mastodon)
        paper.bot.add([post], to: .home)
        let parts = try await paper.parts()
        let target = Action.Target(
            post: post.post.id.value, author: post.post.author, address: post.address)
        let now = paper.clock.now
        let intent = Intent(.favorite(target), due: now, expires: now + 2 * 86_400)
        return (paper, parts, try await parts.store.propose(intent, now: now).action.subject)
    }

    /// What a person approves may have been suggested days ago.
    @Test(arguments: [
        ("", false, nil), ("", true, "target-gone"),
        ("no machines please #nobot", false, "opted-out"),
    ])
    func whatWasDecidedLongAgoIsLookedAtOnceMore(bio: String, isGone: Bool, reason: String?)
        async throws
    {
        let (paper, parts, subject) = try await favorite()
        paper.bot.with { state in
            state.feeds[.home] = isGone ? [] : [paperPost("theirs", on: .mastodon, bio: bio)]
        }
        try await paper.wait(3_600)
        try await parts.courier.deliverDue([.favorite])
        let ended = try #require(try await parts.store.action(.favorite, subject: subject))
        #expect(ended.state == (reason == nil ? .done : .skipped))
        #expect(ended.reason?.rawValue == reason)
        #expect(paper.bot.with { $0.favorited.count } == (reason == nil ? 1 : 0))
    }

    @Test func whatCannotBeLookedAtOnceMoreWaits() async throws {
        let (paper, parts, subject) = try await favorite()
        try await paper.wait(3_600)
        paper.bot.fail(.readPost, .unavailable)
        try await parts.courier.deliverDue([.favorite])
        let waiting = try #require(try await parts.store.action(.favorite, subject: subject))
        #expect(waiting.state == .planned)
        #expect(waiting.reason == "unavailable")
        #expect(waiting.nextAttempt.map { $0 > paper.clock.now } == true)
        paper.bot.fail(nil)
        try await paper.wait(3_600)
        try await parts.courier.deliverDue([.favorite])
        #expect(paper.bot.with { $0.favorited.count } == 1)
    }

    @Test func whatWasDecidedJustNowIsNotAskedForAgain() async throws {
        let (paper, parts, _) = try await favorite()
        try await parts.courier.deliverDue([.favorite])
        #expect(paper.bot.with { $0.favorited.count == 1 && $0.lookedUp.isEmpty })
    }

    @Test func noFavoriteLeavesOnceNoneAreWanted() async throws {
        let (paper, parts, subject) = try await favorite(["FAVORITE_MODE": "off"])
        try await parts.courier.deliverDue([.favorite])
        let ended = try #require(try await parts.store.action(.favorite, subject: subject))
        #expect(ended.state == .skipped)
        #expect(ended.reason == "no-favorites")
        #expect(paper.bot.with { $0.favorited.isEmpty })
    }

    @Test func remembersWhoSaidStop() async throws {
        let fixture = try await MirrorFixture.start(from: 8.5)
        let kent = Sample.person("kent")
        try await expect(fixture.mirror.people.stance(of: kent), equals: .none)
        try await fixture.live(until: 20)
        let mentions = await fixture.sandbox.ledger.mentions.filter { $0.handle == kent.value }
        #expect(mentions.map(\.kind) == [.friend, .stop, .afterStop])
        let decided = try await fixture.actions(.reply).filter { $0.target?.author == kent }
        #expect(decided.map(\.state) == [.done, .skipped, .skipped])
        #expect(decided.map(\.reason) == [nil, "asked-to-stop", "denied"])
        let person = try #require(try await fixture.mirror.people.all().first { $0.id == kent })
        #expect(person.stance == .deny)
        #expect(person.reason == "asked-to-stop")
        #expect(person.lastContact != nil)
        let stop = try #require(mentions.first { $0.kind == .stop }).date
        let later = await fixture.sandbox.ledger.notifications.filter {
            $0.recipient == kent.value && $0.date > stop + 600
        }
        #expect(later.isEmpty)
    }

    @Test func followsTheHumansDeletions() async throws {
        let fixture = try await MirrorFixture.start(
            isTrained: false, variables: ["MIN_AGE_DAYS": "0"])
        let human = try await fixture.mirror.requiredNetwork(of: .human)
        let trainer = SchedulerTrainer(mirror: fixture.mirror, zone: Sample.zone) { _ in }
        _ = try await trainer.train(from: human)
        // The first pass stores the plan.
        #expect(try await fixture.worker().runOnce())
        let before = try #require(try await fixture.slots().first { $0.state == .planned })
        let source = try await fixture.source(of: before)
        let address = try #require(source.address)
        // What a server says of a post that its author deleted.
        fixture.sandbox.faults.failNext(
            .error(status: 404, message: "Record not found"), count: 100, method: "GET",
            path: "/api/v1/statuses/\(address)")
        try await fixture.wait(until: before.due - 600)
        try await fixture.live(until: before.due.timeIntervalSince(Sample.origin) / 3_600 + 0.1)
        let after = try #require(try await fixture.slots().first { $0.subject == before.subject })
        #expect(after.state == .done)
        #expect(after.due == before.due)
        #expect(after.wording?.source != before.wording?.source)
        #expect(after.text != before.text)
        // One answer may be a mistake of the server.
        try await expect(fixture.mirror.archive.post(source.id)) { $0 != nil }
        let texts = await fixture.sandbox.ledger.deliveries.map(\.text)
        #expect(!texts.contains(before.text ?? ""))
        #expect(texts.contains(after.text ?? ""))
        #expect(Set(texts).count == texts.count)
    }

    @Test func skipsASlotWhoseTextIsGoneWithoutAnother() async throws {
        let fixture = try await MirrorFixture.start()
        #expect(try await fixture.worker().runOnce())
        try await fixture.mirror.archive.clear()
        try await fixture.wait(until: Sample.hour(6.5))
        try await fixture.live(until: 12)
        let slots = try await fixture.slots()
        // What the human posts meanwhile may stand in.
        let skipped = slots.filter { $0.state == .skipped }
        #expect(!skipped.isEmpty)
        expect(skipped) { $0.allSatisfy { $0.reason == "no-text" } }
        for action in try await fixture.actions()
        where action.state == .done && action.kind != .favorite {
            try await expect(fixture.source(of: action).createdAt) { $0 > Sample.origin }
        }
        await expect(fixture.sandbox.ledger.summary.unsolicited, equals: 0)
    }

    @Test func staysWithinItsCaps() async throws {
        let variables = [
            "FAVORITES_PER_DAY": "2", "REPLIES_PER_PERSON": "1", "REPLIES_PER_THREAD": "2",
        ]
        let fixture = try await MirrorFixture.start(from: 8.5, variables: variables)
        try await fixture.live(until: 15)
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.favorites.count == 2)
        let people = ledger.deliveries.flatMap(\.mentioned)
        #expect(people.count > 2)
        #expect(Set(people).count == people.count)
        let reasons = Set(try await fixture.actions(.reply).compactMap(\.reason))
        #expect(reasons.contains("person-cap"))
    }

    @Test func sendsNothingToAnybodyWhenCapsAreZero() async throws {
        let variables = [
            "FAVORITES_PER_DAY": "0", "REPLIES_PER_PERSON": "0",
            "QUIET_HOURS": "00:00-12:00,12:01-24:00",
        ]
        let fixture = try await MirrorFixture.start(from: 9, variables: variables)
        try await fixture.live(until: 13)
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.favorites.isEmpty)
        #expect(ledger.notifications.isEmpty)
        let slots = try await fixture.slots()
        #expect(slots.count <= 1)
        expect(slots) {
            $0.allSatisfy { LocalTime($0.due, in: Sample.zone).minute.description == "12:00" }
        }
    }
}
