import Foundation
import Logging
import Networks

/// When the feeds of one account may be looked at again.
///
/// All feeds that are read with one token share it, for most servers count them together.
final class AccountPacing: @unchecked Sendable {
    // Sendable because every access to a variable holds the lock.

    /// The part of the server's share that is left for what cannot wait, such as publishing.
    private static let reserve = 0.1
    /// No announced period is waited for longer than this, in seconds: clocks and headers may be wrong.
    private static let longestPeriod: TimeInterval = 900
    /// How long to wait where the network does not say: seconds.
    private static let usualPause: TimeInterval = 3_600
    private static let shortestPause: TimeInterval = 60

    private let account: String
    private let countsEachFeed: Bool
    private let logger: Logger
    private let lock = NSLock()
    private var accountPause: Pause?
    private var feedPauses: [Feed: Pause] = [:]
    private var announced: [NetworkError.Code: Date] = [:]

    /// - Parameters:
    ///   - account: What the log calls the account.
    ///   - countsEachFeed: Whether the network has a share of requests for each feed, as X does.
    ///   - logger: Told once of every pause.
    init(account: String, countsEachFeed: Bool = false, logger: Logger) {
        self.account = account
        self.countsEachFeed = countsEachFeed
        self.logger = logger
    }

    /// Until when a feed must not be looked at; nil if it may be now.
    func pause(of feed: Feed, at now: Date) -> Date? {
        lock.withLock { [accountPause, feedPauses[feed]].compactMap { $0?.end(at: now) }.max() }
    }

    /// Slows the account down before the server's share is used up.
    ///
    /// - Parameters:
    ///   - limit: What the last answer said is left; nil if it said nothing.
    ///   - feed: What was asked for.
    ///   - now: When it came.
    func note(_ limit: RateLimit?, from feed: Feed, at now: Date) {
        guard let remaining = limit?.remaining, let reset = limit?.resetsAt, reset > now else { return }
        guard Double(remaining) < Double(limit?.limit ?? 100) * Self.reserve else { return }
        let until = min(reset, now + Self.longestPeriod)
        let isNew = lock.withLock { () -> Bool in
            let known = (countsEachFeed ? feedPauses[feed] : accountPause)?.end(at: now)
            guard until > known ?? now else { return false }
            let pause = Pause(begun: now, until: until)
            if countsEachFeed { feedPauses[feed] = pause } else { accountPause = pause }
            return known == nil
        }
        guard isNew else { return }
        logger.info(
            "Account waits for its share of requests",
            metadata: [
                LogKeys.account: "\(account)", LogKeys.feed: "\(feed.rawValue)", LogKeys.until: "\(until)",
            ])
    }

    /// Makes a pause of an error that only time or money mends.
    ///
    /// The log tells it once, however many feeds meet it. What a single feed may cost pauses that feed alone: another
    /// one may be cheaper, or have a share of its own.
    ///
    /// - Returns: False if the error is not of this kind.
    func absorbs(_ error: NetworkError, from feed: Feed, at now: Date) -> Bool {
        guard [.overBudget, .capReached, .creditsDepleted].contains(error.code) else { return false }
        let until = max(error.retryAfter ?? now + Self.usualPause, now + Self.shortestPause)
        let isNew = lock.withLock { () -> Bool in
            let pause = Pause(begun: now, until: until)
            if error.code == .overBudget {
                feedPauses[feed] = pause
            } else if until > accountPause?.end(at: now) ?? now {
                accountPause = pause
            }
            defer { announced[error.code] = until }
            return announced[error.code] != until
        }
        guard isNew else { return true }
        logger.log(
            level: error.code == .overBudget ? .info : .warning, "Account pauses",
            metadata: [
                LogKeys.account: "\(account)", LogKeys.feed: "\(feed.rawValue)", LogKeys.error: "\(error)",
                LogKeys.until: "\(until)",
            ])
        return true
    }
}
