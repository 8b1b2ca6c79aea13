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

/// Every operation of a person: as it was seen, not any more as it was seen, twice, back again, and
/// beside a worker.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct DeskTests {
    /// What is as the person saw it is changed, and the digest that a report gives is the one that
    /// counts.
    @Test(arguments: Engine.allCases, Wish.allCases)
    func whatIsAsItWasSeenIsChanged(_ engine: Engine, _ wish: Wish) async throws {
        let stand = try await DeskStand(engine)
        try await stand.prepare(wish)
        let before = try await stand.rows()
        let seen = try await stand.shown(wish)
        #expect((seen == nil) == [.keepProposed].contains(wish))
        let outcome = try await stand.perform(wish, seen: seen)
        try await expect(stand.rows()) { $0 != before }
        #expect(outcome.schema.hasPrefix("mirror-bot/"))
        if let wayBack = outcome.wayBack {
            let name = type(of: wayBack.operation).name
            #expect(Set(Wish.allCases.map(\.operationName)).contains(name), "\(wayBack)")
        }
    }

    /// What somebody else has changed meanwhile stays as it is then.
    ///
    /// Where somebody else did what the wish leads to, it is done already.
    @Test(
        arguments: Engine.allCases,
        Wish.allCases.filter { $0 != .keepProposed && !Wish.sameForAll.contains($0) })
    func whatHasChangedSinceItWasSeenStays(_ engine: Engine, _ wish: Wish) async throws {
        let stand = try await DeskStand(engine)
        try await stand.prepare(wish)
        let seen = try #require(try await stand.shown(wish))
        try await stand.meddle(with: wish)
        let before = try await stand.rows()
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await stand.perform(wish, seen: seen)
        }
        #expect(refusal?.code == .changed, "\(refusal?.description ?? "-")")
        try await expect(stand.rows(), equals: before)
        // Who looks again may go on, unless what was done meanwhile leaves nothing to do.
        let again = try await stand.shown(wish)
        #expect(again != seen)
    }

    /// A form that was sent twice holds what was seen before the first time; what it asks for is
    /// done, and is no error.
    @Test(arguments: Engine.allCases, Wish.repeatable)
    func whatIsDoneAlreadyIsNoError(_ engine: Engine, _ wish: Wish) async throws {
        let stand = try await DeskStand(engine)
        try await stand.prepare(wish)
        let seen = try await stand.shown(wish)
        _ = try await stand.perform(wish, seen: seen)
        let once = try await stand.rows()
        let outcome = try await stand.perform(wish, seen: seen)
        #expect(outcome.schema.hasPrefix("mirror-bot/"))
        try await expect(stand.rows(), equals: once)
    }

    /// A wish that comes twice, as from a form that was sent twice, does no more than one.
    @Test(arguments: Engine.allCases, Wish.allCases)
    func whatIsAskedForTwiceIsDoneOnce(_ engine: Engine, _ wish: Wish) async throws {
        let stand = try await DeskStand(engine)
        try await stand.prepare(wish)
        _ = try await stand.perform(wish, seen: nil)
        let once = try await stand.rows()
        do {
            _ = try await stand.perform(wish, seen: nil)
        } catch let refusal as ChangeRefusal {
            #expect([.over, .unknown, .sent].contains(refusal.code), "\(refusal.code): \(refusal)")
        }
        // To draw a day anew, or to publish, again is another wish.
        guard ![.reroll, .publish].contains(wish) else { return }
        try await expect(stand.rows(), equals: once)
    }

    /// What can be taken back is taken back by the request that the outcome carries.
    @Test(arguments: Engine.allCases, Wish.pairs)
    func theWayBackLeadsBack(_ engine: Engine, _ pair: Wish.Pair) async throws {
        let stand = try await DeskStand(engine)
        let before = try await stand.rows(besides: pair.keptTraces)
        let outcome = try await stand.perform(pair.there, seen: nil)
        let wayBack = try #require(outcome.wayBack)
        #expect(type(of: wayBack.operation).name == pair.back.operationName)
        try await expect(stand.rows(besides: pair.keptTraces)) { $0 != before }
        _ = try await stand.perform(wayBack)
        try await expect(stand.rows(besides: pair.keptTraces), equals: before)
    }

    /// A value that was set before is set again.
    @Test(arguments: Engine.allCases) func aFormerValueIsTheWayBack(_ engine: Engine) async throws {
        let desk = try await DeskStand(engine).desk
        _ = try await desk.perform(SetValues(["MAX_PER_DAY": "7"]))
        let set = try await desk.perform(SetValues(["MAX_PER_DAY": "9"]))
        #expect(set.wayBack == WayBack(SetValues(["MAX_PER_DAY": "7"]), "set", "MAX_PER_DAY=7"))
        try await expect(desk.perform(SetValues(["MAX_PER_DAY": "9"])).wayBack, equals: nil)
        // One of them would have to be set, and the other one unset.
        let both = ["MAX_PER_DAY": "8", "FITNESS": "loose"]
        try await expect(desk.perform(SetValues(both)).wayBack, equals: nil)
        let unset = try await desk.perform(UnsetValues(["MAX_PER_DAY", "LINKS", "FITNESS"]))
        #expect(
            unset.wayBack == WayBack(SetValues(both), "set", "FITNESS=loose", "MAX_PER_DAY=8"))
        try await expect(desk.perform(UnsetValues(["LINKS"])).wayBack, equals: nil)
    }

    /// What is muted no longer can be muted again; a post has to be read again first.
    @Test func whatIsRememberedIsForgottenAgain() async throws {
        let desk = try await DeskStand(.sqlite).desk
        let word = ForgettingWish.word("harbour")
        _ = try await desk.perform(ForgetText(word))
        let allowed = try await desk.perform(RememberText(word))
        #expect(allowed.wayBack == WayBack(ForgetText(word), "forget", "--word", "harbour"))
        let post = ForgettingWish.post("thought-5")
        _ = try await desk.perform(ForgetText(post))
        let admitted = try await desk.perform(RememberText(post))
        #expect(admitted.isUndone)
        #expect(admitted.wayBack == nil)
    }

    /// Requests and outcomes survive being written down: a form or a program may hold them.
    @Test(arguments: Wish.allCases) func requestsAndOutcomesAreValues(_ wish: Wish) async throws {
        let stand = try await DeskStand(.sqlite)
        try await stand.prepare(wish)
        try await stand.requireWritable(wish)
    }

    /// No two operations share a name.
    @Test func namesMeanOneOperation() {
        let types = Dictionary(grouping: Wish.allCases, by: \.operationName).mapValues { wishes in
            Set(wishes.map { "\(type(of: $0.operation))" })
        }
        for (name, found) in types { #expect(found.count == 1, "\(name): \(found)") }
    }

    /// Beside a worker that sends what is due at this moment, an operation either wins or says that
    /// it came too late; once it has returned, nothing leaves that it forbids.
    @Test(arguments: Engine.allCases, Wish.allCases)
    func besideAWorkerOneOfThemWins(_ engine: Engine, _ wish: Wish) async throws {
        let stand = try await DeskStand(engine)
        try await stand.prepare(wish)
        let parts = stand.parts
        let worker = Task {
            do { try await parts.courier.deliverDue([.post, .reply]) } catch let error
                as OutboxError
            {
                #expect([.paused, .stateChanged].contains(error.code), "\(error)")
            }
        }
        var isDone = false
        do {
            _ = try await stand.perform(wish, seen: nil)
            isDone = true
        } catch let refusal as ChangeRefusal {
            #expect(
                [.sent, .over, .unknown, .busy, .unfit].contains(refusal.code),
                "\(refusal.code): \(refusal)")
        }
        let published = stand.paper.bot.with { $0.published.map(\.text) }
        try await worker.value
        let later = stand.paper.bot.with { $0.published.map(\.text) }.dropFirst(published.count)
        if isDone {
            expect(later) { texts in texts.allSatisfy { !stand.isForbidden($0, by: wish) } }
        }
        expect(stand.paper.bot.with { $0.published.map(\.text) }) { Set($0).count == $0.count }
    }
}

