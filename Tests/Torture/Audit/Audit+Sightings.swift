import Foundation
import Outbox
import Posts
import Sandbox

/// Whether what ended unconfirmed was looked for again.
extension Audit {
    /// Whether the network had the action at one of the times when it is looked for again, and a
    /// worker had the time to look then.
    func isSighted(_ action: Action) -> Bool {
        guard let thing = things(of: action).first, let sending = action.sending else {
            return false
        }
        let looks = rules.sightings.map { sending + $0 }
        return looks.filter { $0 > thing.date + input.skew }.contains { look in
            guard let told = tellingLook(plannedFor: look, among: looks, sending: sending) else {
                return false
            }
            return hadTime(for: action, from: told, to: input.now, extra: rules.lookUpWait)
        }
    }

    /// When a look told something for sure, the ones that make up for those that told nothing
    /// included.
    ///
    /// - Parameters:
    ///   - planned: When the first of them was due.
    ///   - looks: All that are planned: one that comes before the next repetition takes its place,
    ///     and is judged itself.
    ///   - sending: When the request left.
    /// - Returns: The latest time at which it was due; nil if that is after the end of the run, or
    ///   if nobody can tell.
    private func tellingLook(plannedFor planned: Date, among looks: [Date], sending: Date) -> Date?
    {
        var due = DateInterval(start: planned - input.skew, end: planned + input.skew)
        while due.end < input.now {
            let failures = failures(at: due)
            guard let first = failures.map(\.interval.start).min(),
                let last = failures.map(\.interval.end).max()
            else { return due.end }
            // A worker with a wrong clock plans the next look by that clock.
            guard !failures.contains(where: { $0.cause == .wrongClock }) else { return nil }
            let start = max(first, due.start)
            let end = last + rules.lookUpWait
            let next = DateInterval(
                start: start + rules.sightingAgain - input.skew,
                end: end + rules.sightingAgain + input.skew)
            let isReplaced = looks.contains { $0 != planned && due.start < $0 && $0 < next.end }
            if isReplaced || end.timeIntervalSince(sending) >= rules.sightingEnd { return nil }
            due = next
        }
        return nil
    }

    /// What may let a look fail that was due at some time.
    ///
    /// While nobody works, it waits for the next worker. So does one whose worker is killed while
    /// it waits for an answer.
    private func failures(at due: DateInterval) -> [Disturbance] {
        let delays = input.disturbances.filter { !$0.letsFail }.map(\.interval).sorted()
        var found: [Disturbance] = []
        var last = due.end + input.patience
        var reached = due.end
        while last > reached {
            reached = last
            for delay in delays where delay.start <= last && last < delay.end + input.patience {
                last = delay.end + input.patience
            }
            found = failures.filter { $0.interval.start <= last && due.start <= $0.interval.end }
            last = max(last, found.map(\.interval.end).max() ?? last)
        }
        return found
    }
}
