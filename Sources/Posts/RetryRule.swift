package import Foundation

/// The retry schedule of an operation: the waits, the number of attempts, and the end.
///
/// All code that retries after a wait uses a rule of this table, and gets the next time from
/// ``next(after:key:retryAfter:now:)``.
///
/// | rule | first wait | factor | longest wait | longest wait that a server may ask for | ends |
/// | --- | --- | --- | --- | --- | --- |
/// | `work`: a pass, the start of a worker | 5 s | 2 | 5 min | 1 day | with an error that is not temporary |
/// | `opening`: the database at the start | 2 s | 2 | 4 s | 1 day | after 5 min, because the person who started it waits |
/// | `databaseLogin`: refused to a running worker | 5 s | 2 | 5 min | 1 day | after 15 min, the time for a failover or a new password |
/// | `action(.tooBusy)`: 429 | 60 s | 2 | 15 min | 1 h | when the action expires |
/// | `action(.serverTrouble)`: 5xx, unreadable answer | 30 s | 2 | 15 min | 1 h | the same |
/// | `action(.unreachable)`: DNS, connect, TLS | 15 s | 2 | 5 min | 1 h | the same |
/// | `action(.limit)`: budget, credits or cap | 15 min | 2 | 6 h | 1 day | the same |
/// | `action(.conflict)`: an equal request is in progress | 5 s | 2 | 60 s | 5 min | the same |
/// | `action(.credentials)`, `action(.other)` | 30 s | 2 | 15 min | 1 h | the same |
/// | `lookUp`: of an action whose answer was lost | as `action`, with the age of the request | | | | after 1 day, `unconfirmed` |
/// | `undo` | as `action` | | | | after 7 days |
/// | `item`: an item of a feed that cannot be decided yet | 2 min | 3 | 6 h | 1 h | after 1 day, recorded as given up |
/// | `page`: a page of a feed that the server refuses | each poll | | | | after 20 min, its stretch recorded as given up |
/// | `notice`: a message to the operator was not delivered | 60 s | 2 | 1 h | | after 8 tries, until the next day |
/// | `credentials`: refused | 30 s | 2 | 4 min | 1 h | after 6 refusals, before a slot expires |
/// | `spareCredentials`: refused, but other work can continue | 30 s | 2 | 1 h | 1 h | never |
/// | `awaitedCredentials`: refused while a person waits | | | | | with the first refusal |
/// | `silence`: the answer to a change was lost | 15 s | 2 | 5 min | 1 h | when the network answers |
/// | `pause`: the network limits the rate of requests | 60 s | 1 | 60 s | 1 day | when a request is accepted |
/// | `logIn`: on Bluesky, which locks accounts | 60 s | 2 | 15 min | 1 day | when it succeeds |
///
/// A margin is added to the time that a server names, which is never shortened. A wait that the
/// server did not name is extended by up to a quarter. The margin and the extension depend on a
/// key, so that many operations do not retry at the same instant and a restart changes nothing.
///
/// Retries without a wait have no rule. These are a request that is repeated at once within one
/// call (for example because a connection was closed between two uses, or a token has expired), and
/// a write that is repeated after a conflict with another process. Periodic work has no rule
/// either: the heartbeats of a lease, the polls of a feed.
package struct RetryRule: Equatable, Sendable {
    /// The cause of a failure that is retried; the raw value is a label for metrics.
    package enum Cause: String, CaseIterable, Sendable {
        case tooBusy = "too-busy"
        case serverTrouble = "server-trouble"
        case unreachable
        case limit
        case conflict
        case credentials
        case other
    }

    /// The wait after the first failure, in seconds.
    package let firstWait: TimeInterval
    /// The factor by which the wait grows with each further failure.
    package let factor: Double
    /// The longest wait, in seconds, without its jitter.
    package let longestWait: TimeInterval
    /// The longest wait that a server may ask for, in seconds, without the margin.
    package let longestServerWait: TimeInterval
    /// The number of failures after which the retries end; nil for no limit.
    package let maximumFailures: Int?
    /// The time, in seconds after the first failure, after which the retries end; nil for no limit.
    package let timeLimit: TimeInterval?

    /// The maximum share of a wait by which it is extended.
    private static let maximumExtension = 0.25
    /// Bounds of the margin added to a server's time: at least `least` seconds, and at most `most`
    /// seconds and a `share` of the wait.
    private static let margin: (least: TimeInterval, most: TimeInterval, share: Double) = (
        2, 5, 0.1
    )

    init(
        firstWait: TimeInterval, factor: Double = 2, longestWait: TimeInterval,
        longestServerWait: TimeInterval = 3_600,
        maximumFailures: Int? = nil, timeLimit: TimeInterval? = nil
    ) {
        self.firstWait = firstWait
        self.factor = factor
        self.longestWait = longestWait
        self.longestServerWait = longestServerWait
        self.maximumFailures = maximumFailures
        self.timeLimit = timeLimit
    }

    // MARK: The next time

    /// Returns the time of the next attempt after a number of consecutive failures.
    ///
    /// - Parameters:
    ///   - failures: The number of failures; a number below one counts as one.
    ///   - key: Identifies the operation, such as the id of an action or the name of a feed;
    ///     determines the jitter.
    ///   - retryAfter: The retry time that the server named; limited by the rule.
    ///   - now: The present.
    /// - Returns: The time of the next attempt, never earlier than the rule's own wait.
    package func next(after failures: Int, key: String, retryAfter: Date? = nil, now: Date) -> Date
    {
        let earlierFailures = Double(min(max(failures, 1), 64) - 1)
        let wait = min(firstWait * pow(factor, earlierFailures), longestWait)
        return next(in: wait, key: key, retryAfter: retryAfter, now: now)
    }

    /// Returns the time of the next attempt without a count of failures: the wait is half of the
    /// time since the first request, within the rule.
    ///
    /// - Parameter age: Seconds since the request.
    package func next(afterAge age: TimeInterval, key: String, retryAfter: Date? = nil, now: Date)
        -> Date
    {
        next(
            in: min(max(age / 2, firstWait), longestWait), key: key, retryAfter: retryAfter,
            now: now)
    }

    private func next(in wait: TimeInterval, key: String, retryAfter: Date?, now: Date) -> Date {
        let ownTime = now + wait * (1 + Self.jitter(of: key) * Self.maximumExtension)
        guard let serverTime = honoured(retryAfter, key: key, now: now) else { return ownTime }
        return max(ownTime, serverTime)
    }

    /// Returns the time at which to continue after a server named a time: that time and a margin,
    /// which depends on `key`.
    ///
    /// The margin is needed because all clients return at the exact second at which a limit ends,
    /// and because clocks differ.
    ///
    /// - Parameter retryAfter: The retry time that the server named.
    /// - Returns: A time at least two seconds after the named one, and at most five seconds and a
    ///   tenth of the wait after it; nil if the server named no time, a past one or an implausible
    ///   one.
    package func honoured(_ retryAfter: Date?, key: String, now: Date) -> Date? {
        guard let requestedWait = retryAfter?.timeIntervalSince(now), requestedWait > 0,
            requestedWait <= Self.longestPlausibleWait
        else {
            return nil
        }
        let serverWait = min(requestedWait, longestServerWait)
        let longestMargin = Self.margin.most + Self.margin.share * serverWait
        let margin =
            Self.margin.least + Self.jitter(of: key) * (longestMargin - Self.margin.least)
        return now + serverWait + margin
    }

    /// Whether to give up after a number of failures, or a time after the first one.
    package func isOver(after failures: Int = 0, since first: Date? = nil, now: Date = .distantPast)
        -> Bool
    {
        if let maximumFailures, failures >= maximumFailures { return true }
        guard let timeLimit, let first else { return false }
        return now.timeIntervalSince(first) >= timeLimit
    }

    /// The longest plausible wait that a server can name, in seconds: no limit lasts longer than a
    /// month.
    package static let longestPlausibleWait: TimeInterval = 32 * day

    /// A number from 0 to less than 1 that is always the same for the same key.
    private static func jitter(of key: String) -> Double {
        let hash = key.utf8.reduce(UInt32(0)) { hash, byte in hash &* 31 &+ UInt32(byte) }
        return Double(hash % 1_000) / 1_000
    }
}

