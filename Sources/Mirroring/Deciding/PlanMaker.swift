package import Archive
package import Conduct
package import Favorites
package import Foundation
package import Outbox
package import Posts
import Schedule
package import Settings

/// A day as the mirror would live it: its plan, and what would be posted in each slot.
package typealias PlannedDay = (plan: StoredPlan, slots: [Intent])

/// Draws a day's minutes from the archive and picks a text for each.
package struct PlanMaker: Sendable {
    /// How many days without a post are believed to be silence of a human who is watched.
    ///
    /// A longer gap more likely means that the archive is an old one, and an old archive keeps its
    /// rate.
    private static let believedSilence = 30

    /// The human's posts.
    let archive: Archive
    /// Where the plans are kept, and what was used before.
    let store: OutboxStore
    /// The schedule's and the texts' settings.
    let configuration: MirrorSettings
    /// Says what texts are good for.
    package var judge: TextJudge
    /// Tells which texts come after others; nil where nothing is learned of texts.
    let taste: TextTaste?
    /// How much of the human's past is known; without any there is no plan.
    private let past: @Sendable () async throws -> KnownPast?
    private let known = KnownPlans()

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

    /// The plan that would be made for `day`, without storing it.
    ///
    /// - Parameters:
    ///   - day: The day.
    ///   - now: Decides what counts as past, and how old texts are.
    ///   - watching: Whether the human's posts are followed, so that days without one count.
    ///   - seed: Makes another draw than the day's own; nil for that one.
    ///   - firstNumber: The number of the first slot.
    ///   - planned: Actions whose texts are spoken for.
    /// - Returns: Nil if the human's past is not known, or the archive holds no post to learn times
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

    /// The plan that would be made for a day that is to have so many posts after an instant.
    ///
    /// It is the day's own draw if that has them, else the first other draw that does, else the one
    /// with most of them.
    private func preview(
        _ day: LocalDay, having count: Int, after instant: Date, now: Date, watching: Bool
    ) async throws -> PlannedDay? {
        guard let drawing = try await drawing(of: day, now: now, watching: watching) else {
            return nil
        }
        var best: (count: Int, plan: DayPlan)?
        for draw in 0..<Self.draws where best.map({ $0.count < count }) ?? true {
            guard let drawn = drawing.plan(seed: draw == 0 ? nil : "\(day)/\(draw)") else {
                return nil
            }
            let open = drawn.slots.count { $0.due > instant }
            if open > best?.count ?? -1 { best = (open, drawn) }
        }
        guard let best else { return nil }
        return try await filled(best.plan, now: now)
    }

    /// The plan of minutes that were drawn, with a text for each.
    private func filled(_ drawn: DayPlan, besides planned: [Action] = [], now: Date) async throws
        -> PlannedDay
    {
        let plan = StoredPlan(
            day: drawn.day, timeZone: configuration.name(of: zone), seed: String(drawn.seed),
            made: now,
            model: DayPlanner.modelVersion)
        return (plan, try await slots(of: drawn, besides: planned, now: now))
    }

    /// The first post of the plan that would be made for `day` that is still to be sent after
    /// `now`.
    ///
    /// It is that of ``preview(_:now:watching:seed:firstNumber:besides:)``, but no text is chosen
    /// for a later slot.
    ///
    /// - Parameters:
    ///   - day: The day.
    ///   - now: Decides what counts as past, and how old texts are.
    ///   - watching: Whether the human's posts are followed, so that days without one count.
    /// - Returns: Nil if there would be none, also where each post waits for a person's word.
    /// - Throws: The store's error.
    package func firstPost(of day: LocalDay, now: Date, watching: Bool) async throws -> Action? {
        // No text has to be chosen to know that none would leave by itself.
        guard !configuration.review.contains(.post),
            let drawn = try await drawing(of: day, now: now, watching: watching)?.plan()
        else { return nil }
        func action(_ slot: Intent) -> Action { Action(slot, of: mirror, at: slot.due) }
        let slots = try await slots(of: drawn, now: now) { action($0).comes(after: now) }
        return slots.map(action).first { $0.comes(after: now) }
    }

    /// Everything from which the minutes of a day are drawn.
    private struct Drawing {
        let day: LocalDay
        let zone: TimeZone
        let mirror: String
        let planner: DayPlanner
        let recent: RecentDays

        /// - Parameter seed: Makes another draw than the day's own; nil for that one.
        func plan(seed: String? = nil, firstNumber: Int = 1) -> DayPlan? {
            planner.plan(
                for: day, in: zone, mirror: mirror, seed: seed, firstNumber: firstNumber,
                after: recent)
        }
    }

    /// Reads from what a day is drawn; nil as for
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

    /// Chooses a text for one slot after the other.
    ///
    /// - Parameter isEnough: Ends the choosing with the slot of which it is true.
    private func slots(
        of drawn: DayPlan, besides planned: [Action] = [], now: Date,
        until isEnough: (Intent) -> Bool = { _ in false }
    ) async throws -> [Intent] {
        guard !drawn.slots.isEmpty else { return [] }
        var texts = try await TextPool(maker: self, planned: planned, now: now)
        var slots: [Intent] = []
        let pattern = drawn.pattern.map { Explanation.Pattern(day: $0.day, posts: $0.posts) }
        let sharing = Dictionary(grouping: drawn.slots, by: \.minute)
        for slot in drawn.slots {
            var choice = try await texts.next(at: slot.minute, of: drawn.day)
            choice.why.pattern = pattern
            let together = sharing[slot.minute, default: [slot]]
            let intent = intent(for: slot, second: second(of: slot, among: together), choice)
            slots.append(intent)
            if isEnough(intent) { break }
        }
        return slots
    }

    /// Returns the days just before `day`: the human's, after them the bot's stored plans, then
    /// previews.
    private func recentDays(
        before day: LocalDay, _ planner: DayPlanner, from today: LocalDay
    ) async throws -> RecentDays {
        let asOf = planner.history.asOf
        let first = max(min(today, day), day.advanced(by: -DayPlanner.longestPreview))
            .advanced(by: -RecentDays.length)
        let unknown = max(first, asOf.advanced(by: 1))
        // Nobody asks where the human's own days tell everything.
        let planned = unknown < day ? try await store.slotCounts(of: unknown..<day) : [:]
        return planner.recentDays(
            before: day, planned: planned, from: today, in: zone, mirror: mirror)
    }

    /// Seconds inside the minute, so that not every bot posts on the stroke of it.
    ///
    /// Slots that share a minute have equal parts of it, one after the other.
    private func second(of slot: Slot, among together: [Slot]) -> Int {
        let seed = PlanSeed.text(mirror: mirror, day: slot.name.day, minute: slot.minute)
        let part = max(1, 60 / together.count)
        let place = together.firstIndex { $0.name == slot.name } ?? 0
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
            reason: choice.wording == nil ? "no-text" : nil, explanation: choice.why)
    }

    /// Makes and stores the plan of `day` unless it has one.
    ///
    /// Slots before the first start, and those that nobody waits for any more, are stored as
    /// skipped, so that a mirror started in the afternoon keeps the right rate for the rest of the
    /// day. The day of the first start is drawn until a post is still to come: nobody should wait a
    /// day to see whether a new mirror works.
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
        guard !known.has(day) else { return nil }
        guard try await store.plan(for: day) == nil else {
            known.add(day)
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
            planned.slots[index].reason = "before-start"
        }
        let isStored = try await store.store(planned.plan, slots: planned.slots)
        known.add(day)
        return isStored ? planned : nil
    }

    /// Whether ``make(_:now:activated:watching:onDrawn:)`` has found or stored a plan of a day.
    package func isPlanned(_ day: LocalDay) -> Bool { known.has(day) }

    /// From which minute of a day the plan of the next one is made, where plans are made ahead: so
    /// that the plans of many mirrors in one zone are not all made at midnight.
    ///
    /// - Returns: A minute of the last two hours but the last quarter, which differs from mirror to
    ///   mirror.
    package func minuteToPlanAhead(of day: LocalDay) -> Int {
        let begin = 1_440 - 120
        let length = 105
        return begin + Int(PlanSeed.plan(mirror: mirror, day: day, seed: "ahead") % UInt64(length))
    }

    /// How often a day is drawn that is to have some posts.
    private static let draws = 60
    /// How long after the first start a post is due at the earliest that counts as still to come,
    /// in seconds.
    private static let firstNotice: TimeInterval = 60

    /// Makes and stores the plan of a day that has so many posts after an instant, drawn until it
    /// has them.
    ///
    /// For a demo, on whose last day every command is to have something to work on.
    ///
    /// - Throws: The store's error.
    package func make(_ day: LocalDay, atLeast count: Int, after instant: Date, now: Date)
        async throws
    {
        guard try await store.plan(for: day) == nil else { return }
        let drawn = try await preview(day, having: count, after: instant, now: now, watching: true)
        if let drawn { _ = try await store.store(drawn.plan, slots: drawn.slots) }
    }

    /// The texts that a plan would choose for a post that is due now, one after the other: for a
    /// person who wants to send one.
    ///
    /// - Parameters:
    ///   - count: How many at most.
    ///   - now: When it would be due.
    /// - Returns: Empty if nothing was learned, or nothing may be used.
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

    /// Whether posts younger than `MIN_AGE_DAYS` may be used for want of others: there are no
    /// others.
    func mayRelaxAge() async throws -> Bool { try await past() == .whole }

    /// How late a slot may leave, in seconds.
    package var grace: TimeInterval { configuration.schedule.grace }

    /// Whether the settings leave no place for a post of the bot's own.
    package var makesNoPosts: Bool { configuration.schedule.maximumPerDay == 0 }

    /// Why a person does not want the text of a post to be used; nil if nobody minds.
    ///
    /// - Throws: The store's error.
    package func objection(to post: Post) async throws -> String? {
        objection(to: post, try await archive.unwanted(in: zone))
    }

    /// The same from what was read already.
    package func objection(to post: Post, _ unwanted: Unwanted) -> String? {
        unwanted.reason(against: post, key: judge.rules.neverKey(of: post))
    }

    /// Reads the circumstances that hold for all texts now, in one statement.
    ///
    /// - Throws: The store's error.
    package func circumstances() async throws -> Archive.Circumstances {
        try await archive.circumstances(home: zone)
    }

    /// Why the text of a post is not sent by itself; nil if it may leave at an instant.
    ///
    /// Of what a plan may choose for want of others only the days and hours count. What other rules
    /// judged, as those of an earlier version, is judged anew.
    ///
    /// - Parameters:
    ///   - original: The post, with what was found of its text.
    ///   - date: When it leaves.
    /// - Returns: The stable name of the first rule that speaks against it.
    /// - Throws: The store's error.
    package func unfitness(of original: Archive.Original, _ unwanted: Unwanted, at date: Date)
        async throws -> String?
    {
        // A further part of a thread is judged with its first.
        guard !original.post.isReply else { return nil }
        var parts: [Post] = []
        if !judge.isCurrent(original.judged.rules, unwanted) {
            let sequel = try await archive.sequel(of: original.post)
            parts = sequel.parts
            if case .failure(let refusal) = judge.rules.wording(of: original.post, sequel) {
                return refusal.code
            }
        }
        guard configuration.fitness != .off else { return nil }
        let fitness = judge.fitness(of: original, followedBy: parts)
        let time = LocalTime(date, in: zone)
        return fitness.grade <= FitnessMode.loose.grade.rawValue
            && fitness.holds(on: time.day, at: time.minute)
            ? nil : fitness.reason
    }

    /// Why a post's pictures may not be sent as the settings are now; nil if they may, or it has
    /// none.
    package func refusalOfMedia(_ post: Post) -> Refusal? {
        judge.rules.refusalOfMedia(post)
    }

    /// Why a person does not want a text to be used whose post may have left the archive.
    package func objection(to post: Post?, from source: PostID, text: String) async throws
        -> String?
    {
        if let post { return try await objection(to: post) }
        if try await archive.isForgotten(source) { return Action.Reason.forgotten }
        let isMuted = try await archive.unwanted(in: zone).muted.hasWord(text)
        return isMuted ? Refusal.Reason.mutedWord.rawValue : nil
    }

    /// The action with another text where its own can no longer be used, and none of those that
    /// were tried in vain.
    ///
    /// - Returns: Nil if the action is no slot, or nothing else may be used.
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

