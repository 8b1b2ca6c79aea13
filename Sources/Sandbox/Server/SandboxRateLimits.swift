import Foundation

/// How many requests a token may make.
package struct SandboxRateLimits: Equatable, Sendable {
    package var requests: Int
    /// Seconds after which the count begins again.
    package var period: Int
    /// New posts.
    package var posts: Int
    package var postPeriod: Int

    /// Mastodon's: 300 requests in 5 minutes, 300 posts in 3 hours.
    package static let mastodon = SandboxRateLimits(requests: 300, period: 300, posts: 300, postPeriod: 10_800)

    /// So many that no test reaches them.
    package static let unlimited = SandboxRateLimits(
        requests: 1_000_000_000, period: 300, posts: 1_000_000_000, postPeriod: 10_800)

    package init(requests: Int, period: Int, posts: Int, postPeriod: Int) {
        self.requests = requests
        self.period = max(1, period)
        self.posts = posts
        self.postPeriod = max(1, postPeriod)
    }
}

/// Counts requests in fixed windows of the sandbox's clock.
struct SandboxRateCounter: Sendable {
    /// What the rate limit headers say.
    struct State: Sendable {
        var limit: Int
        var remaining: Int
        var reset: Date
        var isExceeded: Bool
    }

    private struct Key: Hashable {
        var who: String
        var isPost: Bool
    }

    private struct Count {
        var window: Int
        var used: Int
    }

    let limits: SandboxRateLimits
    private var counts: [Key: Count] = [:]

    init(limits: SandboxRateLimits) { self.limits = limits }

    /// Counts a request; a new post counts against its own limit too, which is then the one reported.
    mutating func count(_ who: String, isPost: Bool, at now: Date) -> State {
        let general = count(
            Key(who: who, isPost: false), limit: limits.requests, period: limits.period, at: now)
        guard isPost, !general.isExceeded else { return general }
        return count(Key(who: who, isPost: true), limit: limits.posts, period: limits.postPeriod, at: now)
    }

    private mutating func count(_ key: Key, limit: Int, period: Int, at now: Date) -> State {
        let window = Int((now.timeIntervalSince1970 / Double(period)).rounded(.down))
        var count = counts[key].flatMap { $0.window == window ? $0 : nil } ?? Count(window: window, used: 0)
        count.used += 1
        counts[key] = count
        return State(
            limit: limit, remaining: max(0, limit - count.used),
            reset: Date(timeIntervalSince1970: Double(window + 1) * Double(period)), isExceeded: count.used > limit)
    }
}
