package import Archive
package import Conduct
package import Favorites
package import Foundation
package import Outbox
package import Posts
import Schedule
package import Settings

/// The preview of a day: its plan, and the intended post of each slot.
package typealias PlannedDay = (plan: StoredPlan, slots: [Intent])

/// Draws a day's minutes from the archive and picks a text for each.
package struct PlanMaker: Sendable {
    /// The most days without a post that count as real silence of a followed human.
    ///
    /// A longer gap more likely means that the archive is old, and then it keeps its rate.
    private static let believedSilence = 30

    /// The human's posts.
    let archive: Archive
    /// Stores the plans, and knows the texts that were used before.
    let store: OutboxStore
    /// The schedule's and the texts' settings.
    let configuration: MirrorSettings
    /// Judges the fitness of texts.
    package var judge: TextJudge
    /// Tells which texts are used only after others; nil if nothing is learned of texts.
    let taste: TextTaste?
    /// How much of the human's past is known; without any there is no plan.
    private let past: @Sendable () async throws -> KnownPast?
    private let plannedDays = KnownPlans()

    package init(
        archive: Archive, store: OutboxStore, configuration: MirrorSettings, judge: TextJudge,
        taste: TextTaste? = nil, past: @escaping @Sendable () async throws -> KnownPast?
    ) {
        self.archive = archive
        self.store = store
        self.configuration = configuration
        self.judge = judge
        self.taste = taste
        self.past = past
    }

    /// The publishing limits of the bot's server, as last queried.
    package var limits: PublishingLimits {
        get { judge.rules.limits }
        set { judge.rules.limits = newValue }
    }

    /// The human's time zone.
    var zone: TimeZone { judge.zone }

    private var mirror: String { configuration.mirror }

    /// The plan that would be made for `day`; stores nothing.
    ///
    /// - Parameters:
    ///   - day: The day.
    ///   - now: The time that separates past from future, and for the age of texts.
    ///   - watching: Whether the human's posts are followed, so that days without a post count.
    ///   - seed: The seed of another draw; nil for the day's own draw.
    ///   - firstNumber: The number of the first slot.
    ///   - planned: Actions whose texts are already taken.
    /// - Returns: Nil if the human's past is not known, or the archive has no post to learn times
    ///   from.
    /// - Throws: The store's error.
    package func preview(
        _ day: LocalDay, now: Date, watching: Bool, seed: String? = nil, firstNumber: Int = 1,
        besides planned: [Action] = []
    ) async throws -> PlannedDay? {
        let drawing = try await drawing(of: day, now: now, watching: watching)
        guard let drawn = drawing?.plan(seed: seed, firstNumber: firstNumber) else { return nil }
        return try await filled(drawn, besides: planned, now: now)
    }

    /// The plan that would be made for a day that needs a number of posts after an instant.
    ///
    /// It is the day's own draw if that has enough posts, else the first other draw that has, else
    /// the one with the most.
    private func preview(
        _ day: LocalDay, having count: Int, after instant: Date, now: Date, watching: Bool
    ) async throws -> PlannedDay? {
        guard let drawing = try await drawing(of: day, now: now, watching: watching) else {
            return nil
        }
        var bestDraw: (count: Int, plan: DayPlan)?
        for draw in 0..<Self.draws {
            if let bestDraw, bestDraw.count >= count { break }
            guard let drawn = drawing.plan(seed: draw == 0 ? nil : "\(day)/\(draw)") else {
                return nil
            }
            let open = drawn.slots.count { $0.due > instant }
            if let bestDraw, bestDraw.count >= open { continue }
            bestDraw = (open, drawn)
        }
        guard let bestDraw else { return nil }
        return try await filled(bestDraw.plan, now: now)
    }

    /// The plan for drawn minutes, with a text for each.
    private func filled(_ drawn: DayPlan, besides planned: [Action] = [], now: Date) async throws
        -> PlannedDay
    {
        let plan = StoredPlan(
            day: drawn.day, timeZone: configuration.name(of: zone), seed: String(drawn.seed),
            made: now,
            model: DayPlanner.modelVersion)
        return (plan, try await slots(of: drawn, besides: planned, now: now))
    }

    /// The first post after `now` in the plan that would be made for `day`.
    ///
    /// It equals the one in ``preview(_:now:watching:seed:firstNumber:besides:)``, but the texts of
    /// later slots are not chosen.
    ///
    /// - Parameters:
    ///   - day: The day.
    ///   - now: The time that separates past from future, and for the age of texts.
    ///   - watching: Whether the human's posts are followed, so that days without a post count.
    /// - Returns: Nil if there would be none, and if every post waits for a person's approval.
    /// - Throws: The store's error.
    package func firstPost(of day: LocalDay, now: Date, watching: Bool) async throws -> Action? {
        // If posts need approval, no text has to be chosen to know that none leaves by itself.
        guard !configuration.review.contains(.post),
            let drawn = try await drawing(of: day, now: now, watching: watching)?.plan()
        else { return nil }
        func action(_ slot: Intent) -> Action { Action(slot, of: mirror, at: slot.due) }
        let slots = try await slots(
            of: drawn, now: now, until: { action($0).comes(after: now) })
        return slots.map(action).first { $0.comes(after: now) }
    }

    /// The data from which the minutes of a day are drawn.
    private struct Drawing {
        let day: LocalDay
        let zone: TimeZone
        let mirror: String
        let planner: DayPlanner
        let recent: RecentDays

        /// - Parameter seed: The seed of another draw; nil for the day's own draw.
        func plan(seed: String? = nil, firstNumber: Int = 1) -> DayPlan? {
            planner.plan(
                for: day, in: zone, mirror: mirror, seed: seed, firstNumber: firstNumber,
                after: recent)
        }
    }

    /// Reads the data for drawing a day; nil as for
    /// ``preview(_:now:watching:seed:firstNumber:besides:)``.
    private func drawing(of day: LocalDay, now: Date, watching: Bool) async throws -> Drawing? {
        guard try await past() != nil else { return nil }
        let times = try await archive.scheduleRows()
        guard let last = times.last?.day else { return nil }
        let yesterday = LocalTime(now, in: zone).day.advanced(by: -1)
        let complete = min(yesterday, last.advanced(by: watching ? Self.believedSilence : 0))
        let asOf = min(complete, day.advanced(by: -1))
        let history = PostingHistory(times: times, asOf: asOf)
        let planner = DayPlanner(history: history, configuration: configuration.schedule)
        let recent = try await recentDays(before: day, planner, from: yesterday.advanced(by: 1))
        return Drawing(day: day, zone: zone, mirror: mirror, planner: planner, recent: recent)
    }

    /// Chooses a text for each slot, one after another.
    ///
    /// - Parameter isEnough: Ends the choice with the first slot for which it returns true.
    private func slots(
        of drawn: DayPlan, besides planned: [Action] = [], now: Date,
        until isEnough: (Intent) -> Bool = { _ in false }
    ) async throws -> [Intent] {
        guard !drawn.slots.isEmpty else { return [] }
        var texts = try await TextPool(maker: self, planned: planned, now: now)
        var slots: [Intent] = []
        let pattern = drawn.pattern.map { Explanation.Pattern(day: $0.day, posts: $0.posts) }
        let slotsByMinute = Dictionary(grouping: drawn.slots, by: \.minute)
        for slot in drawn.slots {
            var choice = try await texts.next(at: slot.minute, of: drawn.day)
            choice.why.pattern = pattern
            let slotsOfMinute = slotsByMinute[slot.minute, default: [slot]]
            let intent = intent(for: slot, second: second(of: slot, among: slotsOfMinute), choice)
            slots.append(intent)
            if isEnough(intent) { break }
        }
        return slots
    }

    /// Returns the days just before `day`: the human's days, then the bot's stored plans, then
    /// previews.
    private func recentDays(
        before day: LocalDay, _ planner: DayPlanner, from today: LocalDay
    ) async throws -> RecentDays {
        let asOf = planner.history.asOf
        let first = max(min(today, day), day.advanced(by: -DayPlanner.longestPreview))
            .advanced(by: -RecentDays.length)
        let unknown = max(first, asOf.advanced(by: 1))
        // The store is not read if the human's own days are complete.
        let planned = unknown < day ? try await store.slotCounts(of: unknown..<day) : [:]
        return planner.recentDays(
            before: day, planned: planned, from: today, in: zone, mirror: mirror)
    }

    /// The seconds within a slot's minute, so that not every bot posts at the full minute.
    ///
    /// Slots in the same minute share it in equal parts.
    private func second(of slot: Slot, among slotsOfMinute: [Slot]) -> Int {
        let seed = PlanSeed.text(mirror: mirror, day: slot.name.day, minute: slot.minute)
        let part = max(1, 60 / slotsOfMinute.count)
        let place = slotsOfMinute.firstIndex { $0.name == slot.name } ?? 0
        return min(59, place * part + Int(seed % UInt64(part)))
    }

    private func intent(
        for slot: Slot, second: Int, _ choice: (wording: Action.Wording?, why: Explanation)
    ) -> Intent {
        let due = slot.due + Double(second)
        let state: ActionState = configuration.review.contains(.post) ? .suggested : .planned
        return Intent(
            .post(slot.name, choice.wording), state: choice.wording == nil ? .skipped : state,
            due: due,
            expires: due + grace,
            reason: choice.wording == nil ? .outbox(.noText) : nil, explanation: choice.why)
    }

    /// Makes and stores the plan of `day` unless it has one.
    ///
    /// Slots before the first start, and those whose grace has passed, are stored as skipped, so
    /// that a mirror started in the afternoon keeps the right rate for the rest of the day. The day
    /// of the first start is drawn until a post is still to come: a user should not wait a day to
    /// see whether a new mirror works.
    ///
    /// - Parameters:
    ///   - day: The day to plan.
    ///   - now: Decides which slots have passed.
    ///   - activated: When the mirror first started.
    ///   - watching: Whether the human's posts are followed, so that days without a post count.
    ///   - onDrawn: Called when the plan is drawn and before it is stored.
    /// - Returns: The plan, if this call stored it.
    /// - Throws: The store's error.
    package func make(
        _ day: LocalDay, now: Date, activated: Date = .distantPast, watching: Bool,
        onDrawn: @Sendable () -> Void = {}
    ) async throws -> PlannedDay? {
        // This is called often; an existing plan stays.
        guard !plannedDays.has(day) else { return nil }
        guard try await store.plan(for: day) == nil else {
            plannedDays.add(day)
            return nil
        }
        let isFirst = activated != .distantPast && LocalTime(activated, in: zone).day == day
        let drawn =
            if isFirst, !makesNoPosts {
                try await preview(
                    day, having: 1, after: max(now, activated) + Self.firstNotice, now: now,
                    watching: watching)
            } else { try await preview(day, now: now, watching: watching) }
        guard var planned = drawn else { return nil }
        onDrawn()
        for (index, slot) in planned.slots.enumerated()
        where slot.due < activated || slot.expires < now {
            planned.slots[index].state = .skipped
            planned.slots[index].reason = .outbox(.beforeStart)
        }
        let isStored = try await store.store(planned.plan, slots: planned.slots)
        plannedDays.add(day)
        return isStored ? planned : nil
    }

    /// Whether ``make(_:now:activated:watching:onDrawn:)`` has found or stored a plan of a day.
    package func isPlanned(_ day: LocalDay) -> Bool { plannedDays.has(day) }

    /// Minute of the day from which the next day's plan is made, where plans are made ahead, so
    /// that the plans of many mirrors in one zone are not all made at midnight.
    ///
    /// - Returns: A minute between 22:00 and 23:44. It is a hash of the mirror and the day, so that
    ///   mirrors usually differ.
    package func minuteToPlanAhead(of day: LocalDay) -> Int {
        let firstMinute = MinuteOfDay.count - 120
        let minuteCount: UInt64 = 105
        let hash = PlanSeed.plan(mirror: mirror, day: day, seed: "ahead")
        return firstMinute + Int(hash % minuteCount)
    }

    /// The most draws of a day that needs some posts.
    private static let draws = 60
    /// The least seconds after the first start at which a post counts as still to come.
    private static let firstNotice: TimeInterval = 60

    /// Makes and stores the plan of a day that needs a number of posts after an instant; it is
    /// drawn until it has them.
    ///
    /// For the demo, where every command needs something to work on during its last day.
    ///
    /// - Throws: The store's error.
    package func make(_ day: LocalDay, atLeast count: Int, after instant: Date, now: Date)
        async throws
    {
        guard try await store.plan(for: day) == nil else { return }
        let drawn = try await preview(day, having: count, after: instant, now: now, watching: true)
        if let drawn { _ = try await store.store(drawn.plan, slots: drawn.slots) }
    }

    /// The texts that a plan would choose for a post that is due now, in order of preference, for a
    /// person who wants to send one.
    ///
    /// - Parameters:
    ///   - count: The most texts.
    ///   - now: The time at which the post would be due.
    /// - Returns: Empty if nothing is learned, or no text may be used.
    /// - Throws: The store's error.
    package func proposals(_ count: Int, now: Date) async throws -> [Action.Wording] {
        guard try await past() != nil else { return [] }
        let time = LocalTime(now, in: zone)
        var texts = try await TextPool(maker: self, planned: [], now: now)
        var wordings: [Action.Wording] = []
        while wordings.count < count,
            let wording = try await texts.next(at: time.minute, of: time.day).wording
        {
            wordings.append(wording)
        }
        return wordings
    }

    /// Whether posts younger than `MIN_AGE_DAYS` may be used if there are no others: only if the
    /// whole past is known.
    func mayRelaxAge() async throws -> Bool { try await past() == .whole }

    /// Seconds by which a slot may be late.
    package var grace: TimeInterval { configuration.schedule.grace }

    /// Whether the settings leave no place for a post of the bot's own.
    package var makesNoPosts: Bool { configuration.schedule.maximumPerDay == 0 }

    /// The reason why a person excluded the text of a post; nil if nobody did.
    ///
    /// - Throws: The store's error.
    package func objection(to post: Post) async throws -> ReasonCode? {
        objection(to: post, try await archive.unwanted(in: zone))
    }

    /// The same for exclusions that were already read.
    package func objection(to post: Post, _ unwanted: Unwanted) -> ReasonCode? {
        unwanted.reason(against: post, key: judge.rules.neverKey(of: post))
    }

    /// Reads the exclusions and habits that hold for all texts now, in one statement.
    ///
    /// - Throws: The store's error.
    package func circumstances() async throws -> Archive.Circumstances {
        try await archive.circumstances(home: zone)
    }

    /// The reason why the text of a post is not sent by itself; nil if it may be sent at an
    /// instant.
    ///
    /// Of the rules that a plan may relax if texts are scarce, only those about days and hours are
    /// checked. A verdict of other rules, such as those of an earlier version, is judged again.
    ///
    /// - Parameters:
    ///   - original: The post, with the stored verdict on its text.
    ///   - date: The time at which it leaves.
    /// - Returns: The stable name of the first rule that refuses it.
    /// - Throws: The store's error.
    package func unfitness(of original: Archive.Original, _ unwanted: Unwanted, at date: Date)
        async throws -> ReasonCode?
    {
        // A further part of a thread is judged with the first part.
        guard !original.post.isReply else { return nil }
        var parts: [Post] = []
        if !judge.isCurrent(original.judged.rules, unwanted) {
            let sequel = try await archive.sequel(of: original.post)
            parts = sequel.parts
            if case .failure(let refusal) = judge.rules.wording(of: original.post, sequel) {
                return .rule(refusal.reason)
            }
        }
        guard configuration.fitness != .off else { return nil }
        let fitness = judge.fitness(of: original, followedBy: parts)
        let time = LocalTime(date, in: zone)
        return fitness.grade <= FitnessMode.loose.grade.rawValue
            && fitness.holds(on: time.day, at: time.minute)
            ? nil : fitness.reason.map(ReasonCode.init(rawValue:))
    }

    /// The reason why a post's pictures may not be sent under the present settings; nil if they
    /// may, or it has none.
    package func refusalOfMedia(_ post: Post) -> Refusal? {
        judge.rules.refusalOfMedia(post)
    }

    /// The reason why a person excluded a text whose post may have left the archive; nil if nobody
    /// did.
    package func objection(to post: Post?, from source: PostID, text: String) async throws
        -> ReasonCode?
    {
        if let post { return try await objection(to: post) }
        if try await archive.isForgotten(source) { return .outbox(.forgotten) }
        let isMuted = try await archive.unwanted(in: zone).muted.hasWord(text)
        return isMuted ? .rule(.mutedWord) : nil
    }

    /// The action with another text if its own can no longer be used; texts that were tried in vain
    /// are excluded.
    ///
    /// - Returns: Nil if the action is no slot, or no other text may be used.
    package func replacement(for action: Action, besides tried: [Action] = [], now: Date)
        async throws -> Action?
    {
        guard case .post(let slot, _) = action.payload else { return nil }
        let time = LocalTime(action.due, in: zone)
        var texts = try await TextPool(
            maker: self, planned: try await store.slots(of: time.day) + tried, now: now)
        var choice = try await texts.next(at: time.minute, of: time.day)
        guard let wording = choice.wording else { return nil }
        choice.why.pattern = action.explanation?.pattern
        choice.why.movedFrom = action.explanation?.movedFrom
        var replaced = action
        replaced.payload = .post(slot, wording)
        replaced.explanation = choice.why
        return replaced
    }
}

