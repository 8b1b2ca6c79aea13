import Archive
package import Foundation
import Localization
package import Mirroring
package import Outbox
package import Posts
import Schedule
import Settings

/// A day as a timeline of past and future posts.
package struct PlanReport: Codable, Sendable {
    /// One slot of the day.
    package struct Slot: Codable, Sendable {
        /// The id by which `explain` finds the slot, even before the day is stored.
        package var id: String
        package var subject: String
        /// The time of day in the mirror's zone, as HH:MM.
        package var time: String
        package var due: Date
        /// The state of the slot; `preview` while the day is not stored.
        package var state: String
        /// Whether a person chose its time or its text, which then do not change automatically; nil
        /// for no.
        package var isPinned: Bool?
        package var reason: ReasonCode?
        /// The reason in plain words.
        package var reasonText: String?
        package var text: String?
        /// The number of pictures; nil for none.
        package var pictures: Int?
        /// The number of remaining parts of a thread, including this one; nil for a single post.
        package var parts: Int?
        /// A BCP 47 language tag of the text, if known.
        package var language: String?
        package var why: String?
        /// The number of texts to choose from, and the time window of their posts in minutes; nil
        /// if unknown.
        package var pool: Int?
        package var windowMinutes: Int?
        /// The time at which the human's post with the text was written; nil unless it was looked
        /// up.
        package var written: Date?
        /// The web page of the human's post with the text.
        package var source: String?
        /// The web page of the bot's post; nil until it is published.
        package var address: String?
        /// The digest of the slot, to be sent with a change; nil in reports of earlier versions.
        package var seen: Seen?
    }

    /// The reason why there are no slots if the settings allow no posts.
    static var onlyAnswers: String {
        localized("\(Setting.maxPerDay.name) is 0, so the bot only answers and favorites")
    }

    /// The state of a slot that is not stored yet.
    static let preview = "preview"

    package var schema = "mirror-bot/plan/2"
    package var day: LocalDay
    package var timeZone: String
    /// False for a preview: the day's plan is made when the day begins.
    package var isStored: Bool
    /// The reason why no day has slots; nil if days may have some.
    package var note: String?
    /// The human's past day that served as the model for the day; nil if minutes were drawn one by
    /// one, if there is no slot, or if the slots have different models.
    package var pattern: Explanation.Pattern?
    package var slots: [Slot]
    /// The digest of all slots, to be sent when the day is drawn again; nil in reports of earlier
    /// versions.
    package var seen: Seen?
    /// The share of the human's posts in each hour of the day.
    package var humanHours: [Double]
    /// The share of the bot's posts in each hour of the day, from the last 60 days and this plan.
    package var botHours: [Double]
}

extension Explanation {
    /// The sentence for people; for a slot that a person moved it names the time for which its text
    /// was chosen.
    func reason(in zone: TimeZone) -> String {
        let summary = StoredText.inWords(summary)
        guard let movedFrom else { return summary }
        return localized(
            "moved by a person from \(LocalTime(movedFrom, in: zone).minute), for which its text was chosen: \(summary)"
        )
    }
}

extension Action {
    /// The number of pictures with its text; nil for none.
    var pictureCount: Int? { wording.flatMap { $0.pictures.isEmpty ? nil : $0.pictures.count } }

    /// The number of parts of a thread from this one on; nil for the last part.
    var partCount: Int? { wording.flatMap { $0.rest.isEmpty ? nil : $0.rest.count + 1 } }
}

/// Reads or previews the plan of a day.
package struct PlanReporter: Sendable {
    /// Seconds before now from which the bot's posts are counted for the share of each hour.
    private static let plottedTime: TimeInterval = 60 * 86_400

    let mirror: HumanMirror
    let zone: TimeZone
    let limits: PublishingLimits

    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - zone: The human's time zone.
    ///   - limits: The limits of the bot's server; nil for the usual limits of its network.
    package init(mirror: HumanMirror, zone: TimeZone, limits: PublishingLimits? = nil) {
        self.mirror = mirror
        self.zone = zone
        self.limits = limits ?? .usual(of: mirror.configuration.botNetwork)
    }

    /// Returns the stored plan of `day`, or a preview of it.
    ///
    /// - Parameters:
    ///   - day: The local day.
    ///   - now: The present, which divides past and future.
    ///   - looksUpDates: Whether to look up when the posts with the texts were written.
    ///   - humanTimes: The human's posting times, if they were read already; nil to read them.
    /// - Returns: Nil if there is neither a plan nor an archive to make one from.
    /// - Throws: The store's error.
    package func report(
        on day: LocalDay, now: Date, looksUpDates: Bool = false, humanTimes: [LocalTime]? = nil
    ) async throws -> PlanReport? {
        guard let (stored, actions) = try await actions(of: day, now: now) else { return nil }
        let written =
            looksUpDates
            ? try await mirror.archive.dates(of: actions.compactMap(\.wording?.source)) : [:]
        let slots = actions.map { action in
            var slot = slot(of: action, isStored: stored != nil)
            slot.written = action.wording.flatMap { written[$0.source] }
            return slot
        }
        let patterns = Set(actions.compactMap(\.explanation?.pattern))
        let times =
            if let humanTimes { humanTimes } else { try await mirror.archive.scheduleRows() }
        let past = try await mirror.outbox(lease: nil).times(.post, since: now - Self.plottedTime)
        // The times of a stored plan are in `past` already.
        let botMinutes = (stored == nil ? past + slots.map(\.due) : past).map {
            LocalTime($0, in: zone).minute
        }
        return PlanReport(
            day: day, timeZone: stored?.timeZone ?? zone.name, isStored: stored != nil,
            note: mirror.configuration.schedule.maximumPerDay == 0 ? PlanReport.onlyAnswers : nil,
            pattern: patterns.count == 1 ? patterns.first : nil, slots: slots,
            seen: Seen(ofDay: actions),
            humanHours: MinuteShares(of: times.map(\.minute)).shares,
            botHours: MinuteShares(of: botMinutes).shares)
    }

    /// Converts the posts of a plan to slots.
    func slots(of actions: [Action], isStored: Bool) -> [PlanReport.Slot] {
        actions.map { slot(of: $0, isStored: isStored) }
    }

    /// The slots of a day whose text a person can still change; none before the day is stored.
    ///
    /// - Throws: The store's error.
    package func openSlots(of day: LocalDay, now: Date) async throws -> [PlanReport.Slot] {
        try await mirror.outbox(lease: nil).slots(of: day)
            .filter { $0.parent == nil && $0.state == .planned && $0.due > now }
            .map { slot(of: $0, isStored: true) }
    }

    /// Returns the stored posts of a day, or a preview of them.
    ///
    /// - Parameters:
    ///   - day: The local day.
    ///   - now: The present, which divides past and future.
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

    /// A preview of the posts of a day without a plan; nil if there is no archive to make a plan
    /// from.
    ///
    /// - Throws: The store's error.
    func preview(of day: LocalDay, now: Date) async throws -> [Action]? {
        let planned = try await maker.preview(
            day, now: now, watching: try await mirror.watchesHuman())
        return planned?.slots.map { Action($0, of: mirror.configuration.mirror, at: $0.due) }
    }

    /// The first future post in the preview of a day without a plan; nil if there is none.
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
            reasonText: action.reportedReason?.text,
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
