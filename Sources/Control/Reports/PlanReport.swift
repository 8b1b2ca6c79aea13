import Archive
package import Foundation
package import Mirroring
package import Outbox
package import Posts
import Schedule
import Settings

/// A day as a timeline: what was, is and will be posted.
package struct PlanReport: Codable, Sendable {
    /// One slot of the day.
    package struct Slot: Codable, Sendable {
        /// The id by which `explain` finds the slot, also before the day is stored.
        package var id: String
        package var subject: String
        /// The time of day in the mirror's zone, as HH:MM.
        package var time: String
        package var due: Date
        /// Where the slot stands; `preview` while the day is not stored.
        package var state: String
        /// A person chose its time or its text, and nothing else changes these; nil for no.
        package var isPinned: Bool?
        package var reason: String?
        /// The same in plain words.
        package var reasonText: String?
        package var text: String?
        /// How many pictures go along; nil for none.
        package var pictures: Int?
        /// How many parts of a thread are still to be said, this one among them; nil for a post
        /// that is none.
        package var parts: Int?
        /// A BCP 47 language tag of the text, if it is known.
        package var language: String?
        package var why: String?
        /// How many texts there were to choose from, and within how many minutes of the time their
        /// posts were written; nil where neither is known.
        package var pool: Int?
        package var windowMinutes: Int?
        /// When the post was written that the text is from; nil unless it was looked up.
        package var written: Date?
        /// Where a browser shows that post.
        package var source: String?
        /// Where a browser shows what was published; nil while it is not.
        package var address: String?
        /// The digest of the slot, for who changes it; nil in reports of earlier versions.
        package var seen: Seen?
    }

    /// Why there is nothing to plan where the settings leave no place for a post.
    static let onlyAnswers = "MAX_PER_DAY is 0, so the bot only answers and favorites"

    /// The state of what is not stored yet.
    static let preview = "preview"

    package var schema = "mirror-bot/plan/2"
    package var day: LocalDay
    package var timeZone: String
    /// False for a preview: the day's plan is made when the day begins.
    package var isStored: Bool
    /// Why no day has slots; nil where it may.
    package var note: String?
    /// The day of the human's that the day was planned after; nil where minutes were drawn one by
    /// one, or where there is no slot or slots of several plans.
    package var pattern: Explanation.Pattern?
    package var slots: [Slot]
    /// The digest of all slots together, for who draws the day anew; nil in reports of earlier
    /// versions.
    package var seen: Seen?
    /// The share of the human's posts in each hour of the day.
    package var humanHours: [Double]
    /// The share of the bot's posts in each hour of the day: those of the last 60 days, and this
    /// plan.
    package var botHours: [Double]
}

extension Explanation {
    /// The sentence, for people; of a slot that a person moved it says for which time its text was
    /// chosen.
    func reason(in zone: TimeZone) -> String {
        guard let movedFrom else { return summary }
        return
            "moved by a person from \(LocalTime(movedFrom, in: zone).minute), for which its text was chosen: \(summary)"
    }
}

extension Action {
    /// How many pictures go along with its text; nil for none.
    var pictureCount: Int? { wording.flatMap { $0.pictures.isEmpty ? nil : $0.pictures.count } }

    /// How many parts of a thread are to be said from it on; nil where nothing follows.
    var partCount: Int? { wording.flatMap { $0.rest.isEmpty ? nil : $0.rest.count + 1 } }
}