// MARK: - What there is to ask for

extension DeskTests {
    /// One operation, with what it is about on a ``DeskStand``.
    enum Wish: String, CaseIterable, Sendable {
        case pause, resume, skip, restore, move, pin, reroll, publish, never, sendAgain
        case approve, dismiss, reopen, deny, allow, denyServer, allowServer, link, unlink,
            forgetPerson
        case forgetPost, mute, unmute, set, unset, addZone, removeZone, undo, undoEverything,
            keepProposed, keepSome
        case keepText, unkeepText

        /// Those that say of a second press that it is done already.
        static let repeatable: [Wish] = [
            .pause, .resume, .skip, .restore, .move, .pin, .publish, .never, .sendAgain, .approve,
            .dismiss, .reopen,
            .deny, .allow, .denyServer, .allowServer, .link, .unlink, .forgetPerson, .forgetPost,
            .mute, .set, .unset,
            .addZone, .removeZone, .undo, .undoEverything, .keepSome, .keepText, .unkeepText,
        ]

        /// Those that somebody else could only have done in the same way, or undone.
        static let sameForAll: Set<Wish> = [
            .restore, .sendAgain, .denyServer, .allowServer, .mute, .set, .unset, .addZone,
            .removeZone,
        ]

        /// An operation and the one that takes it back.
        struct Pair: Sendable {
            let there: Wish
            let back: Wish
            /// The tables in which something stays.
            var keptTraces: Set<String> = []
        }

