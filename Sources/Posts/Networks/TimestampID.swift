import Cryptography
package import Foundation

/// A record key in the form that Bluesky requires for posts and likes: a time, and bits that
/// distinguish several keys of the same time.
///
/// The number has a zero bit, 53 bits of microseconds since 1970 and ten bits of clock identifier
/// (AT Protocol, "TID"). Its text form has 13 characters; texts sort in the order of their numbers.
package struct TimestampID: Hashable, Comparable, Sendable, CustomStringConvertible {
    private static let alphabet = Array("234567abcdefghijklmnopqrstuvwxyz".utf8)
    private static let length = 13
    private static let clockBits: UInt64 = 10
    private static let timeBits: UInt64 = 53
    /// The bits of the clock identifier, all set.
    private static let clockMask: UInt64 = (1 << clockBits) - 1
    /// The latest time, in milliseconds since 1970, whose microseconds certainly fit.
    private static let latestMilliseconds: Int64 = 9_000_000_000_000

    private let bits: UInt64

    /// Nil if the time needs more than 53 bits or the clock more than ten.
    package init?(microseconds: Int64, clock: Int) {
        guard let time = UInt64(exactly: microseconds), time < 1 << Self.timeBits,
            let clock = UInt64(exactly: clock), clock < 1 << Self.clockBits
        else { return nil }
        bits = time << Self.clockBits | clock
    }

    /// Nil if the text is not such a key.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.length else { return nil }
        var value: UInt64 = 0
        for byte in text.utf8 {
            guard let digit = Self.alphabet.firstIndex(of: byte) else { return nil }
            // Thirteen times five bits are 65, so the first character has only sixteen values.
            guard value < 1 << 59 else { return nil }
            value = value << 5 | UInt64(digit)
        }
        bits = value
    }

    /// The key of a draft, always the same for the same draft.
    ///
    /// The milliseconds are those of `createdAt`. The other bits are derived from `key`, so that
    /// two drafts of the same millisecond get the same record key only with a probability of one in
    /// a million.
    ///
    /// - Parameters:
    ///   - createdAt: The time at which the draft was made final; clamped to the years 1970 through
    ///     2255.
    ///   - key: A key that is unique to the draft.
    package init(createdAt: Date, key: String) {
        let digest = HashFunction.sha256.digest(of: key.utf8)
        let number = digest.prefix(7).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let milliseconds = UInt64(min(max(createdAt.milliseconds, 0), Self.latestMilliseconds))
        let time = milliseconds * 1_000 + (number >> Self.clockBits) % 1_000
        bits = time << Self.clockBits | number & Self.clockMask
    }

    /// The time at which the key was made, according to its creator.
    package var microseconds: Int64 { Int64(bits >> Self.clockBits) }

    package var clock: Int { Int(bits & Self.clockMask) }

    package var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    package static func < (first: TimestampID, second: TimestampID) -> Bool {
        first.bits < second.bits
    }

    package var description: String {
        let digits = (0..<Self.length).map { index in
            // Each character stands for five bits, the highest first.
            let shift = UInt64(5 * (Self.length - 1 - index))
            return Self.alphabet[Int(bits >> shift & 31)]
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