/// The most recent days that are known to have a plan.
private final class KnownPlans: @unchecked Sendable {
    // Sendable because every access to `days` holds the lock.
    /// Today's and tomorrow's.
    private static let daysKept = 2

    private let lock = NSLock()
    private var days: [LocalDay] = []

    func has(_ day: LocalDay) -> Bool { lock.withLock { days.contains(day) } }

    func add(_ day: LocalDay) {
        lock.withLock { if !days.contains(day) { days = days.suffix(Self.daysKept - 1) + [day] } }
    }
}

/// The texts that may be used now, without those that earlier slots of the day took.
///
/// The archive is queried, not loaded: the texts of a narrow window are listed, and from a wide
/// window texts are drawn until one may be used.
struct TextPool {
    /// The most posts of a window whose texts are listed; from more posts, texts are drawn.
    private static let mostListed = 2_000
    /// Draws from a window before all of its texts are listed; nearly always the first draw
    /// succeeds.
    private static let draws = 40
    /// Texts that are checked in detail for a slot; nearly always the first may be sent.
    private static let tries = 200
    /// Demoted texts for a slot after which the first of them is used.
    private static let demotedAtMost = 30
    /// Unjudged texts that are judged before a choice, at once and at most: this takes a fraction
    /// of a second, or a few seconds if hardly any text was judged.
    private static let judgedAtOnce = 50
    private static let judgedAtMost = 500

