import Foundation
import Outbox

/// When a worker could do its work.
///
/// Whether something late or missing is the worker's fault is decided by one question: was there a stretch, while it
/// could have been done, in which nothing disturbed a worker for longer than it needs?
struct WorkingTime: Sendable {
    /// Disjoint, in the order of time.
    private let hindered: [ActionKind: [DateInterval]]

    init(_ disturbances: [Disturbance]) {
        var hindered: [ActionKind: [DateInterval]] = [:]
        for kind in ActionKind.allCases {
            hindered[kind] = Self.merged(
                disturbances.filter { $0.hinders(kind) }
                    .map { DateInterval(start: $0.interval.start, end: $0.interval.end + $0.aftermath) })
        }
        self.hindered = hindered
    }

    /// The longest undisturbed stretch between two instants, in seconds; 0 if the second is not after the first.
    ///
    /// - Parameters:
    ///   - kind: What was to be done.
    ///   - start: Not before this.
    ///   - end: Not after this.
    ///   - others: Further stretches in which it could not be done.
    /// - Returns: Its length.
    func longestStretch(
        for kind: ActionKind, from start: Date, to end: Date, besides others: [DateInterval] = []
    ) -> TimeInterval {
        let general = (hindered[kind] ?? []).filter { $0.end > start && $0.start < end }
        let intervals = others.isEmpty ? general : Self.merged(general + others)
        var (free, longest) = (start, 0.0)
        for interval in intervals where interval.end > start && interval.start < end {
            longest = max(longest, interval.start.timeIntervalSince(free))
            free = max(free, interval.end)
        }
        return max(longest, end.timeIntervalSince(free), 0)
    }

    private static func merged(_ intervals: [DateInterval]) -> [DateInterval] {
        intervals.sorted { $0.start < $1.start }.reduce(into: []) { merged, next in
            if let last = merged.last, next.start <= last.end {
                merged[merged.count - 1].end = max(last.end, next.end)
            } else {
                merged.append(next)
            }
        }
    }
}