/// The last days that are known to have a plan.
private final class KnownPlans: @unchecked Sendable {
    // Sendable because every access to `days` holds the lock.
    /// Today's and tomorrow's.
    private static let kept = 2

    private let lock = NSLock()
    private var days: [LocalDay] = []

    func has(_ day: LocalDay) -> Bool { lock.withLock { days.contains(day) } }

    func add(_ day: LocalDay) {
        lock.withLock { if !days.contains(day) { days = days.suffix(Self.kept - 1) + [day] } }
    }
}

/// The texts that may be used now, without those that earlier slots of the day took.
///
/// The archive is asked, not loaded: a narrow window's texts are listed, and from a wide one texts
/// are drawn until one may be used.
struct TextPool {
    /// From a window with more posts than these, texts are drawn and not listed.
    private static let listed = 2_000
    /// How often is drawn from a window before all is looked through; nearly always the first draw
    /// does.
    private static let draws = 40
    /// How many texts are looked at more closely for a slot; nearly always the first may be sent.
    private static let tries = 200
    /// After so many texts for a slot that come after others, the first of them is used.
    private static let demotedAtMost = 30
    /// How many texts that were never judged are judged at once, and at most, before a choice: a
    /// fraction of a second, and a few seconds where hardly any were judged.
    private static let judgedAtOnce = 50
    private static let judgedAtMost = 500

