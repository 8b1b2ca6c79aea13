import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Settings
import Storage
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// What lists and previews tell that pages show: nobody and nothing twice, and numbers that hold.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct PageListTests {
    private static func person(_ number: Int) -> AccountID {
        .mastodon("pal\(number)@far.example", localHost: "")
    }

    private static func suggestion(
        _ number: Int, of kind: ActionKind = .favorite, now: Date, expires: TimeInterval
    ) -> Intent {
        let target = Action.Target(
            post: "post-\(number)", author: person(number), address: "address-\(number)",
            text: "text \(number)")
        return Intent(.favorite(target), state: .suggested, due: now, expires: now + expires)
    }

    // MARK: Suggestions

    /// The most urgent comes first, and a page goes on behind a place whose suggestion was decided,
    /// with others come in.
    @Test(arguments: Engine.allCases) func whatWaitsIsShownOnce(_ engine: Engine) async throws {
        let paper = try await PaperMirror(engine, bot: .mastodon)
        let store = try await paper.parts().store
        let now = paper.clock.now
        for number in 1...7 {
            _ = try await store.propose(
                Self.suggestion(number, now: now, expires: Double(100 - number) * 60),
                now: now + Double(number))
        }
        var search = SuggestionList.Search(limit: 3)
        search.order = .urgent
        let first = try await SuggestionList(of: paper.mirror, search)
        #expect(first.suggestions.map(\.about) == ["text 7", "text 6", "text 5"])
        #expect(first.total == 7)
        // Meanwhile the one at the place is decided, and a more urgent one comes in.
        _ = try await Desk(paper.mirror, zone: nil).perform(
            DismissSuggestion(id: first.suggestions[2].id))
        _ = try await store.propose(Self.suggestion(8, now: now, expires: 60), now: now)
        search.cursor = first.next
        let second = try await SuggestionList(of: paper.mirror, search)
        #expect(second.suggestions.map(\.about) == ["text 4", "text 3", "text 2"])
        search.cursor = second.next
        let last = try await SuggestionList(of: paper.mirror, search)
        #expect(last.suggestions.map(\.about) == ["text 1"])
        #expect(last.next == nil)
        #expect(last.total == 7)
        search.cursor = "nowhere"
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await SuggestionList(of: paper.mirror, search)
        }
        #expect(refusal?.code == .unusable)
    }

    /// On X no call favorites: what a person did by hand is done, and is not asked for again.
    @Test func whatAPersonDidByHandIsDone() async throws {
        let paper = try await PaperMirror(bot: .x, variables: ["X_ACKNOWLEDGE_POLICY": "yes"])
        let store = try await paper.parts().store
        let target = Action.Target(
            post: "17", author: AccountID(network: .x, value: "4"), address: "17", text: "hello")
        let intent = Intent(
            .favorite(target), state: .suggested, due: paper.clock.now,
            expires: paper.clock.now + 86_400)
        let action = try await store.propose(intent, now: paper.clock.now).action
        let seen = action.seen
        let desk = Desk(paper.mirror, zone: nil)
        guard try await paper.mirror.network(of: .bot) != nil else {
            // Without an account nobody can tell what the network allows.
            await #expect(throws: (any Error).self) {
                try await desk.perform(PersonRequest(NoteSuggestionDone(id: action.id), seen: seen))
            }
            return
        }
        try await expect(
            desk.perform(PersonRequest(NoteSuggestionDone(id: action.id), seen: seen)).decision,
            equals: .done)
        try await expect(paper.actions(.favorite).map(\.state), equals: [.done])
    }

    /// Asking for the post would cost something, so what the suggestion shows is learned.
    @Test(arguments: [true, false]) func aDecisionOnXIsLearnedFromWhatIsKept(isDone: Bool)
        async throws
    {
        let paper = try await PaperMirror(
            bot: .x,
            variables: [
                "X_ACKNOWLEDGE_POLICY": "yes", "BOT_CONSUMER_KEY": "bk",
                "BOT_CONSUMER_SECRET": "bs",
                "BOT_ACCESS_TOKEN": "2-b", "BOT_ACCESS_TOKEN_SECRET": "bt",
            ])
        let store = try await paper.parts().store
        let target = Action.Target(
            post: "17", author: AccountID(network: .x, value: "4"), address: "17",
            text: "green tea in the garden")
        let intent = Intent(
            .favorite(target), state: .suggested, due: paper.clock.now,
            expires: paper.clock.now + 86_400)
        let action = try await store.propose(intent, now: paper.clock.now).action
        let desk = Desk(paper.mirror, zone: nil)
        let decision =
            isDone
            ? try await desk.perform(
                PersonRequest(NoteSuggestionDone(id: action.id), seen: action.seen))
            : try await desk.perform(
                PersonRequest(DismissSuggestion(id: action.id), seen: action.seen))
        #expect(decision.notLearned == nil)
        let rows = try await paper.mirror.storage.query("SELECT author, text FROM examples")
        try expect(rows.map { try $0.text("text") }, equals: ["green tea in the garden"])
        try expect(rows.map { try $0.text("author") }, equals: ["4"])
    }

    @Test func aFavoriteThatTheBotGivesIsNoneByHand() async throws {
        let sandboxed = try await MirrorFixture.start(isTrained: false)
        let now = sandboxed.clock.now
        let store = sandboxed.mirror.outbox(lease: nil)
        let action = try await store.propose(
            Self.suggestion(1, now: now, expires: 86_400), now: now
        ).action
        let list = try await SuggestionList(of: sandboxed.mirror, .init())
        #expect(list.suggestions.map(\.isByHand) == [false])
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await Desk(sandboxed.mirror, zone: nil).perform(NoteSuggestionDone(id: action.id))
        }
        #expect(refusal?.code == .notAllowed)
        try await expect(store.suggestionCount(), equals: 1)
    }

    // MARK: Actions

    /// A day's list has what changed on that day by the human's clock, and no more.
    @Test(arguments: Engine.allCases) func aDayHasItsActions(_ engine: Engine) async throws {
        let paper = try await PaperMirror(engine, bot: .mastodon)
        let day = LocalTime(paper.clock.now, in: PaperMirror.zone).day
        let period = try #require(day.period(in: PaperMirror.zone))
        let store = try await paper.parts().store
        let times = [
            period.lowerBound - 0.001, period.lowerBound, period.upperBound - 0.001,
            period.upperBound,
        ]
        for (number, time) in times.enumerated() {
            let intent = Self.suggestion(number, now: time, expires: 86_400)
            let action = try await store.propose(intent, now: time).action
            _ = try await store.dismiss(action.id, now: time)
        }
        var search = ActionList.Search()
        let isDay = search.restrict(to: day, in: PaperMirror.zone)
        #expect(isDay)
        let list = try await ActionList(of: paper.mirror, search)
        #expect(
            Set(list.actions.map(\.at.milliseconds)) == [
                times[1].milliseconds, times[2].milliseconds,
            ])
        search.states = [.skipped, .expired]
        let report = try await DayReporter(mirror: paper.mirror, zone: PaperMirror.zone)
            .report(on: day, now: paper.clock.now)
        try await expect(
            ActionList(of: paper.mirror, search).actions.count,
            equals: report.count(of: .favorite)?.leftAlone)
    }

    /// The totals count what all pages list, whatever is looked for and wherever the page begins.
    @Test(arguments: Engine.allCases) func totalsCountAllPages(_ engine: Engine) async throws {
        let paper = try await PaperMirror(engine, bot: .mastodon)
        let now = paper.clock.now
        let store = try await paper.parts().store
        for number in 0..<7 {
            let time = now + Double(number)
            let action = try await store.propose(
                Self.suggestion(number, now: time, expires: 86_400), now: time
            ).action
            if number < 3 { _ = try await store.dismiss(action.id, now: time) }
        }
        var search = ActionList.Search(limit: 2)
        var place = String?.none
        repeat {
            search.cursor = place
            let list = try await ActionList(of: paper.mirror, search)
            let counts = list.totals?.counts.map { ($0.state, $0.count) } ?? []
            #expect(Dictionary(uniqueKeysWithValues: counts) == [.suggested: 4, .skipped: 3])
            #expect(list.totals?.total == 7)
            place = list.next
        } while place != nil
        let changes: [(inout ActionList.Search) -> Void] = [
            { $0.kinds = [.post] }, { $0.kinds = [.favorite] }, { $0.states = [.skipped] },
            { $0.since = now + 2 },
            { $0.until = now + 5 }, { $0.person = "pal2@far.example" },
            {
                $0.since = now + 2
                $0.states = [.skipped]
            },
        ]
        for change in changes {
            var search = ActionList.Search(limit: 100)
            change(&search)
            let list = try await ActionList(of: paper.mirror, search)
            #expect(list.totals?.total == list.actions.count)
        }
        search = .init()
        search.words = "pal2"
        try await expect(ActionList(of: paper.mirror, search).totals, equals: nil)
    }

    /// The name of an author is found, also where it is the identity.
    @Test func anAuthorIsFoundByName() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        let now = paper.clock.now
        let store = try await paper.parts().store
        for number in [1, 2] {
            _ = try await store.propose(
                Self.suggestion(number, now: now, expires: 86_400), now: now)
        }
        var search = ActionList.Search()
        search.words = "PAL2@far"
        try await expect(
            ActionList(of: paper.mirror, search).actions.map { $0.person?.account },
            equals: ["pal2@far.example"])
    }

    // MARK: People

    /// Everybody is listed once, however long the list is and whatever changes while somebody reads
    /// it.
    @Test(arguments: Engine.allCases) func everybodyIsListedOnce(_ engine: Engine) async throws {
        let paper = try await PaperMirror(engine, bot: .mastodon)
        let past = (1...9).flatMap { number in
            (1...(number > 6 ? 2 : 1)).map {
                pastReply("r\(number)-\($0)", to: Self.person(number), "thanks \(number)")
            }
        }
        try await paper.archive(past)
        for number in 20...24 {
            try await paper.mirror.people.set(
                .deny, for: Self.person(number), reason: "operator", at: paper.clock.now)
        }
        var search = PeopleList.Search()
        search.limit = 4
        var shown: [String] = []
        var pages: Int = 0
        repeat {
            let list = try await PeopleList(of: paper.mirror, search)
            #expect(list.people.count <= 4)
            #expect(list.counts.all == 14)
            #expect(list.counts.denied == 5)
            shown += list.people.map(\.account)
            search.cursor = list.next
            pages += 1
            if pages == 1 {
                // Who stands at the place is answered again, and comes before it.
                let last = try #require(list.people.last)
                let id = try #require(AccountID(reference: last.account, localHost: nil))
                try await paper.archive([
                    pastReply("again-1", to: id, "again"), pastReply("again-2", to: id, "anew"),
                ])
            }
        } while search.cursor != nil
        #expect(shown.count == Set(shown).count)
        #expect(shown.count == 14)
        #expect(pages == 4)
    }

    @Test func theForgottenAreCountedAndListed() async throws {
        let paper = try await PaperMirror(bot: .mastodon)
        try await paper.archive([
            pastReply("r1", to: Self.person(1), "thanks"),
            pastReply("r2", to: Self.person(2), "so"),
        ])
        _ = try await paper.mirror.forget(Self.person(1), now: paper.clock.now)
        var search = PeopleList.Search()
        try await expect(
            PeopleList(of: paper.mirror, search).people.map(\.account), equals: ["pal2@far.example"]
        )
        search.stance = .forgotten
        let list = try await PeopleList(of: paper.mirror, search)
        #expect(list.counts.forgotten == 1)
        #expect(list.people.map(\.isForgotten) == [true])
        #expect(list.people.allSatisfy { !$0.account.contains("pal1") })
    }

    // MARK: Before something is taken back, or forgotten

    /// What a person is told before forgetting is what goes.
    @Test(arguments: Engine.allCases) func whatIsToldIsForgotten(_ engine: Engine) async throws {
        let stand = try await DeskStand(engine)
        let holding = try await PersonHolding(of: "@pal@far.example", in: stand.desk.mirror)
        #expect(holding.mentions == 1)
        #expect(holding.deeds == 2)
        #expect(holding.waiting == 2)
        #expect(holding.learned == 0)
        let gone = try await stand.desk.perform(ForgetPerson(account: "pal@far.example")).forgotten
        #expect(gone.posts == holding.mentions)
        #expect(gone.dropped == holding.waiting)
        let after = try await PersonHolding(of: "pal@far.example", in: stand.desk.mirror)
        #expect(after.isForgotten)
        #expect(after.parts == [])
    }

    @Test func aServerIsHeldByItsPeople() async throws {
        let stand = try await DeskStand(.sqlite)
        let holding = try await PersonHolding(of: "*@far.example", in: stand.desk.mirror)
        #expect(holding.known == 1)
        #expect(holding.learned == nil)
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await PersonHolding(of: "*@", in: stand.desk.mirror)
        }
        #expect(refusal?.code == .unusable)
    }

    /// The numbers before taking back are those of the answers.
    @Test(arguments: Engine.allCases) func whatIsToldIsTakenBack(_ engine: Engine) async throws {
        let stand = try await DeskStand(engine)
        let mirror = stand.desk.mirror
        let now = stand.paper.clock.now
        let ids = (1...3).map(DeskStand.slot)
        try await mirror.storage.execute(
            """
            UPDATE actions SET state = 'done', sending_ms = \(now.milliseconds), remote_id = '1', remote_address = '1'
            WHERE mirror = 'test' AND id = \(ids[0])
            """)
        try await mirror.storage.execute(
            "UPDATE actions SET state = 'expired' WHERE mirror = 'test' AND id = \(ids[2])")
        let undoing = Undoing(mirror: mirror)
        let actions = try await undoing.actions(.named(ids), kinds: [], now: now)
        let outlook = try await undoing.outlook(on: actions, now: now)
        #expect((outlook.posts, outlook.replies, outlook.favorites) == (1, 0, 0))
        #expect((outlook.withheld, outlook.impossible) == (1, 1))
        let wishes = try await stand.desk.perform(
            PersonRequest(AskUndo(ids: ids), seen: outlook.seen))
        #expect(wishes.answers[ids[0]] == .asked)
        #expect(wishes.answers[ids[1]] == .withheld)
        #expect(wishes.answers[ids[2]] == .nothing)
        // Asked a second time, with what was seen before: it is done already, but not for what
        // never happened.
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await stand.desk.perform(PersonRequest(AskUndo(ids: ids), seen: outlook.seen))
        }
        #expect(refusal?.code == .changed)
        let two = Array(ids.prefix(2))
        let seen = Seen(ofAll: actions.prefix(2).map(\.seen))
        let again = try await stand.desk.perform(PersonRequest(AskUndo(ids: two), seen: seen))
        #expect(again.answers == [ids[0]: .asked, ids[1]: .withheld])
    }

    @Test(arguments: ["", "bo", "@nobody", "bot@elsewhere.example"])
    func anotherHandleTakesNothingBack(_ typed: String) async throws {
        let stand = try await DeskStand(.sqlite)
        try await stand.prepare(.undoEverything)
        let before = try await stand.rows()
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await stand.desk.perform(AskUndoEverything(bot: typed))
        }
        #expect(refusal?.code == .unusable)
        try await expect(stand.rows(), equals: before)
    }

    /// A limit of the network makes it take as long as it takes.
    @Test func howLongItTakesFollowsFromTheLimit() async throws {
        let fixture = try await MirrorFixture.start(isTrained: false)
        let now = fixture.clock.now
        let network = try #require(try await fixture.mirror.network(of: .bot))
        let pace = network.capabilities.deletionPace
        let undoing = Undoing(mirror: fixture.mirror)
        func action(_ number: Int) -> Action {
            let slot = Slot.Name(day: LocalDay(ordinal: 20_000), number: number)
            let wording = Action.Wording(
                source: PostID(network: .mastodon, value: "\(number)"), text: "text \(number)",
                visibility: .unlisted)
            var action = Action(
                Intent(.post(slot, wording), due: now, expires: now), of: "test", at: now)
            action.state = .done
            return action
        }
        let few = try await undoing.outlook(on: (1...pace.count).map(action), now: now)
        #expect(few.seconds == 0)
        #expect(few.deletions?.count == pace.count)
        let many = try await undoing.outlook(on: (1...(3 * pace.count + 1)).map(action), now: now)
        #expect(many.seconds == 3 * pace.period)
        #expect(many.posts == 3 * pace.count + 1)
    }

    // MARK: Limits

    @Test(arguments: Engine.allCases) func limitsTellWhatIsUsed(_ engine: Engine) async throws {
        let stand = try await DeskStand(engine)
        let report = try await StatusReporter(mirror: stand.desk.mirror).report(
            now: stand.paper.clock.now)
        let limits = try #require(report.limits)
        let replies = try #require(limits.first { $0.what == .repliesToOnePerson })
        // One waits for the worker, and one for a person: both count for the cap.
        #expect(replies.used == 2)
        #expect(replies.limit == 3)
        #expect(replies.person?.account == "pal@far.example")
        #expect(limits.first { $0.what == .favorites }?.used == 0)
        #expect(limits.first { $0.what == .posts }?.used == 0)
        #expect(limits.first { $0.what == .posts }?.limit == 50)
    }
}
