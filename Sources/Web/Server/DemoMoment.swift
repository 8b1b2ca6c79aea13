/// Where a demo stands, as the band on its pages tells it.
package enum DemoMoment: Equatable, Sendable {
    /// It lives a day, the first is 1, in so many seconds.
    case living(day: Int, of: Int, seconds: Int)
    /// It is the evening of its last day, and its clock goes at the usual speed.
    case over(days: Int)

    /// Whether its clock goes faster than a real one.
    var isFast: Bool { if case .living = self { true } else { false } }

    /// A sentence.
    var words: String {
        switch self {
        case .living(let day, let days, let seconds):
            "Day \(day) of \(days), a day in \(seconds) s."
        case .over(1): "It is the evening of its day; its clock goes as yours does now."
        case .over(let days):
            "It is the evening of day \(days), the last; its clock goes as yours does now."
        }
    }
}