    private let maker: PlanMaker
    private let chooser: TextChooser
    private let now: Date
    /// Selects the texts that are old enough, whatever their fitness.
    private let filter: Archive.TextFilter
    /// The last use of each text that was used too recently, by text key.
    private let recentUses: [String: Date]
    /// How often each text was used; empty if uses do not count.
    private let uses: [String: Int]
    /// The number of posts of each minute that are old enough.
    private let counts: [Archive.TextCount]
    private let unwanted: Unwanted
    /// Scores texts by a person's labels of other texts; nil if nothing is learned from them.
    private let session: TextSession?
    /// The opinions of ``session``, by text key.
    private var opinions: [String: TextOpinion] = [:]
    private var takenKeys: Set<String>
    /// Keys of the plain texts that were not used too recently, by the time windows that apply.
    private var unusedPlain: [[String]: Set<String>] = [:]
    /// Whether younger posts may be used if there are no others.
    private let mayRelaxAge: Bool
    /// When the human posted the text that this pool chose last; `nil` before the first choice.
    private var lastTextDate: Date?

    /// - Parameters:
    ///   - maker: The plan maker with the archive and the rules.
    ///   - planned: Actions whose texts are already taken.
    ///   - now: The time from which ages are counted.
    /// - Throws: The store's error.
    init(maker: PlanMaker, planned: [Action], now: Date) async throws {
        let configuration = maker.configuration
        self.maker = maker
        self.now = now
        chooser = TextChooser(
            noRepeatDays: configuration.noRepeatDays, minimumAgeDays: configuration.minimumAgeDays)
        // A text that waits, is being sent or was sent today is not used twice.
        let spokenFor =
            planned + (try await maker.store.waitingPosts().filter { $0.expires >= now })
        let sentToday = try await maker.store.textsSent(besides: nil, since: now - 86_400)
        takenKeys = Set((spokenFor.flatMap(\.texts) + sentToday).map(TextRules.textKey))
        filter = Archive.TextFilter(
            longest: maker.limits.maximumCharacters,
            after: configuration.maximumAgeDays.map { now - Double($0) * 86_400 } ?? .distantPast,
            before: now - Double(chooser.minimumAgeDays) * 86_400)
        mayRelaxAge = try await maker.mayRelaxAge()
        unwanted = try await maker.archive.unwanted(in: maker.zone)
        session =
            unwanted.labelCount < TextTaste.fewestLabels ? nil : try await maker.taste?.session()
        counts = try await Self.counts(filter, maker, unwanted)
        recentUses = try await maker.archive.usedTexts(
            since: now - Double(chooser.noRepeatDays) * 86_400)
        uses = configuration.maximumUses == nil ? [:] : try await maker.archive.uses()
        if let maximumUses = configuration.maximumUses {
            takenKeys.formUnion(uses.filter { $0.value >= maximumUses }.keys)
        }
    }

