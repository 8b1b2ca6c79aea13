import Foundation
import Posts
import Transport

/// What the headers of an answer say about when to ask again.
///
/// X counts requests in windows of fifteen minutes and, in headers of their own, in windows of a day for an account
/// and for an application. A refusal may come from any of them.
struct XPacing {
    /// After a refusal that does not say how long to wait: the length of the short window, in seconds.
    static let defaultWait: TimeInterval = 900
    /// However little a server asks for, and however much: seconds.
    static let range: ClosedRange<TimeInterval> = 5...86_400

    /// Counters were not seen to begin anew exactly at midnight: seconds.
    private static let dayMargin: TimeInterval = 300
    private static let dailyWindows = ["x-app-limit-24hour", "x-user-limit-24hour"]
    private static let shortWindow = "x-rate-limit"

    private let headers: HTTPHeaders
    private let receivedAt: Date

    /// - Parameters:
    ///   - headers: The answer's.
    ///   - receivedAt: When the answer came, on the local clock.
    init(_ headers: HTTPHeaders, receivedAt: Date) {
        self.headers = headers
        self.receivedAt = receivedAt
    }

    /// What is left in the short window; nil if the answer does not tell.
    var rateLimit: RateLimit? {
        let limit = RateLimit(
            limit: headers["\(Self.shortWindow)-limit"].flatMap { Int($0) },
            remaining: headers["\(Self.shortWindow)-remaining"].flatMap { Int($0) },
            resetsAt: reset(of: Self.shortWindow).map {
                receivedAt.addingTimeInterval(min(max($0, 0), Self.range.upperBound))
            })
        return limit == RateLimit() ? nil : limit
    }

    /// Whether a day's share is used up.
    var isDayExhausted: Bool { Self.dailyWindows.contains(where: isExhausted) }

    /// When to ask again after a refusal for asking too often: when the last of the exhausted windows ends.
    var retryAfterRateLimit: Date {
        let windows = Self.dailyWindows + [Self.shortWindow]
        let resets = windows.filter(isExhausted).compactMap(reset)
        return date(after: resets.max() ?? retryDistance ?? reset(of: Self.shortWindow) ?? Self.defaultWait)
    }

    /// The instant of `Retry-After`; nil without it.
    var retryAfter: Date? { retryDistance.map(date) }

    /// `seconds` from now, within what is sensible.
    func date(after seconds: TimeInterval) -> Date {
        receivedAt.addingTimeInterval(min(max(seconds, Self.range.lowerBound), Self.range.upperBound))
    }

    /// When the next day begins in UTC by the server's clock, on the local clock; some minutes later.
    var nextDay: Date {
        let serverTime = receivedAt.timeIntervalSince1970 - (clockLead ?? 0)
        let rest = 86_400 - serverTime.truncatingRemainder(dividingBy: 86_400)
        return receivedAt.addingTimeInterval(max(rest, 0) + Self.dayMargin)
    }

    /// How far the local clock is ahead of the server's, in seconds; nil if the answer does not tell.
    var clockLead: TimeInterval? { headers.clockLead(receivedAt: receivedAt) }

    private func isExhausted(_ window: String) -> Bool {
        headers["\(window)-remaining"].flatMap { Int($0) }.map { $0 <= 0 } ?? false
    }

    /// Seconds until a window ends.
    private func reset(of window: String) -> TimeInterval? {
        guard let number = headers["\(window)-reset"].flatMap(Self.number) else { return nil }
        return number - receivedAt.addingTimeInterval(-(clockLead ?? 0)).timeIntervalSince1970
    }

    private var retryDistance: TimeInterval? {
        guard let text = headers["Retry-After"] else { return nil }
        if let seconds = Self.number(text) { return seconds }
        return Date(httpDate: text).map { $0.timeIntervalSince(receivedAt) + (clockLead ?? 0) }
    }

    private static func number(_ text: String) -> TimeInterval? {
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Double(text)
    }
}
