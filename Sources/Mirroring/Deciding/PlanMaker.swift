package import Archive
import Conduct
package import Foundation
package import Outbox
package import Posts
import Schedule

/// A slot of a day with the text it would publish.
package struct PlannedSlot: Equatable, Sendable {
    /// What the slot is called among actions, as `2026-11-20#3`.
    package var subject: String
    /// On the human's clock.
    package var minute: MinuteOfDay
    /// A second of that minute.
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
    /// What the bot's server takes, as it was when somebody last asked.
    package var limits: PublishingLimits
    private let latest = LatestPlan()

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
        guard let last = times.last?.day else { return nil }
        let yesterday = LocalTime(now, in: zone).day.advanced(by: -1)
        let complete = min(yesterday, last.advanced(by: watching ? Self.believedSilence : 0))
        let asOf = min(complete, day.advanced(by: -1))
        let history = PostingHistory(times: times, asOf: asOf)
        let planner = DayPlanner(history: history, configuration: configuration.schedule)
        guard let drawn = planner.plan(for: day, in: zone, mirror: mirror, seed: nil) else { return nil }
        var texts = try await TextPool(maker: self, planned: [], now: now)
        var slots: [PlannedSlot] = []
        for slot in drawn.slots {
            let subject = StoredPlan.subject(day: day, slot: slot.number)
            // Seconds inside the minute, so that not every bot posts on the stroke of it.
            let second = Double(PlanSeed.text(mirror: mirror, day: day, minute: slot.minute) % 60)
            slots.append(
                try await texts.fill(subject: subject, minute: slot.minute, due: slot.date + second, day: day))
        }
        let plan = StoredPlan(
            day: day, timeZone: configuration.timeZoneName ?? zone.name, seed: String(drawn.seed), made: now)
        return PlannedDay(plan: plan, slots: slots)
    }

    /// Makes and stores the plan of `day` unless it has one.
    ///
    /// Slots before the first start, and those that nobody waits for any more, are stored as skipped, so that a mirror
    /// started in the afternoon keeps the right rate for the rest of the day.
    ///
    /// - Parameters:
    ///   - day: The day to plan.
    ///   - now: Decides which slots have passed.
    ///   - activated: When the mirror first started.
    ///   - watching: Whether the human's posts are followed, so that days without one count.
    ///   - onDrawn: Told when the plan is drawn and not stored yet.
    /// - Returns: The plan if it was stored now.
    /// - Throws: The store's error.
    package func make(
        _ day: LocalDay, now: Date, activated: Date = .distantPast, watching: Bool,
        onDrawn: @Sendable () -> Void = {}
    ) async throws -> PlannedDay? {
        // Asked again and again; a plan that is there stays.
        guard latest.day != day else { return nil }
        guard try await store.plan(for: day) == nil else {
            latest.day = day
            return nil
        }
        guard let planned = try await preview(day, now: now, watching: watching) else { return nil }
        onDrawn()
        let slots = planned.slots.map { intent(for: $0, now: now, activated: activated) }
        let isStored = try await store.store(planned.plan, slots: slots)
        latest.day = day
        return isStored ? planned : nil
    }

    /// Another text for a slot whose own can no longer be used, and none of those that were tried in vain.
    package func replacement(for action: Action, besides tried: [Action] = [], now: Date) async throws -> PlannedSlot? {
        let time = LocalTime(action.due, in: zone)
        var texts = try await TextPool(maker: self, planned: try await store.slots(of: time.day) + tried, now: now)
        let slot = try await texts.fill(
            subject: action.subject, minute: time.minute, due: action.due, day: time.day)
        return slot.source == nil ? nil : slot
    }

    private func intent(for slot: PlannedSlot, now: Date, activated: Date) -> Intent {
        let expires = slot.due + Double(configuration.schedule.graceMinutes) * 60
        let isBeforeStart = slot.due < activated || expires < now
        let reason = isBeforeStart ? "before-start" : slot.source == nil ? "no-text" : nil
        return Intent(
            kind: .post, subject: slot.subject, state: reason == nil ? .planned : .skipped, due: slot.due,
            expires: expires, sourcePost: slot.source?.id,
            visibility: slot.source.map { VisibilityRules.postVisibility(original: $0.visibility) },
            language: slot.source?.language, text: slot.text, reason: reason,
            explanation: slot.explanation.json)
    }
}

