package import Archive
import Conduct
package import Foundation
package import Outbox
package import Posts
import Schedule

/// A slot of a day with the text it would publish.
package struct PlannedSlot: Equatable, Sendable {
    package var subject: String
    package var minute: MinuteOfDay
    package var due: Date
    /// Nil when no archived post may be used.
    package var source: Post?
    package var text: String?
    package var explanation: Explanation
}

/// A day as the mirror would live it.
package struct PlannedDay: Equatable, Sendable {
    package var plan: StoredPlan
    package var slots: [PlannedSlot]
}

/// Draws a day's minutes from the archive and picks a text for each.
package struct PlanMaker: Sendable {
    /// How many days without a post are believed to be silence of a human who is watched.
    ///
    /// A longer gap more likely means that the archive is an old one, and an old archive keeps its rate.
    private static let believedSilence = 30

    let archive: Archive
    let store: OutboxStore
    let mirror: String
    let configuration: MirrorConfiguration
    let zone: TimeZone
    let limits: PublishingLimits

    /// - Parameters:
    ///   - archive: The human's posts.
    ///   - store: What was used before.
    ///   - configuration: The schedule's and the texts' settings.
    ///   - zone: The human's time zone.
    ///   - limits: What the bot's network accepts.
    package init(
        archive: Archive, store: OutboxStore, configuration: MirrorConfiguration, zone: TimeZone,
        limits: PublishingLimits
    ) {
        self.archive = archive
        self.store = store
        self.mirror = configuration.mirror
        self.configuration = configuration
        self.zone = zone
        self.limits = limits
    }

    /// The plan that would be made for `day`, without storing it.
    ///
    /// - Returns: Nil if the archive holds no post to learn times from.
    /// - Throws: The store's error.
    package func preview(_ day: LocalDay, now: Date, watching: Bool) async throws -> PlannedDay? {
        let times = try await archive.scheduleRows()
        guard let last = times.map(\.day).max() else { return nil }
        let yesterday = LocalTime(now, in: zone).day.advanced(by: -1)
        let complete = min(yesterday, last.advanced(by: watching ? Self.believedSilence : 0))
        let asOf = min(complete, day.advanced(by: -1))
        let history = PostingHistory(times: times, asOf: asOf)
        let planner = DayPlanner(history: history, configuration: configuration.schedule)
        guard let drawn = planner.plan(for: day, in: zone, mirror: mirror, seed: nil) else { return nil }
        var texts = try await TextPool(maker: self, planned: [])
        let slots = drawn.slots.map { slot in
            let subject = StoredPlan.subject(day: day, slot: slot.number)
            // Seconds inside the minute, so that not every bot posts on the stroke of it.
            let second = Double(PlanSeed.text(mirror: mirror, day: day, minute: slot.minute) % 60)
            return texts.fill(subject: subject, minute: slot.minute, due: slot.date + second, day: day, now: now)
        }
        let plan = StoredPlan(
            day: day, timeZone: zone.identifier, seed: String(drawn.seed), made: now)
        return PlannedDay(plan: plan, slots: slots)
    }

    /// Makes and stores the plan of `day` unless it has one.
    ///
    /// Slots whose time has passed are stored as skipped, so that a mirror
    /// started in the afternoon keeps the right rate for the rest of the day.
    ///
    /// - Parameters:
    ///   - day: The day to plan.
    ///   - now: Decides which slots have passed.
    ///   - watching: Whether the human's posts are followed, so that days without one count.
    ///   - onDrawn: Told when the plan is drawn and not stored yet.
    /// - Returns: The plan if it was stored now.
    /// - Throws: The store's error.
    package func make(
        _ day: LocalDay, now: Date, watching: Bool, onDrawn: @Sendable () -> Void = {}
    ) async throws -> PlannedDay? {
        guard try await store.plan(for: day) == nil,
            let planned = try await preview(day, now: now, watching: watching)
        else { return nil }
        onDrawn()
        let isStored = try await store.store(planned.plan, slots: planned.slots.map { intent(for: $0, now: now) })
        return isStored ? planned : nil
    }

    /// Another text for a slot whose own can no longer be used.
    func replacement(for action: Action, now: Date) async throws -> PlannedSlot? {
        let time = LocalTime(action.due, in: zone)
        var texts = try await TextPool(maker: self, planned: try await store.slots(of: time.day))
        let slot = texts.fill(subject: action.subject, minute: time.minute, due: action.due, day: time.day, now: now)
        return slot.source == nil ? nil : slot
    }

    private func intent(for slot: PlannedSlot, now: Date) -> Intent {
        let expires = slot.due + Double(configuration.schedule.graceMinutes) * 60
        let reason = expires < now ? "before-start" : slot.source == nil ? "no-text" : nil
        return Intent(
            kind: .post, subject: slot.subject, state: reason == nil ? .planned : .skipped, due: slot.due,
            expires: expires, sourcePost: slot.source?.id,
            visibility: slot.source.map { VisibilityRules.postVisibility(original: $0.visibility) },
            language: slot.source?.language, text: slot.text, reason: reason,
            explanation: slot.explanation.json)
    }
}

/// The texts that may be used now, without those that earlier slots of the day took.
struct TextPool {
    private let mirror: String
    private let chooser: TextChooser
    private var posts: [PostID: (post: Post, text: String)] = [:]
    private var candidates: [TextCandidate] = []
    private var taken: Set<String>

    /// - Parameters:
    ///   - maker: Whose archive and rules count.
    ///   - planned: Actions whose texts are already spoken for.
    /// - Throws: The store's error.
    init(maker: PlanMaker, planned: [Action]) async throws {
        let configuration = maker.configuration
        mirror = configuration.mirror
        chooser = TextChooser(
            noRepeatDays: configuration.noRepeatDays, minimumAgeDays: configuration.minimumAgeDays)
        taken = Set(planned.compactMap(\.text).map(TextRules.textKey))
        let rules = TextRules(configuration, limits: maker.limits)
        let uses = try await maker.store.lastUses()
        for post in try await maker.archive.standalonePosts() {
            // A post that may not be published now still tells when its text was last used.
            let text = try? rules.text(for: post).get()
            guard text != nil || uses[post.id] != nil else { continue }
            let key = TextRules.textKey(text ?? post.text)
            if let text { posts[post.id] = (post, text) } else { taken.insert(key) }
            candidates.append(
                TextCandidate(
                    id: post.id, minute: LocalTime(post.createdAt, in: maker.zone).minute, textKey: key,
                    lastUsed: uses[post.id], createdAt: post.createdAt))
        }
    }

    /// Chooses the text of one slot; the same text is not chosen again from this pool.
    mutating func fill(
        subject: String, minute: MinuteOfDay, due: Date, day: LocalDay, now: Date
    ) -> PlannedSlot {
        var generator = SplitMix64(seed: PlanSeed.text(mirror: mirror, day: day, minute: minute))
        let choice = chooser.choose(
            from: candidates, at: minute, now: now, excluding: taken, generator: &generator)
        guard let choice, let chosen = posts[choice.id] else {
            return PlannedSlot(
                subject: subject, minute: minute, due: due, source: nil, text: nil,
                explanation: Explanation("no archived post may be used at this time"))
        }
        taken.insert(choice.textKey)
        return PlannedSlot(
            subject: subject, minute: minute, due: due, source: chosen.post, text: chosen.text,
            explanation: Explanation(
                choice.explanation.description, pool: choice.explanation.poolSize,
                windowMinutes: choice.explanation.windowMinutes))
    }
}
