import Archive
package import Foundation
import Outbox
package import Posts
import Schedule

/// A day as a timeline: what was, is and will be posted.
package struct PlanReport: Codable, Sendable {
    /// One slot of the day.
    package struct Slot: Codable, Sendable {
        package var subject: String
        /// The time of day in the mirror's zone, as HH:MM.
        package var time: String
        package var due: Date
        /// Where the slot stands; `preview` while the day is not stored.
        package var state: String
        package var reason: String?
        package var text: String?
        package var why: String?
    }

    package var schema = "mirror-bot/plan/2"
    package var day: LocalDay
    package var timeZone: String
    /// False for a preview: the day's plan is made when the day begins.
    package var isStored: Bool
    package var slots: [Slot]
    /// The share of the human's posts in each hour of the day.
    package var humanHours: [Double]
    /// The share of the bot's posts in each hour of the day: those of the last 60 days, and this plan.
    package var botHours: [Double]
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
    /// - Returns: Nil if there is neither a plan nor an archive to make one from.
    /// - Throws: The store's error.
    package func report(on day: LocalDay, now: Date) async throws -> PlanReport? {
        let outbox = mirror.outbox(lease: nil)
        let slots: [PlanReport.Slot]
        let stored = try await outbox.plan(for: day)
        if stored != nil {
            slots = try await outbox.slots(of: day).map(slot(of:))
        } else {
            let maker = PlanMaker(
                archive: mirror.archive, store: outbox, configuration: mirror.configuration, zone: zone, limits: limits)
            let watching = try await FoundAccounts(in: mirror).accounts[.human] != nil
            guard let planned = try await maker.preview(day, now: now, watching: watching) else { return nil }
            slots = planned.slots.map(preview(of:))
        }
        let human = try await mirror.archive.scheduleRows().map(\.minute)
        let past = try await outbox.times(.post, since: now - Self.plotMemory)
        let bot = (past + slots.map(\.due)).map { LocalTime($0, in: zone).minute }
        return PlanReport(
            day: day, timeZone: stored?.timeZone ?? zone.name, isStored: stored != nil, slots: slots,
            humanHours: MinuteShares(of: human).shares, botHours: MinuteShares(of: bot).shares)
    }

    private func slot(of action: Action) -> PlanReport.Slot {
        PlanReport.Slot(
            subject: action.subject, time: LocalTime(action.due, in: zone).minute.description, due: action.due,
            state: action.state.rawValue, reason: action.reason, text: action.text,
            why: action.explanation?.summary)
    }

    private func preview(of intent: Intent) -> PlanReport.Slot {
        var slot = slot(of: Action(intent, of: mirror.configuration.mirror, at: intent.due))
        slot.state = "preview"
        return slot
    }
}