    private let maker: PlanMaker
    private let chooser: TextChooser
    private let now: Date
    /// Those that are old enough, whatever their fitness.
    private let filter: Archive.TextFilter
    /// Keys of texts that were used too recently.
    private let used: [String: Date]
    /// How often texts were used; empty where nobody wants to know.
    private let uses: [String: Int]
    /// How many posts of each minute are old enough.
    private let counts: [Archive.TextCount]
    private let unwanted: Unwanted
    /// Judges texts by what a person has said of others; nil where that says nothing.
    private let session: TextSession?
    /// The opinions of ``session``, by text key.
    private var opinions: [String: TextOpinion] = [:]
    private var taken: Set<String>
    /// Keys of the plain texts that were not used too recently, by the windows that hold.
    private var unusedPlain: [[String]: Set<String>] = [:]
    /// Whether younger posts may be used for want of others.
    private let mayRelaxAge: Bool
    /// When the human posted the text that this pool chose last; `nil` before the first.
    private var before: Date?

    /// - Parameters:
    ///   - maker: Whose archive and rules count.
    ///   - planned: Actions whose texts are already spoken for.
    ///   - now: The time from which ages are counted.
    /// - Throws: The store's error.
    init(maker: PlanMaker, planned: [Action], now: Date) async throws {
        let configuration = maker.configuration
        self.maker = maker
        self.now = now
        chooser = TextChooser(
            noRepeatDays: configuration.noRepeatDays, minimumAgeDays: configuration.minimumAgeDays)
        // What waits, is leaving or has left today is said once.
        let spokenFor =
            planned + (try await maker.store.waitingPosts().filter { $0.expires >= now })
        let left = try await maker.store.textsLeft(besides: nil, since: now - 86_400)
        taken = Set((spokenFor.flatMap(\.texts) + left).map(TextRules.textKey))
        filter = Archive.TextFilter(
            longest: maker.limits.maximumCharacters,
            after: configuration.maximumAgeDays.map { now - Double($0) * 86_400 } ?? .distantPast,
            before: now - Double(chooser.minimumAgeDays) * 86_400)
        mayRelaxAge = try await maker.mayRelaxAge()
        unwanted = try await maker.archive.unwanted(in: maker.zone)
        session = unwanted.labels < TextTaste.fewest ? nil : try await maker.taste?.session()
        counts = try await Self.counts(filter, maker, unwanted)
        used = try await maker.archive.usedTexts(since: now - Double(chooser.noRepeatDays) * 86_400)
        uses = configuration.maximumUses == nil ? [:] : try await maker.archive.uses()
        if let most = configuration.maximumUses {
            taken.formUnion(uses.filter { $0.value >= most }.keys)
        }
    }

