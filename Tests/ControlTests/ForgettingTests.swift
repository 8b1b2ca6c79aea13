import Archive
import Conduct
import Expectations
import Favorites
import Fixtures
import Foundation
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// What a person wants to be gone, as the network and the tables see it.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ForgettingTests {
    private static let now = Sample.hour(0.1)

    private func forgetting(_ fixture: MirrorFixture) -> Forgetting {
        Forgetting(mirror: fixture.mirror, zone: Sample.zone)
    }

    private func desk(_ fixture: MirrorFixture) -> Desk {
        Desk(fixture.mirror, zone: Sample.zone, now: Self.now)
    }

    /// A slot of the day's plan that comes later, with its source.
    private func slot(_ fixture: MirrorFixture) async throws -> (slot: Action, source: Post) {
        // Whatever becomes of it, the plan is there then.
        _ = try? await desk(fixture).perform(SkipSlot(slot: "#10000"))
        let slot = try #require(
            try await fixture.slots().first { $0.due > Sample.hour(6) && $0.text != nil })
        return (slot, try await fixture.source(of: slot))
    }

    private func sent(_ fixture: MirrorFixture) async -> [String] {
        await fixture.sandbox.ledger.deliveries.map(\.text)
    }

    @Test func aForgottenPostIsGoneForGood() async throws {
        let fixture = try await MirrorFixture.start(.postgres)
        let (slot, source) = try await slot(fixture)
        let forgetting = forgetting(fixture)
        let subject = try await forgetting.subject(post: source.id.value)
        #expect(subject == .post(source))
        let outcome = try await forgetting.forget(subject, now: Self.now)
        #expect(outcome.isNew)
        #expect(outcome.removed == 1)
        #expect(outcome.changed.map(\.id) == [slot.id])
        let other = try #require(outcome.changed.first)
        #expect(other.state == .planned)
        #expect(other.wording != nil)
        #expect(other.wording?.source != source.id)
        try await expect(forgetting.subject(post: source.id.value), equals: .gonePost)
        await #expect(throws: ChangeRefusal.self) { try await forgetting.subject(post: "nothing") }
        let archive = fixture.mirror.archive
        try await expect(
            archive.keep([source], timeZone: Sample.zone, limit: nil).unwanted, equals: 1)
        try await fixture.live(until: 23.9)
        try await expect(archive.post(source.id), equals: nil)
        try await expect(fixture.slots()) { $0.allSatisfy { $0.wording?.source != source.id } }
        let listed = try await forgetting.list()
        #expect(listed.map(\.kind) == ["post"] && listed[0].value == source.id.forgottenDigest)
        #expect(try await forgetting.undo(post: String(listed[0].value.prefix(9))))
        #expect(try await !forgetting.undo(post: source.id.value))
        try await expect(
            archive.keep([source], timeZone: Sample.zone, limit: nil).stored, equals: 1)
    }

    @Test func whatAPersonPinnedWaitsForATextAndIsNotReplaced() async throws {
        let fixture = try await MirrorFixture.start()
        let (slot, source) = try await slot(fixture)
        _ = try await desk(fixture).perform(PinSlot(slot: slot.subject))
        let outcome = try await forgetting(fixture).forget(.post(source), now: Self.now)
        #expect(outcome.changed.map(\.state) == [.planned])
        #expect(outcome.changed.map(\.isPinned) == [true])
        #expect(outcome.changed.map(\.text) == [nil])
        #expect(outcome.changed.first?.reason == "forgotten")
    }

    @Test func aMutedWordIsNeitherKeptNorSaid() async throws {
        let fixture = try await MirrorFixture.start()
        let (slot, source) = try await slot(fixture)
        let archive = fixture.mirror.archive
        let letters = source.text.prefix { $0.isLetter }
        let word = letters.isEmpty ? String(source.text.prefix(2)) : String(letters)
        let muted = Muted([try #require(Muted.Entry(word: word))])
        let all = try await archive.ids { text, _ in muted.hasWord(text) }
        let forgetting = forgetting(fixture)
        let subject = try Forgetting.subject(word: word.uppercased())
        try await expect(forgetting.reach(of: subject), equals: all.count)
        #expect(all.contains(source.id))
        let outcome = try await forgetting.forget(subject, now: Self.now)
        #expect(outcome.isNew)
        #expect(outcome.removed == all.count)
        expect(outcome.changed) { $0.contains { $0.id == slot.id } }
        try await expect(forgetting.forget(subject, now: Self.now)) { !$0.isNew }
        try await fixture.live(until: 23.9)
        try await expect(archive.ids { text, _ in muted.hasWord(text) }) { $0.isEmpty }
        await expect(sent(fixture)) { $0.allSatisfy { !muted.hasWord($0) } }
        #expect(try await forgetting.undo(subject))
        #expect(try await !forgetting.undo(subject))
        try await expect(
            archive.keep([source], timeZone: Sample.zone, limit: nil).stored, equals: 1)
    }

    @Test(arguments: Engine.allCases) func postsOfAMutedDayStayAndAreNotSent(_ engine: Engine)
        async throws
    {
        let fixture = try await MirrorFixture.start(engine)
        let (slot, source) = try await slot(fixture)
        let archive = fixture.mirror.archive
        let forgetting = forgetting(fixture)
        let day = LocalTime(source.createdAt, in: Sample.zone).day
        func isOfDay(_ date: Date) -> Bool { LocalTime(date, in: Sample.zone).day == day }
        let count = try await archive.count()
        let times = try await archive.scheduleRows()
        let subject = try Forgetting.subject(day: String(day.description.suffix(5)))
        let outcome = try await forgetting.forget(subject, now: Self.now)
        #expect(outcome.removed == 0)
        expect(outcome.changed) { $0.contains { $0.id == slot.id } }
        let timesAfter = try await archive.scheduleRows()
        try await expect(archive.count(), equals: count)
        #expect(timesAfter == times)
        func unfit() async throws -> [String?] {
            try await fixture.mirror.storage.lenient.query(
                "SELECT unfit FROM posts WHERE post_id = \(source.id.value)"
            ).map { try $0.optionalText("unfit") }
        }
        // The worker notes it with the text; no choice waits for that.
        try await archive.prepare(by: fixture.mirror.textJudge(zone: Sample.zone))
        try await expect(unfit(), equals: ["muted-day"])
        for other in try await fixture.slots() {
            guard let id = other.wording?.source else { continue }
            let post = try #require(try await archive.post(id))
            #expect(!isOfDay(post.createdAt))
        }
        // A person who wants it all the same is told.
        let refused = await #expect(throws: ChangeRefusal.self) {
            try await desk(fixture).perform(PublishPost(post: source.id.value))
        }
        expect(refused?.description) { $0?.contains("of a day that a person muted") == true }
        // Taken back, it may come again.
        #expect(try await forgetting.undo(subject))
        _ = try await PlanReporter(mirror: fixture.mirror, zone: Sample.zone).report(
            on: Sample.day.advanced(by: 1), now: Sample.hour(1))
        try await archive.prepare(by: fixture.mirror.textJudge(zone: Sample.zone))
        try await expect(unfit(), equals: [nil])
        for text in ["13-01", "yesterday", ""] {
            #expect(throws: ChangeRefusal.self) { try Forgetting.subject(day: text) }
        }
        #expect(throws: ChangeRefusal.self) {
            try Forgetting.subject(from: "2020-01-02", to: "2020-01-01")
        }
        try expect(
            Forgetting.subject(from: "2020-01-02", to: nil),
            equals: .muted(kind: "span", value: "2020-01-02/9999-12-31"))
    }

    /// Muted between the plan and the request, by somebody who looked through nothing.
    @Test func whatIsMutedIsLookedForOnceMoreRightBeforeItIsSent() async throws {
        let fixture = try await MirrorFixture.start()
        let (slot, source) = try await slot(fixture)
        let day = LocalTime(source.createdAt, in: Sample.zone).day
        _ = try await fixture.mirror.archive.mute("span", "\(day)/\(day)", now: Self.now)
        try await fixture.live(until: 23.9)
        let after = try #require(try await fixture.slots().first { $0.id == slot.id })
        #expect(after.state == .done)
        #expect(after.wording?.source != source.id)
        await expect(sent(fixture)) { !$0.contains(slot.text ?? "") }
    }

    @Test func aReplyWithAMutedWordIsNotGiven() async throws {
        let fixture = try await MirrorFixture.start()
        let archive = fixture.mirror.archive
        // Whatever the human said, to whomever, until now.
        _ = try await archive.mute(
            "span", "0001-01-01/\(Sample.day.advanced(by: -1))", now: Self.now)
        try await fixture.live(until: 23.9)
        let answers = try await fixture.actions(.reply).filter { $0.reason == "no-past-reply" }
        expect(answers) {
            $0.contains { $0.explanation?.summary.contains("of a day that a person muted") == true }
        }
        for action in try await fixture.actions(.reply) {
            guard let id = action.wording?.source else { continue }
            let post = try #require(try await archive.post(id))
            #expect(post.createdAt >= Sample.origin)
        }
    }

    // MARK: People

    /// The rows that hold a text, by table.
    private func rows(with text: String, in mirror: HumanMirror) async throws -> [String] {
        try await TableContents(of: mirror.storage).tables.flatMap { table, rows in
            rows.map { $0.lowercased() }.filter { row in
                // Where others name them in what they write, it is theirs.
                table != "examples"
                    ? row.contains(text) : row.replacing("@" + text, with: "").contains(text)
            }.map { "\(table): \($0)" }
        }
    }

    private func expectNothing(of text: String, in mirror: HumanMirror) async throws {
        let found = try await rows(with: text, in: mirror)
        #expect(found == [])
    }

    @Test func ofAForgottenPersonNothingIsKept() async throws {
        let fixture = try await MirrorFixture.start(from: 8.5)
        let mirror = fixture.mirror
        try await fixture.live(until: 14)
        let aoi = Sample.person("aoi")
        let report = try await PersonReport(
            on: aoi, in: mirror, zone: Sample.zone, now: fixture.clock.now)
        expect(report.deeds) {
            $0.contains { $0.kind == "reply" && $0.state == "done" && $0.text != nil }
        }
        expect(report.mentions) { $0.contains { $0.isReply } }
        #expect(!report.learned.isEmpty)
        let answered = Set(
            try await fixture.actions(.reply).filter { $0.target?.author == aoi }.map(\.subject))
        let naming = try await rows(with: aoi.value, in: mirror).map {
            String($0.prefix { $0 != ":" })
        }
        expect(naming) { $0.contains("people") }
        expect(naming) { $0.allSatisfy { TableDuty.all[$0]?.namesPeople == true } }

        let gone = try await mirror.forget(aoi, now: fixture.clock.now)
        #expect(gone.posts == report.mentions.count)
        #expect(gone.unlearned == report.learned.count)
        #expect(gone.ended + gone.dropped == report.deeds.count)
        #expect(gone.underWay == 0)
        try await expectNothing(of: aoi.value, in: mirror)
        try await expectNothing(of: "/aoi/", in: mirror)
        let status = try await mirror.favorites().status()
        #expect(status.counts == .current)
        #expect(status.seen > 0)
        let counted = try await mirror.favorites().tally()
        expect(counted.features.keys) { $0.allSatisfy { !$0.contains("aoi@") } }
        try await expect(
            mirror.outbox(lease: nil).known(.reply, among: Array(answered)), equals: answered)

        // They go on speaking and posting, and nothing of it is kept.
        let before = await fixture.sandbox.ledger.notifications.count { $0.recipient == aoi.value }
        try await fixture.live(until: 20)
        let ledger = await fixture.sandbox.ledger
        expect(ledger.mentions) {
            $0.contains { $0.handle == aoi.value && $0.date > Sample.hour(14.2) }
        }
        #expect(ledger.notifications.count { $0.recipient == aoi.value } == before)
        expect(ledger.favorites) {
            !$0.contains { $0.author == aoi.value && $0.date > Sample.hour(14) }
        }
        try await expectNothing(of: aoi.value, in: mirror)
        try await expect(mirror.favorites().status()) { $0.counts == .current }
        let again = try await mirror.forget(aoi, now: fixture.clock.now)
        #expect(again.posts + again.unlearned + again.dropped + again.ended == 0)
        // What is left can be read, and says nothing of them.
        let left = try await fixture.actions().filter { $0.subject.hasPrefix("#") }
        #expect(left.count == gone.ended + gone.dropped)
        expect(left) {
            $0.allSatisfy { $0.text == nil && $0.explanation == nil && $0.target?.address == "" }
        }
        let empty = try await PersonReport(
            on: aoi, in: mirror, zone: Sample.zone, now: fixture.clock.now)
        #expect(empty.deeds.isEmpty)
        #expect(empty.mentions.isEmpty)
        #expect(empty.learned.isEmpty)
        #expect(empty.accounts.map(\.isForgotten) == [true])
    }

    @Test func whatIsBeingSentIsForgottenOnceItHasEnded() async throws {
        let mirror = try await BareMirror(variables: ["TIME_ZONE": "UTC"]).open()
        let store = mirror.outbox(lease: nil)
        let pal = AccountID(network: .mastodon, value: "pal@home.example")
        try await mirror.storage.agree(to: "test")
        func target(_ number: Int) -> Action.Target {
            Action.Target(post: "https://home.example/\(number)", author: pal, address: "\(number)")
        }
        for number in 0..<4 {
            _ = try await store.propose(
                Intent(
                    .favorite(target(number)), due: BareMirror.now, expires: BareMirror.now + 900),
                now: BareMirror.now)
        }
        let under = try #require(try await store.action(.favorite, subject: target(1).post))
        let sending = try await store.beginSending(
            try await store.claim(under, now: BareMirror.now), lookUp: BareMirror.now + 60,
            deadline: .seconds(30),
            now: BareMirror.now)
        let claimed = try #require(try await store.action(.favorite, subject: target(2).post))
        let taken = try await store.claim(claimed, now: BareMirror.now)
        let gone = try await mirror.forget(pal, now: BareMirror.now)
        #expect(gone.underWay == 1)
        #expect(gone.dropped == 3)
        // The worker that had taken one finds that it may not.
        let error = await #expect(throws: OutboxError.self) {
            try await store.beginSending(
                taken, lookUp: BareMirror.now + 60, deadline: .seconds(30), now: BareMirror.now)
        }
        #expect(error?.code == .denied)
        _ = try await store.confirm(sending, remoteID: nil, remoteAddress: nil, now: BareMirror.now)
        try await expect(mirror.forget(pal, now: BareMirror.now).ended, equals: 1)
        try await expectNothing(of: "home.example", in: mirror)
    }
}
