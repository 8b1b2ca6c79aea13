import Archive
import Favorites
import Foundation
import Localization
import Mirroring
import Networks
import Outbox
package import Posts
import Schedule
import Settings

/// The outcome of changing slots.
package struct SlotsChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/change/1"
    /// The slots after the change; the named slot comes first.
    package let slots: [ChangedSlot]
    /// False if the slots were already like this.
    package let isNew: Bool
    package let wayBack: WayBack?

    init(_ slots: [ChangedSlot], isNew: Bool = true, wayBack: WayBack? = nil) {
        self.slots = slots
        self.isNew = isNew
        self.wayBack = wayBack
    }
}

extension PersonOperation where Outcome == SlotsChange {
    /// Returns the outcome if the named slot is already as requested; else nil.
    fileprivate func outcome(
        at desk: Desk, of slot: String, if isDone: (Action, TimeZone) -> Bool
    ) async throws -> SlotsChange? {
        let zone = try await desk.zone()
        let slot = try await desk.names().slot(slot, now: desk.now)
        return isDone(slot, zone) ? SlotsChange([ChangedSlot(slot, in: zone)], isNew: false) : nil
    }
}

extension Desk {
    /// The refusal of a change that the slot's state does not allow.
    fileprivate func refusal(ofChanging slot: Action) async throws -> ChangeRefusal {
        let current = try await outbox.action(.post, subject: slot.subject) ?? slot
        let undo = NamedControl.undo(current.subject)
        let name = NamedControl.slot(current, in: try await zone())
        return switch current.state {
        case .done:
            ChangeRefusal(
                .sent,
                saying: localized("\(control: name) was sent; \(control: undo) takes it back"))
        case .sending:
            ChangeRefusal(
                .sent,
                saying: localized(
                    "\(control: name) was sent, and it is not known yet whether it arrived; \(control: undo) takes it back if it did"
                ))
        case .skipped where current.reason == .outbox(.byPerson):
            ChangeRefusal(
                .over,
                saying: localized(
                    "\(control: name) is skipped; \(control: .restoring(current.subject))"))
        default:
            ChangeRefusal(
                .over,
                saying: localized(
                    "\(control: name) is \(Self.words(of: current.state)) and can no longer be changed"
                ))
        }
    }

    private static func words(of state: ActionState) -> String {
        switch state {
        case .planned: localized("planned")
        case .claimed: localized("claimed")
        case .sending: localized("sending")
        case .suggested: localized("suggested")
        case .done: localized("done")
        case .skipped: localized("skipped")
        case .expired: localized("expired")
        case .failed: localized("failed")
        case .undone: localized("undone")
        }
    }

    /// How long after its time a slot may still be sent, in seconds.
    fileprivate var grace: TimeInterval { mirror.configuration.schedule.grace }
}

