import Foundation
import NetworkNames

/// The limits of a Bluesky server, counted in fixed windows of the sandbox's clock.
struct BlueskyRates: Sendable {
    typealias Allowance = RateCounter.Allowance
    typealias Standing = RateCounter.Standing

    private let requests: Allowance
    private let points: [Allowance]
    private let logins: [Allowance]
    private var counter = RateCounter()

    /// - Parameter limits: `.mastodon`, the default of the sandbox, selects Bluesky's own limits.
    ///   Other limits are used unchanged, with three points for a post.
    init(_ limits: SandboxRateLimits) {
        let isDefault = limits == .mastodon
        let isUnlimited = limits.requests >= SandboxRateLimits.unlimited.requests
        requests =
            isDefault
            ? Allowance(amount: 3_000, period: 300)
            : Allowance(amount: limits.requests, period: limits.period)
        let (product, overflow) = limits.posts.multipliedReportingOverflow(by: 3)
        let postPoints: Int = overflow ? .max : product
        points =
            isDefault
            ? [Allowance(amount: 5_000, period: 3_600), Allowance(amount: 35_000, period: 86_400)]
            : [Allowance(amount: postPoints, period: limits.postPeriod)]
        logins =
            isUnlimited
            ? [Allowance(amount: limits.requests, period: 300)]
            : [Allowance(amount: 30, period: 300), Allowance(amount: 300, period: 86_400)]
    }

    /// Counts a request; all requests come from one address.
    mutating func countRequest(at now: Date) -> Standing {
        counter.add(by: "address", of: requests, at: now)
    }

    /// Counts the points of a write.
    mutating func countPoints(_ points: Int, by did: String, at now: Date) -> Standing? {
        Self.tightest(
            self.points.map { counter.add(points, by: "points " + did, of: $0, at: now) })
    }

    /// Counts an attempt to log in.
    mutating func countLogin(to account: String, at now: Date) -> Standing? {
        Self.tightest(logins.map { counter.add(by: "login " + account, of: $0, at: now) })
    }

    /// The standing with the fewest requests left.
    static func tightest(_ standings: [Standing]) -> Standing? {
        standings.first(where: \.isExceeded) ?? standings.min { $0.remaining < $1.remaining }
    }
}

extension RateCounter.Standing {
    /// The headers, with the time to wait if a limit was exceeded.
    func headers(at now: Date) -> [(name: String, value: String)] {
        let lines = [
            ("ratelimit-limit", String(allowance.amount)),
            ("ratelimit-remaining", String(remaining)),
            ("ratelimit-reset", String(Int(reset.timeIntervalSince1970))),
            ("ratelimit-policy", "\(allowance.amount);w=\(allowance.period)"),
        ]
        guard isExceeded else { return lines }
        return lines + [
            ("retry-after", String(max(1, Int(reset.timeIntervalSince(now).rounded(.up)))))
        ]
    }
}