/// The last day that is known to have a plan.
private final class LatestPlan: @unchecked Sendable {
    // Sendable because every access to `known` holds the lock.
    private let lock = NSLock()
    private var known: LocalDay?

    var day: LocalDay? {
        get { lock.withLock { known } }
        set { lock.withLock { known = newValue } }
    }
}

extension Archive {
    /// Prepares what no rules or other ones have prepared, some hundred posts at a time.
    func prepare(by rules: TextRules) async throws {
        while try await prepareSome(
            version: rules.version, lastUse: OutboxStore.lastUse,
            { post in
                let prepared = rules.preparation(of: post)
                return Preparation(
                    textKey: prepared.key, unfit: prepared.unfit?.rawValue, length: prepared.length)
            })
        {
            try Task.checkCancellation()
        }
    }
}

/// The texts that may be used now, without those that earlier slots of the day took.
///
/// The archive is asked, not loaded: a narrow window's texts are listed, and from a wide one texts are drawn until one
/// may be used.
struct TextPool {
    /// From a window with more posts than these, texts are drawn and not listed.
    private static let listed = 2_000
    /// How often is drawn from a window before all is looked through; nearly always the first draw does.
    private static let draws = 40

    private let maker: PlanMaker
    private let rules: TextRules
    private let chooser: TextChooser
    private let now: Date
    /// Younger texts only do when there are no others.
    private let oldEnough: Date
    /// Keys of texts that were used too recently.
    private let used: [String: Date]
    /// How many posts of each minute are old enough.
    private let counts: [Int]
    private var taken: Set<String>

    /// - Parameters:
    ///   - maker: Whose archive and rules count.
    ///   - planned: Actions whose texts are already spoken for.
    ///   - now: The time from which ages are counted.
    /// - Throws: The store's error.
    init(maker: PlanMaker, planned: [Action], now: Date) async throws {
        let configuration = maker.configuration
        self.maker = maker
        self.now = now
        rules = TextRules(configuration, limits: maker.limits)
        chooser = TextChooser(noRepeatDays: configuration.noRepeatDays, minimumAgeDays: configuration.minimumAgeDays)
        taken = Set(planned.compactMap(\.text).map(TextRules.textKey))
        oldEnough = now - Double(chooser.minimumAgeDays) * 86_400
        try await maker.archive.prepare(by: rules)
        used = try await maker.archive.usedTexts(since: now - Double(chooser.noRepeatDays) * 86_400)
        counts = try await maker.archive.textCounts(longest: maker.limits.maximumCharacters, before: oldEnough)
    }

    /// Chooses the text of one slot; the same text is not chosen again from this pool.
    mutating func fill(subject: String, minute: MinuteOfDay, due: Date, day: LocalDay) async throws -> PlannedSlot {
        var generator = SplitMix64(seed: PlanSeed.text(mirror: maker.mirror, day: day, minute: minute))
        let choice = try await choose(at: minute, &generator)
        guard let choice, let post = try await maker.archive.post(choice.id),
            case .success(let text) = rules.text(for: post)
        else {
            return PlannedSlot(
                subject: subject, minute: minute, due: due, source: nil, text: nil,
                explanation: Explanation("no archived post may be used at this time"))
        }
        taken.insert(choice.textKey)
        return PlannedSlot(
            subject: subject, minute: minute, due: due, source: post, text: text,
            explanation: Explanation(
                choice.explanation.description, pool: choice.explanation.poolSize,
                windowMinutes: choice.explanation.windowMinutes))
    }