    /// Counts the texts that may be used, after some were judged that never were.
    ///
    /// All others that are not judged are left to ``TextJudging``, unless there are too few to
    /// choose from.
    private static func counts(
        _ filter: Archive.TextFilter, _ maker: PlanMaker, _ unwanted: Unwanted
    ) async throws -> [Archive.TextCount] {
        var counts: [Archive.TextCount] = []
        for _ in 0..<(judgedAtMost / judgedAtOnce) {
            let mayBeMore = try await maker.archive.prepareUnjudged(
                by: maker.judge, unwanted, atMost: judgedAtOnce)
            counts = try await maker.archive.textCounts(filter)
            let number = counts.reduce(0) { $0 + $1.minutes.reduce(0, +) }
            guard mayBeMore, number < 2 * TextJudge.fewest else { break }
        }
        return counts
    }

    /// Chooses the text of one slot, and says why; the same text is not chosen again from this
    /// pool.
    ///
    /// - Returns: No text if no archived post may be used.
    mutating func next(
        at minute: MinuteOfDay, of day: LocalDay
    ) async throws -> (wording: Action.Wording?, why: Explanation) {
        var generator = SplitMix64(
            seed: PlanSeed.text(mirror: maker.configuration.mirror, day: day, minute: minute))
        let era = try await era(at: minute, of: day)
        // Texts that come after others, for want of which the first is used; later slots may use
        // the rest.
        var demoted: [Found] = []
        defer { taken.subtract(demoted.map(\.choice.textKey)) }
        for _ in 0..<Self.tries {
            let shelf = try await plainShelf(at: minute, of: day) ?? shelf(at: minute, of: day)
            guard let choice = try await choose(from: shelf, at: minute, after: era, &generator)
            else { break }
            taken.insert(choice.textKey)
            guard
                let (wording, post) = try await wording(
                    of: choice, from: shelf, at: minute, of: day)
            else { continue }
            var found = Found(choice: choice, shelf: shelf, wording: wording, post: post)
            found.opinion = try await opinion(on: found)
            if found.opinion?.isDemoted == true {
                demoted.append(found)
                if demoted.count < Self.demotedAtMost { continue }
                break
            }
            if let first = demoted.first, found.costsMore(than: first) {
                taken.remove(choice.textKey)
                break
            }
            return used(found)
        }
        guard !demoted.isEmpty else {
            return (nil, Explanation("no archived post may be used at this time"))
        }
        return used(demoted.removeFirst())
    }

