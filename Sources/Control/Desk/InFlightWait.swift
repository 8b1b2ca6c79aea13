import Archive
import Foundation
package import Mirroring
package import Outbox
package import Posts

/// Waits until no request is in flight that a person has just forbidden.
///
/// A request whose departure is not recorded when the person's change is stored is not sent any
/// more. A recorded one is waited for, at most until its deadline.
package struct InFlightWait: Sendable {
    /// The interval of queries while a request is in flight.
    private static let interval: Duration = .milliseconds(100)

    private let store: OutboxStore
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - mirror: The mirror.
    ///   - clock: A monotonic clock with the speed of the network's requests.
    package init(mirror: HumanMirror, clock: any Clock<Duration> = ContinuousClock()) {
        store = mirror.outbox(lease: nil)
        now = { mirror.clock.now }
        self.clock = clock
    }

    /// Waits for the requests in flight of some actions.
    ///
    /// - Parameter isStopped: Selects the actions to wait for: those that the person has stopped.
    /// - Returns: The actions that were in flight, as stored after the end or deadline of their
    ///   requests.
    /// - Throws: The store's error; `CancellationError`.
    package func wait(for isStopped: @Sendable (Action) -> Bool = { _ in true }) async throws
        -> [Action]
    {
        let flights = try await store.flights(now: now())
        let stopped = try await store.actions(withIDs: flights.map(\.id)).filter {
            isStopped($0.value)
        }
        var awaited = flights.filter { stopped[$0.id] != nil }
        var waited: Duration = .zero
        while !awaited.isEmpty {
            try await clock.sleep(for: Self.interval)
            waited += Self.interval
            let inFlight = Set(try await store.flights(now: now()).map(\.id))
            awaited.removeAll { !inFlight.contains($0.id) || $0.deadline <= waited }
        }
        return try await store.actions(withIDs: stopped.keys.sorted()).values.sorted {
            $0.id < $1.id
        }
    }
}

/// An action whose request was in flight when a person forbade it, with its state afterwards.
package struct LeftAction: Codable, Equatable, Sendable {
    package let id: String
    package let kind: ActionKind
    package let subject: String
    package let state: ActionState
    package let text: String?

    package init(_ action: Action) {
        id = action.id
        kind = action.kind
        subject = action.subject
        state = action.state
        text = action.text
    }
}

extension HumanMirror {
    /// Waits for the requests in flight to some accounts and to the accounts linked to them.
    ///
    /// - Throws: The store's error; `CancellationError`.
    package func waitForRequests(to accounts: [AccountID]) async throws -> [LeftAction] {
        var linkedAccounts: Set<AccountID> = []
        for account in accounts { linkedAccounts.formUnion(try await people.linked(to: account)) }
        return try await InFlightWait(mirror: self).wait { [linkedAccounts] action in
            action.target.map { linkedAccounts.contains($0.author) } ?? false
        }
        .map(LeftAction.init)
    }
}
