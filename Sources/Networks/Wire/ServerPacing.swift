package import Foundation
import Posts
package import Transport

/// The retry time and rate limit in the headers of an answer.
///
/// Servers state times by their own clock, so each is converted into a distance from the answer's
/// `Date` and added to the local time of the answer.
package struct ServerPacing: Sendable {
    /// The longest wait that is used, in seconds; a longer stated one is cut to it.
    private static let longestPeriod: TimeInterval = 86_400

    private let headers: HTTPHeaders
    private let receivedAt: Date
    private let prefix: String
    /// The shortest and the longest wait, in seconds, whatever the server asks for.
    package let range: ClosedRange<TimeInterval>
    private let defaultWait: TimeInterval
    private let implausibleWait: TimeInterval

    /// - Parameters:
    ///   - receivedAt: The time at which the answer came, on the local clock.
    ///   - prefix: The beginning of the rate limit's header names, before `Limit`, `Remaining` and
    ///     `Reset`.
    ///   - range: The shortest and longest wait, whatever the server asks for, in seconds.
    ///   - defaultWait: The wait after a rate limit without a stated time, in seconds.
    ///   - implausibleWait: The shortest stated wait that is ignored as implausible, in seconds.
    package init(
        _ headers: HTTPHeaders, receivedAt: Date, prefix: String = "X-RateLimit-",
        range: ClosedRange<TimeInterval> = 5...900, defaultWait: TimeInterval = 60,
        implausibleWait: TimeInterval = .infinity
    ) {
        self.headers = headers
        self.receivedAt = receivedAt
        self.prefix = prefix
        self.range = range
        self.defaultWait = defaultWait
        self.implausibleWait = implausibleWait
    }

    /// The account's rate limit; `nil` if the answer does not state it.
    package var rateLimit: RateLimit? {
        let limit = RateLimit(
            limit: headers[prefix + "Limit"].flatMap { Int($0) },
            remaining: remainingRequests,
            resetsAt: resetDistance.map {
                receivedAt.addingTimeInterval(min(max($0, 0), Self.longestPeriod))
            })
        return limit == RateLimit() ? nil : limit
    }

    /// The time at which to try again after a refusal; nil if the server does not say.
    ///
    /// `Retry-After` is preferred to the reset of the rate limit: some servers send only one of
    /// them.
    package var retryAfter: Date? {
        (retryDistance ?? resetDistance).map(date)
    }

    /// The time at which to try again after a rate limit.
    ///
    /// A wait of up to a day is used as stated, because some servers count by the hour or by the
    /// day. A longer one is cut to a day, and one of more than a month is replaced by the longest
    /// of ``range``.
    package var retryAfterRateLimit: Date {
        let seconds = retryDistance ?? resetDistance ?? defaultWait
        guard seconds <= RetryRule.longestPlausibleWait else {
            return date(after: range.upperBound)
        }
        return receivedAt.addingTimeInterval(
            min(max(seconds, range.lowerBound), Self.longestPeriod))
    }

    /// The time at which to try again after a refusal with this code; nil if the answer names none.
    package func retryAfter(of code: NetworkError.Code) -> Date? {
        switch code {
        case .rateLimited: retryAfterRateLimit
        // Without a stated time, the shortest wait is enough.
        case .conflict: retryAfter ?? date(after: 0)
        // The reset of a rate limit is unrelated to a server that is down.
        case .unavailable: headers["Retry-After"] == nil ? nil : retryAfter
        default: nil
        }
    }

    /// The time `seconds` after the answer came, with the wait limited to ``range``.
    package func date(after seconds: TimeInterval) -> Date {
        receivedAt.addingTimeInterval(min(max(seconds, range.lowerBound), range.upperBound))
    }

    /// Whether the account's quota is used up.
    package var isExhausted: Bool {
        guard let remainingRequests else { return false }
        return remainingRequests <= 0
    }

    /// The requests left in the current period; nil if the answer does not say.
    private var remainingRequests: Int? { headers[prefix + "Remaining"].flatMap { Int($0) } }

    /// The seconds by which the local clock is ahead of the server's; nil if the answer has no
    /// date.
    package var clockLead: TimeInterval? { headers.clockLead(receivedAt: receivedAt) }

    private var serverNow: Date { headers.date ?? receivedAt }

    /// Seconds to wait by `Retry-After`; nil without it.
    package var retryDistance: TimeInterval? {
        guard let text = headers["Retry-After"] else { return nil }
        if let seconds = number(text) { return seconds }
        return Date(httpDate: text).map { $0.timeIntervalSince(serverNow) }
    }

    /// Seconds until the account has its whole quota again; nil if the answer does not say.
    package var resetDistance: TimeInterval? {
        guard let text = headers[prefix + "Reset"] else { return nil }
        if let date = Date(rfc3339: text) { return date.timeIntervalSince(serverNow) }
        guard let number = number(text) else { return nil }
        // Seconds since 1970 have ten digits for the next centuries; smaller numbers are seconds to
        // wait.
        return number < 1_000_000_000 ? number : number - serverNow.timeIntervalSince1970
    }

    /// A number written with digits only, and perhaps a fraction.
    private func number(_ text: String) -> TimeInterval? {
        guard !text.isEmpty, text.utf8.count <= 32,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        else { return nil }
        return Double(text).flatMap { $0 < implausibleWait ? $0 : nil }
    }
}
