package import Control
package import Foundation
import Logging
package import Mirroring
package import Networks
package import Outbox

/// Carries out the undos that somebody asked for; actions whose answer was lost are looked up first.
///
/// A worker and a command may do so at the same time.
package struct Recall: Sendable {
    private let store: OutboxStore
    private let delivery: Delivery
    private let takingBack: TakingBack
    private let clock: any WallClock

    /// - Parameters:
    ///   - network: The bot's, with credentials that are known to open the bot's account.
    ///   - lease: The worker's; nil for a command.
    package init(_ mirror: HumanMirror, network: any SocialNetwork, lease: Lease?) {
        store = mirror.outbox(lease: lease)
        clock = mirror.clock
        delivery = Delivery(
            store: store, deliverer: NetworkDeliverer(network: network, people: mirror.people, logger: mirror.logger))
        takingBack = TakingBack(mirror, network: network, lease: lease)
    }

    /// Looks for what is unknown, and takes back what is due.
    ///
    /// - Parameter ids: Actions that are looked for although their look is not due.
    /// - Throws: As `TakingBack.carryOut`.
    package func carryOut(lookingAtOnceFor ids: Set<String> = []) async throws -> TakingBack.Round {
        _ = try await delivery.seekUnwanted(atOnce: ids, now: { [clock] in clock.now })
        return try await takingBack.carryOut()
    }

    /// When the next undo or look-up is due that a command may wait for; nil if none is left.
    package func next() async throws -> Date? {
        try await store.nextRecall(isPatient: false, now: clock.now)
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
