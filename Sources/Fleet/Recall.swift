package import Control
package import Foundation
import Logging
package import Mirroring
package import Networks
package import Outbox
package import Posts

/// Carries out the undos that somebody asked for; actions whose answer was lost are looked up
/// first.
///
/// Takes back or finishes the effects of commands that were cut, too.
/// A worker and a command may do so at the same time.
package struct Recall: Sendable {
    private let store: OutboxStore
    private let delivery: Delivery
    private let takingBack: TakingBack
    /// Nil to leave the effects of cut commands alone.
    private let effects: EffectRecovery?
    private let clock: any WallClock

    /// - Parameters:
    ///   - network: The bot's, with credentials that are known to open the bot's account.
    ///   - lease: The worker's; nil for a command.
    ///   - bot: The bot's account, for the effects of cut commands; nil to leave these alone.
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

    /// Looks for what is unknown, and takes back what is due.
    ///
    /// - Parameters:
    ///   - ids: Actions that are looked for although their look is not due.
    ///   - takingOver: Whether effects are taken from whoever works on them.
    /// - Throws: As `TakingBack.carryOut`.
    package func carryOut(
        lookingAtOnceFor ids: Set<String> = [], takingOver: Bool = false
    ) async throws -> TakingBack.Round {
        _ = try await delivery.seekUnwanted(atOnce: ids, now: { [clock] in clock.now })
        var round = try await takingBack.carryOut()
        guard let effects, round.obstacle == nil else { return round }
        let recovered = try await effects.carryOut(takingOver: takingOver)
        round.effects = recovered.finished
        round.obstacle = recovered.obstacle
        return round
    }

    /// When the next undo, effect or look-up is due that a command may wait for; nil if none is.
    package func next() async throws -> Date? {
        let undo = try await store.nextRecall(isPatient: false, now: clock.now)
        let effect = try await effects?.next()
        return [undo, effect].compactMap(\.self).min()
    }
}

extension OutboxStore {
    /// When something is to be taken back, or to be looked for that is; nil if nothing is.
    ///
    /// See ``nextUnknownUndo(isPatient:)``.
    func nextRecall(isPatient: Bool = true, now: Date) async throws -> Date? {
        let times = [try await nextUndo(now: now), try await nextUnknownUndo(isPatient: isPatient)]
        return times.compactMap(\.self).min()
    }
}