        static let pairs = [
            Pair(there: .pause, back: .resume), Pair(there: .skip, back: .restore),
            // What the rules made of the text is found out anew.
            Pair(there: .never, back: .sendAgain, keptTraces: ["posts", "actions"]),
            Pair(there: .dismiss, back: .reopen), Pair(there: .denyServer, back: .allowServer),
            Pair(there: .link, back: .unlink),
            Pair(there: .mute, back: .unmute, keptTraces: ["posts", "actions"]),
            Pair(there: .addZone, back: .removeZone), Pair(there: .keepText, back: .unkeepText),
            Pair(there: .set, back: .unset),
        ]

        var operation: any PersonOperation {
            switch self {
            case .pause: PauseMirror(until: "6h", reason: "a funeral")
            case .resume: ResumeMirror()
            case .skip: SkipSlot(slot: "#1")
            case .restore: RestoreSlot(slot: "#1")
            case .move: MoveSlot(slot: "#2", time: "23:41")
            case .pin: PinSlot(slot: "#2", post: "thought-9")
            case .reroll: RerollDay(day: nil, seed: "again")
            case .publish: PublishPost(post: "thought-8")
            case .never: NeverSend(post: "thought-1")
            case .sendAgain: SendAgain(post: "thought-1")
            case .approve: ApproveSuggestion(id: DeskStand.suggestion)
            case .dismiss: DismissSuggestion(id: DeskStand.suggestion)
            case .reopen: ReopenSuggestion(id: DeskStand.suggestion)
            case .deny: DenyPeople(account: "pal@far.example")
            case .allow: AllowPeople(account: "pal@far.example")
            case .denyServer: DenyPeople(account: "*@far.example")
            case .allowServer: AllowPeople(account: "*@far.example")
            case .link: LinkPeople(first: "pal@far.example", second: "pal@near.example")
            case .unlink: UnlinkPerson(account: "pal@near.example")
            case .forgetPerson: ForgetPerson(account: "pal@far.example")
            case .forgetPost: ForgetText(.post("thought-1"))
            case .mute: ForgetText(.word("harbour"))
            case .unmute: RememberText(.word("harbour"))
            case .set: SetValues(["MAX_PER_DAY": "7"])
            case .unset: UnsetValues(["MAX_PER_DAY"])
            case .addZone: AddZone(zone: "Europe/Berlin", from: "2019-03-01", to: "2019-06-30")
            case .removeZone: RemoveZone(time: "2019-04-01")
            case .undo: AskUndo(ids: [DeskStand.slot(1)])
            case .undoEverything: AskUndoEverything(bot: "@Bot")
            case .keepProposed: KeepProposed()
            case .keepSome: KeepProposed(ids: [DeskStand.slot(1)])
            case .keepText: KeepText(post: "thought-5")
            case .unkeepText: UnkeepText(post: "thought-5")
            }
        }

        /// The name of the operation; the same for wishes that are one with different words.
        var operationName: String { type(of: operation).name }
    }
}

/// A mirror with slots, a suggestion, people and texts, whose worker has something to send now.
struct DeskStand {
    static let pal = AccountID.mastodon("pal@far.example", localHost: "")
    static let suggestion = Action.id(of: .reply, subject: "mention-2")

    static func slot(_ number: Int) -> String { Action.id(of: .post, subject: "\(day)#\(number)") }

    private static let day = LocalTime(PaperMirror.now, in: PaperMirror.zone).day

    let paper: PaperMirror
    let parts: WorkerParts
    let desk: Desk

