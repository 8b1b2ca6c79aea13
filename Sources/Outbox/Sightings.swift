import Foundation

/// When an action that ended unconfirmed is looked for again.
///
/// A request may arrive late, and a server may show late what it has. Looking costs requests, on X money, so it happens
/// a few times within a day of sending. A look that a network could not answer costs nothing and is made up for soon.
enum Sightings {
    /// Seconds since sending.
    static let times: [TimeInterval] = [600, 3_600, 6 * 3_600, 24 * 3_600]
    /// How often a network that cannot be asked is tried, and until when: seconds, since the last time and since sending.
    static let repetition: TimeInterval = 3_600
    static let end: TimeInterval = 48 * 3_600

    /// The next time to look; nil when it was done often enough.
    ///
    /// - Parameters:
    ///   - sending: When the request left.
    ///   - now: The present.
    ///   - wasAsked: Whether the network has just told that there is nothing.
    /// - Returns: A time after `now`, or nil.
    static func next(sending: Date, now: Date, wasAsked: Bool) -> Date? {
        let age = now.timeIntervalSince(sending)
        let planned = times.first { $0 > age }.map { sending + $0 }
        if wasAsked { return planned }
        return age < end ? min(planned ?? .distantFuture, now + repetition) : nil
    }
}
