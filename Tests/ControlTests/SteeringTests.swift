import Archive
import Conduct
import Expectations
import Favorites
import Fixtures
import Fleet
import Foundation
import Outbox
import Posts
import Sandbox
import Schedule
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings

/// What a person changes of what a mirror does, as the network sees it.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct SteeringTests {
    private func desk(_ fixture: MirrorFixture, at now: Date) -> Desk {
        Desk(fixture.mirror, zone: Sample.zone, now: now)
    }

    // MARK: Pausing

    @Test func nothingLeavesWhileTheMirrorPauses() async throws {
        let fixture = try await MirrorFixture.start()
        let table = fixture.mirror.table
        try await fixture.live(
            until: 23.9,
            events: [
                (
                    10,
                    { try await table.pause(until: nil, reason: "a funeral", now: Sample.hour(10)) }
                ),
                (16, { _ = try await table.resume(now: Sample.hour(16)) }),
            ])
        let sent = await fixture.sandbox.ledger.deliveries.map(\.date)
        let pause = Sample.hour(10)..<Sample.hour(16)
        expect(sent) { $0.allSatisfy { !pause.contains($0) } }
        expect(sent) { $0.contains { $0 < pause.lowerBound } }
        expect(sent) { $0.contains { $0 > pause.upperBound } }
        let slots = try await fixture.slots().filter { pause.contains($0.due) }
        #expect(!slots.isEmpty)
        expect(slots) { $0.allSatisfy { [.expired, .skipped].contains($0.state) } }
        // Who asked during the pause is answered after it, but for who said stop before it ended.
        let stopped = await fixture.sandbox.ledger.mentions.filter { $0.handle.hasPrefix("kent@") }
            .map(\.id)
        let asked = await fixture.sandbox.ledger.mentions.filter {
            $0.deservesReply && pause.contains($0.date) && !stopped.contains($0.id)
        }
        let answered = Set(await fixture.sandbox.ledger.deliveries.compactMap(\.replyTo))
        #expect(!asked.isEmpty)
        expect(asked) { $0.allSatisfy { answered.contains($0.id) } }
        expect(fixture.log.values) {
            $0.contains { $0.contains("Paused") && $0.contains("a funeral") }
        }
    }

    @Test func aPauseEndsByItself() async throws {
        let fixture = try await MirrorFixture.start()
        try await fixture.mirror.table.pause(
            until: Sample.hour(9), reason: nil, now: Sample.hour(0))
        try await fixture.live(until: 14)
        let sent = await fixture.sandbox.ledger.deliveries.map(\.date)
        #expect(!sent.isEmpty)
        expect(sent) { $0.allSatisfy { $0 >= Sample.hour(9) } }
        try await expect(fixture.mirror.table.pause(at: Sample.hour(14)), equals: nil)
        try await expect(fixture.mirror.table.resume(now: Sample.hour(14)), equals: nil)
    }

    /// Between the last look at the table and the request.
    @Test func noRequestBeginsOnceItPauses() async throws {
        let fixture = try await MirrorFixture.start()
        let slot = try await fixture.firstSlot()
        let held = try await fixture.leases.take(
            owner: "test", after: try await fixture.leases.record(), now: slot.due.milliseconds)
        let lease = try #require(held)
        let store = fixture.mirror.outbox(lease: lease)
        let claimed = try await store.claim(slot, now: slot.due)
        try await fixture.mirror.table.pause(until: nil, reason: nil, now: slot.due)
        let error = await #expect(throws: OutboxError.self) {
            try await store.beginSending(
                claimed, lookUp: slot.due + 60, deadline: .seconds(30), now: slot.due)
        }
        #expect(error?.code == .paused)
        _ = try await fixture.mirror.table.resume(now: slot.due)
        try await expect(
            store.beginSending(
                claimed, lookUp: slot.due + 60, deadline: .seconds(30), now: slot.due
            ).state,
            equals: .sending)
        try await fixture.mirror.table.pause(until: slot.due + 300, reason: nil, now: slot.due)
        let sending = try #require(try await store.unresolved().first)
        await #expect(throws: OutboxError.self) {
            try await store.resend(
                sending, lookUp: slot.due + 200, deadline: .seconds(30), now: slot.due + 299)
        }
        try await expect(
            store.resend(
                sending, lookUp: slot.due + 400, deadline: .seconds(30), now: slot.due + 300
            ).state,
            equals: .sending)
    }

    // MARK: Settings

    @Test func aRunningWorkerTakesUpWhatIsSet() async throws {
        let fixture = try await MirrorFixture.start(from: 8, variables: ["FAVORITE_MODE": "auto"])
        let mirror = fixture.mirror
        try await fixture.live(
            until: 20,
            events: [
                (
                    12,
                    {
                        try await mirror.set(
                            ["FAVORITE_MODE": "off", "MAX_PER_DAY": "7"], now: Sample.hour(12))
                    }
                )
            ])
        let favorites = try await fixture.actions(.favorite)
        expect(favorites) { $0.contains { $0.created < Sample.hour(12) } }
        expect(favorites) { $0.allSatisfy { $0.created < Sample.hour(12) + 120 } }
        let again = try await fixture.reopened()
        #expect(again.configuration.favoriteMode == .off)
        #expect(again.configuration.origin(of: .favoriteMode) == .stored)
        #expect(again.configuration.schedule.maximumPerDay == 7)
        let table = SettingTable(storage: mirror.storage, mirror: mirror.name)
        try await expect(table.remove(["FAVORITE_MODE", "LINKS"]), equals: ["FAVORITE_MODE"])
        try await expect(fixture.reopened().configuration.favoriteMode, equals: .auto)
    }

    @Test func whatCannotBeSetIsRefusedWithAReason() async throws {
        let bare = try await BareMirror()
        let mirror = try await bare.open()
        for (name, value, text) in [
            ("MAX_PER_DAY", "many", "expected a whole number"),
            ("TIME_ZONE", "Mars/Base", "TIME_ZONE"),
            ("QUIET_HOURS", "late", "QUIET_HOURS"), ("BOT_ACCESS_TOKEN", "planted", "is a secret"),
            ("DATABASE_URL", "postgres://planted@h/d", "is a secret"),
            ("NETWORK", "x", "belongs to the process"),
            ("BOT_SERVER", "a.example", "belongs to the process"),
            ("LOG_LEVEL", "debug", "belongs to the process"),
            ("MAX_PER_DAYS", "5", "is no setting; did you mean MAX_PER_DAY?"),
            ("SCHEDULE_MODEL", "kernel", "is no longer used: OLD_BOT=yes"),
            ("MIRROR", "b", "belongs to the process"),
        ] {
            let error = await #expect(throws: ConfigurationError.self) {
                try await mirror.set([name: value, "LINKS": "off"], now: BareMirror.now)
            }
            expect(error?.description, "\(name): \(error?.description ?? "-")") {
                $0?.contains(text) == true
            }
            expect(error?.description) { $0?.contains("planted") == false }
        }
        try await expect(SettingTable(storage: mirror.storage, mirror: mirror.name).all()) {
            $0.isEmpty
        }
    }

    // MARK: Review

    @Test func nothingIsDoneThatNobodyAgreedTo() async throws {
        let fixture = try await MirrorFixture.start(variables: ["REVIEW": "all"])
        let mirror = fixture.mirror
        let review = SuggestionReview(mirror: mirror)
        let approved = Recorder<Action>()
        try await fixture.live(
            until: 23.9,
            events: [
                (
                    14,
                    {
                        let waiting = try await mirror.outbox(lease: nil).suggestions(limit: 1_000)
                        for kind in ActionKind.allCases {
                            let one = try #require(
                                waiting.first { $0.kind == kind && $0.expires > Sample.hour(14) })
                            let decision = try await review.approve(
                                String(one.id.prefix(9)), now: Sample.hour(14))
                            let action = try await mirror.outbox(lease: nil).actions(withIDs: [
                                decision.id
                            ])
                            approved.add(try #require(action[decision.id]))
                        }
                        let declined = try #require(waiting.last { $0.kind == .favorite })
                        _ = try await review.dismiss(declined.id, now: Sample.hour(14))
                    }
                )
            ])
        try #require(approved.values.count == 3)
        let ledger = await fixture.sandbox.ledger
        let keys = Set(approved.values.map(\.key))
        #expect(ledger.deliveries.count == 2)
        expect(ledger.deliveries) { $0.allSatisfy { keys.contains($0.idempotencyKey ?? "") } }
        #expect(
            ledger.favorites.map(\.postID)
                == approved.values.filter { $0.kind == .favorite }.map { $0.target?.address }
        )
        let post = try #require(approved.values.first { $0.kind == .post })
        let sent = try #require(ledger.deliveries.first { $0.idempotencyKey == post.key })
        #expect(sent.date >= post.due)
        #expect(post.due > Sample.hour(14))
        for action in try await fixture.actions() where !keys.contains(action.key) {
            #expect([.suggested, .skipped, .expired].contains(action.state), "\(action)")
            if action.state == .expired { #expect(action.reason == "undecided") }
        }
    }

    @Test func whatAPersonSaysOfAFavoriteIsLearned() async throws {
        let fixture = try await MirrorFixture.start(
            from: 8, variables: ["FAVORITE_MODE": "suggest"])
        try await fixture.live(until: 14)
        let waiting = try await fixture.mirror.outbox(lease: nil).suggestions(limit: 1_000)
        let yes = try #require(waiting.first)
        let no = try #require(waiting.last)
        try #require(yes.id != no.id)
        let review = SuggestionReview(mirror: fixture.mirror)
        func state(_ action: Action) async throws -> String? {
            try await fixture.mirror.storage.lenient.query(
                "SELECT state FROM examples WHERE post_id = \(action.target?.post)"
            ).first?.text("state")
        }
        // Whatever the human did with them meanwhile.
        let posts = [yes, no].compactMap(\.target?.post).map {
            PostID(network: .mastodon, value: $0)
        }
        _ = try await fixture.mirror.favorites().learn(
            posts.map { .forgotten($0) }, at: fixture.clock.now)
        try await expect(review.approve(yes.id, now: fixture.clock.now).notLearned, equals: nil)
        try await expect(review.dismiss(no.id, now: fixture.clock.now).notLearned, equals: nil)
        let learnedYes = try await state(yes)
        let learnedNo = try await state(no)
        expect(learnedYes, "\(learnedYes ?? "-") \(learnedNo ?? "-")") {
            $0?.contains("favorite") == true
        }
        #expect(learnedNo == "seen", "\(learnedYes ?? "-") \(learnedNo ?? "-")")
        // Nobody decides twice, and a decision needs no network.
        for id in [yes.id, "ffffffffffff"] {
            let refusal = await #expect(throws: ChangeRefusal.self) {
                try await review.approve(id, now: fixture.clock.now)
            }
            #expect(refusal?.code == .unknown)
        }
        let third = try #require(
            try await fixture.mirror.outbox(lease: nil).suggestions(limit: 10).first)
        await fixture.sandbox.stop()
        let decision = try await review.dismiss(third.id, now: fixture.clock.now)
        #expect(decision.notLearned != nil)
        let stored = try await fixture.mirror.outbox(lease: nil).actions(withIDs: [third.id])[
            third.id]
        #expect(stored?.state == .skipped)
    }

    /// Whoever approves hears at once that nothing would come of it.
    @Test func noFavoriteIsApprovedWhereNoneAreGiven() async throws {
        let settings = [
            "TIME_ZONE": "UTC", "FAVORITE_MODE": "off", "BOT_SERVER": "home.example",
            "BOT_ACCESS_TOKEN": "token",
        ]
        let mirror = try await BareMirror(variables: settings).open()
        let target = Action.Target(
            post: "https://home.example/1", author: .mastodon("aoi@home.example", localHost: ""),
            address: "1")
        let intent = Intent(
            .favorite(target), state: .suggested, due: BareMirror.now,
            expires: BareMirror.now + 86_400)
        let store = mirror.outbox(lease: nil)
        let action = try await store.propose(intent, now: BareMirror.now).action
        let review = SuggestionReview(mirror: mirror)
        let error = await #expect(throws: ChangeRefusal.self) {
            try await review.approve(action.id, now: BareMirror.now)
        }
        expect(error?.description) { $0?.contains("FAVORITE_MODE") == true }
        try await expect(
            store.action(.favorite, subject: action.subject)?.state, equals: .suggested)
    }

    // MARK: The plan

    /// Every operation reads the name of a slot in the same way.
    @Test func aSlotIsNamedAsPeopleTypeIt() async throws {
        let fixture = try await MirrorFixture.start()
        let now = Sample.hour(0.1)
        let desk = desk(fixture, at: now)
        let slots = try await fixture.slotsOfPlan()
        try #require(slots.count >= 4)
        let second = try #require(slots.first { $0.subject.hasSuffix("#2") })
        let time = "\(LocalTime(second.due, in: Sample.zone).minute)"
        for name in [
            "2", "'#2'", "２", "＃２", "No. 2", "\(Sample.day) 2", time, "\(Sample.day) \(time)",
        ] {
            try await expect(
                desk.slot(after: SkipSlot(slot: name)).subject, equals: second.subject, "\(name)")
            try await expect(
                desk.slot(after: RestoreSlot(slot: name)).subject, equals: second.subject,
                "\(name)")
        }
        try await expect(desk.slot(after: PinSlot(slot: "2")).isPinned, equals: true)
        let moved = try await desk.slot(after: MoveSlot(slot: "２", time: "11:41pm"))
        #expect(LocalTime(moved.due, in: Sample.zone).minute.description == "23:41")
        let explained = try await ExplainReporter(mirror: fixture.mirror).report(
            on: "23:41", now: now)
        #expect(explained.id == second.id)
        let never = try await desk.perform(NeverSend(post: "23:41"))
        #expect(never.post == second.wording?.source.value)
        // Two at one time are told apart by their numbers.
        _ = try await desk.perform(MoveSlot(slot: "1", time: "23:41"))
        let several = await #expect(throws: ChangeRefusal.self) {
            try await desk.perform(SkipSlot(slot: "23:41"))
        }
        expect(several?.description) {
            $0?.contains("name one of them: \(Sample.day)#1, \(Sample.day)#2") == true
        }
        let nobody = await #expect(throws: ChangeRefusal.self) {
            try await desk.perform(SkipSlot(slot: "23:58"))
        }
        expect(nobody?.description) { $0?.contains("no slot at 23:58, but at ") == true }
    }

    @Test func whatAPersonChangedIsSentAsTheyWantIt() async throws {
        let fixture = try await MirrorFixture.start(.postgres)
        let now = Sample.hour(0.1)
        let desk = desk(fixture, at: now)
        // Made by the first change, as the preview showed it.
        let preview = try await PlanReporter(mirror: fixture.mirror, zone: Sample.zone).report(
            on: Sample.day, now: now)
        let slots = try #require(preview?.slots)
        try #require(slots.count >= 4)
        let skipped = try await desk.slot(after: SkipSlot(slot: "#1"))
        try await expect(fixture.slots().map(\.text), equals: slots.map(\.text))
        #expect(skipped.state == .skipped)
        #expect(skipped.reason == "by-person")
        let moved = try await desk.slot(after: MoveSlot(slot: "\(Sample.day)#2", time: "3:07"))
        #expect(moved.due == Sample.hour(3) + 420)
        #expect(moved.isPinned)
        let third = try await fixture.slots()[2]
        let used = Set(try await fixture.slots().compactMap(\.wording?.source))
        let post = try #require(
            try await fixture.mirror.archive.standalonePosts().first { post in
                guard
                    case .success = TextRules(
                        fixture.mirror.configuration, limits: .usual(of: .mastodon)
                    ).text(
                        for: post)
                else { return false }
                return !used.contains(post.id)
            })
        let pinned = try await desk.slot(
            after: PinSlot(slot: String(third.id.prefix(8)), post: post.id.value))
        #expect(pinned.wording?.source == post.id)
        #expect(pinned.isPinned)

        // Nothing of that is lost to another draw.
        let draw = try await desk.perform(RerollDay(day: Sample.day, seed: "another"))
        #expect(draw.taken == slots.count - 3)
        let drawn = try await fixture.slots()
        #expect(Set(drawn.map(\.subject)).count == drawn.count)
        #expect(drawn.count == slots.count + draw.added)
        #expect(drawn.count { $0.reason == "rerolled" } == draw.taken)
        for kept in [moved, pinned, skipped] { #expect(drawn.first { $0.id == kept.id } == kept) }

        try await fixture.worker().run(until: fixture.sandbox.world.end)
        let sent = await fixture.sandbox.ledger.deliveries.filter { $0.replyTo == nil }
        let atThree = try #require(sent.first { $0.idempotencyKey == moved.key })
        #expect((0..<60).contains(atThree.date.timeIntervalSince(moved.due)))
        #expect(atThree.text == moved.text)
        #expect(sent.first { $0.idempotencyKey == pinned.key }?.text == pinned.text)
        expect(sent) { !$0.contains { $0.idempotencyKey == skipped.key } }
        #expect(sent.count == draw.added + 2)
        try await expect(fixture.slots()) {
            $0.allSatisfy { [.done, .skipped].contains($0.state) }
        }
    }

    @Test func changesMeetTheWorkerInTheMiddle() async throws {
        let fixture = try await MirrorFixture.start()
        let slot = try await fixture.firstSlot()
        let held = try await fixture.leases.take(
            owner: "test", after: try await fixture.leases.record(), now: slot.due.milliseconds)
        let lease = try #require(held)
        let store = fixture.mirror.outbox(lease: lease)
        // Taken by a worker, and not sent yet: the person is in time, and the worker notices.
        let claimed = try await store.claim(slot, now: slot.due)
        let skipped = try await desk(fixture, at: slot.due).slot(
            after: SkipSlot(slot: slot.subject))
        #expect(skipped.state == .skipped)
        let error = await #expect(throws: OutboxError.self) {
            try await store.beginSending(
                claimed, lookUp: slot.due + 60, deadline: .seconds(30), now: slot.due)
        }
        #expect(error?.code == .stateChanged)
        // Sent, or about to be: the person is too late.
        let next = try #require(try await fixture.slots().first { $0.state == .planned })
        let left = try await store.beginSending(
            try await store.claim(next, now: next.due), lookUp: next.due + 60,
            deadline: .seconds(30), now: next.due)
        let sending = try await store.awaitLookUp(
            left, at: next.due + 60, reason: "transport", now: next.due)
        let late: [any PersonOperation] = [
            SkipSlot(slot: next.subject), MoveSlot(slot: next.subject, time: "23:58"),
            PinSlot(slot: next.subject),
        ]
        for operation in late {
            let refused = await #expect(throws: ChangeRefusal.self) {
                _ = try await desk(fixture, at: next.due).perform(operation)
            }
            expect(refused?.description) {
                $0?.contains("it is not known yet whether it arrived") == true
            }
        }
        try await expect(fixture.slots().first { $0.id == next.id }, equals: sending)
    }

    @Test func aPostThatWasPinnedIsSentOrNothingIs() async throws {
        let fixture = try await MirrorFixture.start()
        let slot = try #require(try await fixture.slotsOfPlan().first { $0.due > Sample.hour(6) })
        let pinned = try await desk(fixture, at: Sample.hour(0.1)).slot(
            after: PinSlot(slot: slot.subject))
        let source = try #require(pinned.wording?.source)
        try await fixture.mirror.archive.forget([source])
        try await fixture.live(until: 23.9)
        let after = try #require(try await fixture.slots().first { $0.id == pinned.id })
        #expect(after.state == .skipped)
        #expect(after.reason == "source-gone")
        #expect(after.text == pinned.text)
    }

    @Test func aTextThatIsNeverWantedIsGoneForGood() async throws {
        let fixture = try await MirrorFixture.start()
        let desk = desk(fixture, at: Sample.hour(0.1))
        let slots = try await fixture.slotsOfPlan()
        let slot = try #require(slots.first { $0.due > Sample.hour(6) })
        let source = try await fixture.source(of: slot)
        let result = try await desk.perform(NeverSend(post: source.id.value))
        #expect(result.isNew)
        #expect(result.slots.map(\.id) == [slot.id])
        let other = try #require(try await fixture.slots().first { $0.id == slot.id })
        #expect(other.state == .planned)
        #expect(other.text != slot.text)
        #expect(!other.isPinned)
        try await expect(
            desk.perform(NeverSend(post: slot.subject)).post, equals: other.wording?.source.value)
        try await expect(desk.perform(NeverSend(post: source.id.value))) { !$0.isNew }

        // Read again under another name, as from an archive, and judged anew.
        let twin = Post(
            id: PostID(network: .mastodon, value: "https://social.example/twin"),
            author: source.author,
            text: source.text, createdAt: source.createdAt, visibility: .public)
        _ = try await fixture.mirror.archive.store([twin], timeZone: Sample.zone, limit: 10_000)
        try await fixture.mirror.storage.lenient.execute(
            "UPDATE posts SET rules = '', unfit = NULL")
        try await fixture.live(until: 23.9)
        let sent = await fixture.sandbox.ledger.deliveries.map { TextRules.textKey($0.text) }
        #expect(!sent.isEmpty)
        #expect(!sent.contains(TextRules.textKey(source.text)))
        _ = try await PlanReporter(mirror: fixture.mirror, zone: Sample.zone).report(
            on: Sample.day.advanced(by: 1), now: Sample.hour(23.9))
        let rows = try await fixture.mirror.storage.lenient.query(
            "SELECT unfit FROM posts WHERE post_id = \(twin.id.value)")
        let unfit = try rows.first?.optionalText("unfit")
        #expect(unfit == "never")
    }

    @Test func aReplyThatIsNeverWantedIsNotGiven() async throws {
        let fixture = try await MirrorFixture.start()
        let desk = desk(fixture, at: Sample.hour(0.1))
        let people = try await fixture.mirror.archive.repliedAuthors(limit: 1_000).map(\.author)
        try #require(people.count > 1)
        var never: Set<String> = []
        for person in people {
            for reply in try await fixture.mirror.archive.replies(to: person) {
                never.insert(try await desk.perform(NeverSend(post: reply.id.value)).post)
            }
        }
        try await fixture.live(until: 23.9)
        let answers = try await fixture.actions(.reply).filter {
            people.contains($0.target?.author ?? Sample.person(""))
        }
        expect(answers) { $0.contains { $0.state == .skipped } }
        // What the human has answered them since may be said.
        expect(answers) {
            $0.allSatisfy { $0.wording.map { !never.contains($0.source.value) } ?? true }
        }
    }

    @Test func aPostIsSentAtOnceAndOnce() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        let post = try #require(
            try await fixture.mirror.archive.standalonePosts().first {
                if case .success = TextRules(
                    fixture.mirror.configuration, limits: .usual(of: .mastodon)
                ).text(for: $0) {
                    true
                } else {
                    false
                }
            })
        let action = try await desk(fixture, at: Sample.hour(9)).slot(
            after: PublishPost(post: post.id.value))
        let plan = try await fixture.slots()
        #expect(plan.count > 1)
        #expect(plan.filter { $0.id == action.id } == [action])
        try await fixture.live(until: 9.5)
        let sent = await fixture.sandbox.ledger.deliveries.filter {
            $0.idempotencyKey == action.key
        }
        #expect(sent.count == 1)
        #expect(sent.first?.text == action.text)
        let answered = try #require(try await fixture.mirror.archive.repliedAuthors(limit: 1).first)
        let reply = try #require(
            try await fixture.mirror.archive.replies(to: answered.author).first)
        await #expect(throws: ChangeRefusal.self) {
            try await desk(fixture, at: Sample.hour(10)).perform(
                PublishPost(post: reply.id.value))
        }
    }

    @Test func whatIsMisspelledChangesNothing() async throws {
        let fixture = try await MirrorFixture.start()
        let desk = desk(fixture, at: Sample.hour(12))
        let before = try await fixture.slotsOfPlan()
        let tries: [(String, any PersonOperation)] = [
            ("is no action of this mirror", SkipSlot(slot: "nothing")),
            (
                "as 4 or '#4' for today's, 2026-11-24#2, a time",
                MoveSlot(slot: "4.5", time: "23:00")
            ),
            ("has no slot 99, but", SkipSlot(slot: "#99")),
            ("has no slot 99, but", PinSlot(slot: "99")),
            ("has no slot 99, but", NeverSend(post: "99")),
            ("has passed", SkipSlot(slot: "2020-01-01#1")),
            ("days away", SkipSlot(slot: "2040-01-01#1")),
            ("is no time of day", MoveSlot(slot: "#1", time: "25:00")),
            ("has passed", MoveSlot(slot: "#1", time: "11:59")),
            ("names no archived post", PinSlot(slot: "#1", post: "https://nowhere.example/1")),
            ("names no archived post", NeverSend(post: "https://nowhere.example/1")),
            ("names no archived post", PublishPost(post: "'; DROP TABLE posts; --")),
        ]
        for (text, operation) in tries {
            let error = await #expect(throws: ChangeRefusal.self) {
                _ = try await desk.perform(operation)
            }
            expect(error?.description, "\(error?.description ?? "-")") {
                $0?.contains(text) == true
            }
        }
        try await expect(fixture.slots(), equals: before)
    }

    @Test func timesAreReadAsPeopleTypeThem() throws {
        let time = PersonTime(zone: try #require(TimeZone(identifier: "Europe/Berlin")))
        let now = try #require(Date(rfc3339: "2026-03-28T17:00:00Z"))
        let cases = [
            ("18:30", "2026-03-28T17:30:00Z"), ("17:59", "2026-03-29T15:59:00Z"),
            ("7:05", "2026-03-29T05:05:00Z"),
            // Clocks are put forward over it on the next day.
            ("2026-03-29 02:30", nil), ("2026-03-29 03:00", "2026-03-29T01:00:00Z"),
            ("2026-10-25 02:30", "2026-10-25T00:30:00Z"), ("2026-03-30", "2026-03-29T22:00:00Z"),
            ("2026-03-30T08:00:00+09:00", "2026-03-29T23:00:00Z"), ("45m", "2026-03-28T17:45:00Z"),
            ("6h", "2026-03-28T23:00:00Z"), ("3d", "2026-03-31T17:00:00Z"),
            ("2w", "2026-04-11T17:00:00Z"),
            ("", nil), ("h", nil), ("0h", nil), ("-1h", nil), ("99999999999999999999d", nil),
            ("9999w", nil),
            ("24:00", nil), ("1:2", nil), ("tomorrow", nil), ("2026-02-30", nil),
        ]
        for (text, expected) in cases {
            #expect(
                time.instant(text, now: now) == expected.flatMap { Date(rfc3339: $0) }, "\(text)")
        }
    }
}

extension MirrorFixture {
    /// The slots of today, stored as a person's first change stores them.
    fileprivate func slotsOfPlan() async throws -> [Action] {
        let desk = Desk(mirror, zone: Sample.zone, now: Sample.hour(0.1))
        // Whatever becomes of it, the plan is there then.
        _ = try? await desk.perform(SkipSlot(slot: "#10000"))
        return try await slots()
    }
}
