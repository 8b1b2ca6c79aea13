package import Foundation
import Logging
package import Mirroring
package import Networks
import Outbox
package import Posts
import ServiceLifecycle
import Settings

/// Takes back or finishes the effects of commands that were cut.
///
/// Deleting twice and writing the same profile twice do no harm, so nothing depends on which
/// process is faster. A request whose answer was lost may still act until its deadline and a margin
/// have passed; until then an effect stays open, and its posts are looked for once more.
package struct EffectRecovery: Sendable {
    /// The outcome of one look at the effects.
    package struct Round: Sendable {
        /// How many are over.
        package var finished = 0
        /// The addresses of posts that could not be deleted.
        package var left: [String] = []
        /// Why something has to wait; nil if nothing has to.
        package var obstacle: NetworkError?

        package init() {}
    }

    /// Added to a request's deadline before its outcome counts as final, in seconds.
    private static let margin: TimeInterval = 60
    /// How long before the beginning of a probe its posts are looked for, in seconds, for clocks
    /// that differ.
    private static let clockMargin: TimeInterval = 600

    private let mirror: HumanMirror
    private let network: any SocialNetwork
    private let account: AccountID

    /// - Parameters:
    ///   - network: The bot's, with credentials that are known to open `account`.
    ///   - account: The bot's account.
    package init(_ mirror: HumanMirror, network: any SocialNetwork, account: AccountID) {
        self.mirror = mirror
        self.network = network
        self.account = account.canonical
    }

    private var now: Date { mirror.clock.now }
    private var logger: Logger { mirror.logger }

    /// When a request that leaves now, and whatever it does, is over.
    var patience: TimeInterval { network.capabilities.requestDeadline.timeInterval + Self.margin }

    /// When an effect is looked at next; nil if there is none.
    ///
    /// - Throws: The store's error.
    package func next() async throws -> Date? { try await mirror.effects.next(now: now) }

    /// Takes back or finishes what is due.
    ///
    /// - Parameter takingOver: Whether effects that are not due are taken from the process that
    ///   holds them, as for a person who runs a command now; that process then changes no row more.
    /// - Returns: The outcome; a network that refuses or fails is no error.
    /// - Throws: The store's error; `CancellationError`.
    package func carryOut(takingOver: Bool = false) async throws -> Round {
        var round = Round()
        for effect in try await mirror.effects.all() {
            // What is not begun is left to the next one.
            if Task.isCancelled || Task.isShuttingDownGracefully { break }
            guard !effect.isForgotten(at: now) else {
                try await mirror.effects.end(effect)
                continue
            }
            guard takingOver || effect.isDue(at: now) else { continue }
            guard var held = try await mirror.effects.take(effect, next: now + patience) else {
                continue
            }
            guard held.account == account.reference else {
                held.next = nil
                held.error = "another account of the bot did it, so it is out of reach"
                try await note(held)
                continue
            }
            switch held.kind {
            case .probe: try await takeBack(held, in: &round)
            case .profile: try await finish(held, in: &round)
            }
        }
        return round
    }

    // MARK: Posts of a probe

    /// Deletes what a probe published, and nothing else.
    ///
    /// - Parameter effect: Held by the caller. If another one has taken it up meanwhile, its posts
    ///   are deleted all the same.
    /// - Throws: The store's error; `CancellationError`.
    func takeBack(_ effect: Effect, in round: inout Round) async throws {
        var effect = effect
        var failure: NetworkError?
        guard ServerProbe.isMark(effect.mark) else {
            effect.next = nil
            effect.error = "its mark is not one of this program, so its posts cannot be recognized"
            return try await note(effect)
        }
        // An answer before what it answers: some servers delete what is below a post with it.
        let known = [effect.answer, effect.post].compactMap(\.self)
        var addresses = known
        do {
            let own = try await network.ownPosts(since: effect.begun - Self.clockMargin)
            let found = own.filter { isOurs($0, effect) }.map(\.address).filter {
                !known.contains($0)
            }
            // At most one request has no known outcome, and this is what it made.
            if !found.isEmpty { effect.sent = nil }
            addresses = found + known
        } catch let error as NetworkError {
            failure = error
        }
        for address in addresses {
            do {
                try await delete(address, of: effect)
                if effect.answer == address { effect.answer = nil }
                if effect.post == address { effect.post = nil }
            } catch let error as NetworkError {
                round.left.append(address)
                failure = failure ?? error
            }
        }
        if let failure { return try await putOff(effect, failure, in: &round) }
        try await settle(effect, in: &round)
    }

    /// Whether a post is one of the probe's.
    private func isOurs(_ post: ObservedPost, _ effect: Effect) -> Bool {
        post.author.id.canonical == account && post.post.text.contains(effect.mark)
    }

    private func delete(_ address: String, of effect: Effect) async throws {
        // A server's word alone is not enough to delete something.
        if let post = try await network.lookUp(address), !isOurs(post, effect) {
            logger.warning("Post not deleted, for it is not one of the probe's")
            return
        }
        _ = try await network.delete(address) { isOurs($0, effect) }
    }

    /// Ends the effect, unless a request may still act whose answer was lost.
    private func settle(_ effect: Effect, in round: inout Round) async throws {
        var effect = effect
        effect.error = nil
        if let sent = effect.sent {
            let age = now.timeIntervalSince(sent)
            if age < patience {
                // A clock that was set back does not tell how long it was.
                if age < 0 { effect.sent = now }
                effect.next = now + patience - max(0, age)
                return try await note(effect)
            }
        }
        try await mirror.effects.end(effect)
        round.finished += 1
        logger.info("Effect over", metadata: metadata(of: effect))
    }

    // MARK: A change of the profile

    private func finish(_ effect: Effect, in round: inout Round) async throws {
        do {
            try await mirror.finishProfile(effect.mark)
        } catch let error as NetworkError where !error.dropsItem {
            return try await putOff(effect, error, in: &round)
        } catch let error where error is NetworkError || error is ConfigurationError {
            // The next mirror-bot profile shows what the profile says.
            logger.warning(
                "Change of the profile not finished", metadata: [LogKeys.error: "\(error)"])
        }
        try await mirror.effects.end(effect)
        round.finished += 1
        logger.info("Effect over", metadata: metadata(of: effect))
    }

    // MARK: What has to wait

    /// Stores why an effect is still open, and when it is tried again; never once a server refuses
    /// for good.
    private func putOff(_ effect: Effect, _ error: NetworkError, in round: inout Round) async throws
    {
        var effect = effect
        let rule = RetryRule.undo(error.retryCause)
        effect.attempts += 1
        effect.error = error.description
        effect.next =
            error.dropsItem || rule.isOver(since: effect.begun, now: now)
            ? nil
            : rule.next(after: effect.attempts, key: effect.id, asked: error.retryAfter, now: now)
        round.obstacle = round.obstacle ?? error
        try await note(effect)
        var metadata = metadata(of: effect)
        metadata[LogKeys.error] = "\(error)"
        if let next = effect.next {
            metadata[LogKeys.until] = "\(next.rfc3339)"
            logger.notice("Effect not over yet", metadata: metadata)
        } else {
            logger.warning("Effect not taken back, and not tried again", metadata: metadata)
        }
    }

    /// Stores an effect, unless another one has taken it up.
    private func note(_ effect: Effect) async throws {
        do { try await mirror.effects.note(effect) } catch is EffectTaken {}
    }

    private func metadata(of effect: Effect) -> Logger.Metadata {
        [LogKeys.effect: "\(effect.kind.rawValue)"]
    }
}
