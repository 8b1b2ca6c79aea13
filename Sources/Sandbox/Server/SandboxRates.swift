import Foundation

/// The request limits of a token.
package struct SandboxRateLimits: Equatable, Sendable {
    package var requests: Int
    /// Seconds after which the counting restarts.
    package var period: Int
    /// The limit of new posts.
    package var posts: Int
    package var postPeriod: Int
    /// The limit of deletions of posts.
    package var deletions = 30
    package var deletionPeriod = 1_800

    /// Mastodon's limits: 300 requests in 5 minutes, 300 posts in 3 hours, 30 deletions in 30
    /// minutes.
    package static let mastodon = SandboxRateLimits(
        requests: 300, period: 300, posts: 300, postPeriod: 10_800)

    /// Limits that no test reaches.
    package static let unlimited = SandboxRateLimits(
        requests: 1_000_000_000, period: 300, posts: 1_000_000_000, postPeriod: 10_800,
        deletions: 1_000_000_000)

    package init(requests: Int, period: Int, posts: Int, postPeriod: Int, deletions: Int = 30) {
        self.requests = requests
        self.period = max(1, period)
        self.posts = posts
        self.postPeriod = max(1, postPeriod)
        self.deletions = deletions
    }
}

/// Counts in fixed windows of a server's clock, as all three networks do.
struct RateCounter: Sendable {
    /// The allowed amount of something in a number of seconds.
    struct Allowance: Sendable {
        var amount: Int
        var period: Int
    }

    /// The values of the rate limit headers.
    struct Standing: Sendable {
        var allowance: Allowance
        var used: Int
        var reset: Date

        var remaining: Int { max(0, allowance.amount - used) }
        var isExceeded: Bool { used > allowance.amount }
    }

    private struct Key: Hashable {
        var who: String
        var period: Int
    }

    private var counts: [Key: (window: Int, used: Int)] = [:]

    /// Counts something, once or several times.
    ///
    /// - Parameters:
    ///   - amount: The number to count.
    ///   - who: The client, and the kind of the count; counts of different periods are kept apart.
    ///   - allowance: The allowed amount; must not change its period for the same count.
    ///   - now: The server's clock.
    /// - Returns: The standing afterwards.
    mutating func add(_ amount: Int = 1, by who: String, of allowance: Allowance, at now: Date)
        -> Standing
    {
        let window = Int((now.timeIntervalSince1970 / Double(allowance.period)).rounded(.down))
        let key = Key(who: who, period: allowance.period)
        let usedBefore = counts[key].flatMap { $0.window == window ? $0.used : nil } ?? 0
        counts[key] = (window, usedBefore + amount)
        return Standing(
            allowance: allowance, used: usedBefore + amount,
            reset: Date(timeIntervalSince1970: Double(window + 1) * Double(allowance.period)))
    }
}