    /// A text that may be used for a slot.
    private struct Found {
        let choice: TextChoice
        let shelf: Shelf
        let wording: Action.Wording
        /// The human's post that it is from.
        let post: Post
        /// The learned opinion of the text; `nil` if there is none.
        var opinion: TextOpinion?

        /// Whether it is less fit than a text that comes after others could be, younger than wished
        /// or a repetition.
        func costsMore(than demoted: Found) -> Bool {
            let why = choice.explanation
            let other = demoted.choice.explanation
            return shelf.filter.grade > max(demoted.shelf.filter.grade, Fitness.Grade.fit.rawValue)
                || (why.windowMinutes == nil && other.windowMinutes != nil)
                || (why.isAgeRelaxed && !other.isAgeRelaxed)
                || (!why.isTimeKnown && other.isTimeKnown)
        }
    }

    /// Settles on a text.
    private mutating func used(_ found: Found) -> (wording: Action.Wording?, why: Explanation) {
        before = found.post.createdAt
        let why = found.choice.explanation
        let description = found.shelf.isPlain ? "plain, \(why)" : "\(why)"
        let want = found.opinion.flatMap {
            $0.isDemoted ? "used for want of others: \($0.sentence)" : nil
        }
        let words = [description, found.shelf.concession, want].compactMap(\.self).joined(
            separator: "; ")
        return (
            found.wording, Explanation(words, pool: why.poolSize, windowMinutes: why.windowMinutes)
        )
    }