/// Skips a slot.
package struct SkipSlot: PersonOperation {
    package static let name = "plan-skip"
    /// The name of the slot, as `TypedSlot` reads it, or the first digits of its id.
    package var slot: String

    package init(slot: String) { self.slot = slot }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SlotsChange {
        let zone = try await desk.zone()
        let now = desk.now
        let slot = try await desk.names().slot(slot, now: now)
        let skipped = ChangedSlot(
            try await skip(slot, at: desk, seen: seen, now: now), in: zone)
        return SlotsChange(
            [skipped],
            wayBack: WayBack(
                RestoreSlot(slot: skipped.id), seen: skipped.seen, "plan", "restore", skipped.slot))
    }

    private func skip(_ slot: Action, at desk: Desk, seen: Seen?, now: Date) async throws -> Action
    {
        let writeLabel = desk.mirror.labelWriter(.skipped, now: now)
        if let skipped = try await desk.outbox.skip(slot.id, seen: seen, now: now, writeLabel) {
            return skipped
        }
        // If a request was in flight and did not succeed, the slot can still be skipped.
        let underWay = try await InFlightWait(mirror: desk.mirror).wait { $0.id == slot.id }
        if !underWay.isEmpty,
            let skipped = try await desk.outbox.skip(slot.id, now: now, writeLabel)
        {
            return skipped
        }
        throw try await desk.refusal(ofChanging: slot)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SlotsChange? {
        try await outcome(at: desk, of: slot) { slot, _ in
            slot.state == .skipped && slot.reason == .outbox(.byPerson)
        }
    }
}

/// Restores a slot that a person skipped; unpinned slots with the same text get another text.
package struct RestoreSlot: PersonOperation {
    package static let name = "plan-restore"
    /// The name or id of the slot, as in ``SkipSlot/slot``.
    package var slot: String

    package init(slot: String) { self.slot = slot }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SlotsChange {
        let zone = try await desk.zone()
        let now = desk.now
        let slot = try await desk.names().slot(slot, now: now)
        let planned = try await desk.outbox.restore(
            slot.id, seen: seen, now: now, desk.mirror.labelRemover(.skipped, .takenBack))
        guard let planned else { throw try await refusal(of: slot, at: desk) }
        let changedSlots = try await desk.replacement().replaceTexts(sharedWith: planned, now: now)
        let restored = ChangedSlot(planned, in: zone)
        return SlotsChange(
            [restored] + changedSlots.map { ChangedSlot($0, in: zone) },
            wayBack: .skipping(restored))
    }

    private func refusal(of slot: Action, at desk: Desk) async throws -> ChangeRefusal {
        let name = NamedControl.slot(slot, in: try await desk.zone())
        guard slot.state == .skipped, slot.reason == .outbox(.byPerson) else {
            if [.planned, .claimed].contains(slot.state) {
                return ChangeRefusal(.over, saying: localized("\(control: name) is not skipped"))
            }
            return try await desk.refusal(ofChanging: slot)
        }
        return ChangeRefusal(
            .outOfTime, saying: localized("\(control: name) is too late: its time has passed"))
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SlotsChange? {
        try await outcome(at: desk, of: slot) { slot, _ in
            [.planned, .claimed].contains(slot.state)
        }
    }
}

extension WayBack {
    /// The operation that reverts the planning of a slot.
    fileprivate static func skipping(_ slot: ChangedSlot) -> WayBack {
        WayBack(SkipSlot(slot: slot.id), seen: slot.seen, "plan", "skip", slot.slot)
    }
}

/// Gives a slot another time of its day, and pins it.
package struct MoveSlot: PersonOperation {
    package static let name = "plan-move"
    /// The name or id of the slot, as in ``SkipSlot/slot``.
    package var slot: String
    /// The new time on the human's clock, such as `20:15`, in a form that `MinuteOfDay` reads.
    package var time: String

    package init(slot: String, time: String) {
        self.slot = slot
        self.time = time
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SlotsChange {
        let zone = try await desk.zone()
        let now = desk.now
        let slot = try await desk.names().firstPart(slot, now: now)
        let due = try newTime(of: slot, in: zone, now: now)
        var explanation: Explanation?
        // `movedFrom` marks a slot that was only moved, so that its text may still be replaced.
        if !slot.keepsText {
            explanation = slot.explanation ?? Explanation("moved by a person")
            explanation?.movedFrom = slot.explanation?.movedFrom ?? slot.due
        }
        let action = try await desk.outbox.move(
            slot.id, to: due, expires: due + desk.grace, explanation: explanation, seen: seen,
            now: now)
        guard let action else { throw try await desk.refusal(ofChanging: slot) }
        let moved = ChangedSlot(action, in: zone)
        return SlotsChange(
            [moved], wayBack: wayBack(from: moved, to: ChangedSlot(slot, in: zone), now: now))
    }

    private func newTime(of slot: Action, in zone: TimeZone, now: Date) throws -> Date {
        guard case .post(let name, _) = slot.payload, let minute = MinuteOfDay(typed: time) else {
            throw ChangeRefusal(
                .unusable,
                localized("\"\(time.prefix(40))\" is no time of day; expected one such as 20:15"))
        }
        guard let due = PersonTime(zone: zone).instant(minute, of: name.day) else {
            throw ChangeRefusal(
                .unusable, localized("\(name.day) has no \(minute): the clocks skip it"))
        }
        guard due > now else {
            throw ChangeRefusal(.outOfTime, localized("\(minute) on \(name.day) has passed"))
        }
        return due
    }

    /// - Returns: Nil if the former time has passed, or equals the new one.
    private func wayBack(from moved: ChangedSlot, to former: ChangedSlot, now: Date) -> WayBack? {
        guard former.due > now, former.due != moved.due else { return nil }
        return WayBack(
            MoveSlot(slot: moved.id, time: former.time), seen: moved.seen, "plan", "move",
            moved.slot, former.time)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SlotsChange? {
        try await outcome(at: desk, of: slot) { slot, zone in
            slot.isPinned && [.planned, .claimed].contains(slot.state)
                && LocalTime(slot.due, in: zone).minute == MinuteOfDay(typed: time)
        }
    }
}

/// Pins a slot, so that it stays when its day is drawn anew.
///
/// The slot keeps its text or gets the text of an archived post. In the second case, unpinned slots
/// with the same text get another text.
package struct PinSlot: PersonOperation {
    package static let name = "plan-pin"
    /// The name or id of the slot, as in ``SkipSlot/slot``.
    package var slot: String
    /// The address or id of an archived post; nil to keep the slot's own text.
    package var post: String?

    package init(slot: String, post: String? = nil) {
        self.slot = slot
        self.post = post
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SlotsChange {
        let zone = try await desk.zone()
        let now = desk.now
        let slot = try await desk.names().firstPart(slot, now: now)
        let pinned =
            if let post {
                try await choose(post, for: slot, at: desk, seen: seen, now: now)
            } else {
                try await keep(slot, at: desk, seen: seen, now: now)
            }
        return SlotsChange([ChangedSlot(pinned, in: zone)])
    }

    private func keep(_ slot: Action, at desk: Desk, seen: Seen?, now: Date) async throws -> Action
    {
        guard slot.text != nil else {
            let name = NamedControl.slot(slot, in: try await desk.zone())
            throw ChangeRefusal(
                .unusable, saying: localized("\(control: name) has no text; name a post to pin"))
        }
        var explanation = slot.explanation
        // From now on the slot counts as pinned with its text, and not as only moved.
        explanation?.movedFrom = nil
        // Without a wording, the slot keeps its text.
        let pinned = try await desk.outbox.pin(
            slot.id, nil, explanation: explanation, seen: seen, now: now,
            desk.mirror.labelWriter(.kept, now: now))
        guard let pinned else { throw try await desk.refusal(ofChanging: slot) }
        return pinned
    }

    private func choose(
        _ post: String, for slot: Action, at desk: Desk, seen: Seen?, now: Date
    ) async throws -> Action {
        let wording = try await desk.names().wording(ofPost: post)
        let pinned = try await desk.outbox.pin(
            slot.id, wording, explanation: Explanation("chosen by a person"), seen: seen, now: now,
            desk.mirror.labelWriter(.posted, now: now))
        guard let pinned else { throw try await desk.refusal(ofChanging: slot) }
        try await desk.replacement().replaceTexts(sharedWith: pinned, now: now)
        return pinned
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SlotsChange? {
        var source: PostID?
        if let post { source = try await desk.names().post(post).id }
        return try await outcome(at: desk, of: slot) { slot, _ in
            slot.isPinned && [.planned, .claimed].contains(slot.state)
                && (source == nil || slot.wording?.source == source)
        }
    }
}

/// Sends an archived post as soon as a worker comes to it; unpinned slots with the same text get
/// another text.
package struct PublishPost: PersonOperation {
    package static let name = "post"
    /// The address or the id of the post.
    package var post: String

    /// Seconds within which a second request for the same post counts as a double press.
    private static let pressedTwice: TimeInterval = 600

    package init(post: String) { self.post = post }

    /// - Parameter seen: `Archive.Kept.seen` of the post.
    package func perform(at desk: Desk, seen: Seen?) async throws -> SlotsChange {
        let zone = try await desk.zone()
        let now = desk.now
        let day = LocalTime(now, in: zone).day
        let post = try await archivedPost(at: desk, today: day)
        let wording = try await desk.names().wording(of: post)
        // The day's plan is made first, because this slot might take a number of the plan.
        try await PlanRedraw(mirror: desk.mirror, zone: zone).settle(day, now: now)
        for attempt in 0..<PlanRedraw.attempts {
            // Each attempt tries the next number, because a row that this version cannot read may
            // have the previous one.
            let number = PlanRedraw.nextNumber(try await desk.outbox.slots(of: day)) + attempt
            let name = Slot.Name(day: day, number: number)
            guard
                let action = try await add(name, wording, at: desk, seen: seen, now: now)
            else { continue }
            try await desk.replacement().replaceTexts(sharedWith: action, now: now)
            let slot = ChangedSlot(action, in: zone)
            return SlotsChange([slot], wayBack: .skipping(slot))
        }
        throw PlanRedraw.busy(day)
    }

    private func archivedPost(at desk: Desk, today: LocalDay) async throws -> Post {
        do {
            return try await desk.names().post(post)
        } catch let error as ChangeRefusal where error.code == .unknown {
            guard TypedSlot(post, today: today) != nil else { throw error }
            throw ChangeRefusal(
                .unknown, saying: localized("\(error.text); \(control: .moving(post.prefix(20)))"))
        }
    }

    /// Adds the pinned slot that is due now.
    ///
    /// - Returns: The slot; nil if another slot has this name.
    private func add(
        _ name: Slot.Name, _ wording: Action.Wording, at desk: Desk, seen: Seen?, now: Date
    ) async throws -> Action? {
        // A worker has at least an hour to send the post.
        var intent = Intent(
            .post(name, wording), due: now, expires: now + max(desk.grace, 3_600),
            explanation: Explanation("chosen by a person"))
        intent.isPinned = true
        let post = wording.source
        let store = desk.outbox
        let archive = desk.mirror.archive
        let labels = desk.mirror.labels
        return try await store.add(intent, now: now) { connection in
            try archive.require(seen, of: post, on: connection)
            // Refuses the second press of a button.
            if seen != nil,
                try store.isAskedFor(post, since: now - Self.pressedTwice, on: connection)
            {
                throw ChangeRefusal(
                    .over, localized("that post is being sent already, or was a moment ago"))
            }
            try labels.note(.posted, of: post, now: now, on: connection)
        }
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SlotsChange? {
        let text = try await TextList.Text(
            of: desk.mirror, named: post, zone: try await desk.zone())
        guard let planned = text.planned else { return nil }
        return try await outcome(at: desk, of: planned.slot) { _, _ in true }
    }
}

/// A preview of an archived post as it would be sent now.
package struct PublishForecast: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/publish-forecast/1"
    /// The archived post.
    package let post: TextList.Text
    /// The text as it would be sent, and the texts that would follow it in a thread.
    package let says: [String]
    /// The number of pictures that would be sent with it.
    package let pictures: Int
    /// The maximum cost, in dollars; `nil` on networks that are free, and while the bot has no
    /// account.
    package let cost: Double?

    /// - Throws: `ChangeRefusal` for a word that names no post, and for a post that may not be
    ///   sent; the store's error.
    package init(at desk: Desk, post word: String) async throws {
        let mirror = desk.mirror
        let zone = try await desk.zone()
        let wording = try await desk.names().wording(ofPost: word)
        post = try await TextList.Text(of: mirror, named: word, zone: zone)
        says = [wording.text] + wording.rest.map(\.text)
        pictures = wording.pictures.count
        let bot = try await mirror.usableNetwork(of: .bot)
        cost = bot?.price(ofPublishing: says, pictures: pictures, isReply: false)?.dollars
    }
}

extension PublishForecast {
    /// The text that a plan would choose for a post that is due now.
    ///
    /// - Parameters:
    ///   - desk: The mirror.
    ///   - number: The number, from 0, in the order of choice; a person who wants another text
    ///     increases it.
    /// - Returns: Nil if there is no such text.
    /// - Throws: `ConfigurationError` without a time zone; the store's error.
    package static func proposal(at desk: Desk, number: Int = 0) async throws -> PublishForecast? {
        let zone = try await desk.zone()
        let planner = desk.mirror.planMaker(zone: zone, store: desk.outbox)
        guard !planner.makesNoPosts else { return nil }
        let wordings = try await planner.proposals(number + 1, now: desk.now)
        guard wordings.count > number else { return nil }
        return try await PublishForecast(at: desk, post: wordings[number].source.value)
    }
}

/// Draws the plan of a day anew; pinned slots stay.
package struct RerollDay: PersonOperation {
    package static let name = "plan-reroll"
    /// Today or a later day; nil for today.
    package var day: LocalDay?
    /// The seed of the draw; another seed draws another plan.
    package var seed: String

    package init(day: LocalDay?, seed: String) {
        self.day = day
        self.seed = seed
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> DayChange {
        let zone = try await desk.zone()
        let now = desk.now
        let day = day ?? LocalTime(now, in: zone).day
        let (taken, added) = try await PlanRedraw(mirror: desk.mirror, zone: zone).redraw(
            day, seed: seed, seen: seen, now: now)
        return DayChange(day: day, taken: taken, added: added)
    }
}

/// The outcome of drawing a day anew.
package struct DayChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/reroll/1"
    package let day: LocalDay
    /// The number of slots that were removed.
    package let taken: Int
    /// The number of new slots.
    package let added: Int

    init(day: LocalDay, taken: Int, added: Int) {
        self.day = day
        self.taken = taken
        self.added = added
    }
}
