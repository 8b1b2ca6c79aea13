package import Archive
package import Foundation
package import Outbox
package import Posts
import Schedule
package import Settings

/// Holds the bot's posts while the human is posting and in quiet hours, and moves them to another
/// time of their day.
///
/// The time of the human's last post is stored with the archive, so that a restart does not lose
/// it. A pinned slot is never held, because a person chose its time.
package struct SlotHold: Sendable {
    /// The decision about a slot whose time has come.
    package enum Verdict: Equatable, Sendable {
        /// The slot is sent now.
        case send
        /// The slot is sent later on its day.
        case move(to: Date)
        /// The slot is skipped, because the rest of its day has no time for it.
        case skip
    }

    /// Minutes after the silence over which held slots are spread, if possible, so that they do not
    /// all leave at its first moment.
    private static let spread = 60
    /// Seconds by which the clock that dated a post may be ahead of this one.
    private static let clockMargin: TimeInterval = 600

    let archive: Archive
    let store: OutboxStore
    let configuration: MirrorSettings
    let zone: TimeZone

    package init(
        archive: Archive, store: OutboxStore, configuration: MirrorSettings, zone: TimeZone
    ) {
        self.archive = archive
        self.store = store
        self.configuration = configuration
        self.zone = zone
    }

    /// Whether slots wait for the human at all.
    package var isOn: Bool { configuration.holdWhileActive != nil }

    /// Notes the time of the human's last post.
    ///
    /// - Parameters:
    ///   - posts: Posts of any kind by the human, including replies and reposts.
    ///   - now: The present; a post with a later time was dated by a wrong clock, and is ignored.
    /// - Throws: The store's error.
    package func note(_ posts: [Post], now: Date) async throws {
        let times = posts.filter(\.isTimeTrusted).map(\.createdAt).filter {
            $0 <= now + Self.clockMargin
        }
        if let latest = times.max() { try await archive.noteActivity(at: latest) }
    }

    /// Decides whether a due slot is sent, moved or skipped.
    ///
    /// - Parameter last: The time of the human's last known post.
    /// - Throws: The store's error.
    package func verdict(on slot: Action, lastActivity last: Date?, now: Date) async throws
        -> Verdict
    {
        guard !slot.isPinned, case .post(let name, _) = slot.payload else { return .send }
        let startInQuietHours = isQuiet(at: now) ? now : nil
        guard let start = silence(since: last, after: now) ?? startInQuietHours else {
            return .send
        }
        let otherSlots = try await store.slots(of: name.day).filter {
            $0.id != slot.id && ![.skipped, .expired, .failed].contains($0.state)
        }
        let otherTimes = otherSlots.map(\.due)
        guard let later = time(for: slot, of: name.day, after: start, besides: otherTimes) else {
            return .skip
        }
        return .move(to: later)
    }

    /// The reason why a slot that may not be sent now is moved or skipped.
    package func reason(at now: Date) -> Action.Reason {
        isQuiet(at: now) ? .quietHours : .humanActive
    }

    /// Whether the present is in the quiet hours; the hours may have been set after the day was
    /// planned, or a slot may be late.
    private func isQuiet(at now: Date) -> Bool {
        configuration.schedule.quiet.contains(LocalTime(now, in: zone).minute)
    }

    /// The time at which the human will have been silent for long enough; nil if they already are.
    private func silence(since last: Date?, after now: Date) -> Date? {
        guard let hold = configuration.holdWhileActive, let last, last <= now + Self.clockMargin,
            last + hold > now
        else {
            return nil
        }
        return last + hold
    }

    /// A minute of the day outside the quiet hours and not too near to another slot: one soon after
    /// `start`, or else the first one later.
    private func time(
        for slot: Action, of day: LocalDay, after start: Date, besides otherTimes: [Date]
    )
        -> Date?
    {
        let schedule = configuration.schedule
        let gap = Double(schedule.minimumGapMinutes) * 60
        let minutes = LocalDayMinutes(day, in: zone)
        let planned = LocalTime(slot.due, in: zone).minute
        let seed = PlanSeed.text(mirror: configuration.mirror, day: day, minute: planned)
        // Gaps between slots are counted in whole minutes, whatever their seconds.
        let takenMinutes = otherTimes.map {
            Date(timeIntervalSince1970: ($0.timeIntervalSince1970 / 60).rounded(.down) * 60)
        }
        let allowedMinutes = (0..<MinuteOfDay.count).compactMap { MinuteOfDay($0) }
            .filter { !schedule.quiet.contains($0) }
        let freeMinutes = allowedMinutes.compactMap { minutes.date(of: $0) }
            .filter { time in takenMinutes.allSatisfy { abs($0.timeIntervalSince(time)) >= gap } }
        let secondOfMinute = Double(seed % 60)
        let freeTimes = freeMinutes.map { $0 + secondOfMinute }.filter { $0 >= start }.sorted()
        let soonTimes = freeTimes.filter { $0 < start + Double(Self.spread) * 60 }
        guard !soonTimes.isEmpty else { return freeTimes.first }
        return soonTimes[Int(seed / 60 % UInt64(soonTimes.count))]
    }
}
