import Foundation
package import Mirroring
package import Outbox

/// Waits until nothing is leaving any more that a person has just forbidden.
///
/// What a worker has not recorded as leaving when the person's change is stored does not leave. What is recorded is waited
/// for, at most as long as its request may take.
package struct LastWord: Sendable {
    /// How often the table is read while something is leaving.
    private static let interval: Duration = .milliseconds(100)

    private let store: OutboxStore
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - mirror: The mirror.
    ///   - clock: A clock that nobody sets and that goes as fast as the network's requests do.
    package init(mirror: HumanMirror, clock: any Clock<Duration> = ContinuousClock()) {
        store = mirror.outbox(lease: nil)
        now = { mirror.clock.now }
        self.clock = clock
    }

    /// Waits for the requests of some actions that are leaving.
    ///
    /// - Parameter isMeant: Whether an action is one that the person has forbidden.
    /// - Returns: The actions that were leaving, as they are once their requests have ended or could have.
    /// - Throws: The store's error; `CancellationError`.
    package func wait(for isMeant: @Sendable (Action) -> Bool = { _ in true }) async throws -> [Action] {
        let flights = try await store.flights(now: now())
        let leaving = try await store.actions(withIDs: flights.map(\.id)).filter { isMeant($0.value) }
        var meant = flights.filter { leaving[$0.id] != nil }
        var waited: Duration = .zero
        while !meant.isEmpty {
            try await clock.sleep(for: Self.interval)
            waited += Self.interval
            let still = Set(try await store.flights(now: now()).map(\.id))
            meant.removeAll { !still.contains($0.id) || $0.deadline <= waited }
        }
        return try await store.actions(withIDs: leaving.keys.sorted()).values.sorted { $0.id < $1.id }
    }
}