/// The rules in the table above ``RetryRule``.
extension RetryRule {
    /// A pass of a worker, and its start.
    package static let work = RetryRule(firstWait: 5, longestWait: 300, longestServerWait: day)
    /// The connection to the database at the start of a process; the waits are short, because a
    /// failover lasts seconds.
    package static let opening = RetryRule(
        firstWait: 2, longestWait: 4, longestServerWait: day, timeLimit: 300)
    /// The login at a database that accepted the running worker before.
    package static let databaseLogin = RetryRule(
        firstWait: 5, longestWait: 300, longestServerWait: day, timeLimit: 900)

    /// An action after a request that certainly had no effect.
    package static func action(_ cause: Cause) -> RetryRule {
        switch cause {
        case .tooBusy: RetryRule(firstWait: 60, longestWait: 900)
        case .unreachable: RetryRule(firstWait: 15, longestWait: 300)
        case .limit: RetryRule(firstWait: 900, longestWait: 21_600, longestServerWait: day)
        case .conflict: RetryRule(firstWait: 5, longestWait: 60, longestServerWait: 300)
        case .serverTrouble, .credentials, .other: RetryRule(firstWait: 30, longestWait: 900)
        }
    }

    /// The look-up of an action whose answer was lost.
    package static func lookUp(_ cause: Cause) -> RetryRule {
        action(cause).ending(after: lookUpTimeLimit)
    }

