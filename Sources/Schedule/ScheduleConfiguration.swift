package import Posts

/// How posting times are learned from the archive.
package enum ScheduleModel: String, CaseIterable, Sendable {
    /// Whole days of the human are copied. Each post is moved a little, according to a smoothed
    /// profile in which recent posts weigh more.
    case days
    /// Minutes are drawn one by one from the smoothed profile: posts may fall on minutes near those
    /// that the human used.
    case kernel
    /// Minutes are drawn from the unsmoothed histogram of the archive: only those that the human
    /// used.
    case raw
}

/// An operator's settings for the plan of a day.
package struct ScheduleConfiguration: Equatable, Sendable {
    /// The most slots of a day unless another number is set.
    package static let defaultMaximumPerDay = 50

    package var model: ScheduleModel
    /// Whether posts may follow one another as closely as the human's; if not, no day is copied.
    package var bursts: Bool
    /// The least distance of two slots of a day in minutes, at least 1.
    package var minimumGapMinutes: Int
    /// The most slots of a day.
    package var maximumPerDay: Int
    /// The weekdays that count as the weekend: 1 is Monday, 7 is Sunday.
    package var weekend: Set<Int>
    /// Minutes in which nothing is posted; they have the probability 0.
    package var quiet: Set<MinuteOfDay>
    /// The minutes by which a slot may be late; after that it is skipped.
    package var graceMinutes: Int
    /// ``graceMinutes`` in seconds.
    package var grace: Double { Double(graceMinutes) * 60 }

    package init(
        model: ScheduleModel = .days, bursts: Bool = true, minimumGapMinutes: Int = 1,
        maximumPerDay: Int = Self.defaultMaximumPerDay,
        weekend: Set<Int> = [6, 7], quiet: Set<MinuteOfDay> = [], graceMinutes: Int = 15
    ) {
        self.model = model
        self.bursts = bursts
        self.minimumGapMinutes = max(1, minimumGapMinutes)
        self.maximumPerDay = max(0, maximumPerDay)
        self.weekend = weekend
        self.quiet = quiet
        self.graceMinutes = max(0, graceMinutes)
    }
}
