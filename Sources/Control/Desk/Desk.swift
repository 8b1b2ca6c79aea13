package import Foundation
package import Mirroring
import Outbox
import Posts

/// Where everything a person can do to a mirror is done: commands, pages, tests and the crash harness ask here.
///
/// An operation checks in the transaction that makes its change that the thing is as the person saw it. One that forbids
/// something returns when nothing of it can leave any more, see ``LastWord``.
package struct Desk: Sendable {
    package let mirror: HumanMirror
    /// The clock by which a person names days and times; nil while no zone is known.
    private let knownZone: TimeZone?

    /// - Parameter zone: The zone in which the human's minutes are recorded, or will be; nil while none is known.
    package init(_ mirror: HumanMirror, zone: TimeZone?) { (self.mirror, knownZone) = (mirror, zone) }

    /// Does what a person asks for.
    ///
    /// - Throws: `ChangeRefusal` with the reason if it cannot be done, also where the thing is not any more as it was seen; the
    ///   store's error.
    package func perform<Operation: PersonOperation>(
        _ request: PersonRequest<Operation>
    ) async throws -> Operation.Outcome {
        do {
            return try await request.operation.perform(at: self, seen: request.seen)
        } catch is SeenChanged {
            throw ChangeRefusal(.changed, "it has changed since it was shown; nothing was done, look again")
        }
    }

    /// The same for who was shown nothing.
    package func perform<Operation: PersonOperation>(_ operation: Operation) async throws -> Operation.Outcome {
        try await perform(PersonRequest(operation))
    }

    // MARK: For operations

    var now: Date { mirror.clock.now }
    var outbox: OutboxStore { mirror.outbox(lease: nil) }

    /// The clock by which a person names days.
    ///
    /// - Throws: `ConfigurationError` that proposes a zone where none is known.
    func zone() async throws -> TimeZone {
        guard let knownZone else { throw try await mirror.missingTimeZone() }
        return knownZone
    }

    /// The same for who only says times, which without a zone are those of Greenwich.
    var spokenZone: TimeZone { knownZone ?? .gmt }

    func plan() async throws -> PlanChanges { PlanChanges(mirror: mirror, zone: try await zone()) }
}
