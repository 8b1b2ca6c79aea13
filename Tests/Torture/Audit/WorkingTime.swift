import Foundation
import Outbox

/// When a worker could do its work.
///
/// Whether something late or missing is the worker's fault is decided by one question: was there a
/// stretch, while it could have been done, in which nothing disturbed a worker for longer than it
/// needs?
struct WorkingTime: Sendable {
    /// Disjoint, in the order of time.
    private let hindered: [ActionKind: [DateInterval]]

    init(_ disturbances: [Disturbance]) {
        var hindered: [ActionKind: [DateInterval]] = [:]
        for kind in ActionKind.allCases {
            hindered[kind] = Self.merged(
                disturbances.filter { $0.hinders(kind) }
                    .map {
                        DateInterval(start: $0.interval.start, end: $0.interval.end + $0.aftermath)
                    })
        }
        self.hindered = hindered
    }

    /// The longest undisturbed stretch between two instants, in seconds; 0 if the second is not
    /// after the first.
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
        let general = Self.part(of: hindered[kind] ?? [], after: start).prefix { $0.start < end }
        let intervals = others.isEmpty ? Array(general) : Self.merged(general + others)
        var free = start
        var longest = 0.0
        for interval in intervals where interval.end > start && interval.start < end {
            longest = max(longest, interval.start.timeIntervalSince(free))
            free = max(free, interval.end)
        }
        return max(longest, end.timeIntervalSince(free), 0)
    }

    /// Those of disjoint intervals in the order of time that end after an instant: a long run has
    /// some ten thousand.
    private static func part(of intervals: [DateInterval], after date: Date) -> ArraySlice<
        DateInterval
    > {
        var first = intervals.startIndex
        var last = intervals.endIndex
        while first < last {
            let middle = (first + last) / 2
            if intervals[middle].end > date { last = middle } else { first = middle + 1 }
        }
        return intervals[first...]
    }

    private static func merged(_ intervals: [DateInterval]) -> [DateInterval] {
        intervals.sorted { $0.start < $1.start }.reduce(into: []) { $0.append(merging: $1) }
    }
}

extension [DateInterval] {
    /// Adds an interval to disjoint ones in the order of time, none of which ends later than it.
    ///
    /// Those that it meets become one with it.
    mutating func append(merging interval: DateInterval) {
        var merged = interval
        while let last, merged.start <= last.end {
            merged = DateInterval(
                start: Swift.min(last.start, merged.start), end: Swift.max(last.end, merged.end))
            removeLast()
        }
        append(merged)
    }
}
