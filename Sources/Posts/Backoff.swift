package import Foundation

/// How long to wait after failures: longer after each, up to a bound, and not at the same instant as others.
///
/// Everything is computed from the arguments alone, so that a restart changes nothing.
package struct Backoff: Equatable, Sendable {
    /// After the first failure, in seconds.
    package var first: TimeInterval
    /// By what the wait grows with each further failure.
    package var factor: Double
    /// The longest wait, in seconds, its spread aside.
    package var longest: TimeInterval
    /// By how much a wait may be longer, as a share of it.
    package var spread: Double

    /// What is added at least, and at most, to a time that a server named: seconds, and a share of the wait.
    private static let margin: (least: TimeInterval, most: TimeInterval, share: Double) = (2, 5, 0.1)

    package init(first: TimeInterval, factor: Double = 2, longest: TimeInterval, spread: Double = 0.25) {
        self.first = first
        self.factor = factor
        self.longest = longest
        self.spread = spread
    }

    /// The wait after so many failures in a row, in seconds.
    ///
    /// - Parameters:
    ///   - failures: How many there were; fewer than one count as one.
    ///   - key: What waits, such as the id of an action or the name of a feed; decides the spread.
    /// - Returns: A wait between `first` and `longest`, longer by up to `spread`.
    package func wait(after failures: Int, key: String) -> TimeInterval {
        let steps = Double(min(max(failures, 1), 64) - 1)
        return spreading(min(first * pow(factor, steps), longest), key: key)
    }

    /// When to try again after so many failures in a row.
    ///
    /// - Parameters:
    ///   - failures: How many there were; fewer than one count as one.
    ///   - key: What waits; decides the spread.
    ///   - asked: When the server wants to be asked again; believed within reason.
    ///   - now: The present.
    ///   - atMost: How far ahead the server may put the next try, in seconds.
    /// - Returns: The time of the next try, never earlier than our own wait.
    package func next(
        after failures: Int, key: String, asked: Date? = nil, now: Date, atMost: TimeInterval = 3_600
    ) -> Date {
        let ours = now + wait(after: failures, key: key)
        return max(ours, Self.honouring(asked: asked, now: now, atMost: atMost, key: key) ?? ours)
    }

    /// `wait` longer by up to `spread`, as `key` decides.
    package func spreading(_ wait: TimeInterval, key: String) -> TimeInterval {
        wait * (1 + Self.position(of: key) * spread)
    }

    /// When to go on where a server named a time: a little later, and not all at once.
    ///
    /// At the very second at which a limit ends everybody comes back, and clocks differ.
    ///
    /// - Parameters:
    ///   - asked: When the server wants to be asked again.
    ///   - now: The present.
    ///   - atMost: How far ahead the server is believed, in seconds, the margin aside.
    ///   - key: What waits; decides the margin: two seconds at least, and at most five and a tenth of the wait.
    /// - Returns: Nil if the server named no time, or one that has passed.
    package static func honouring(asked: Date?, now: Date, atMost: TimeInterval, key: String) -> Date? {
        guard let distance = asked.map({ min($0.timeIntervalSince(now), atMost) }), distance > 0 else { return nil }
        let most = margin.most + margin.share * distance
        return now + distance + margin.least + position(of: key) * (most - margin.least)
    }

    /// Where `key` stands among all keys: from 0 to less than 1.
    private static func position(of key: String) -> Double {
        Double(key.utf8.reduce(UInt32(0)) { $0 &* 31 &+ UInt32($1) } % 1_000) / 1_000
    }
}
