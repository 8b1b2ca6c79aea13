package import Control
package import Foundation
import Logging
package import Mirroring
package import Networks
package import Outbox
package import Posts

/// Carries out requests to undo; actions with a lost answer are looked up first.
///
/// Also undoes or completes the effects of interrupted commands. A worker and a command may use it
/// at the same time.
package struct Recall: Sendable {
    private let store: OutboxStore
    private let delivery: Delivery
    private let takingBack: TakingBack
    /// Nil to leave the effects of interrupted commands alone.
    private let effects: EffectRecovery?
    private let clock: any WallClock

    /// - Parameters:
    ///   - network: The bot's network, with verified credentials.
    ///   - lease: The worker's lease; nil for a command.
    ///   - bot: The bot's account, for the effects of interrupted commands; nil to leave these
    ///     alone.
    package init(
        _ mirror: HumanMirror, network: any SocialNetwork, lease: Lease?, bot: AccountID? = nil
    ) {
        store = mirror.outbox(lease: lease)
        clock = mirror.clock
        delivery = Delivery(
            store: store,
            deliverer: NetworkDeliverer(
                network: network, people: mirror.people, logger: mirror.logger),
            uptime: clock.instants)
        takingBack = TakingBack(mirror, network: network, lease: lease)
        effects = bot.map { EffectRecovery(mirror, network: network, account: $0) }
    }

    /// Looks up unknown outcomes, and carries out due undos.
    ///
    /// - Parameters:
    ///   - ids: Actions to look up even if they are not due.
    ///   - takingOver: Whether to take effects over from another process that works on them.
    /// - Throws: As `TakingBack.carryOut`.
    package func carryOut(
        lookingAtOnceFor ids: Set<String> = [], takingOver: Bool = false
    ) async throws -> TakingBack.Round {
        _ = try await delivery.lookUpUnknownUndos(atOnce: ids, now: { [clock] in clock.now })
        var round = try await takingBack.carryOut()
        guard let effects, round.obstacle == nil else { return round }
        let recovered = try await effects.carryOut(takingOver: takingOver)
        round.effects = recovered.finished
        round.obstacle = recovered.obstacle
        return round
    }

    /// Returns when the next undo, effect or look-up is due for which a command may wait; nil for
    /// none.
    package func next() async throws -> Date? {
        let undo = try await store.nextRecall(includesFailed: false, now: clock.now)
        let effect = try await effects?.next()
        return [undo, effect].compactMap(\.self).min()
    }
}

extension OutboxStore {
    /// When the next undo is due, or the next look-up that must come before an undo; nil for none.
    ///
    /// See ``nextUnknownUndo(includesFailed:)``.
    func nextRecall(includesFailed: Bool = true, now: Date) async throws -> Date? {
        let times = [
            try await nextUndo(now: now),
            try await nextUnknownUndo(includesFailed: includesFailed),
        ]
        return times.compactMap(\.self).min()
    }
}