    /// Counts the texts that may be used, after some unjudged ones were judged.
    ///
    /// The other unjudged texts are left to ``TextJudging``, unless there are too few to choose
    /// from.
    private static func counts(
        _ filter: Archive.TextFilter, _ maker: PlanMaker, _ unwanted: Unwanted
    ) async throws -> [Archive.TextCount] {
        var counts: [Archive.TextCount] = []
        for _ in 0..<(judgedAtMost / judgedAtOnce) {
            let mayBeMore = try await maker.archive.prepareUnjudged(
                by: maker.judge, unwanted, atMost: judgedAtOnce)
            counts = try await maker.archive.textCounts(filter)
            let number = counts.reduce(0) { $0 + $1.minutes.reduce(0, +) }
            guard mayBeMore, number < 2 * TextJudge.fewestTexts else { break }
        }
        return counts
    }

    /// Chooses the text of one slot and gives the reason; this pool does not choose the same text
    /// again.
    ///
    /// - Returns: No text if no archived post may be used.
    mutating func next(
        at minute: MinuteOfDay, of day: LocalDay
    ) async throws -> (wording: Action.Wording?, why: Explanation) {
        var generator = SplitMix64(
            seed: PlanSeed.text(mirror: maker.configuration.mirror, day: day, minute: minute))
        let era = try await era(at: minute, of: day)
        // Demoted texts: if there are no others, the first is used; later slots may use the rest.
        var demoted: [UsableText] = []
        defer { takenKeys.subtract(demoted.map(\.choice.textKey)) }
        for _ in 0..<Self.tries {
            let shelf = try await plainShelf(at: minute, of: day) ?? shelf(at: minute, of: day)
            guard let choice = try await choose(from: shelf, at: minute, after: era, &generator)
            else { break }
            takenKeys.insert(choice.textKey)
            guard
                let (wording, post) = try await wording(
                    of: choice, from: shelf, at: minute, of: day)
            else { continue }
            var found = UsableText(choice: choice, shelf: shelf, wording: wording, post: post)
            found.opinion = try await opinion(on: found)
            if found.opinion?.isDemoted == true {
                demoted.append(found)
                if demoted.count < Self.demotedAtMost { continue }
                break
            }
            if let first = demoted.first, found.needsMoreConcessions(than: first) {
                takenKeys.remove(choice.textKey)
                break
            }
            return noteChoice(of: found)
        }
        guard !demoted.isEmpty else {
            return (
                wording: nil, why: Explanation("no archived post may be used at this time")
            )
        }
        return noteChoice(of: demoted.removeFirst())
    }

