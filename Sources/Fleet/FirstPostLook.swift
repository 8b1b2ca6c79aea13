import Control
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts

/// Checks without a login whether the bot's first post is visible on its server, and pauses the
/// mirror if it is not.
///
/// WordPress accepts an unlisted post and shows it only to its author. The pause ends when a person
/// resumes the mirror.
struct FirstPostLook: Sendable {
    let mirror: HumanMirror
    let account: AccountID
    let bot: AccountGate
    let clock: any WallClock
    let logger: Logger
    private let state = LookState()

    /// Checks a sent post, unless an earlier check had a result.
    ///
    /// - Throws: The store's error. After an error of the network, the check is repeated with the
    ///   next post.
    func look(at action: Action) async throws {
        guard !state.isOver, action.kind == .post, action.state == .done,
            action.wording?.visibility.isOpen == true,
            let address = action.remoteAddress
        else { return }
        // The stored result is a double optional: an inner nil means "unknown", and the post is
        // checked again.
        let findings = try await mirror.probes.findings(of: account)
        if let finding = findings?.kept[.showsUnlisted], finding != nil { return state.end() }
        let isShown: Bool?
        do {
            isShown = try await bot.isShownToAnybody(address)
            // A server may delay a new post even for its author; then the next post is checked.
            if isShown == false, try await bot.lookUp(address) == nil { return }
        } catch is NetworkError {
            return
        }
        // If the visibility is unknown, the check is repeated with the next post.
        guard let isShown else { return }
        try await mirror.probes.note([.showsUnlisted: isShown], of: account, now: clock.now)
        state.end()
        guard !isShown else { return }
        logger.warning("Mirror pauses, because its first post cannot be seen without a login")
        try await mirror.table.pause(
            until: nil, reason: Self.reason, code: .firstPostHidden, now: clock.now)
    }

    /// The reason of the pause, which `status` shows.
    static let reason = """
        who has no login is not shown the bot's first post, although it was sent for everybody; look at the bot's page \
        in a browser without a login, and run mirror-bot resume if that is intended
        """
}

/// Whether the check was made; never reset.
private final class LookState: @unchecked Sendable {
    // Sendable because every access to `isMade` holds the lock.
    private let lock = NSLock()
    private var isMade = false

    var isOver: Bool { lock.withLock { isMade } }

    func end() { lock.withLock { isMade = true } }
}
