import Archive
import Conduct
package import Foundation
package import Outbox
package import Posts
import Schedule

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

    /// - Parameters:
    ///   - action: The slot.
    ///   - zone: The human's time zone.
    package init(_ action: Action, in zone: TimeZone) {
        (id, slot, due) = (action.id, action.subject, action.due)
        time = LocalTime(action.due, in: zone).minute.description
        (state, reason, isPinned, text) = (action.state.rawValue, action.reason, action.isPinned, action.text)
    }
}

/// What a person changes of when the mirror posts, and what.
///
/// A day that is only a preview is stored first, as it was shown. What a person changed is pinned: no other draw, and no
/// missing text, replaces it.
package struct PlanChanges: Sendable {
    /// What cannot be done, and why: a sentence for the person.
    package struct Obstacle: Error, CustomStringConvertible {
        package let description: String
        /// What was typed is wrong, rather than what is there.
        package let isMisuse: Bool
    }

    private let mirror: HumanMirror
    private let zone: TimeZone
    private let store: OutboxStore
    /// Made where a text is chosen or judged: that opens the dictionary, which most changes do not need.
    private var planner: PlanMaker { mirror.planMaker(zone: zone, store: store) }

    package init(mirror: HumanMirror, zone: TimeZone) {
        (self.mirror, self.zone) = (mirror, zone)
        store = mirror.outbox(lease: nil)
    }

    // MARK: One slot

    /// Decides against a slot.
    ///
    /// - Returns: The slot as it is then.
    /// - Throws: ``Obstacle``; the store's error.
    package func skip(_ word: String, now: Date) async throws -> Action {
        let slot = try await slot(word, now: now)
        if try await store.skip(slot.id, now: now) { return try await changed(slot, true) }
        // What did not arrive after all can be skipped still.
        let left = try await LastWord(mirror: mirror).wait { $0.id == slot.id }
        let isSkipped = left.isEmpty ? false : try await store.skip(slot.id, now: now)
        return try await changed(slot, isSkipped)
    }

    /// Gives a slot another time of its day.
    ///
    /// - Parameters:
    ///   - word: What names the slot.
    ///   - time: As `20:15`.
    ///   - now: The new time must be later.
    /// - Returns: The slot as it is then.
    /// - Throws: ``Obstacle``; the store's error.
    package func move(_ word: String, to time: String, now: Date) async throws -> Action {
        let slot = try await firstPart(word, now: now)
        guard case .post(let name, _) = slot.payload, let minute = MinuteOfDay(clock: time) else {
            throw Obstacle(description: "\(time) is no time of day; expected one such as 20:15", isMisuse: true)
        }
        guard let due = PersonTime(zone: zone).instant(minute, of: name.day) else {
            throw Obstacle(description: "\(name.day) has no \(time): clocks are put forward over it", isMisuse: true)
        }
        guard due > now else { throw Obstacle(description: "\(time) on \(name.day) has passed", isMisuse: true) }
        return try await changed(
            slot, try await store.move(slot.id, to: due, expires: due + grace, now: now))
    }

    /// Keeps a slot as it is, or gives it the text of a post that the person names.
    ///
    /// - Parameters:
    ///   - word: What names the slot.
    ///   - post: What names an archived post; nil to keep the slot's own text.
    ///   - now: Recorded with the change.
    /// - Returns: The slot as it is then.
    /// - Throws: ``Obstacle``; the store's error.
    package func pin(_ word: String, to post: String?, now: Date) async throws -> Action {
        let slot = try await firstPart(word, now: now)
        guard let post else {
            guard slot.text != nil else {
                throw Obstacle(description: "slot \(slot.subject) has no text; name a post to pin", isMisuse: true)
            }
            return try await changed(slot, try await store.pin(slot.id, nil, now: now))
        }
        let wording = try await wording(of: try await self.post(post))
        let why = Explanation("chosen by a person")
        let pinned = try await changed(slot, try await store.pin(slot.id, wording, explanation: why, now: now))
        try await giveWay(to: pinned, now: now)
        return pinned
    }

    /// Gives other texts to slots that nobody has pinned and that would say what an action says.
    private func giveWay(to action: Action, now: Date) async throws {
        let keys = Set(action.texts.map(TextRules.textKey))
        for waiting in try await store.waitingPosts() where waiting.id != action.id && !waiting.isPinned {
            guard waiting.texts.contains(where: { keys.contains(TextRules.textKey($0)) }) else { continue }
            _ = try await replaced(waiting, reason: Action.Reason.saidMeanwhile, now: now)
        }
    }

    private func changed(_ slot: Action, _ isChanged: Bool) async throws -> Action {
        guard let now = try await store.action(.post, subject: slot.subject) else { return slot }
        guard isChanged else {
            let state =
                switch now.state {
                case .done: "was sent; mirror-bot undo \(now.subject) takes it back"
                case .sending:
                    "was sent, and nobody knows yet whether it arrived; mirror-bot undo \(now.subject) takes it back if "
                        + "it did"
                default: "is \(now.state.rawValue) and can no longer be changed"
                }
            throw Obstacle(description: "slot \(now.subject) \(state)", isMisuse: false)
        }
        return now
    }

    // MARK: A day

    /// Draws a day anew: what waits and is not pinned leaves, and new slots get new numbers.
    ///
    /// As many posts as the new draw wants are on the day then, those that are sent or pinned among them.
    ///
    /// - Parameters:
    ///   - day: Today or a later day.
    ///   - seed: Makes one draw differ from the one before.
    ///   - now: Earlier minutes are not drawn.
    /// - Returns: How many slots left, and how many came.
    /// - Throws: ``Obstacle``; the store's error.
    package func reroll(_ day: LocalDay, seed: String, now: Date) async throws -> (taken: Int, added: Int) {
        try await settle(day, now: now)
        for attempt in 0..<Self.attempts {
            let slots = try await store.slots(of: day)
            let kept = slots.filter { $0.isPinned || ![.planned, .claimed, .suggested, .skipped].contains($0.state) }
            let drawn = try await planner.preview(
                day, now: now, watching: try await isWatching(), seed: seed, firstNumber: nextNumber(slots) + attempt,
                besides: kept)
            guard var (plan, new) = drawn else { throw emptyArchive }
            // Those nearest to what stays make room for it.
            let times = kept.map(\.due)
            for _ in 0..<min(kept.filter { $0.due > now }.count, new.count) {
                let nearest = new.indices.min { distance(new[$0].due, times) < distance(new[$1].due, times) }
                if let nearest { new.remove(at: nearest) }
            }
            new.removeAll { $0.due <= now }
            plan.made = now
            if let taken = try await store.replan(plan, slots: new, besides: kept.count, now: now) {
                return (taken, new.count)
            }
        }
        throw Obstacle(description: "\(day) is being changed by somebody else; try again", isMisuse: false)
    }

    private func distance(_ date: Date, _ others: [Date]) -> TimeInterval {
        others.map { abs($0.timeIntervalSince(date)) }.min() ?? .greatestFiniteMagnitude
    }

    /// Publishes an archived post as soon as a worker comes to it.
    ///
    /// - Parameters:
    ///   - word: What names the post.
    ///   - now: When it is due.
    /// - Returns: The stored action.
    /// - Throws: ``Obstacle``; the store's error.
    package func publish(_ word: String, now: Date) async throws -> Action {
        let wording = try await wording(of: try await post(word))
        let day = LocalTime(now, in: zone).day
        // Or the numbers of the plan, once it is made, would be taken.
        try await settle(day, now: now)
        for attempt in 0..<Self.attempts {
            // The numbers of rows that this version does not understand are passed over.
            let number = nextNumber(try await store.slots(of: day)) + attempt
            var intent = Intent(
                .post(Slot.Name(day: day, number: number), wording), due: now,
                expires: now + max(grace, 3_600), explanation: Explanation("chosen by a person"))
            intent.isPinned = true
            guard let action = try await store.add(intent, now: now) else { continue }
            try await giveWay(to: action, now: now)
            return action
        }
        throw Obstacle(description: "\(day) is being changed by somebody else; try again", isMisuse: false)
    }

    // MARK: Texts

    /// Keeps a text from ever being sent again; planned posts that have it get another one.
    ///
    /// - Parameters:
    ///   - word: What names a post, or a slot that has the text.
    ///   - now: Recorded with it.
    /// - Returns: The post, whether it was new, the slots that got another text or were skipped, and what was leaving with
    ///   that text at that moment.
    /// - Throws: ``Obstacle``; the store's error.
    package func never(
        _ word: String, now: Date
    ) async throws -> (post: Post, isNew: Bool, changed: [Action], left: [Action]) {
        var post = try? await self.post(word)
        if post == nil, let source = try? await slot(word, now: now).wording?.source {
            post = try await mirror.archive.post(source)
        }
        guard let post else { throw unknownPost(word) }
        let key = TextRules(mirror.configuration, limits: .usual(of: mirror.configuration.botNetwork)).neverKey(
            of: post)
        let isNew = try await mirror.archive.neverUse(key, of: post.id, now: now)
        try await mirror.table.raiseVersion()
        var changed: [Action] = []
        for waiting in try await store.waitingPosts() where waiting.text.map(TextRules.textKey) == key {
            changed += try await replaced(waiting, reason: Archive.never, now: now)
        }
        let left = try await LastWord(mirror: mirror).wait { $0.text.map(TextRules.textKey) == key }
        return (post, isNew, changed, left)
    }

    /// The slot with another text; skipped where there is none, or where it goes on from another one.
    ///
    /// One that a person has pinned keeps its time, and waits for a text of the person's choice.
    private func replaced(_ slot: Action, reason: String, now: Date) async throws -> [Action] {
        if slot.isPinned, slot.parent == nil {
            _ = try await store.withdrawText(of: slot.id, reason: reason, now: now)
            return [try await store.action(.post, subject: slot.subject)].compactMap(\.self)
        }
        let other = slot.parent == nil ? try await planner.replacement(for: slot, now: now) : nil
        if let other, let wording = other.wording {
            _ = try await store.pin(slot.id, wording, explanation: other.explanation, isPinned: false, now: now)
        } else {
            _ = try await store.skip(slot.id, reason: reason, now: now)
        }
        return [try await store.action(.post, subject: slot.subject)].compactMap(\.self)
    }

    /// Finds what waits with a text that may no longer be used: posts get another one or wait for one, and replies are
    /// left out.
    ///
    /// - Returns: What was changed, as it is then.
    /// - Throws: The store's error.
    func replaceUnwanted(now: Date) async throws -> [Action] {
        var changed: [Action] = []
        for waiting in try await store.waitingPosts() + store.waitingReplies() {
            guard let reason = try await objection(to: waiting) else { continue }
            if waiting.kind == .post {
                changed += try await replaced(waiting, reason: reason, now: now)
            } else if try await store.skip(waiting.id, reason: reason, now: now) {
                changed += [try await store.action(waiting.kind, subject: waiting.subject)].compactMap(\.self)
            }
        }
        return changed
    }

    /// Why what waits may no longer be said, any part of it; nil if nobody minds.
    private func objection(to waiting: Action) async throws -> String? {
        guard let wording = waiting.wording else { return nil }
        for (source, text) in [(wording.source, wording.text)] + wording.rest.map({ ($0.source, $0.text) }) {
            let post = try await mirror.archive.post(source)
            if let reason = try await planner.objection(to: post, from: source, text: text) { return reason }
        }
        return nil
    }

    // MARK: What is meant

    /// How often a change is tried that meets another one.
    private static let attempts = 5

    private var grace: TimeInterval { mirror.configuration.schedule.grace }

    private var emptyArchive: Obstacle {
        Obstacle(
            description:
                "there is nothing to plan from: the human's past has not been read; run mirror-bot train scheduler first",
            isMisuse: false)
    }

    private func nextNumber(_ slots: [Action]) -> Int {
        (slots.compactMap { action in
            if case .post(let name, _) = action.payload { name.number } else { nil }
        }.max() ?? 0) + 1
    }

    private func isWatching() async throws -> Bool { try await FoundAccounts(in: mirror).accounts[.human] != nil }

    /// Makes sure that a day has a stored plan, as `plan` would show it.
    private func settle(_ day: LocalDay, now: Date) async throws {
        let today = LocalTime(now, in: zone).day
        guard day >= today else { throw Obstacle(description: "\(day) has passed", isMisuse: true) }
        guard day <= today.advanced(by: Self.furthest) else {
            throw Obstacle(description: "\(day) is more than \(Self.furthest) days away", isMisuse: true)
        }
        guard try await store.plan(for: day) == nil else { return }
        _ = try await planner.make(day, now: now, watching: try await isWatching())
        guard try await store.plan(for: day) != nil else { throw emptyArchive }
    }

    /// How many days ahead a plan may be fixed.
    private static let furthest = 366

    /// The slot that a person means: `2026-11-24#2`, `#2` of today, or the beginning of an identifier.
    private func slot(_ word: String, now: Date) async throws -> Action {
        let today = LocalTime(now, in: zone).day
        if let name = Slot.Name(typed: word, today: today) {
            try await settle(name.day, now: now)
            guard let slot = try await store.action(.post, subject: name.description) else {
                let count = try await store.slots(of: name.day).count
                throw Obstacle(description: "\(name.day) has no slot \(name.number), but \(count)", isMisuse: true)
            }
            return slot
        }
        do {
            let (action, isStored) = try await mirror.action(named: word, in: zone, now: now)
            guard case .post(let name, _) = action.payload else {
                throw Obstacle(
                    description: "\(word) is a \(action.kind.rawValue) and no slot of a plan", isMisuse: true)
            }
            return isStored ? action : try await slot(name.description, now: now)
        } catch let error as ActionNameError {
            throw Obstacle(description: error.description, isMisuse: true)
        }
    }

    /// The same, unless it is a further part of a thread, which has neither a time nor a text to choose.
    private func firstPart(_ word: String, now: Date) async throws -> Action {
        let slot = try await slot(word, now: now)
        guard slot.parent == nil else {
            throw Obstacle(
                description: "\(slot.subject) goes on with a thread that is begun; it can be skipped", isMisuse: true)
        }
        return slot
    }

    /// The archived post that a person means.
    func post(_ word: String) async throws -> Post {
        let found = try await mirror.archive.posts(named: word)
        guard let post = found.first else { throw unknownPost(word) }
        guard found.count == 1 else {
            throw Obstacle(
                description: "\(word) names more than one archived post; give its whole address", isMisuse: true)
        }
        return post
    }

    private func unknownPost(_ word: String) -> Obstacle {
        Obstacle(description: "\(word) names no archived post; give its address or id", isMisuse: true)
    }

    /// The text of a post as it would be sent.
    private func wording(of post: Post) async throws -> Action.Wording {
        if let reason = try await planner.objection(to: post) {
            throw Obstacle(
                description: "that post is not to be sent: \(ReportedReason(reason).text)", isMisuse: false)
        }
        let rules = planner.judge.rules
        switch rules.wording(of: post, try await mirror.archive.sequel(of: post)) {
        case .success(let wording): return wording
        case .failure(let refusal):
            throw Obstacle(description: "that post is not fit to be sent: \(refusal)", isMisuse: false)
        }
    }
}

extension TextRules {
    /// What tells the text of a post that is never to be sent.
    func neverKey(of post: Post) -> String { post.isReply ? Self.textKey(post.text) : preparation(of: post).key }
}