    /// A text that may be used for a slot.
    private struct UsableText {
        let choice: TextChoice
        let shelf: Shelf
        let wording: Action.Wording
        /// The human's post with the text.
        let post: Post
        /// The learned opinion of the text; `nil` if there is none.
        var opinion: TextOpinion?

        /// Whether it needs a concession that a demoted text does not: lower fitness, a younger age
        /// or a repetition.
        func needsMoreConcessions(than demoted: UsableText) -> Bool {
            let explanation = choice.explanation
            let other = demoted.choice.explanation
            return shelf.filter.grade > max(demoted.shelf.filter.grade, Fitness.Grade.fit.rawValue)
                || (explanation.windowMinutes == nil && other.windowMinutes != nil)
                || (explanation.isAgeRelaxed && !other.isAgeRelaxed)
                || (!explanation.isTimeKnown && other.isTimeKnown)
        }
    }

    /// Notes that a text was chosen, and returns it with the reason.
    private mutating func noteChoice(of found: UsableText) -> (
        wording: Action.Wording?, why: Explanation
    ) {
        lastTextDate = found.post.createdAt
        let why = found.choice.explanation
        let description = found.shelf.isPlain ? "plain, \(why)" : "\(why)"
        let shortage = found.opinion.flatMap { opinion in
            opinion.isDemoted
                ? "used for want of others: \(StoredText.inEnglish { opinion.sentence })" : nil
        }
        let sentence = [description, found.shelf.concession, shortage].compactMap(\.self).joined(
            separator: "; ")
        return (
            found.wording,
            Explanation(sentence, pool: why.poolSize, windowMinutes: why.windowMinutes)
        )
    }

