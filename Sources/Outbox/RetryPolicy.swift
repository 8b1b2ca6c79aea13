package import Foundation
package import Posts

/// How long an action waits after a request that certainly did nothing, or a look-up that told nothing.
///
/// | cause | first wait | factor | longest wait | a server's own wish is heard up to |
/// | --- | --- | --- | --- | --- |
/// | `tooBusy`: 429, with or without a time | 60 s | 2 | 15 min | 1 h |
/// | `serverTrouble`: 5xx, an answer of another form | 30 s | 2 | 15 min | 1 h |
/// | `unreachable`: DNS, connect, TLS | 15 s | 2 | 5 min | 1 h |
/// | `limit`: budget, credits or cap used up | 15 min | 2 | 6 h | 1 day |
/// | `conflict`: the same request is under way | 5 s | 2 | 60 s | 5 min |
/// | `credentials`: refused; the worker ends | 30 s | 2 | 15 min | 1 h |
/// | `other` | 30 s | 2 | 15 min | 1 h |
///
/// A wish is never followed to less than our own wait, nor to the second: a margin is added, and each of our own waits
/// is longer by up to a quarter. Both depend on the action's id, so that many actions do not return at the same instant
/// and a restart changes nothing. Whatever the wait, an action ends when it expires.
package enum RetryPolicy {
    /// Why a request did nothing.
    package enum Cause: String, CaseIterable, Sendable {
        case tooBusy = "too-busy"
        case serverTrouble = "server-trouble"
        case unreachable
        case limit
        case conflict
        case credentials
        case other
    }

    /// One row of the table.
    package struct Rule: Equatable, Sendable {
        package var backoff: Backoff
        /// How far ahead a server may put the next attempt, in seconds.
        package var longestAsked: TimeInterval
    }

    /// The table.
    package static func rule(for cause: Cause) -> Rule {
        switch cause {
        case .tooBusy: Rule(backoff: Backoff(first: 60, longest: 900), longestAsked: 3_600)
        case .unreachable: Rule(backoff: Backoff(first: 15, longest: 300), longestAsked: 3_600)
        case .limit: Rule(backoff: Backoff(first: 900, longest: 21_600), longestAsked: 86_400)
        case .conflict: Rule(backoff: Backoff(first: 5, longest: 60), longestAsked: 300)
        case .serverTrouble, .credentials, .other: Rule(backoff: Backoff(first: 30, longest: 900), longestAsked: 3_600)
        }
    }

    /// When to send again what certainly did not act.
    ///
    /// - Parameters:
    ///   - attempts: How many requests were made so far.
    ///   - asked: When the server wants to be asked again; believed within reason.
    ///   - id: The action's, which decides the spread.
    package static func nextAttempt(
        after cause: Cause, attempts: Int, asked: Date? = nil, id: String, now: Date
    ) -> Date {
        let rule = rule(for: cause)
        return rule.backoff.next(after: attempts, key: id, asked: asked, now: now, atMost: rule.longestAsked)
    }

    /// When to ask again what became of an action.
    ///
    /// The wait grows with the time since the request, by half of it, so that nothing has to be counted.
    ///
    /// - Parameters:
    ///   - age: Seconds since the request.
    ///   - asked: When the server wants to be asked again; believed within reason.
    ///   - id: The action's, which decides the spread.
    package static func nextLookUp(
        after cause: Cause, age: TimeInterval, asked: Date? = nil, id: String, now: Date
    ) -> Date {
        let rule = rule(for: cause)
        let wait = min(max(age / 2, rule.backoff.first), rule.backoff.longest)
        let ours = now + rule.backoff.spreading(wait, key: id)
        return max(ours, Backoff.honouring(asked: asked, now: now, atMost: rule.longestAsked, key: id) ?? ours)
    }
}