    /// Returns the learned opinion of a text; `nil` if there is none, and while the counts cannot
    /// be reached.
    private mutating func opinion(on found: Found) async throws -> TextOpinion? {
        guard let session else { return nil }
        if let known = opinions[found.choice.textKey] { return known }
        do {
            let text = [(id: found.post.id, text: found.post.text)]
            guard let opinion = try await session.opinions(on: text).first else { return nil }
            opinions[found.choice.textKey] = opinion
            return opinion
        } catch is FavoritesError {
            return nil
        }
    }

    /// When the human posted the text before a slot: the one that this pool chose last, or else the
    /// one that was last planned or sent before the slot.
    private func era(at minute: MinuteOfDay, of day: LocalDay) async throws -> Date? {
        if let before { return before }
        guard let due = LocalDayMinutes(day, in: maker.zone).date(of: minute) else { return nil }
        return try await maker.archive.dateOfText(usedBefore: due)
    }

    /// The wording of a text that was chosen by what is stored of it, and its post; nil if it may
    /// not be sent after all.
    ///
    /// Only now the bot's server is asked, and what other rules judged, as those of an earlier
    /// version, is judged anew.
    private func wording(
        of choice: TextChoice, from shelf: Shelf, at minute: MinuteOfDay, of day: LocalDay
    ) async throws -> (Action.Wording, Post)? {
        guard let original = try await maker.archive.original(choice.id) else { return nil }
        let post = original.post
        let judge = maker.judge
        let isCurrent = judge.isCurrent(original.judged.rules, unwanted)
        // Where no threads are sent, nothing that begins one is judged to be fit.
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
        /// How many posts of each minute are old and fit enough.
        var counts: [Int]
        /// The requirement that was relaxed for lack of texts, in words; `nil` if none was.
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
        let minutes = sum(.plain, filter.windows)
        let number = minutes.reduce(0, +)
        let shelf = Shelf(filter: filter, counts: minutes, isPlain: true)
        // So many cannot all be spoken for, whichever these are.
        if number > Self.listed, number >= used.count + taken.count + TextJudge.fewest {
            return shelf
        }
        guard number >= TextJudge.fewest, let windows = filter.windows else { return nil }
        if unusedPlain[windows] == nil {
            let texts = try await maker.archive.texts(in: minute.ranges(within: 720), filter)
            unusedPlain[windows] = Set(texts.map(\.textKey)).filter { used[$0] == nil }
        }
        return (unusedPlain[windows] ?? []).subtracting(taken).count >= TextJudge.fewest
            ? shelf : nil
    }

    /// The windows that hold then.
    private func windows(on day: LocalDay, at minute: MinuteOfDay) -> [String] {
        Set(counts.map(\.window)).filter { FitnessWindow($0)?.holds(on: day, at: minute) ?? false }
            .sorted()
    }

    /// The texts that are fit on that day at that minute; where they are too few, also those that
    /// are less so, as long as somebody who reads nothing else can make sense of them.
    private func shelf(at minute: MinuteOfDay, of day: LocalDay) -> Shelf {
        let mode = maker.configuration.fitness
        var filter = filter
        var grade = mode.grade
        if mode != .off { filter.windows = windows(on: day, at: minute) }
        var minutes = sum(grade, filter.windows)
        for next in [Fitness.Grade.ofItsTime, FitnessMode.loose.grade] where next > grade {
            let more = sum(next, filter.windows)
            guard minutes.reduce(0, +) < TextJudge.fewest, more != minutes else { continue }
            grade = next
            minutes = more
        }
        filter.grade = grade.rawValue
        let isPlain = mode == .plain && grade == .fit && minutes == sum(.plain, filter.windows)
        let few = "with fewer than \(TextJudge.fewest)"
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
        return Shelf(filter: filter, counts: minutes, concession: concession, isPlain: isPlain)
    }

