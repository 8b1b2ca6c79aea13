import Foundation
import Posts

/// Keeps an account from being locked for logging in too often: 30 times in five minutes and 300 times a day are
/// allowed.
struct LoginBrake {
    /// Between two log-ins that succeed, in seconds; 288 a day.
    private static let pause: TimeInterval = 300
    /// After a first log-in that got no clear answer, and at most, in seconds.
    private static let waits: ClosedRange<TimeInterval> = 60...900

    /// How long nobody asks again after a no that a person has to mend, in seconds: it may have been a mistake.
    private static let verdictLasts: TimeInterval = 25

    private var verdict: (error: NetworkError, since: Date)?
    private var lastFailure: (error: NetworkError, since: Date, until: Date)?
    private var failures = 0
    private var lastLogin: Date?
    /// What the last log-in gave, until a server accepts it.
    private var unconfirmed: BlueskySession?

    /// - Throws: ``NetworkError`` where logging in is pointless, or must wait.
    func check(at time: Date) throws(NetworkError) {
        // A clock that was set back ends every wait: how long it still is would be anybody's guess.
        if let verdict, time >= verdict.since, time < verdict.since + Self.verdictLasts { throw verdict.error }
        if let lastFailure, time >= lastFailure.since, time < lastFailure.until { throw lastFailure.error }
    }

    /// - Throws: ``NetworkError`` where a session must not be replaced by a new one, or not yet.
    func check(_ refused: BlueskySession, _ refusal: BlueskyRefusal, at time: Date) throws(NetworkError) {
        if unconfirmed?.isSame(as: refused) == true {
            var error = refusal.error
            error.detail = "the server refuses the session that it has just given"
            throw error
        }
        guard !refusal.saysExpired, let lastLogin, time < lastLogin + Self.pause, time >= lastLogin else { return }
        var error = refusal.error
        error.code = .unavailable
        error.detail = "the session ended soon after logging in"
        error.retryAfter = lastLogin + Self.pause
        throw error
    }

    mutating func confirm(_ accepted: BlueskySession) {
        if unconfirmed?.isSame(as: accepted) == true { unconfirmed = nil }
    }

    mutating func note(_ session: BlueskySession, at time: Date) {
        (verdict, lastFailure, failures) = (nil, nil, 0)
        (unconfirmed, lastLogin) = (session, time)
    }

    /// Remembers that logging in failed.
    ///
    /// - Returns: The error, with when to try again.
    mutating func note(_ error: NetworkError, at time: Date) -> NetworkError {
        // What failed after the server gave a session is no failure of logging in, and what did not leave did no harm.
        guard error.outcome != .notSent || error.stopsActor else { return error }
        if error.stopsActor {
            verdict = (error, time)
            return error
        }
        failures += 1
        let wait = min(Self.waits.lowerBound * pow(2, Double(min(failures, 10) - 1)), Self.waits.upperBound)
        var error = error
        error.retryAfter = max(error.retryAfter ?? time, time + wait)
        lastFailure = (error, time, error.retryAfter ?? time)
        return error
    }
}
