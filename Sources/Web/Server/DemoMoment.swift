import Localization

/// The progress of a demo, shown in the band on its pages.
package enum DemoMoment: Equatable, Sendable {
    /// The demo simulates a day, counted from 1, in this many seconds.
    case living(day: Int, of: Int, seconds: Int)
    /// The demo has reached the evening of its last day, and its clock runs at the normal speed.
    case over(days: Int)

    /// Whether the demo's clock runs faster than real time.
    var isFast: Bool { if case .living = self { true } else { false } }

    /// The progress of the demo as a sentence for the band.
    var sentence: String {
        switch self {
        case .living(let day, let days, let seconds):
            localized("Day \(day) of \(days), a day in \(seconds) s.")
        case .over(1):
            localized("It is the evening of its day; its clock goes as yours does now.")
        case .over(let days):
            localized(
                "It is the evening of day \(days), the last; its clock goes as yours does now.")
        }
    }
}