    /// Returns the learned opinion of a text; `nil` if there is none, or if the counts cannot be
    /// read.
    private mutating func opinion(on found: UsableText) async throws -> TextOpinion? {
        guard let session else { return nil }
        if let earlier = opinions[found.choice.textKey] { return earlier }
        do {
            let text = [(id: found.post.id, text: found.post.text)]
            guard let opinion = try await session.opinions(on: text).first else { return nil }
            opinions[found.choice.textKey] = opinion
            return opinion
        } catch is FavoritesError {
            return nil
        }
    }

    /// When the human posted the text before a slot: the text that this pool chose last, or else
    /// the one that was last planned or sent before the slot.
    private func era(at minute: MinuteOfDay, of day: LocalDay) async throws -> Date? {
        if let lastTextDate { return lastTextDate }
        guard let due = LocalDayMinutes(day, in: maker.zone).date(of: minute) else { return nil }
        return try await maker.archive.dateOfText(usedBefore: due)
    }

    /// The wording of a chosen text, and its post; nil if it may not be sent after all.
    ///
    /// Applies the rules of texts, including the limits of the bot's server. If other rules, such
    /// as those of an earlier version, judged the text, judges it again.
    private func wording(
        of choice: TextChoice, from shelf: Shelf, at minute: MinuteOfDay, of day: LocalDay
    ) async throws -> (Action.Wording, Post)? {
        guard let original = try await maker.archive.original(choice.id) else { return nil }
        let post = original.post
        let judge = maker.judge
        let isCurrent = judge.isCurrent(original.judged.rules, unwanted)
        // If threads are not sent, a text that begins one is never fit.
        let sequel =
            isCurrent && judge.rules.threads != .whole
            ? Archive.Sequel() : try await maker.archive.sequel(of: post)
        guard case .success(let wording) = judge.rules.wording(of: post, sequel) else { return nil }
        if isCurrent { return (wording, post) }
        if maker.objection(to: post, unwanted) != nil { return nil }
        let fitness = judge.fitness(of: original, followedBy: sequel.parts)
        let holds = shelf.filter.windows == nil || fitness.holds(on: day, at: minute)
        return fitness.grade <= shelf.filter.grade && holds ? (wording, post) : nil
    }

    /// The texts available for one slot.
    private struct Shelf {
        var filter: Archive.TextFilter
        /// The number of posts of each minute that are old and fit enough.
        var counts: [Int]
        /// The requirement that was relaxed for lack of texts, as a phrase; `nil` if none was.
        var concession: String?
        var isPlain = false
    }

    /// The plain texts, if enough of them may be used.
    private mutating func plainShelf(at minute: MinuteOfDay, of day: LocalDay) async throws
        -> Shelf?
    {
        guard maker.configuration.fitness == .plain else { return nil }
        var filter = filter
        filter.grade = Fitness.Grade.plain.rawValue
        filter.windows = windows(on: day, at: minute)
        let postCounts = countPosts(upTo: .plain, in: filter.windows)
        let number = postCounts.reduce(0, +)
        let shelf = Shelf(filter: filter, counts: postCounts, isPlain: true)
        // With so many texts, at least one must be free, whichever the taken ones are.
        let takenCount = recentUses.count + takenKeys.count
        if number > Self.mostListed, number >= takenCount + TextJudge.fewestTexts {
            return shelf
        }
        guard number >= TextJudge.fewestTexts, let windows = filter.windows else { return nil }
        if unusedPlain[windows] == nil {
            let texts = try await maker.archive.texts(in: minute.ranges(within: 720), filter)
            unusedPlain[windows] = Set(texts.map(\.textKey)).filter { recentUses[$0] == nil }
        }
        return (unusedPlain[windows] ?? []).subtracting(takenKeys).count >= TextJudge.fewestTexts
            ? shelf : nil
    }