    private func sum(_ grade: Fitness.Grade, _ windows: [String]?) -> [Int] {
        counts.filter { count in
            count.grade <= grade.rawValue
                && (count.window.isEmpty || windows?.contains(count.window) ?? true)
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
            if number > Self.listed {
                if let drawn = try await draw(from: shelf, minutes, at: minute, window, &generator)
                {
                    return drawn
                }
            } else if number >= TextChooser.enough || window == TextChooser.windows.last {
                let near = candidates(try await archive.texts(in: minutes, shelf.filter))
                let choice = chooser.choose(
                    from: near, at: minute, within: window, now: now, excluding: taken,
                    generator: &generator)
                if let choice { return choice }
            }
        }
        var young = shelf.filter
        if mayRelaxAge { young.end = .distantFuture }
        let lost = candidates(try await archive.textsOfLostTimes(young))
        let choice = chooser.choose(
            from: lost.filter { ($0.createdAt ?? .distantPast) <= filter.end }, at: minute,
            within: 720, now: now,
            excluding: taken, generator: &generator)
        if let choice { return choice }
        // Nothing is both old enough and unused: who is the lesser evil is told by all of them.
        let known = candidates(try await archive.texts(in: minute.ranges(within: 720), young))
        return chooser.choose(
            from: known + lost, at: minute, now: now, excluding: taken, generator: &generator)
    }

    /// Chooses among the texts of an era; `nil` if too few of them may be used.
    private func choose(
        from shelf: Shelf, at minute: MinuteOfDay, of era: Date, _ generator: inout SplitMix64
    ) async throws -> TextChoice? {
        var filter = shelf.filter
        filter.start = max(filter.start, era - TextChooser.era)
        filter.end = min(filter.end, era + TextChooser.era)
        guard filter.start <= filter.end else { return nil }
        let texts = candidates(try await maker.archive.texts(ofEra: filter))
        return chooser.choose(
            fromEra: texts, at: minute, now: now, excluding: taken, generator: &generator)
    }

    /// Draws a text that may be used, each as likely as the others; nil if that does not happen
    /// soon.
    private func draw(
        from shelf: Shelf, _ minutes: [ClosedRange<Int>], at minute: MinuteOfDay, _ window: Int,
        _ generator: inout SplitMix64
    ) async throws -> TextChoice? {
        let number = minutes.map { shelf.counts[$0].reduce(0, +) }.reduce(0, +)
        for _ in 0..<Self.draws {
            var rest = min(Int(generator.nextUniform() * Double(number)), number - 1)
            var places = minutes.joined().makeIterator()
            var place = places.next()
            while let passed = place, rest >= shelf.counts[passed] {
                rest -= shelf.counts[passed]
                place = places.next()
            }
            guard let place else { return nil }
            let text = try await maker.archive.text(at: place, number: rest, shelf.filter)
            // Where uses count, nearly all of so many texts have none; if not, they are listed in
            // the end.
            guard let text, !taken.contains(text.textKey), used[text.textKey] == nil,
                uses[text.textKey] == nil
            else { continue }
            // Of a text that was posted more than once only one post counts.
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
                id: $0.id, minute: $0.minute, textKey: $0.textKey, lastUsed: used[$0.textKey],
                createdAt: $0.createdAt, uses: uses[$0.textKey] ?? 0)
        }
    }
}

extension Archive.StoredFitness {
    /// Whether a text may be used at a minute of a day, as far as its window tells.
    fileprivate func holds(on day: LocalDay, at minute: MinuteOfDay) -> Bool {
        window.isEmpty || FitnessWindow(window)?.holds(on: day, at: minute) == true
    }
}

extension MinuteOfDay {
    /// The minutes that are at most so far from this one round the clock, as ranges that do not
    /// overlap.
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

    /// The rules for what a mirror sends.
    ///
    /// - Parameters:
    ///   - configuration: The mirror's settings, the bot's network among them.
    ///   - limits: What the bot's server allows.
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
