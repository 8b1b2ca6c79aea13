import Foundation
import Mirroring
import Networks
import Outbox
package import Posts
import Settings

/// The outcome of changing slots.
package struct SlotsChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/change/1"
    /// As they are now; the one that was named first.
    package let slots: [ChangedSlot]
    /// False if that was so already.
    package let isNew: Bool
    package let wayBack: WayBack?

    init(_ slots: [ChangedSlot], isNew: Bool = true, wayBack: WayBack? = nil) {
        self.slots = slots
        self.isNew = isNew
        self.wayBack = wayBack
    }
}

extension PersonOperation where Outcome == SlotsChange {
    /// The outcome if the named slot is as it was asked to be; else nil.
    fileprivate func outcome(
        at desk: Desk, _ slot: String, if isDone: (Action, TimeZone) -> Bool
    ) async throws -> SlotsChange? {
        let zone = try await desk.zone()
        let slot = try await desk.plan().slot(slot, now: desk.now)
        return isDone(slot, zone) ? SlotsChange([ChangedSlot(slot, in: zone)], isNew: false) : nil
    }
}

/// Leaves a slot out.
package struct SkipSlot: PersonOperation {
    package static let name = "plan-skip"
    /// The name of the slot, as `TypedSlot` reads it, or the first digits of its id.
    package var slot: String

    package init(slot: String) { self.slot = slot }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SlotsChange {
        let slot = try await desk.plan().skip(slot, seen: seen, now: desk.now)
        return SlotsChange(
            [ChangedSlot(slot, in: try await desk.zone())],
            wayBack: WayBack(RestoreSlot.self, "plan", "restore", slot.subject))
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SlotsChange? {
        try await outcome(at: desk, slot) { slot, _ in
            slot.state == .skipped && slot.reason == Action.Reason.byPerson
        }
    }
}

/// Lets a slot be sent after all that a person left out.
package struct RestoreSlot: PersonOperation {
    package static let name = "plan-restore"
    /// The name or id of the slot, as in ``SkipSlot/slot``.
    package var slot: String

    package init(slot: String) { self.slot = slot }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SlotsChange {
        let zone = try await desk.zone()
        let slots = try await desk.plan().restore(slot, seen: seen, now: desk.now).map {
            ChangedSlot($0, in: zone)
        }
        return SlotsChange(
            slots, wayBack: slots.first.map { WayBack(SkipSlot.self, "plan", "skip", $0.slot) })
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SlotsChange? {
        try await outcome(at: desk, slot) { slot, _ in [.planned, .claimed].contains(slot.state) }
    }
}

/// Gives a slot another time of its day.
package struct MoveSlot: PersonOperation {
    package static let name = "plan-move"
    /// The name or id of the slot, as in ``SkipSlot/slot``.
    package var slot: String
    /// As `20:15`, on the human's clock.
    package var time: String

    package init(slot: String, time: String) {
        self.slot = slot
        self.time = time
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SlotsChange {
        let zone = try await desk.zone()
        let (before, after) = try await desk.plan().move(slot, to: time, seen: seen, now: desk.now)
        // A time that has passed is no way back.
        let wayBack =
            before.due > desk.now && before.due != after.due
            ? WayBack(
                MoveSlot.self, "plan", "move", after.subject, ChangedSlot(before, in: zone).time)
            : nil
        return SlotsChange([ChangedSlot(after, in: zone)], wayBack: wayBack)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SlotsChange? {
        try await outcome(at: desk, slot) { slot, zone in
            slot.isPinned && [.planned, .claimed].contains(slot.state)
                && LocalTime(slot.due, in: zone).minute == MinuteOfDay(typed: time)
        }
    }
}

/// Keeps a slot as it is whatever is drawn anew, or gives it the text of an archived post.
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
        let slot = try await desk.plan().pin(slot, to: post, seen: seen, now: desk.now)
        return SlotsChange([ChangedSlot(slot, in: try await desk.zone())])
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SlotsChange? {
        var source: PostID?
        if let post { source = try await desk.plan().post(post).id }
        return try await outcome(at: desk, slot) { slot, _ in
            slot.isPinned && [.planned, .claimed].contains(slot.state)
                && (source == nil || slot.wording?.source == source)
        }
    }
}

/// Sends an archived post as soon as a worker comes to it.
package struct PublishPost: PersonOperation {
    package static let name = "post"
    /// Its address or id.
    package var post: String

    package init(post: String) { self.post = post }

    package func perform(at desk: Desk, seen: Seen?) async throws -> SlotsChange {
        let action = try await desk.plan().publish(post, seen: seen, now: desk.now)
        return SlotsChange(
            [ChangedSlot(action, in: try await desk.zone())],
            wayBack: WayBack(SkipSlot.self, "plan", "skip", action.subject))
    }

    package func outcomeIfDone(at desk: Desk) async throws -> SlotsChange? {
        let text = try await TextList.Text(
            of: desk.mirror, named: post, zone: try await desk.zone())
        guard let planned = text.planned else { return nil }
        return try await outcome(at: desk, planned.slot) { _, _ in true }
    }
}

/// A preview of an archived post as it would be sent now.
package struct PublishForecast: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/publish-forecast/1"
    /// The archived post.
    package let post: TextList.Text
    /// The text as it would be sent, and what would follow it in a thread.
    package let says: [String]
    /// How many pictures would go along.
    package let pictures: Int
    /// The maximum cost, in dollars; `nil` on networks that are free, and while the bot has no
    /// account.
    package let cost: Double?

    /// - Throws: `ChangeRefusal` for what names no post, and for one that is not to be sent; the
    ///   store's error.
    package init(at desk: Desk, post word: String) async throws {
        let mirror = desk.mirror
        let zone = try await desk.zone()
        let wording = try await PlanChanges(mirror: mirror, zone: zone).wording(ofPost: word)
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
    ///   - number: Which of the texts that would be chosen one after the other, from 0: for a
    ///     person who wants another one.
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

/// Draws a day anew; what is pinned stays.
package struct RerollDay: PersonOperation {
    package static let name = "plan-reroll"
    /// Today or a later day; nil for today.
    package var day: LocalDay?
    /// The random seed, by which this draw differs from the one before.
    package var seed: String

    package init(day: LocalDay?, seed: String) {
        self.day = day
        self.seed = seed
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> DayChange {
        let today = LocalTime(desk.now, in: try await desk.zone()).day
        let day = day ?? today
        let (taken, added) = try await desk.plan().reroll(
            day, seed: seed, seen: seen, now: desk.now)
        return DayChange(day: day, taken: taken, added: added)
    }
}

/// The outcome of drawing a day anew.
package struct DayChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/reroll/1"
    package let day: LocalDay
    /// How many slots were left out.
    package let taken: Int
    /// How many new ones there are.
    package let added: Int

    init(day: LocalDay, taken: Int, added: Int) {
        self.day = day
        self.taken = taken
        self.added = added
    }
}

/// Keeps a text from ever being sent again, whichever post it came from.
package struct NeverSend: PersonOperation {
    package static let name = "never"
    /// The address or id of an archived post, or a slot that has its text.
    package var post: String

    package init(post: String) { self.post = post }

    package func perform(at desk: Desk, seen: Seen?) async throws -> NeverChange {
        let zone = try await desk.zone()
        let (post, isNew, changed, left) = try await desk.plan().never(
            post, seen: seen, now: desk.now)
        return NeverChange(
            post: post.id.value, text: post.text, isNew: isNew,
            slots: changed.map { ChangedSlot($0, in: zone) },
            left: left.map(LeftAction.init),
            wayBack: isNew ? WayBack(SendAgain.self, "never", "--undo", post.id.value) : nil)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> NeverChange? {
        try await NeverChange(at: desk, post, if: true)
    }
}

/// Lets a text be sent again that a person never wanted to be.
package struct SendAgain: PersonOperation {
    package static let name = "never-undo"
    /// The address or id of an archived post with that text.
    package var post: String

    package init(post: String) { self.post = post }

    package func perform(at desk: Desk, seen: Seen?) async throws -> NeverChange {
        let (post, isNew) = try await desk.plan().sendAgain(post, seen: seen)
        return NeverChange(
            post: post.id.value, text: post.text, isNew: isNew, slots: [], left: [],
            wayBack: isNew ? WayBack(NeverSend.self, "never", post.id.value) : nil)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> NeverChange? {
        try await NeverChange(at: desk, post, if: false)
    }
}

/// The outcome of forbidding a text for good, or of allowing it again.
package struct NeverChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/never/1"
    /// The id of the post that was named.
    package let post: String
    package let text: String
    /// False if that was so already.
    package let isNew: Bool
    /// The slots that got another text, or were left out.
    package let slots: [ChangedSlot]
    /// The actions with that text whose requests were under way.
    package let left: [LeftAction]
    package let wayBack: WayBack?
}

extension NeverChange {
    /// The outcome of a wish that is fulfilled already; nil if it is not.
    ///
    /// - Parameter isNever: Whether the text was to be sent never, or again.
    fileprivate init?(at desk: Desk, _ post: String, if isNever: Bool) async throws {
        let text = try await TextList.Text(
            of: desk.mirror, named: post, zone: try await desk.zone())
        guard text.isNever == isNever else { return nil }
        self.init(post: text.post, text: text.text, isNew: false, slots: [], left: [], wayBack: nil)
    }
}
