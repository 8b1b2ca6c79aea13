package import Posts

/// The times of day at which the bot keeps quiet.
///
/// Written as `23:00-07:00` or several such ranges with commas between them; a range may cross
/// midnight, and excludes its end.
package struct QuietHours: Equatable, Sendable, CustomStringConvertible {
    /// Every quiet minute.
    package let minutes: Set<MinuteOfDay>
    /// The ranges as they were written, or `none`.
    package let description: String

    /// No quiet time.
    package static let none = QuietHours()

    private init() {
        minutes = []
        description = "none"
    }

    /// Nil unless `text` is `none` or ranges of times.
    ///
    /// - Parameter text: For example `none`, `23:00-07:00` or `00:00-06:30, 12:00-13:00`; `24:00`
    ///   may end a range.
    package init?(parsing text: String) {
        let trimmed = text.filter { !$0.isWhitespace }.lowercased()
        guard trimmed != "none" else {
            self = .none
            return
        }
        var minutes: Set<MinuteOfDay> = []
        for range in trimmed.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = range.split(separator: "-", omittingEmptySubsequences: false)
                .map { MinuteOfDay.minutes(ofClock: $0) }
            guard ends.count == 2, let start = ends[0], let end = ends[1], start != end,
                start < MinuteOfDay.count
            else { return nil }
            let last = end > start ? end : end + MinuteOfDay.count
            minutes.formUnion((start..<last).map { MinuteOfDay(hour: 0, minute: $0) })
        }
        self.minutes = minutes
        self.description = trimmed
    }

    /// Whether the bot keeps quiet in `minute`.
    package func contains(_ minute: MinuteOfDay) -> Bool { minutes.contains(minute) }
}
