package import Foundation
import Localization
import Logging
package import Mirroring
package import Networks
import Outbox
package import Posts
import ServiceLifecycle
import Settings

/// Undoes or completes the effects of interrupted commands.
///
/// Deleting twice and writing the same profile twice are harmless, so it does not matter which
/// process is faster. A request whose answer was lost may still act until its deadline and a margin
/// have passed; until then an effect stays open, and its posts are searched again.
package struct EffectRecovery: Sendable {
    /// The outcome of one pass over the effects.
    package struct Round: Sendable {
        /// The number of completed effects.
        package var finished = 0
        /// The addresses of posts that could not be deleted.
        package var left: [String] = []
        /// The error because of which effects have to wait; nil for none.
        package var obstacle: NetworkError?

        package init() {}
    }

    /// Seconds after a request's deadline until its outcome counts as final.
    private static let margin: TimeInterval = 60
    /// Seconds before the beginning of a probe from which on its posts are searched, because clocks
    /// differ.
    private static let clockMargin: TimeInterval = 600

    private let mirror: HumanMirror
    private let network: any SocialNetwork
    private let account: AccountID

    /// - Parameters:
    ///   - network: The bot's network, with credentials verified for `account`.
    ///   - account: The bot's account.
    package init(_ mirror: HumanMirror, network: any SocialNetwork, account: AccountID) {
        self.mirror = mirror
        self.network = network
        self.account = account.canonical
    }

    private var now: Date { mirror.clock.now }
    private var logger: Logger { mirror.logger }

    /// Seconds after which a request that is sent now, and its effects, are certainly over.
    var requestLifetime: TimeInterval {
        network.capabilities.requestDeadline.timeInterval + Self.margin
    }

    /// When an effect is examined next; nil if there is none.
    ///
    /// - Throws: The store's error.
    package func next() async throws -> Date? { try await mirror.effects.next(now: now) }

    /// Undoes or completes the due effects.
    ///
    /// - Parameter takingOver: Whether to take over effects that are not due yet from the processes
    ///   that hold them, for a person who runs a command now. Such a process then no longer changes
    ///   the effect's row.
    /// - Returns: The outcome; a network's refusal or failure is not thrown.
    /// - Throws: The store's error; `CancellationError`.
    package func carryOut(takingOver: Bool = false) async throws -> Round {
        var round = Round()
        for effect in try await mirror.effects.all() {
            // The remaining effects are left to the next pass.
            if Task.isCancelled || Task.isShuttingDownGracefully { break }
            guard !effect.isForgotten(at: now) else {
                try await mirror.effects.end(effect)
                continue
            }
            guard takingOver || effect.isDue(at: now) else { continue }
            guard var held = try await mirror.effects.take(effect, next: now + requestLifetime)
            else {
                continue
            }
            guard held.account == account.reference else {
                held.next = nil
                // Stored in English, and shown in the reader's language.
                held.error =
                    LocalizedText("another account of the bot did it, so it is out of reach").key
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

    /// Deletes the posts of a probe, and nothing else.
    ///
    /// - Parameter effect: Held by the caller. If another process has taken it over meanwhile, its
    ///   posts are deleted nevertheless.
    /// - Throws: The store's error; `CancellationError`.
    func takeBack(_ effect: Effect, in round: inout Round) async throws {
        var effect = effect
        var failure: NetworkError?
        guard ServerProbe.isMark(effect.mark) else {
            effect.next = nil
            // Stored in English, and shown in the reader's language.
            effect.error =
                LocalizedText(
                    "its mark is not one of this program, so its posts cannot be recognized"
                ).key
            return try await note(effect)
        }
        // The reply is deleted first, because some servers delete replies with their post.
        let recorded = [effect.answer, effect.post].compactMap(\.self)
        var addresses = recorded
        do {
            let ownPosts = try await network.ownPosts(since: effect.begun - Self.clockMargin)
            let unrecorded = ownPosts.filter { isOfProbe($0, effect) }.map(\.address).filter {
                !recorded.contains($0)
            }
            // At most one request has an unknown outcome, and this post must be its result.
            if !unrecorded.isEmpty { effect.sent = nil }
            addresses = unrecorded + recorded
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

    /// Whether a post belongs to the probe.
    private func isOfProbe(_ post: ObservedPost, _ effect: Effect) -> Bool {
        post.author.id.canonical == account && post.post.text.contains(effect.mark)
    }

    private func delete(_ address: String, of effect: Effect) async throws {
        // The stored address alone is not enough to delete a post, so the text is checked.
        if let post = try await network.lookUp(address), !isOfProbe(post, effect) {
            logger.warning("Post not deleted, for it is not one of the probe's")
            return
        }
        _ = try await network.delete(address) { isOfProbe($0, effect) }
    }

    /// Ends the effect, unless a request with a lost answer may still act.
    private func settle(_ effect: Effect, in round: inout Round) async throws {
        var effect = effect
        effect.error = nil
        if let sent = effect.sent {
            let age = now.timeIntervalSince(sent)
            if age < requestLifetime {
                // After a clock was set back the age is unknown.
                if age < 0 { effect.sent = now }
                effect.next = now + requestLifetime - max(0, age)
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
            // The next mirror-bot profile shows the actual profile.
            logger.warning(
                "Change of the profile not finished", metadata: [LogKeys.error: "\(error)"])
        }
        try await mirror.effects.end(effect)
        round.finished += 1
        logger.info("Effect over", metadata: metadata(of: effect))
    }

    // MARK: Effects that have to wait

    /// Stores why an effect is still open, and when it is tried again; never after a permanent
    /// refusal.
    private func putOff(_ effect: Effect, _ error: NetworkError, in round: inout Round) async throws
    {
        var effect = effect
        let rule = RetryRule.undo(error.retryCause)
        effect.attempts += 1
        effect.error = error.description
        effect.next =
            error.dropsItem || rule.isOver(since: effect.begun, now: now)
            ? nil
            : rule.next(
                after: effect.attempts, key: effect.id, retryAfter: error.retryAfter, now: now)
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

    /// Stores an effect, unless another process has taken it over.
    private func note(_ effect: Effect) async throws {
        do { try await mirror.effects.note(effect) } catch is EffectTaken {}
    }

    private func metadata(of effect: Effect) -> Logger.Metadata {
        [LogKeys.effect: "\(effect.kind.rawValue)"]
    }
}
