import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import Synchronization

/// Checks the state of the human's account once a day, and stores it for the mirror.
///
/// The stored state may hold the mirror back, see `OutboxStore`. Reports show it to people as an
/// obstacle.
final class StandingLook: Sendable {
    /// Seconds between two checks.
    static let interval: TimeInterval = 86_400
    /// Seconds between two checks while the network refuses the human's credentials or the mirror
    /// is held, and after a failed check.
    static let shortInterval: TimeInterval = 3_600
    /// The most copies about which a person is asked.
    private static let mostCopies = 100_000

    private let table: MirrorTable
    private let account: AccountID
    private let human: AccountGate
    private let store: OutboxStore
    private let clock: any WallClock
    private let logger: Logger
    private let lastCheck: Mutex<Check>

    private struct Check {
        /// When the account was last checked; before the first check, the time of activation.
        var date: Date
        /// Whether the state of the account held the mirror at that time.
        var heldMirror: Bool
    }

    /// - Parameters:
    ///   - account: The human's account.
    ///   - lastCheck: When the account was last checked; before the first check, when the mirror
    ///     was activated.
    ///   - holdsMirror: Whether the state of the account holds the mirror.
    init(
        of mirror: HumanMirror, account: AccountID, human: AccountGate, store: OutboxStore,
        lastCheck: Date, holdsMirror: Bool
    ) {
        table = mirror.table
        clock = mirror.clock
        logger = mirror.logger
        self.account = account
        self.human = human
        self.store = store
        self.lastCheck = Mutex(Check(date: lastCheck, heldMirror: holdsMirror))
    }

    /// Checks the account if that is due.
    ///
    /// - Throws: The store's error. If the network does not answer, it tries again later.
    func lookIfDue() async throws {
        let now = clock.now
        let previous = lastCheck.withLock(\.self)
        let wait = human.refusal == nil && !previous.heldMirror ? Self.interval : Self.shortInterval
        // A previous check in the future means that the clock was set back; then the check is due,
        // too.
        guard !(0..<wait).contains(now.timeIntervalSince(previous.date)) else { return }
        do {
            let standing = try await look(at: now)
            lastCheck.withLock { $0 = Check(date: now, heldMirror: standing?.isHold == true) }
        } catch let error as NetworkError {
            // The next check is then due after the short interval.
            lastCheck.withLock { $0.date = now - wait + Self.shortInterval }
            logger.debug(
                "State of the human's account not read", metadata: [LogKeys.error: "\(error)"])
        } catch is SeenChanged {
            // A person has decided meanwhile, which the next check takes into account.
        }
    }

    /// Checks the account, and stores its state.
    ///
    /// - Returns: The new state; nil for an active account.
    private func look(at now: Date) async throws -> HumanStanding? {
        let record = try await table.record()
        // The mirror may have another human account by now.
        guard record.human?.canonical == account.canonical else { return nil }
        let reported = try await human.standing(of: account)
        let standing = try await table.noteStanding(
            reported, seen: HumanStanding.seen(record.standing), now: now)
        if standing != record.standing {
            let description = standing?.words ?? "the human's account is active again"
            logger.warning(
                "State of the human's account changed", metadata: [LogKeys.reason: "\(description)"]
            )
        }
        if let standing, standing.isToBeFollowed { try await askAboutCopies(standing, now: now) }
        return standing
    }

    /// Proposes to undo all copies of the human's posts, which a person must decide.
    private func askAboutCopies(_ standing: HumanStanding, now: Date) async throws {
        let copies = try await store.undoable([.post, .reply], since: nil, limit: Self.mostCopies)
        try await store.leaveToPerson(copies.map(\.id), reason: .sourceGone, logger)
        try await table.noteAsked(about: standing, now: now)
    }
}