    /// The time windows that apply on a day at a minute.
    private func windows(on day: LocalDay, at minute: MinuteOfDay) -> [String] {
        Set(counts.map(\.window)).filter {
            FitnessWindow($0)?.holds(on: day, at: minute) == true
        }.sorted()
    }

    /// The texts that are fit on that day at that minute; if they are too few, also less fit ones
    /// that a reader understands without context.
    private func shelf(at minute: MinuteOfDay, of day: LocalDay) -> Shelf {
        let mode = maker.configuration.fitness
        var filter = filter
        var grade = mode.grade
        if mode != .off { filter.windows = windows(on: day, at: minute) }
        var postCounts = countPosts(upTo: grade, in: filter.windows)
        for lowerGrade in [Fitness.Grade.ofItsTime, FitnessMode.loose.grade]
        where lowerGrade > grade {
            let widerCounts = countPosts(upTo: lowerGrade, in: filter.windows)
            guard postCounts.reduce(0, +) < TextJudge.fewestTexts, widerCounts != postCounts else {
                continue
            }
            grade = lowerGrade
            postCounts = widerCounts
        }
        filter.grade = grade.rawValue
        let isPlain =
            mode == .plain && grade == .fit
            && postCounts == countPosts(upTo: .plain, in: filter.windows)
        let few = "with fewer than \(TextJudge.fewestTexts)"
        let concession: String? =
            switch grade {
            case mode.grade:
                mode == .plain && !isPlain
                    ? "\(few) plain ones left, of all that stand for themselves" : nil
            case .plain, .fit, .ofItsTime:
                "\(few) that stand for themselves, also of those that name a day"
            case .addressed, .broken:
                "\(few) that stand for themselves, also of those that name a day or speak to somebody"
            }
        return Shelf(filter: filter, counts: postCounts, concession: concession, isPlain: isPlain)
    }

    /// The number of posts of each minute that are fit enough.
    ///
    /// - Parameters:
    ///   - grade: The lowest fitness.
    ///   - windows: The time windows that apply; nil if windows do not matter.
    private func countPosts(upTo grade: Fitness.Grade, in windows: [String]?) -> [Int] {
        counts.filter { count in
            guard count.grade <= grade.rawValue else { return false }
            // A text without a window may be posted at any time.
            guard let windows, !count.window.isEmpty else { return true }
            return windows.contains(count.window)
        }.reduce(into: [Int](repeating: 0, count: MinuteOfDay.count)) { sum, count in
            for minute in sum.indices { sum[minute] += count.minutes[minute] }
        }
    }

    /// - Parameter era: When the human posted the text before; `nil` if there is none.
    private func choose(
        from shelf: Shelf, at minute: MinuteOfDay, after era: Date?, _ generator: inout SplitMix64
    ) async throws -> TextChoice? {
        let archive = maker.archive
        if let era, generator.nextUniform() < TextChooser.eraShare,
            let choice = try await choose(from: shelf, at: minute, of: era, &generator)
        {
            return choice
        }
        for window in TextChooser.windows {
            let minutes = minute.ranges(within: window)
            let number = minutes.map { shelf.counts[$0].reduce(0, +) }.reduce(0, +)
            if number > Self.mostListed {
                let drawn = try await draw(
                    from: shelf, in: minutes, at: minute, within: window, &generator)
                if let drawn { return drawn }
            } else if number >= TextChooser.fewestTexts || window == TextChooser.windows.last {
                let near = candidates(try await archive.texts(in: minutes, shelf.filter))
                let choice = chooser.choose(
                    from: near, at: minute, within: window, now: now, excluding: takenKeys,
                    generator: &generator)
                if let choice { return choice }
            }
        }
        var ofAnyAge = shelf.filter
        if mayRelaxAge { ofAnyAge.end = .distantFuture }
        let withoutTime = candidates(try await archive.textsOfLostTimes(ofAnyAge))
        let choice = chooser.choose(
            from: withoutTime.filter { ($0.createdAt ?? .distantPast) <= filter.end }, at: minute,
            within: 720, now: now,
            excluding: takenKeys, generator: &generator)
        if let choice { return choice }
        // No text is both old enough and unused, so the least bad one is chosen among all.
        let withTime = candidates(try await archive.texts(in: minute.ranges(within: 720), ofAnyAge))
        return chooser.choose(
            from: withTime + withoutTime, at: minute, now: now, excluding: takenKeys,
            generator: &generator)
    }

