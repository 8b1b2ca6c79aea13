import Foundation

/// The limits of a Bluesky server, counted in fixed windows of the sandbox's clock.
struct BlueskyRates: Sendable {
    /// How much of something is allowed in how many seconds.
    struct Allowance: Hashable, Sendable {
        var amount: Int
        var period: Int
    }

    /// What the rate limit headers say.
    struct Standing: Sendable {
        var allowance: Allowance
        var remaining: Int
        var reset: Date
        var isExceeded: Bool
    }

    private struct Key: Hashable {
        var who: String
        var allowance: Allowance
    }

    private let requests: Allowance
    private let points: [Allowance]
    private let logins: [Allowance]
    private var counts: [Key: (window: Int, used: Int)] = [:]

    /// - Parameter limits: Mastodon's stand for the usual ones, which here are Bluesky's own; anything else is meant as
    ///   said, a post for three points.
    init(_ limits: SandboxRateLimits) {
        let isUsual = limits == .mastodon
        let isUnlimited = limits.requests >= SandboxRateLimits.unlimited.requests
        requests =
            isUsual
            ? Allowance(amount: 3_000, period: 300) : Allowance(amount: limits.requests, period: limits.period)
        points =
            isUsual
            ? [Allowance(amount: 5_000, period: 3_600), Allowance(amount: 35_000, period: 86_400)]
            : [
                Allowance(
                    amount: limits.posts.multipliedReportingOverflow(by: 3).overflow ? .max : limits.posts * 3,
                    period: limits.postPeriod)
            ]
        logins =
            isUnlimited
            ? [Allowance(amount: limits.requests, period: 300)]
            : [Allowance(amount: 30, period: 300), Allowance(amount: 300, period: 86_400)]
    }

    /// Counts a request; all of them come from one address.
    mutating func countRequest(at now: Date) -> Standing { take(1, of: requests, by: "address", at: now) }

    /// Counts the points of a write.
    mutating func countPoints(_ points: Int, by did: String, at now: Date) -> Standing? {
        Self.tightest(self.points.map { take(points, of: $0, by: "points " + did, at: now) })
    }

    /// Counts an attempt to log in.
    mutating func countLogin(to account: String, at now: Date) -> Standing? {
        Self.tightest(logins.map { take(1, of: $0, by: "login " + account, at: now) })
    }

    /// The one with the least left.
    static func tightest(_ standings: [Standing]) -> Standing? {
        standings.first(where: \.isExceeded) ?? standings.min { $0.remaining < $1.remaining }
    }

    private mutating func take(_ amount: Int, of allowance: Allowance, by who: String, at now: Date) -> Standing {
        let window = Int((now.timeIntervalSince1970 / Double(allowance.period)).rounded(.down))
        let key = Key(who: who, allowance: allowance)
        let before = counts[key].flatMap { $0.window == window ? $0.used : nil } ?? 0
        let used = before + amount
        counts[key] = (window, used)
        return Standing(
            allowance: allowance, remaining: max(0, allowance.amount - used),
            reset: Date(timeIntervalSince1970: Double(window + 1) * Double(allowance.period)),
            isExceeded: used > allowance.amount)
    }
}

extension BlueskyRates.Standing {
    /// The headers, with how long to wait where too much was asked.
    func headers(at now: Date) -> [(name: String, value: String)] {
        let lines = [
            ("ratelimit-limit", String(allowance.amount)), ("ratelimit-remaining", String(remaining)),
            ("ratelimit-reset", String(Int(reset.timeIntervalSince1970))),
            ("ratelimit-policy", "\(allowance.amount);w=\(allowance.period)"),
        ]
        guard isExceeded else { return lines }
        return lines + [("retry-after", String(max(1, Int(reset.timeIntervalSince(now).rounded(.up)))))]
    }
}
