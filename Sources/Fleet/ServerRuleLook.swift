import Foundation
import Logging
import Mirroring
import Networks
import Posts
import Synchronization

/// Reads once a week the rules of the bot's server that concern bots, so that `status` reports a
/// change.
final class ServerRuleLook: Sendable {
    /// Seconds until a retry after the server could not be read.
    private static let retry: TimeInterval = 86_400

    private let rules: ServerRuleTable
    private let account: AccountID
    private let bot: AccountGate
    private let clock: any WallClock
    private let logger: Logger
    /// When the next reading is due; nil before the table was read.
    private let nextReading = Mutex<Date?>(nil)

    init(of mirror: HumanMirror, account: AccountID, bot: AccountGate) {
        rules = mirror.serverRules
        self.account = account
        self.bot = bot
        clock = mirror.clock
        logger = mirror.logger
    }

    /// Reads the server if a week has passed since the last time.
    ///
    /// - Throws: The store's error. After an error of the network, it tries again the next day.
    func lookIfDue() async throws {
        let now = clock.now
        // A time more than a week ahead means that the clock was set back.
        if let nextReading = nextReading.withLock(\.self), now < nextReading,
            nextReading <= now + ServerRuleTable.interval
        {
            return
        }
        if let lastReading = try await rules.lastLook(of: account), lastReading <= now,
            now < lastReading + ServerRuleTable.interval
        {
            return nextReading.withLock { $0 = lastReading + ServerRuleTable.interval }
        }
        do {
            let texts = try await ServerRuleReader.read(bot)
            let noted = try await rules.note(texts, of: account, isShown: false, now: now)
            nextReading.withLock { $0 = now + ServerRuleTable.interval }
            guard noted.hasNews else { return }
            logger.notice("Rules of the bot's server are new or changed; doctor shows them")
        } catch let error as NetworkError {
            nextReading.withLock { $0 = now + Self.retry }
            logger.debug(
                "Rules of the bot's server not read", metadata: [LogKeys.error: "\(error)"])
        }
    }
}