    private var mirror: HumanMirror { paper.mirror }

    init(_ engine: Engine) async throws {
        paper = try await PaperMirror(engine, bot: .mastodon)
        let thoughts = (1...40).map { number in
            Post(
                id: PostID(network: .mastodon, value: "thought-\(number)"),
                author: AccountID(network: .mastodon, value: "human"),
                text:
                    "the \(Self.words[number % Self.words.count]) is open on day \(number) of the fair",
                createdAt: PaperMirror.now - Double(60 + number) * 86_400 + Double(number) * 1_111)
        }
        try await paper.archive(
            thoughts + [pastReply("past", to: Self.pal, "thank you for the harbour")])
        parts = try await paper.parts()
        desk = Desk(paper.mirror, zone: PaperMirror.zone)
        let now = paper.clock.now
        let store = parts.store
        let plan = StoredPlan(
            day: Self.day, timeZone: PaperMirror.zone.identifier, seed: "seed", made: now)
        let slots = (1...3).map { number in
            let due = number == 1 ? now : now + Double(number) * 1_800
            let text = thoughts[number - 1]
            return Intent(
                .post(
                    Slot.Name(day: Self.day, number: number),
                    Action.Wording(source: text.id, text: text.text, visibility: .unlisted)),
                due: due, expires: due + 900)
        }
        _ = try await store.store(plan, slots: slots)
        for (number, state) in [(1, ActionState.planned), (2, .suggested)] {
            let target = Action.Target(
                post: "mention-\(number)", author: Self.pal, address: "address-\(number)",
                text: "a question")
            let wording = Action.Wording(
                source: PostID(network: .mastodon, value: "past"),
                text: "@pal@far.example thank you for the \(number == 1 ? "harbour" : "library")",
                visibility: .unlisted)
            let reply = Action.Reply(to: target, thread: "thread-\(number)", wording: wording)
            _ = try await store.propose(
                Intent(.reply(reply), state: state, due: now, expires: now + 86_400), now: now)
        }
    }

    private static let words = [
        "harbour", "garden", "bakery", "library", "museum", "station", "market",
    ]

    /// Does what must have been done before a wish makes sense.
    func prepare(_ wish: DeskTests.Wish) async throws {
        switch wish {
        case .resume: _ = try await perform(.pause, seen: nil)
        case .restore: _ = try await perform(.skip, seen: nil)
        case .sendAgain: _ = try await perform(.never, seen: nil)
        case .reopen: _ = try await perform(.dismiss, seen: nil)
        case .allowServer: _ = try await perform(.denyServer, seen: nil)
        case .unlink: _ = try await perform(.link, seen: nil)
        case .unmute: _ = try await perform(.mute, seen: nil)
        case .unset: _ = try await perform(.set, seen: nil)
        case .removeZone: _ = try await perform(.addZone, seen: nil)
        case .unkeepText: _ = try await perform(.keepText, seen: nil)
        case .undoEverything:
            try await mirror.storage.execute(
                """
                UPDATE actions SET state = 'done', sending_ms = \(paper.clock.now.milliseconds)
                WHERE mirror = 'test' AND id = \(Self.slot(1))
                """)
        case .keepProposed, .keepSome:
            let store = mirror.outbox(lease: nil)
            try await mirror.storage.execute(
                "UPDATE actions SET state = 'done' WHERE mirror = 'test' AND id = \(Self.slot(1))")
            try await store.proposeUndos([Self.slot(1)], reason: .sourceGone)
        default: break
        }
    }

