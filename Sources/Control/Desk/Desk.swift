package import Foundation
import Localization
package import Mirroring
import Outbox
import Posts

/// Carries out the operations of a person on a mirror, for commands, pages, tests and the crash
/// harness.
///
/// An operation checks in its own transaction that the item is still as the person saw it. An
/// operation that forbids requests returns only when no such request can be sent any more; see
/// ``InFlightWait``.
package struct Desk: Sendable {
    package let mirror: HumanMirror
    /// The time zone of the days and times in operations; nil while unknown.
    private let knownZone: TimeZone?
    /// The time at which operations are carried out; nil for the present of the mirror's clock.
    private let instant: Date?

    /// - Parameters:
    ///   - mirror: The mirror.
    ///   - zone: The zone in which the human's minutes are recorded, or will be; nil while unknown.
    ///   - now: The time at which operations are carried out; nil for the present of the mirror's
    ///     clock.
    package init(_ mirror: HumanMirror, zone: TimeZone?, now: Date? = nil) {
        self.mirror = mirror
        knownZone = zone
        instant = now
    }

    /// Carries out a request.
    ///
    /// If the item differs from what was seen but is already as the operation would leave it, that
    /// is no error: nothing is changed, and the outcome says so.
    ///
    /// - Throws: `ChangeRefusal` with the reason if it is impossible, or `.changed` if the item
    ///   differs from what was seen; the store's error.
    package func perform<Operation: PersonOperation>(
        _ request: PersonRequest<Operation>
    ) async throws -> Operation.Outcome {
        do {
            return try await request.operation.perform(at: self, seen: request.seen)
        } catch is SeenChanged {
            if let outcome = try await request.operation.outcomeIfDone(at: self) { return outcome }
            throw ChangeRefusal(
                .changed,
                localized("it has changed since it was shown; nothing was done, look again"))
        } catch let refusal as ChangeRefusal where refusal.code == .over && request.seen != nil {
            if let outcome = try await request.operation.outcomeIfDone(at: self) { return outcome }
            throw refusal
        }
    }

    /// Carries out an operation without comparing what was seen.
    package func perform<Operation: PersonOperation>(_ operation: Operation) async throws
        -> Operation.Outcome
    {
        try await perform(PersonRequest(operation))
    }

    // MARK: For operations

    var now: Date { instant ?? mirror.clock.now }
    var outbox: OutboxStore { mirror.outbox(lease: nil) }

    /// The time zone of the days in operations.
    ///
    /// - Throws: `ConfigurationError`, with a proposed command, if none is known.
    func zone() async throws -> TimeZone {
        guard let knownZone else { throw try await mirror.missingTimeZone() }
        return knownZone
    }

    /// The time zone for displayed times; UTC if unknown.
    var displayZone: TimeZone { knownZone ?? .gmt }

    /// The names that a person may use at this desk.
    ///
    /// - Throws: `ConfigurationError` without a time zone.
    func names() async throws -> NameResolver {
        NameResolver(mirror: mirror, zone: try await zone())
    }
}
