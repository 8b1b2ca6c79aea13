import Foundation
import Posts
import Transport

/// The retry time and rate limit that the headers of an answer announce.
///
/// Servers name instants by their own clock, so each is taken as a distance
/// from the answer's `Date` and put on the local clock from when the answer
/// came.
struct ServerPacing {
    /// No announced reset is farther away than this: seconds.
    private static let longestPeriod: TimeInterval = 86_400

    private let headers: HTTPHeaders
    private let receivedAt: Date
    private let prefix: String
    /// However little a server asks for, and however much: seconds.
    let range: ClosedRange<TimeInterval>
    private let defaultWait: TimeInterval
    private let nonsense: TimeInterval

    /// - Parameters:
    ///   - receivedAt: When the answer came, on the local clock.
    ///   - prefix: What the names of the rate limit's headers begin with, before `Limit`,
    ///     `Remaining` and `Reset`.
    ///   - range: However little a server asks for, and however much: seconds.
    ///   - defaultWait: After a refusal for asking too often that does not say how long to wait:
    ///     seconds.
    ///   - nonsense: Numbers from there on say nothing.
    init(
        _ headers: HTTPHeaders, receivedAt: Date, prefix: String = "X-RateLimit-",
        range: ClosedRange<TimeInterval> = 5...900, defaultWait: TimeInterval = 60,
        nonsense: TimeInterval = .infinity
    ) {
        self.headers = headers
        self.receivedAt = receivedAt
        self.prefix = prefix
        self.range = range
        self.defaultWait = defaultWait
        self.nonsense = nonsense
    }

    /// The account's rate limit; `nil` if the answer does not tell.
    var rateLimit: RateLimit? {
        let limit = RateLimit(
            limit: headers[prefix + "Limit"].flatMap { Int($0) },
            remaining: headers[prefix + "Remaining"].flatMap { Int($0) },
            resetsAt: resetDistance.map {
                receivedAt.addingTimeInterval(min(max($0, 0), Self.longestPeriod))
            })
        return limit == RateLimit() ? nil : limit
    }

    /// When to ask again after a refusal; nil if the server does not tell.
    ///
    /// `Retry-After` goes before the reset of the rate limit: servers that send only one of them
    /// exist for each.
    var retryAfter: Date? {
        (retryDistance ?? resetDistance).map(date)
    }

    /// When to ask again after a refusal for asking too often.
    ///
    /// A server may ask for a day: its limits are counted by the hour and by the day too. A time
    /// beyond a month is not believed.
    var retryAfterRateLimit: Date {
        let seconds = retryDistance ?? resetDistance ?? defaultWait
        guard seconds <= RetryRule.farthestAsked else { return date(after: range.upperBound) }
        return receivedAt.addingTimeInterval(
            min(max(seconds, range.lowerBound), Self.longestPeriod))
    }

    /// When to ask again after a refusal of this kind; nil if the server does not tell and nothing
    /// else does.
    func retryAfter(of code: NetworkError.Code) -> Date? {
        switch code {
        case .rateLimited: retryAfterRateLimit
        case .conflict: retryAfter ?? date(after: 0)
        // The reset of a rate limit has nothing to do with a server that is out of order.
        case .unavailable: headers["Retry-After"].flatMap { _ in retryAfter }
        default: nil
        }
    }

    /// `seconds` from now, within what is sensible.
    func date(after seconds: TimeInterval) -> Date {
        receivedAt.addingTimeInterval(min(max(seconds, range.lowerBound), range.upperBound))
    }

    /// Whether nothing is left of the account's share.
    var isExhausted: Bool {
        headers[prefix + "Remaining"].flatMap { Int($0) }.map { $0 <= 0 } ?? false
    }

    /// By how many seconds the local clock is ahead of the server's; nil if the answer does not
    /// tell.
    var clockLead: TimeInterval? { headers.clockLead(receivedAt: receivedAt) }

    private var serverNow: Date { headers.date ?? receivedAt }

    /// Seconds to wait by `Retry-After`; nil without it.
    var retryDistance: TimeInterval? {
        guard let text = headers["Retry-After"] else { return nil }
        if let seconds = number(text) { return seconds }
        return Date(httpDate: text).map { $0.timeIntervalSince(serverNow) }
    }

    /// Seconds until the account has its whole share again; nil if the answer does not tell.
    var resetDistance: TimeInterval? {
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
        return Double(text).flatMap { $0 < nonsense ? $0 : nil }
    }
}