/// Reads or previews the plan of a day.
package struct PlanReporter: Sendable {
    private static let plotMemory: TimeInterval = 60 * 86_400

    let mirror: HumanMirror
    let zone: TimeZone
    let limits: PublishingLimits

    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - zone: The human's time zone.
    ///   - limits: What the bot's server accepts; nil for what its network usually does.
    package init(mirror: HumanMirror, zone: TimeZone, limits: PublishingLimits? = nil) {
        self.mirror = mirror
        self.zone = zone
        self.limits = limits ?? .usual(of: mirror.configuration.botNetwork)
    }

    /// The stored plan of `day`, or the one that would be made.
    ///
    /// - Parameters:
    ///   - day: The local day.
    ///   - now: Decides what counts as past.
    ///   - dates: Whether to look up when the posts were written that the texts are from.
    ///   - human: When the human posted, if that was read already; nil reads it.
    /// - Returns: Nil if there is neither a plan nor an archive to make one from.
    /// - Throws: The store's error.
    package func report(
        on day: LocalDay, now: Date, dates: Bool = false, human: [LocalTime]? = nil
    ) async throws -> PlanReport? {
        guard let (stored, actions) = try await actions(of: day, now: now) else { return nil }
        let written =
            dates ? try await mirror.archive.dates(of: actions.compactMap(\.wording?.source)) : [:]
        let slots = actions.map { action in
            var slot = slot(of: action, isStored: stored != nil)
            slot.written = action.wording.flatMap { written[$0.source] }
            return slot
        }
        let patterns = Set(actions.compactMap(\.explanation?.pattern))
        let times = if let human { human } else { try await mirror.archive.scheduleRows() }
        let past = try await mirror.outbox(lease: nil).times(.post, since: now - Self.plotMemory)
        // What is stored is among them.
        let bot = (stored == nil ? past + slots.map(\.due) : past).map {
            LocalTime($0, in: zone).minute
        }
        return PlanReport(
            day: day, timeZone: stored?.timeZone ?? zone.name, isStored: stored != nil,
            note: mirror.configuration.schedule.maximumPerDay == 0 ? PlanReport.onlyAnswers : nil,
            pattern: patterns.count == 1 ? patterns.first : nil, slots: slots,
            seen: Seen(ofDay: actions),
            humanHours: MinuteShares(of: times.map(\.minute)).shares,
            botHours: MinuteShares(of: bot).shares)
    }

    /// The posts of a plan as its slots.
    func slots(of actions: [Action], isStored: Bool) -> [PlanReport.Slot] {
        actions.map { slot(of: $0, isStored: isStored) }
    }

    /// The slots of a day that a person can still give another text; none before the day is stored.
    ///
    /// - Throws: The store's error.
    package func openSlots(of day: LocalDay, now: Date) async throws -> [PlanReport.Slot] {
        try await mirror.outbox(lease: nil).slots(of: day)
            .filter { $0.parent == nil && $0.state == .planned && $0.due > now }
            .map { slot(of: $0, isStored: true) }
    }

    /// The posts of a day as they are stored, or as they would be.
    ///
    /// - Parameters:
    ///   - day: The local day.
    ///   - now: Decides what counts as past.
    /// - Returns: The plan, nil for a preview, and its slots; nil if there is no archive to make
    ///   one from.
    /// - Throws: The store's error.
    func actions(of day: LocalDay, now: Date) async throws -> (
        plan: StoredPlan?, actions: [Action]
    )? {
        let outbox = mirror.outbox(lease: nil)
        if let stored = try await outbox.plan(for: day) {
            return (stored, try await outbox.slots(of: day))
        }
        return try await preview(of: day, now: now).map { (nil, $0) }
    }

    /// The posts of a day that has no plan, as they would be; nil if there is no archive to make a
    /// plan from.
    ///
    /// - Throws: The store's error.
    func preview(of day: LocalDay, now: Date) async throws -> [Action]? {
        let planned = try await maker.preview(
            day, now: now, watching: try await mirror.watchesHuman())
        return planned?.slots.map { Action($0, of: mirror.configuration.mirror, at: $0.due) }
    }

    /// The first post of a day that has no plan, as it would be, that is still to be sent; nil if
    /// there would be none.
    ///
    /// - Throws: The store's error.
    func firstPost(of day: LocalDay, now: Date) async throws -> Action? {
        try await maker.firstPost(of: day, now: now, watching: try await mirror.watchesHuman())
    }

    private var maker: PlanMaker {
        mirror.planMaker(zone: zone, store: mirror.outbox(lease: nil), limits: limits)
    }

    private func slot(of action: Action, isStored: Bool) -> PlanReport.Slot {
        PlanReport.Slot(
            id: action.id, subject: action.subject,
            time: LocalTime(action.due, in: zone).minute.description,
            due: action.due, state: isStored ? action.state.rawValue : PlanReport.preview,
            isPinned: action.isPinned ? true : nil, reason: action.reason,
            reasonText: action.told?.text,
            text: action.text, pictures: action.pictureCount, parts: action.partCount,
            language: action.wording?.language,
            why: action.explanation?.reason(in: zone), pool: action.explanation?.pool,
            windowMinutes: action.explanation?.windowMinutes,
            source: action.wording?.source.webAddress,
            address: action.remoteID.flatMap {
                PostID(network: mirror.configuration.botNetwork, value: $0).webAddress
            }, seen: action.seen)
    }
}
