import Foundation
import Logging
import Networks

/// Whether a network still takes the credentials of one account.
///
/// A refusal may be a mistake of the server, or of what stands before it. So the first one only makes a pause, in which
/// nothing is asked. After it the credentials are verified, and after every further refusal again, with growing waits.
/// A success of what was refused ends the doubt.
final class AccountStanding: @unchecked Sendable {
    // Sendable because every access to `doubt` holds the lock.

    /// How often the credentials may be refused before they are given up.
    enum Patience: Sendable {
        /// Not even once: somebody waits for the answer.
        case none
        /// For some minutes, in which a slot does not expire yet.
        case minutes
        /// Without end: there is enough to do without the account.
        case endless
    }

    /// Whether a call may be made.
    enum Admission {
        case granted
        /// Once the account was verified; this caller is to do it, and nobody else.
        case afterVerification
        case refused(NetworkError)
    }

    private struct Doubt {
        /// What has to succeed for the doubt to end.
        var operations: Set<NetworkError.Operation>
        var error: NetworkError
        var refusals: Int
        var pause: Pause
        /// The network took the credentials after the pause, but nobody knows yet whether for what it refused.
        var isVerified = false
        var isVerifying = false
    }

    /// After each refusal, in seconds; the first five are twelve and a half minutes.
    private static let waits: [TimeInterval] = [30, 60, 120, 240, 300, 900, 1_800, 3_600]
    /// The refusal after which a patience of minutes ends.
    private static let lastRefusal = 6
    /// How long others wait while one verifies: seconds.
    private static let verifying: TimeInterval = 5

    private let account: String
    private let patience: Patience
    private let logger: Logger
    private let lock = NSLock()
    private var doubt: Doubt?

    /// - Parameters:
    ///   - account: What the log calls the account.
    ///   - patience: When to give the credentials up.
    ///   - logger: Told of every refusal and of its end.
    init(account: String, patience: Patience, logger: Logger) {
        self.account = account
        self.patience = patience
        self.logger = logger
    }

    /// The last refusal that nothing has taken back; nil if there is none.
    var refusal: NetworkError? { lock.withLock { doubt?.error } }

    /// Fails once the credentials are given up.
    func check() throws(UnusableAccount) {
        if let cause = lock.withLock({ doubt.flatMap { isOver($0) ? $0.error : nil } }) {
            throw UnusableAccount(cause: cause)
        }
    }

    /// Until when no call may be made; nil if one may, perhaps after verifying.
    func pause(at now: Date) -> Date? { lock.withLock { doubt?.pause.end(at: now) } }

    func admission(at now: Date) -> Admission {
        lock.withLock {
            guard var doubt, !doubt.isVerified else { return .granted }
            if let end = doubt.pause.end(at: now) { return .refused(Self.error(doubt.error, until: end)) }
            if doubt.isVerifying { return .refused(Self.error(doubt.error, until: now + Self.verifying)) }
            doubt.isVerifying = true
            self.doubt = doubt
            return .afterVerification
        }
    }

    /// Notes that the network took the credentials.
    ///
    /// - Returns: Whether that ended a doubt.
    func accept(_ operation: NetworkError.Operation) -> Bool {
        let isEnded = lock.withLock { () -> Bool in
            guard var doubt else { return false }
            if operation == .verifyAccount { (doubt.isVerified, doubt.isVerifying) = (true, false) }
            doubt.operations.remove(operation)
            self.doubt = doubt.operations.isEmpty ? nil : doubt
            return doubt.operations.isEmpty
        }
        if isEnded { logger.notice("Credentials accepted again", metadata: [LogKeys.account: "\(account)"]) }
        return isEnded
    }

    /// Notes that the network refused the credentials.
    ///
    /// What was under way at the time of a refusal, and is refused too, counts as one with it.
    ///
    /// - Returns: The error with when to try again, and whether a doubt begins with it.
    func refuse(
        _ error: NetworkError, _ operation: NetworkError.Operation, at now: Date
    ) -> (error: NetworkError, isFirst: Bool) {
        let (noted, isNew) = lock.withLock { () -> (Doubt, Bool) in
            let known = doubt
            var noted =
                known ?? Doubt(operations: [], error: error, refusals: 0, pause: Pause(begun: now, until: now))
            noted.operations.insert(operation)
            let isNew = known == nil || noted.isVerified || operation == .verifyAccount
            if isNew {
                noted.refusals += 1
                noted.error = error
                let wait = Self.waits[min(noted.refusals, Self.waits.count) - 1]
                noted.pause = Pause(begun: now, until: now + wait)
                (noted.isVerified, noted.isVerifying) = (false, false)
            }
            doubt = noted
            return (noted, isNew)
        }
        if isNew {
            logger.warning(
                "Credentials refused, verifying them again",
                metadata: [
                    LogKeys.account: "\(account)", LogKeys.error: "\(error)", LogKeys.attempt: "\(noted.refusals)",
                    LogKeys.until: "\(noted.pause.until)",
                ])
        }
        return (Self.error(error, until: noted.pause.until), isNew && noted.refusals == 1)
    }

    /// Notes that the network could not be asked whether it takes the credentials.
    func verificationFailed(at now: Date) {
        lock.withLock {
            guard doubt?.isVerifying == true else { return }
            doubt?.isVerifying = false
            doubt?.pause = Pause(begun: now, until: now + Self.waits[0])
        }
    }

    private func isOver(_ doubt: Doubt) -> Bool {
        switch patience {
        case .none: true
        case .minutes: doubt.refusals >= Self.lastRefusal
        case .endless: false
        }
    }

    private static func error(_ error: NetworkError, until: Date) -> NetworkError {
        var error = error
        error.retryAfter = until
        error.outcome = .notSent
        return error
    }
}

/// The standings of both accounts.
struct Standings: Sendable {
    let bot: AccountStanding
    let human: AccountStanding

    /// - Parameters:
    ///   - patience: When the bot's credentials are given up. The human's never are: the bot can do without.
    ///   - logger: Told of every refusal.
    init(bot patience: AccountStanding.Patience = .minutes, logger: Logger) {
        bot = AccountStanding(account: AccountRole.bot.rawValue, patience: patience, logger: logger)
        human = AccountStanding(account: AccountRole.human.rawValue, patience: .endless, logger: logger)
    }
}