    /// Seconds after a request until the look-ups of its lost answer end.
    package static let lookUpTimeLimit: TimeInterval = day

    /// The undo of an action.
    package static func undo(_ cause: Cause) -> RetryRule { action(cause).ending(after: 7 * day) }

    /// An item of a feed that cannot be decided yet.
    package static let item = RetryRule(
        firstWait: 120, factor: 3, longestWait: 6 * 3_600, timeLimit: day)
    /// A page of a feed that the server refuses; it is requested at each poll.
    package static let page = RetryRule(firstWait: 0, longestWait: 0, timeLimit: 1_200)
    /// A message to the operator.
    package static let notice = RetryRule(firstWait: 60, longestWait: 3_600, maximumFailures: 8)
    /// Credentials that all work needs: the five waits together are shorter than the time that a
    /// slot may be late.
    package static let credentials = RetryRule(firstWait: 30, longestWait: 240, maximumFailures: 6)
    /// Credentials without which other work can continue.
    package static let spareCredentials = RetryRule(firstWait: 30, longestWait: 3_600)
    /// Credentials of a login for which a person is waiting.
    package static let awaitedCredentials = RetryRule(
        firstWait: 30, longestWait: 240, maximumFailures: 1)
    /// A network whose connection was lost together with the answer to a change.
    package static let silence = RetryRule(firstWait: 15, longestWait: 300)
    /// An account whose network temporarily refuses requests.
    package static let pause = RetryRule(
        firstWait: 60, factor: 1, longestWait: 60, longestServerWait: day)
    /// Logging in with a password, on a network that locks accounts after too many logins.
    package static let logIn = RetryRule(firstWait: 60, longestWait: 900, longestServerWait: day)

    private static let day: TimeInterval = 86_400

    private func ending(after timeLimit: TimeInterval) -> RetryRule {
        RetryRule(
            firstWait: firstWait, factor: factor, longestWait: longestWait,
            longestServerWait: longestServerWait, timeLimit: timeLimit)
    }
}
