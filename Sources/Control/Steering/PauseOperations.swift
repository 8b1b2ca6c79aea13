package import Foundation
import Localization
import Mirroring
package import Posts

/// Pauses the bot: nothing is sent once this has returned.
package struct PauseMirror: PersonOperation {
    package static let name = "pause"
    /// The end of the pause, as ``PersonTime`` reads it; nil to wait until a person resumes the
    /// mirror.
    package var until: String?
    /// A note of the person, which the status shows.
    package var reason: String?

    package init(until: String? = nil, reason: String? = nil) {
        self.until = until
        self.reason = reason
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> PauseChange {
        if let reason, reason.utf8.count > 1_000 {
            throw ChangeRefusal(.unusable, localized("the reason is longer than 1000 bytes"))
        }
        if let reason, reason.utf8.contains(0) {
            throw ChangeRefusal(.unusable, localized("the reason holds a NUL character"))
        }
        let now = desk.now
        let end = try until.map { text in
            guard let end = PersonTime(zone: desk.displayZone).instant(text, now: now) else {
                throw ChangeRefusal(
                    .unusable,
                    saying:
                        localized(
                            "\(control: .pauseEnd) is \"\(text)\"; expected a time such as 18:30, 2026-11-24, \"2026-11-24 18:30\" or 6h"
                        )
                )
            }
            guard end > now else {
                throw ChangeRefusal(
                    .outOfTime,
                    saying: localized("\(control: .pauseEnd) is \"\(text)\", which has passed"))
            }
            return end
        }
        let pause = try await desk.mirror.table.pause(
            until: end, reason: reason, seen: seen, now: now)
        let underWay = try await InFlightWait(mirror: desk.mirror).wait()
        return PauseChange(
            desk.mirror.name, pause: pause, in: desk.displayZone, wasPaused: nil,
            left: underWay.map(LeftAction.init))
    }

    package func outcomeIfDone(at desk: Desk) async throws -> PauseChange? {
        // Only whether there is an end is compared: an end such as 3h is a later instant when the
        // button is pressed again.
        guard let pause = try await desk.mirror.table.pause(at: desk.now), pause.code == nil,
            pause.reason == reason,
            (pause.until == nil) == (until == nil)
        else { return nil }
        return PauseChange(
            desk.mirror.name, pause: pause, in: desk.displayZone, wasPaused: true, left: [])
    }
}

/// Ends a pause.
///
/// The mirror may also be held because of the state of the human's account. This hold ends only if
/// the person states that they know of that state.
package struct ResumeMirror: PersonOperation {
    package static let name = "resume"
    /// Whether the person wants the mirror to go on although the human's account is a memorial,
    /// suspended, deactivated or gone.
    package var knowing: Bool

    package init(knowing: Bool = false) { self.knowing = knowing }

    package func perform(at desk: Desk, seen: Seen?) async throws -> PauseChange {
        let before = try await desk.mirror.table.resume(
            despiteStanding: knowing, seen: seen, now: desk.now)
        return change(of: desk, wasPaused: before?.pause != nil, before?.standing)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> PauseChange? {
        let record = try await desk.mirror.table.record()
        let standing = record.standing.flatMap { $0.isHold ? $0 : nil }
        guard record.pause(at: desk.now) == nil, standing == nil || !knowing else { return nil }
        return change(of: desk, wasPaused: false, standing)
    }

    private func change(of desk: Desk, wasPaused: Bool, _ standing: HumanStanding?) -> PauseChange {
        var change = PauseChange(
            desk.mirror.name, pause: nil, in: desk.displayZone, wasPaused: wasPaused, left: [])
        change.human = standing?.words
        change.isHeld = standing != nil && !knowing
        return change
    }
}

/// The pause of a mirror after a change.
package struct PauseChange: PersonOutcome {
    package private(set) var schema = "mirror-bot/pause/1"
    package let mirror: String
    package let isPaused: Bool
    package let since: Date?
    /// The end of the pause; nil to wait until a person resumes the mirror.
    package let until: Date?
    /// The end by the human's clock, such as `2026-11-24 18:30`.
    package let untilLocal: String?
    package let reason: String?
    /// Whether the mirror was paused before the change.
    ///
    /// After a pause operation it is true if the mirror was already paused and that pause stays;
    /// nil if the pause is new.
    package let wasPaused: Bool?
    /// After a resumption: the hold besides the pause, such as `the human's account is a memorial`;
    /// nil if there was none.
    package fileprivate(set) var human: String?
    /// Whether that hold continues, because the person did not state that they know of it.
    package fileprivate(set) var isHeld = false
    /// The actions whose requests were under way when the pause began.
    package let left: [LeftAction]
    /// The digest of the present pause.
    package let seen: Seen
    package let wayBack: WayBack?

    init(_ mirror: String, pause: Pause?, in zone: TimeZone, wasPaused: Bool?, left: [LeftAction]) {
        self.mirror = mirror
        self.left = left
        self.wasPaused = wasPaused
        isPaused = pause != nil
        seen = Pause.seen(pause)
        since = pause?.since
        until = pause?.until
        reason = pause?.reason
        untilLocal = pause?.until.map { LocalTime($0, in: zone).description }
        wayBack =
            switch (pause != nil, wasPaused) {
            case (true, nil): WayBack(ResumeMirror(), seen: seen, "resume")
            case (false, true?): WayBack(PauseMirror(), "pause")
            default: nil
            }
    }
}
