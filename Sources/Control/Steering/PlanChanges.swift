import Archive
import Conduct
package import Favorites
package import Foundation
package import Mirroring
package import Outbox
package import Posts
import Schedule
import Settings
import Storage

/// A slot as it is after a change.
package struct ChangedSlot: Codable, Equatable, Sendable {
    package let id: String
    /// As a person types it: `2026-11-24#2`.
    package let slot: String
    /// On the human's clock, as `20:15`.
    package let time: String
    package let due: Date
    package let state: String
    package let reason: String?
    package let isPinned: Bool
    package let text: String?
    /// The digest of the slot, for who changes it.
    package let seen: Seen

    /// - Parameters:
    ///   - action: The slot.
    ///   - zone: The human's time zone.
    package init(_ action: Action, in zone: TimeZone) {
        id = action.id
        slot = action.subject
        due = action.due
        time = LocalTime(action.due, in: zone).minute.description
        state = action.state.rawValue
        reason = action.reason
        isPinned = action.isPinned
        text = action.text
        seen = action.seen
    }
}

/// A person's changes to the times and the texts of the mirror's posts.
///
/// A day that is only a preview is stored first, as it was shown. What a person changed is pinned:
/// no other draw, and no missing text, replaces it. Each change throws `SeenChanged`, and changes
/// nothing, where `seen` is given and the thing is not any more as the person saw it.
package struct PlanChanges: Sendable {
    private let mirror: HumanMirror
    private let zone: TimeZone
    private let store: OutboxStore
    private let redraw: PlanRedraw
    private var planner: PlanMaker { redraw.planner }

    package init(mirror: HumanMirror, zone: TimeZone) {
        self.mirror = mirror
        self.zone = zone
        store = mirror.outbox(lease: nil)
        redraw = PlanRedraw(mirror: mirror, zone: zone)
    }

    // MARK: One slot

    /// Decides against a slot.
    ///
    /// - Returns: The slot as it is then.
    /// - Throws: `ChangeRefusal`; the store's error.
    package func skip(_ word: String, seen: Seen? = nil, now: Date) async throws -> Action {
        let slot = try await slot(word, now: now)
        let note = mirror.labelling(.skipped, now: now)
        if let skipped = try await store.skip(slot.id, seen: seen, now: now, note) {
            return skipped
        }
        // What did not arrive after all can be skipped still.
        let left = try await LastWord(mirror: mirror).wait { $0.id == slot.id }
        if !left.isEmpty, let skipped = try await store.skip(slot.id, now: now, note) {
            return skipped
        }
        throw try await refusal(of: slot)
    }

    /// Lets a slot be sent after all that a person left out.
    ///
    /// - Returns: The slot as it is then, and the slots that got another text because they would
    ///   have said the same.
    /// - Throws: `ChangeRefusal`; the store's error.
    package func restore(_ word: String, seen: Seen? = nil, now: Date) async throws -> [Action] {
        let slot = try await slot(word, now: now)
        let restored = try await store.restore(
            slot.id, seen: seen, now: now, mirror.unlabelling(.skipped, .takenBack))
        guard let restored else {
            guard slot.state == .skipped, slot.reason == Action.Reason.byPerson else {
                if [.planned, .claimed].contains(slot.state) {
                    throw ChangeRefusal(.over, saying: "\(control: named(slot)) is not skipped")
                }
                throw try await refusal(of: slot)
            }
            throw ChangeRefusal(
                .outOfTime, saying: "\(control: named(slot)) is too late: its time has passed")
        }
        return [restored] + (try await giveWay(to: restored, now: now))
    }

    /// Gives a slot another time of its day.
    ///
    /// - Parameters:
    ///   - word: What names the slot.
    ///   - time: As `20:15`, or another form of a time that `MinuteOfDay` reads.
    ///   - now: The new time must be later.
    /// - Returns: The slot as it was, and as it is then.
    /// - Throws: `ChangeRefusal`; the store's error.
    package func move(
        _ word: String, to time: String, seen: Seen? = nil, now: Date
    ) async throws -> (before: Action, after: Action) {
        let slot = try await firstPart(word, now: now)
        guard case .post(let name, _) = slot.payload, let minute = MinuteOfDay(typed: time) else {
            throw ChangeRefusal(
                .unusable, "\"\(time.prefix(40))\" is no time of day; expected one such as 20:15")
        }
        guard let due = PersonTime(zone: zone).instant(minute, of: name.day) else {
            throw ChangeRefusal(.unusable, "\(name.day) has no \(minute): the clocks skip it")
        }
        guard due > now else {
            throw ChangeRefusal(.outOfTime, "\(minute) on \(name.day) has passed")
        }
        var why: Explanation?
        if !slot.keepsText {
            why = slot.explanation ?? Explanation("moved by a person")
            why?.movedFrom = slot.explanation?.movedFrom ?? slot.due
        }
        let moved = try await store.move(
            slot.id, to: due, expires: due + grace, explanation: why, seen: seen, now: now)
        guard let moved else { throw try await refusal(of: slot) }
        return (slot, moved)
    }

    /// Keeps a slot as it is, or gives it the text of a post that the person names.
    ///
    /// - Parameters:
    ///   - word: What names the slot.
    ///   - post: What names an archived post; nil to keep the slot's own text.
    ///   - now: Recorded with the change.
    /// - Returns: The slot as it is then.
    /// - Throws: `ChangeRefusal`; the store's error.
    package func pin(_ word: String, to post: String?, seen: Seen? = nil, now: Date) async throws
        -> Action
    {
        let slot = try await firstPart(word, now: now)
        guard let post else {
            guard slot.text != nil else {
                throw ChangeRefusal(
                    .unusable, saying: "\(control: named(slot)) has no text; name a post to pin")
            }
            var why = slot.explanation
            why?.movedFrom = nil
            let pinned = try await store.pin(
                slot.id, nil, explanation: why, seen: seen, now: now,
                mirror.labelling(.kept, now: now))
            guard let pinned else { throw try await refusal(of: slot) }
            return pinned
        }
        let wording = try await wording(of: try await self.post(post))
        let why = Explanation("chosen by a person")
        let pinned = try await store.pin(
            slot.id, wording, explanation: why, seen: seen, now: now,
            mirror.labelling(.posted, now: now))
        guard let pinned else { throw try await refusal(of: slot) }
        try await giveWay(to: pinned, now: now)
        return pinned
    }

    /// Gives other texts to slots that nobody has pinned and that would say what an action says.
    ///
    /// - Returns: They as they are then.
    @discardableResult
    private func giveWay(to action: Action, now: Date) async throws -> [Action] {
        let keys = Set(action.texts.map(TextRules.textKey))
        var changed: [Action] = []
        for waiting in try await store.waitingPosts()
        where waiting.id != action.id && !waiting.isPinned {
            guard waiting.texts.contains(where: { keys.contains(TextRules.textKey($0)) }) else {
                continue
            }
            changed += try await replaced(waiting, reason: Action.Reason.saidMeanwhile, now: now)
        }
        return changed
    }

    /// Why a slot can no longer be changed.
    private func refusal(of slot: Action) async throws -> ChangeRefusal {
        let now = try await store.action(.post, subject: slot.subject) ?? slot
        let undo = NamedControl.undo(now.subject)
        let (code, state): (ChangeRefusal.Code, SurfaceText) =
            switch now.state {
            case .done: (.sent, "was sent; \(control: undo) takes it back")
            case .sending:
                (
                    .sent,
                    """
                    was sent, and it is not known yet whether it arrived; \(control: undo) takes it back if it did
                    """
                )
            case .skipped where now.reason == Action.Reason.byPerson:
                (.over, "is skipped; \(control: .restoring(now.subject))")
            default: (.over, "is \(now.state.rawValue) and can no longer be changed")
            }
        return ChangeRefusal(code, saying: "\(control: named(now)) \(state)")
    }

    /// The slot as a sentence begins with it.
    private func named(_ slot: Action) -> NamedControl {
        .slot(slot.subject, at: LocalTime(slot.due, in: zone).minute)
    }

    // MARK: A day

    /// Draws a day anew, see `PlanRedraw.redraw(_:seed:seen:now:)`.
    package func reroll(
        _ day: LocalDay, seed: String, seen: Seen? = nil, now: Date
    ) async throws -> (taken: Int, added: Int) {
        try await redraw.redraw(day, seed: seed, seen: seen, now: now)
    }

    /// A person who saw a text does not want it twice within so many seconds.
    private static let pressedTwice: TimeInterval = 600

    /// Publishes an archived post as soon as a worker comes to it.
    ///
    /// - Parameters:
    ///   - word: What names the post.
    ///   - seen: `Archive.Kept.seen` of the post.
    ///   - now: When it is due.
    /// - Returns: The stored action.
    /// - Throws: `ChangeRefusal`; the store's error.
    package func publish(_ word: String, seen: Seen? = nil, now: Date) async throws -> Action {
        let post: Post
        do {
            post = try await self.post(word)
        } catch let error as ChangeRefusal where error.code == .unknown {
            guard TypedSlot(word, today: LocalTime(now, in: zone).day) != nil else { throw error }
            throw ChangeRefusal(
                .unknown, saying: "\(error.text); \(control: .moving(word.prefix(20)))")
        }
        let wording = try await wording(of: post)
        let day = LocalTime(now, in: zone).day
        // Or the numbers of the plan, once it is made, would be taken.
        try await redraw.settle(day, now: now)
        for attempt in 0..<PlanRedraw.attempts {
            // The numbers of rows that this version does not understand are passed over.
            let number = PlanRedraw.nextNumber(try await store.slots(of: day)) + attempt
            var intent = Intent(
                .post(Slot.Name(day: day, number: number), wording), due: now,
                expires: now + max(grace, 3_600), explanation: Explanation("chosen by a person"))
            intent.isPinned = true
            let added = try await store.add(intent, now: now) {
                [archive = mirror.archive, labels = mirror.labels, store] connection in
                try archive.require(seen, of: post.id, on: connection)
                // The second press of a button.
                if seen != nil,
                    try store.isAskedFor(post.id, since: now - Self.pressedTwice, on: connection)
                {
                    throw ChangeRefusal(
                        .over, "that post is being sent already, or was a moment ago")
                }
                try labels.note(.posted, of: post.id, now: now, on: connection)
            }
            guard let action = added else { continue }
            try await giveWay(to: action, now: now)
            return action
        }
        throw PlanRedraw.busy(day)
    }

    // MARK: Texts

    /// Keeps a text from ever being sent again; planned posts that have it get another one.
    ///
    /// - Parameters:
    ///   - word: What names a post, or a slot that has the text.
    ///   - now: Recorded with it.
    /// - Returns: The post, whether it was new, the slots that got another text or were skipped,
    ///   and what was leaving with that text at that moment.
    /// - Throws: `ChangeRefusal`; the store's error.
    package func never(
        _ word: String, seen: Seen? = nil, now: Date
    ) async throws -> (post: Post, isNew: Bool, changed: [Action], left: [Action]) {
        let post = try await postOrSlotText(word, now: now)
        let key = neverKey(of: post)
        let archive = mirror.archive
        let labels = mirror.labels
        let isNew = try await mirror.storage.transaction { connection in
            // How somebody is answered says nothing of what is posted.
            if !post.isReply { try labels.note(.never, of: post.id, now: now, on: connection) }
            return try archive.neverUse(key, of: post.id, seen: seen, now: now, on: connection)
        }
        try await mirror.table.raiseVersion()
        var changed: [Action] = []
        for waiting in try await store.waitingPosts()
        where waiting.text.map(TextRules.textKey) == key {
            changed += try await replaced(waiting, reason: Archive.never, now: now)
        }
        let left = try await LastWord(mirror: mirror).wait { $0.text.map(TextRules.textKey) == key }
        return (post, isNew, changed, left)
    }

    /// Lets a text be sent again that a person never wanted to be.
    ///
    /// - Parameter word: What names a post with that text.
    /// - Returns: The post, and whether its text was never to be sent until then.
    /// - Throws: `ChangeRefusal`; the store's error.
    package func sendAgain(_ word: String, seen: Seen? = nil) async throws -> (
        post: Post, isNew: Bool
    ) {
        let post = try await post(word)
        let archive = mirror.archive
        let labels = mirror.labels
        let key = neverKey(of: post)
        let isNew = try await mirror.storage.transaction { connection in
            try labels.takeBackNever(key, of: post.id, on: connection)
            return try archive.useAgain(key, of: post.id, seen: seen, on: connection)
        }
        try await mirror.table.raiseVersion()
        return (post, isNew)
    }

    /// Notes that a text may be sent, whatever the mirror has learned of others; one that was never
    /// to be sent is again.
    ///
    /// - Parameter word: What names a post with that text.
    /// - Returns: The post, and what had been said of its text before.
    /// - Throws: `ChangeRefusal`; the store's error.
    package func keep(_ word: String, seen: Seen? = nil, now: Date) async throws -> (
        post: Post, before: PersonLabel?
    ) {
        let post = try await textOfItsOwn(word)
        let archive = mirror.archive
        let labels = mirror.labels
        let key = neverKey(of: post)
        let before = try await mirror.storage.transaction { connection in
            let before = try labels.label(of: post.id, on: connection)
            try labels.takeBackNever(key, of: post.id, on: connection)
            let wasNever = try archive.useAgain(key, of: post.id, seen: seen, on: connection)
            try labels.note(.kept, of: post.id, now: now, on: connection)
            return wasNever ? .never : before
        }
        try await mirror.table.raiseVersion()
        return (post, before)
    }

    /// Takes back that a text may be sent: nothing is learned from it any more.
    ///
    /// - Parameter word: What names a post with that text.
    /// - Returns: The post, and whether a person had kept it.
    /// - Throws: `ChangeRefusal`; the store's error.
    package func unkeep(_ word: String, seen: Seen? = nil) async throws -> (post: Post, isNew: Bool)
    {
        let post = try await textOfItsOwn(word)
        let archive = mirror.archive
        let labels = mirror.labels
        let isNew = try await mirror.storage.transaction { connection in
            try archive.require(seen, of: post.id, on: connection)
            return try labels.takeBack(.kept, of: post.id, on: connection)
        }
        try await mirror.table.raiseVersion()
        return (post, isNew)
    }

    /// The archived post that a person means, which answers nobody: answers are not judged.
    private func textOfItsOwn(_ word: String) async throws -> Post {
        let post = try await post(word)
        guard !post.isReply else {
            throw ChangeRefusal(.unusable, "that post answers somebody, and is not posted alone")
        }
        return post
    }

    private func neverKey(of post: Post) -> String {
        TextRules(mirror.configuration, limits: .usual(of: mirror.configuration.botNetwork))
            .neverKey(of: post)
    }

    /// The slot with another text; skipped where there is none, or where it goes on from another
    /// one.
    ///
    /// One that a person has pinned keeps its time, and waits for a text of the person's choice;
    /// one that a person has only moved does so where there is no other text.
    private func replaced(_ slot: Action, reason: String, now: Date) async throws -> [Action] {
        let changed: Action?
        if slot.keepsText, slot.parent == nil {
            changed = try await store.withdrawText(of: slot.id, reason: reason, now: now)
        } else if slot.parent == nil,
            let other = try await planner.replacement(for: slot, now: now),
            let wording = other.wording
        {
            changed = try await store.pin(
                slot.id, wording, explanation: other.explanation, isPinned: slot.isPinned, now: now)
        } else if slot.isPinned, slot.parent == nil {
            changed = try await store.withdrawText(of: slot.id, reason: reason, now: now)
        } else {
            changed = try await store.skip(slot.id, reason: reason, now: now)
        }
        if let changed { return [changed] }
        return [try await store.action(.post, subject: slot.subject)].compactMap(\.self)
    }

    /// Finds what waits with a text that may no longer be used: posts get another one or wait for
    /// one, and replies are left out.
    ///
    /// - Returns: What was changed, as it is then.
    /// - Throws: The store's error.
    func replaceUnwanted(now: Date) async throws -> [Action] {
        var changed: [Action] = []
        for waiting in try await store.waitingPosts() + store.waitingReplies() {
            guard let reason = try await objection(to: waiting) else { continue }
            if waiting.kind == .post {
                changed += try await replaced(waiting, reason: reason, now: now)
            } else if let skipped = try await store.skip(waiting.id, reason: reason, now: now) {
                changed.append(skipped)
            }
        }
        return changed
    }

    /// Why what waits may no longer be said, any part of it; nil if nobody minds.
    private func objection(to waiting: Action) async throws -> String? {
        guard let wording = waiting.wording else { return nil }
        for (source, text) in [(wording.source, wording.text)]
            + wording.rest.map({ ($0.source, $0.text) })
        {
            let post = try await mirror.archive.post(source)
            if let reason = try await planner.objection(to: post, from: source, text: text) {
                return reason
            }
        }
        return nil
    }

    // MARK: What is meant

    private var grace: TimeInterval { mirror.configuration.schedule.grace }

    /// The slot that a person means, as `TypedSlot` reads it, or by the beginning of its
    /// identifier.
    ///
    /// - Throws: `ChangeRefusal` if there is none; the store's error.
    func slot(_ word: String, now: Date) async throws -> Action {
        if case .named(let name) = TypedSlot(word, today: LocalTime(now, in: zone).day) {
            try await redraw.settle(name.day, now: now)
            guard let slot = try await store.action(.post, subject: name.description) else {
                let count = try await store.slots(of: name.day).count { $0.parent == nil }
                throw ChangeRefusal(.unknown, saying: ActionNameError.noSlot(name, of: count).text)
            }
            return slot
        }
        do {
            let (action, isStored) = try await mirror.action(named: word, in: zone, now: now)
            guard case .post(let name, _) = action.payload else {
                throw ChangeRefusal(
                    .unusable,
                    saying:
                        "\(control: .action(word)) is a \(action.kind.rawValue) and no slot of a plan"
                )
            }
            return isStored ? action : try await slot(name.description, now: now)
        } catch let error as ActionNameError {
            throw ChangeRefusal(.unknown, saying: error.text)
        }
    }

    /// The same, unless it is a further part of a thread, which has neither a time nor a text to
    /// choose.
    private func firstPart(_ word: String, now: Date) async throws -> Action {
        let slot = try await slot(word, now: now)
        guard slot.parent == nil else {
            throw ChangeRefusal(
                .unusable,
                saying: """
                    \(control: .part(slot.subject, at: LocalTime(slot.due, in: zone).minute)) continues a thread that \
                    has begun; it can only be skipped
                    """)
        }
        return slot
    }

    /// The archived post that a person means with its name, or with a slot that has its text.
    ///
    /// Changes nothing: the plan of a day that is not stored stays a preview.
    ///
    /// - Throws: `ChangeRefusal` if there is none, or several; the store's error.
    func text(named word: String, now: Date) async throws -> Post {
        try await postOrSlotText(word, now: now) { word in
            do {
                return try await mirror.action(named: word, in: zone, now: now).action
            } catch let error as ActionNameError {
                throw ChangeRefusal(.unknown, saying: error.text)
            }
        }
    }

    private func postOrSlotText(_ word: String, now: Date) async throws -> Post {
        try await postOrSlotText(word, now: now) { try await slot($0, now: now) }
    }

    /// - Parameter slot: Finds a slot by its name.
    private func postOrSlotText(
        _ word: String, now: Date, _ slot: (String) async throws -> Action
    ) async throws -> Post {
        let isSlot = TypedSlot(word, today: LocalTime(now, in: zone).day) != nil
        let posts = try await mirror.archive.posts(named: word)
        if !posts.isEmpty {
            // A short number may be the name of both.
            if isSlot { try await requireNoSlot(word, now: now) }
            return try only(posts, word)
        }
        let found: Action
        do {
            found = try await slot(word)
        } catch let refusal as ChangeRefusal
            where !isSlot && [.unknown, .unusable].contains(refusal.code)
        {
            throw unknownPost(word)
        }
        guard let source = found.wording?.source, let post = try await mirror.archive.post(source)
        else {
            throw ChangeRefusal(
                .unusable, saying: "\(control: named(found)) has no text of an archived post")
        }
        return post
    }

    /// Requires that a word which names a post names no slot too.
    private func requireNoSlot(_ word: String, now: Date) async throws {
        let slot: Action
        do {
            slot = try await mirror.action(named: word, in: zone, now: now).action
        } catch is ActionNameError {
            return
        }
        throw ChangeRefusal(
            .ambiguous,
            "\(word) is an archived post and a slot; write \(slot.subject) for the slot, or the post's address"
        )
    }

    /// The archived post that a person means.
    func post(_ word: String) async throws -> Post {
        try only(await mirror.archive.posts(named: word), word)
    }

    private func only(_ found: [Post], _ word: String) throws -> Post {
        guard let post = found.first else { throw unknownPost(word) }
        guard found.count == 1 else {
            throw ChangeRefusal(
                .ambiguous, "\(word) names more than one archived post; give its whole address")
        }
        return post
    }

    private func unknownPost(_ word: String) -> ChangeRefusal {
        ChangeRefusal(
            .unknown,
            saying:
                "\"\(word.prefix(60))\" names no archived post; give its address\(control: .textID)"
        )
    }

    /// The text that a post would be sent with.
    ///
    /// - Throws: `ChangeRefusal` for what names no post, and for one that is not to be sent; the
    ///   store's error.
    func wording(ofPost word: String) async throws -> Action.Wording {
        try await wording(of: post(word))
    }

    /// The text of a post as it would be sent.
    private func wording(of post: Post) async throws -> Action.Wording {
        if let reason = try await planner.objection(to: post) {
            throw ChangeRefusal(
                .unfit, "that post is not to be sent: \(ReportedReason(reason).text)")
        }
        let rules = planner.judge.rules
        switch rules.wording(of: post, try await mirror.archive.sequel(of: post)) {
        case .success(let wording): return wording
        case .failure(let refusal):
            throw ChangeRefusal(.unfit, "that post is not fit to be sent: \(refusal)")
        }
    }
}
