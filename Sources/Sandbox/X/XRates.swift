import Foundation

/// Counts the requests to each endpoint in quarters of an hour, and the posts of a day.
struct XRates: Sendable {
    /// What the rate limit headers say.
    struct State: Sendable {
        var limit: Int
        var used: Int
        var reset: Date

        var remaining: Int { max(0, limit - used) }
        var isExceeded: Bool { used > limit }

        /// What a server says that does not tell the truth.
        func untold(at clock: Date) -> State { State(limit: limit, used: 0, reset: clock - 1) }

        func headers(_ prefix: String) -> [(name: String, value: String)] {
            [
                ("\(prefix)-limit", String(limit)), ("\(prefix)-remaining", String(remaining)),
                ("\(prefix)-reset", String(Int64(reset.timeIntervalSince1970))),
            ]
        }
    }

    private struct Key: Hashable {
        var endpoint: XEndpoint
        var person: Int
        var period: Int
    }

    private struct Count {
        var window: Int
        var used: Int
    }

    private static let period = 900
    private static let day = 86_400

    private let limits: SandboxRateLimits
    private var counts: [Key: Count] = [:]

    init(limits: SandboxRateLimits) { self.limits = limits }

    /// Counts a request by the person.
    mutating func count(_ endpoint: XEndpoint, by person: Int, at clock: Date) -> State {
        let limit = limits == .unlimited ? limits.requests : endpoint.limit
        return count(Key(endpoint: endpoint, person: person, period: Self.period), limit: limit, adding: 1, at: clock)
    }

    /// The posts that a person has published today, after `adding` more.
    mutating func posts(by person: Int, limit: Int, adding: Int, at clock: Date) -> State {
        count(Key(endpoint: .publish, person: person, period: Self.day), limit: limit, adding: adding, at: clock)
    }

    private mutating func count(_ key: Key, limit: Int, adding: Int, at clock: Date) -> State {
        let window = Int((clock.timeIntervalSince1970 / Double(key.period)).rounded(.down))
        var count = counts[key].flatMap { $0.window == window ? $0 : nil } ?? Count(window: window, used: 0)
        count.used += adding
        counts[key] = count
        return State(
            limit: limit, used: count.used,
            reset: Date(timeIntervalSince1970: Double(window + 1) * Double(key.period)))
    }
}