    /// What a report gives as the digest of what a wish is about.
    func shown(_ wish: DeskTests.Wish) async throws -> Seen? {
        let now = paper.clock.now
        switch wish {
        case .pause, .resume:
            return try await StatusReporter(mirror: mirror).report(now: now).pauseSeen
        case .skip, .restore:
            return try await slots().slots.first { $0.subject.hasSuffix("#1") }?.seen
        case .move, .pin: return try await slots().slots.first { $0.subject.hasSuffix("#2") }?.seen
        case .reroll: return try await slots().seen
        case .never, .sendAgain, .forgetPost: return try await text("thought-1")
        case .publish: return try await text("thought-8")
        case .keepText, .unkeepText: return try await text("thought-5")
        case .approve, .dismiss:
            return try await SuggestionList(of: mirror, .init()).suggestions.first?.seen
        case .reopen: return try await action(Self.suggestion)
        case .undo: return Seen(ofAll: [try await action(Self.slot(1))].compactMap(\.self))
        case .deny, .allow, .link, .forgetPerson: return try await person("pal@far.example")
        case .unlink: return try await person("pal@near.example")
        case .denyServer:
            return try await mirror.people.seen(
                of: try #require(ServerName(reference: "*@far.example")))
        case .allowServer: return try await PeopleList(of: mirror, .init()).servers.first?.seen
        case .mute: return Archive.seen("word", "harbour", isMuted: try await isMuted())
        case .unmute:
            let found = try await Forgetting(mirror: mirror, zone: PaperMirror.zone).list()
            return found.first { $0.kind == "word" }?.seen
                ?? Archive.seen("word", "harbour", isMuted: false)
        case .set, .unset:
            let stored = try await SettingsChange(of: mirror).settings.first {
                $0.name == "MAX_PER_DAY"
            }
            return stored?.seen ?? SettingTable.seen(["MAX_PER_DAY"], in: [:])
        case .addZone, .removeZone:
            return try await ZonesReport(of: mirror, home: PaperMirror.zone).seen
        case .undoEverything: return try await Undoing(mirror: mirror).outlookOnEverything().seen
        case .keepProposed: return nil
        case .keepSome: return Seen(ofAll: [try await action(Self.slot(1))].compactMap(\.self))
        }
    }

    private func slots() async throws -> PlanReport {
        let report = try await PlanReporter(mirror: mirror, zone: PaperMirror.zone)
            .report(on: Self.day, now: paper.clock.now)
        return try #require(report)
    }

    private func text(_ post: String) async throws -> Seen? {
        try await TextList(of: mirror, .init(limit: 100)).texts.first { $0.post == post }?.seen
    }

    private func action(_ id: String) async throws -> Seen? {
        try await ActionList(of: mirror, .init(limit: 100)).actions.first { $0.id == id }?.seen
    }

    private func person(_ account: String) async throws -> Seen? {
        let found = try await PeopleList(of: mirror, .init()).people.first { $0.account == account }
        return found?.seen ?? AccountID(reference: account, localHost: nil).map(People.Person.seen)
    }

    private func isMuted() async throws -> Bool {
        try await mirror.archive.muted().contains { $0.value == "harbour" }
    }

    /// Lets somebody else change what a wish is about.
    func meddle(with wish: DeskTests.Wish) async throws {
        let table = mirror.table
        let now = paper.clock.now
        switch wish {
        case .pause: try await table.pause(until: nil, reason: "somebody else", now: now)
        case .resume: try await table.pause(until: nil, reason: "another reason", now: now)
        case .skip, .undo: _ = try await desk.perform(MoveSlot(slot: "#1", time: "23:50"))
        case .restore: _ = try await perform(.restore, seen: nil)
        case .move, .pin, .reroll: _ = try await desk.perform(SkipSlot(slot: "#2"))
        case .publish: try await edit("thought-8")
        case .keepText, .unkeepText: try await edit("thought-5")
        case .never: try await edit("thought-1")
        case .sendAgain: _ = try await perform(.sendAgain, seen: nil)
        case .forgetPost: _ = try await perform(.never, seen: nil)
        case .approve, .dismiss:
            try await mirror.storage.execute(
                "UPDATE actions SET text = 'another text' WHERE mirror = 'test' AND id = \(Self.suggestion)"
            )
        case .reopen:
            try await mirror.storage.execute(
                "UPDATE actions SET reason = 'by-person' WHERE mirror = 'test' AND id = \(Self.suggestion)"
            )
        case .deny, .allow, .link, .forgetPerson:
            try await mirror.people.set(.deny, for: Self.pal, reason: "said stop", at: now)
        case .unlink:
            let other = AccountID.mastodon("pal@near.example", localHost: "")
            try await mirror.people.set(.deny, for: other, reason: "said stop", at: now)
        case .undoEverything:
            try await mirror.storage.execute(
                """
                UPDATE actions SET state = 'done', sending_ms = \(now.milliseconds)
                WHERE mirror = 'test' AND id = \(Self.slot(2))
                """)
        case .keepSome:
            try await mirror.storage.execute(
                "UPDATE actions SET text = 'another text' WHERE mirror = 'test' AND id = \(Self.slot(1))"
            )
        case .denyServer, .allowServer, .mute, .unmute, .set, .unset, .addZone, .removeZone:
            _ = try await perform(wish, seen: nil)
        case .keepProposed: break
        }
    }

    private func edit(_ post: String) async throws {
        try await mirror.storage.execute(
            "UPDATE posts SET text = 'as the human put it later' WHERE mirror = 'test' AND post_id = \(post)"
        )
    }

    // MARK: Asking

    @discardableResult
    func perform(_ wish: DeskTests.Wish, seen: Seen?) async throws -> any PersonOutcome {
        try await perform(wish.operation, seen)
    }

    func perform(_ wayBack: WayBack) async throws -> any PersonOutcome {
        try await perform(wayBack.operation, wayBack.seen)
    }

    private func perform<Operation: PersonOperation>(
        _ operation: Operation, _ seen: Seen?
    ) async throws -> any PersonOutcome {
        try await desk.perform(PersonRequest(operation, seen: seen))
    }

    /// Writes a request and its outcome down and reads them again.
    func requireWritable(_ wish: DeskTests.Wish) async throws {
        try await requireWritable(wish.operation, try await shown(wish))
    }

    private func requireWritable<Operation: PersonOperation>(_ operation: Operation, _ seen: Seen?)
        async throws
    {
        let request = PersonRequest(operation, seen: seen)
        #expect(try copied(request) == request)
        let outcome = try await desk.perform(request)
        #expect(try copied(outcome) == outcome)
    }

    private func copied<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    // MARK: What is stored

    /// All that operations change, a line for each row.
    func rows(besides left: Set<String> = []) async throws -> [String] {
        let queries: [(table: String, query: SQL)] = [
            (
                "actions",
                """
                SELECT kind || ' ' || subject || ' ' || state || ' ' || CAST(due_ms AS TEXT) || ' ' || COALESCE(text, '-')
                    || ' ' || COALESCE(reason, '-') || CASE WHEN pinned THEN ' pinned' ELSE '' END
                    || CASE WHEN undo_asked_ms IS NULL THEN '' ELSE ' undo' END || COALESCE(undo_proposed, '') AS line
                FROM actions ORDER BY 1
                """
            ),
            (
                "posts",
                "SELECT post_id || ' ' || text || ' ' || COALESCE(unfit, '-') AS line FROM posts ORDER BY 1"
            ),
            (
                "people",
                """
                SELECT account_id || ' ' || COALESCE(stance, '-') || ' ' || COALESCE(reason, '-') || ' '
                    || CASE WHEN is_linked THEN linked_to ELSE '-' END AS line
                FROM (
                    SELECT account_id, stance, reason, linked_to, EXISTS (
                        SELECT 1 FROM people AS other
                        WHERE other.linked_to = people.linked_to AND other.account_id <> people.account_id
                    ) AS is_linked FROM people
                ) AS known WHERE stance IS NOT NULL OR is_linked ORDER BY 1
                """
            ),
            ("settings", "SELECT name || ' ' || value AS line FROM settings ORDER BY 1"),
            ("never", "SELECT text_key AS line FROM never_texts ORDER BY 1"),
            ("labels", "SELECT post_id || ' ' || label AS line FROM text_labels ORDER BY 1"),
            ("muted", "SELECT kind || ' ' || value AS line FROM muted ORDER BY 1"),
            ("forgotten", "SELECT kind || ' ' || digest AS line FROM forgotten ORDER BY 1"),
            (
                "zones",
                "SELECT first_day || ' ' || last_day || ' ' || time_zone AS line FROM zones ORDER BY 1"
            ),
            (
                "mirrors",
                """
                SELECT mirror || ' ' || COALESCE(CAST(paused_ms AS TEXT), '-') || ' ' || COALESCE(pause_reason, '-') AS line
                FROM mirrors ORDER BY 1
                """
            ),
        ]
        var rows: [String] = []
        for (table, query) in queries where !left.contains(table) {
            rows += try await mirror.storage.query(query).map { "\(table): \(try $0.text("line"))" }
        }
        return rows
    }

    /// Whether a text may not leave once a wish was fulfilled.
    func isForbidden(_ text: String, by wish: DeskTests.Wish) -> Bool {
        switch wish {
        case .pause: true
        case .skip, .never, .forgetPost, .undo: text.contains("day 1 of")
        case .deny, .denyServer, .forgetPerson: text.contains("@pal")
        case .mute: text.contains("harbour")
        default: false
        }
    }
}