    private func choose(at minute: MinuteOfDay, _ generator: inout SplitMix64) async throws -> TextChoice? {
        for window in TextChooser.windows {
            let minutes = minute.ranges(within: window)
            let number = minutes.map { counts[$0].reduce(0, +) }.reduce(0, +)
            if number > Self.listed {
                if let drawn = try await draw(from: minutes, number, at: minute, window, &generator) { return drawn }
            } else if number >= TextChooser.enough || window == TextChooser.windows.last {
                let near = try await candidates(in: minutes, before: oldEnough)
                let choice = chooser.choose(
                    from: near, at: minute, within: window, now: now, excluding: taken, generator: &generator)
                if let choice { return choice }
            }
        }
        // Nothing is both old enough and unused: who is the lesser evil is told by all of them.
        let all = try await candidates(in: minute.ranges(within: 720), before: .distantFuture)
        return chooser.choose(from: all, at: minute, now: now, excluding: taken, generator: &generator)
    }

    /// Draws a text that may be used, each as likely as the others; nil if that does not happen soon.
    private func draw(
        from minutes: [ClosedRange<Int>], _ number: Int, at minute: MinuteOfDay, _ window: Int,
        _ generator: inout SplitMix64
    ) async throws -> TextChoice? {
        let (archive, longest) = (maker.archive, maker.limits.maximumCharacters)
        for _ in 0..<Self.draws {
            var rest = min(Int(generator.nextUniform() * Double(number)), number - 1)
            var places = minutes.joined().makeIterator()
            var place = places.next()
            while let passed = place, rest >= counts[passed] {
                rest -= counts[passed]
                place = places.next()
            }
            guard let place else { return nil }
            let text = try await archive.text(at: place, number: rest, longest: longest, before: oldEnough)
            guard let text, !taken.contains(text.textKey), used[text.textKey] == nil else { continue }
            // Of a text that was posted more than once only one post counts.
            guard try await archive.isFirst(text, in: minutes, longest: longest, before: oldEnough) else { continue }
            return TextChoice(
                id: text.id, textKey: text.textKey,
                explanation: TextExplanation(
                    minute: minute, windowMinutes: window, poolSize: number, isAgeRelaxed: false))
        }
        return nil
    }

    private func candidates(in minutes: [ClosedRange<Int>], before time: Date) async throws -> [TextCandidate] {
        try await maker.archive.texts(in: minutes, longest: maker.limits.maximumCharacters, before: time).map {
            TextCandidate(
                id: $0.id, minute: $0.minute, textKey: $0.textKey, lastUsed: used[$0.textKey],
                createdAt: $0.createdAt)
        }
    }
}

extension MinuteOfDay {
    /// The minutes that are at most so far from this one round the clock, as ranges that do not overlap.
    fileprivate func ranges(within distance: Int) -> [ClosedRange<Int>] {
        guard 2 * distance + 1 < Self.count else { return [0...Self.count - 1] }
        let (first, last) = (value - distance, value + distance)
        if first < 0 { return [0...last, first + Self.count...Self.count - 1] }
        if last >= Self.count { return [0...last - Self.count, first...Self.count - 1] }
        return [first...last]
    }
}

extension TextRules {
    /// The rules for what a mirror sends.
    ///
    /// Where links are off, a post with one is left out; on X, where a link costs more than ten posts without, only the
    /// link is.
    ///
    /// - Parameters:
    ///   - configuration: The mirror's settings, the bot's network among them.
    ///   - limits: What the bot's server allows.
    ///   - repliesNameThePerson: Whether a reply must name the person answered.
    init(_ configuration: MirrorConfiguration, limits: PublishingLimits, repliesNameThePerson: Bool = true) {
        let network = configuration.botNetwork
        self.init(
            network: network, links: configuration.links ? .kept : network == .x ? .removed : .leftOut,
            limits: limits, repliesNameThePerson: repliesNameThePerson)
    }
}