    /// Chooses among the texts of an era; `nil` if too few of them may be used.
    private func choose(
        from shelf: Shelf, at minute: MinuteOfDay, of era: Date, _ generator: inout SplitMix64
    ) async throws -> TextChoice? {
        var filter = shelf.filter
        filter.start = max(filter.start, era - TextChooser.halfEra)
        filter.end = min(filter.end, era + TextChooser.halfEra)
        guard filter.start <= filter.end else { return nil }
        let texts = candidates(try await maker.archive.texts(ofEra: filter))
        return chooser.choose(
            fromEra: texts, at: minute, now: now, excluding: takenKeys, generator: &generator)
    }

    /// Draws a text that may be used, each with the same probability; nil if some draws find none.
    private func draw(
        from shelf: Shelf, in minutes: [ClosedRange<Int>], at minute: MinuteOfDay,
        within window: Int, _ generator: inout SplitMix64
    ) async throws -> TextChoice? {
        let number = minutes.map { shelf.counts[$0].reduce(0, +) }.reduce(0, +)
        for _ in 0..<Self.draws {
            // A random index into the posts of all minutes, which are passed one after the other
            // until the index is that of a post of one minute.
            var index = min(Int(generator.nextUniform() * Double(number)), number - 1)
            var remainingMinutes = minutes.joined().makeIterator()
            var drawnMinute = remainingMinutes.next()
            while let passed = drawnMinute, index >= shelf.counts[passed] {
                index -= shelf.counts[passed]
                drawnMinute = remainingMinutes.next()
            }
            guard let drawnMinute else { return nil }
            let text = try await maker.archive.text(at: drawnMinute, number: index, shelf.filter)
            // Draws again if the text is taken, or was used lately or, under a limit of uses,
            // ever. Few of so many texts are; if every draw fails, the caller lists the texts.
            guard let text, !takenKeys.contains(text.textKey),
                recentUses[text.textKey] == nil, uses[text.textKey] == nil
            else { continue }
            // A text that was posted more than once is counted for one post only.
            guard try await maker.archive.isFirst(text, in: minutes, shelf.filter) else { continue }
            return TextChoice(
                id: text.id, textKey: text.textKey,
                explanation: TextExplanation(
                    minute: minute, windowMinutes: window, poolSize: number, isAgeRelaxed: false))
        }
        return nil
    }

    private func candidates(_ texts: [Archive.StoredText]) -> [TextCandidate] {
        texts.map {
            TextCandidate(
                id: $0.id, minute: $0.minute, textKey: $0.textKey,
                lastUsed: recentUses[$0.textKey], createdAt: $0.createdAt,
                uses: uses[$0.textKey] ?? 0)
        }
    }
}

extension Archive.StoredFitness {
    /// Whether a text's time window allows a minute of a day.
    fileprivate func holds(on day: LocalDay, at minute: MinuteOfDay) -> Bool {
        window.isEmpty || FitnessWindow(window)?.holds(on: day, at: minute) == true
    }
}

extension MinuteOfDay {
    /// The minutes within a distance of this one round the clock, as ranges that do not overlap.
    fileprivate func ranges(within distance: Int) -> [ClosedRange<Int>] {
        guard 2 * distance + 1 < Self.count else { return [0...Self.count - 1] }
        let first = value - distance
        let last = value + distance
        if first < 0 { return [0...last, first + Self.count...Self.count - 1] }
        if last >= Self.count { return [0...last - Self.count, first...Self.count - 1] }
        return [first...last]
    }
}

extension TextRules {
    /// Returns the wording to send for a post and for the parts of its thread that follow it.
    package func wording(of post: Post, _ sequel: Archive.Sequel) -> Result<Action.Wording, Refusal>
    {
        text(for: post).flatMap { text in
            texts(of: sequel.parts, isChain: sequel.isChain).map { parts in
                var wording = wording(of: post, saying: text)
                wording.rest = parts.map { Action.Part(self.wording(of: $0.post, saying: $0.text)) }
                return wording
            }
        }
    }

    private func wording(of post: Post, saying text: String) -> Action.Wording {
        Action.Wording(
            source: post.id, text: text, language: post.language,
            visibility: post.visibility.ofRepetition, warning: warning(of: post),
            pictures: pictures(of: post))
    }

    /// The rules that a mirror's texts must meet.
    ///
    /// - Parameters:
    ///   - configuration: The mirror's settings, the bot's network among them.
    ///   - limits: The limits of the bot's server.
    ///   - repliesNameThePerson: Whether a reply must name the person answered.
    package init(
        _ configuration: MirrorSettings, limits: PublishingLimits, repliesNameThePerson: Bool = true
    ) {
        let network = configuration.botNetwork
        self.init(
            network: network, links: configuration.links ? .kept : .leftOut,
            limits: limits, repliesNameThePerson: repliesNameThePerson,
            carriesWarnings: configuration.carriesWarnings, pictures: configuration.pictures,
            threads: configuration.threads)
    }
}
