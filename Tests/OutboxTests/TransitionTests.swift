import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// Every transition of an action beside every change that somebody else may make between its
/// reading and its writing.
///
/// The other writer is a plain statement on the row, so that the table does not depend on the code
/// that it checks.
struct TransitionTests {
    private static let now = OutboxFixture.start

    /// A transition, by the state in which its caller reads the action.
    enum Transition: String, CaseIterable, Sendable {
        // Of an action that was read as planned.
        case claim, claimAsOf, moveBack, skipHeld, drop
        // Of a claimed action.
        case beginSending, noteUploads, postpone, withdrawDeparture, endClaimed
        // Of an action in flight.
        case resend, awaitLookUp, giveBack, withdrawResending, confirm, endDeparted
        // Of an action that ended without a known outcome.
        case confirmLate, lookAgain
        // Of an action that is being taken back.
        case undoFailed

        var origin: ActionState {
            switch self {
            case .claim, .claimAsOf, .moveBack, .skipHeld, .drop: .planned
            case .beginSending, .noteUploads, .postpone, .withdrawDeparture, .endClaimed: .claimed
            case .resend, .awaitLookUp, .giveBack, .withdrawResending, .confirm, .endDeparted:
                .sending
            case .confirmLate, .lookAgain: .failed
            case .undoFailed: .done
            }
        }
    }

    /// The row at the time of the transition.
    enum Row: CaseIterable, Sendable, CustomStringConvertible {
        /// As it was read.
        case fresh
        /// In the same state, after changes in between: it left the state and came back.
        case returned
        /// In another state, by one change.
        case changed(ActionState)
        /// Ended without a known outcome, by one change.
        case unconfirmed

        static var allCases: [Row] {
            [.fresh, .returned, .unconfirmed] + ActionState.allCases.map { .changed($0) }
        }

        var description: String {
            switch self {
            case .fresh: "as it was read"
            case .returned: "returned"
            case .changed(let state): "changed to \(state.rawValue)"
            case .unconfirmed: "changed to unconfirmed"
            }
        }

        /// The statement of the other writer; nil for none.
        func change(from origin: ActionState) -> (assignments: SQL, state: ActionState)? {
            switch self {
            case .fresh: nil
            case .returned: ("revision = revision + 2", origin)
            case .changed(let state):
                ("revision = revision + 1, state = \(state.rawValue), reason = 'other'", state)
            case .unconfirmed:
                ("revision = revision + 1, state = 'failed', reason = 'unconfirmed'", .failed)
            }
        }
    }

    /// Whether a transition may change a row.
    static func isAllowed(_ transition: Transition, _ row: Row) -> Bool {
        switch (transition, row) {
        case (_, .fresh): true
        // A confirmation is true of every action whose outcome is not known.
        case (.confirm, .unconfirmed), (.confirmLate, .unconfirmed), (.confirmLate, .returned): true
        // It reverts the departure of this very claim, committed or not, and the same of a repeated
        // request.
        case (.withdrawDeparture, .changed(.sending)), (.withdrawResending, .changed(.sending)):
            true
        // Its condition is the number of requests, which no change of the state raises.
        case (.undoFailed, .returned), (.undoFailed, .changed(.done)): true
        default: false
        }
    }

    @Test(arguments: Transition.allCases, OutboxFixture.Engine.allCases)
    func nothingIsChangedThatIsNotAsItWasRead(
        _ transition: Transition, _ engine: OutboxFixture.Engine
    ) async throws {
        let outbox = try await OutboxFixture(engine)
        for (number, row) in Row.allCases.enumerated() {
            let subject = "\(transition.rawValue)-\(number)"
            let read = try await Read(subject, as: transition.origin, outbox)
            if let change = row.change(from: transition.origin) {
                try await outbox.storage.execute(
                    "UPDATE actions SET \(change.assignments) WHERE mirror = 'm' AND subject = \(subject)"
                )
            }
            let before = try await stored(subject, outbox)
            let error = await outboxError { try await perform(transition, of: read, outbox) }
            let after = try await stored(subject, outbox)
            if Self.isAllowed(transition, row) {
                #expect(error == nil, "\(transition) of a row \(row)")
                #expect(after != before, "\(transition) of a row \(row)")
            } else {
                #expect(after == before, "\(transition) of a row \(row)")
                // These two tell by their result, or need not tell.
                if transition != .lookAgain, transition != .undoFailed {
                    #expect(error?.code == .stateChanged, "\(transition) of a row \(row)")
                }
            }
        }
    }

    /// A copy of an action in memory can be of any age.
    @Test(arguments: ActionState.allCases) func nothingIsClaimedThatWasNotReadAsWaiting(
        _ state: ActionState
    )
        async throws
    {
        let outbox = try await OutboxFixture()
        var read = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action
        read.state = state
        let mayBeSent = state == .planned || state == .claimed
        let byVersion = await outboxError { _ = try outbox.store.claim(read, asOf: 0) }
        #expect((byVersion == nil) == mayBeSent)
        // The row says planned.
        let inTable = await outboxError { _ = try await outbox.store.claim(read, now: Self.now) }
        #expect((inTable == nil) == (state == .planned))
    }

    /// A person's wish to take back what is in flight, and whatever else is noted beside it, keeps
    /// its answer.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func whatIsNotedBesideARequestInFlightKeepsItsAnswer(_ engine: OutboxFixture.Engine)
        async throws
    {
        let outbox = try await OutboxFixture(engine)
        let departed = try #require(try await Read("a", as: .sending, outbox).departed)
        let person = OutboxStore(storage: outbox.storage, mirror: "m", lease: nil)
        try await expect(person.askUndo(departed.id, now: Self.now + 1), equals: .remembered)
        try await person.proposeUndos([departed.id], reason: .sourceGone)
        _ = try await person.forget(
            [AccountID(network: .mastodon, value: "mika@example.com")], now: Self.now + 2)
        _ = try await person.awaitLookUp(
            departed, at: Self.now + 60, reason: "timeout", now: Self.now + 3)
        let done = try await outbox.store.confirm(
            departed, remoteID: "u", remoteAddress: "7", now: Self.now + 4)
        #expect(done.state == .done)
        #expect(done.undo?.next != nil)
    }

    /// The change of a person that a stale copy overlooks: the same state, the same time, another
    /// text.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func aTextThatAPersonChoseIsNotSentAsItWasRead(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        _ = try await outbox.store.store(OutboxFixture.plan, slots: [OutboxFixture.slot(1)])
        let read = try #require(try await outbox.store.slots(of: OutboxFixture.day).first)
        let version = try await outbox.store.wishVersion()
        let other = try #require(OutboxFixture.slot(1, from: "other").payload.wording)
        _ = try await outbox.store.pin(read.id, other, now: Self.now)
        for asOf in [nil, version] {
            let error = await outboxError {
                let claimed =
                    if let asOf { try outbox.store.claim(read, asOf: asOf) } else {
                        try await outbox.store.claim(read, now: Self.now)
                    }
                _ = try await outbox.store.beginSending(
                    claimed, lookUp: Self.now + 90, deadline: .seconds(30), now: Self.now)
            }
            expect(error?.code) { $0 == .stateChanged || $0 == .superseded }
        }
        try await expect(outbox.store.slots(of: OutboxFixture.day).map(\.wording), equals: [other])
    }

    /// What the check before a request says.
    enum Check: CaseIterable, Sendable {
        case waits, isUnneeded, isNotNow, isRefused
    }

    /// The publisher sent a decision whose copy another pass still holds, and the answer was lost.
    @Test(arguments: Check.allCases, OutboxFixture.Engine.allCases)
    func aCopyThatSaysPlannedPutsNothingBackThatIsInFlight(
        _ check: Check, _ engine: OutboxFixture.Engine
    ) async throws {
        let outbox = try await OutboxFixture(engine)
        let copy = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action
        let version = try await outbox.store.wishVersion()
        let network = RefusingDeliverer()
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await delivery.deliver(copy, asOf: version, now: { Self.now }) { .ready($0) }
        let inFlight = try await stored("a", outbox)
        #expect(inFlight.state == .sending)
        await network.refuse(check)
        for asOf in [version, nil] {
            let error = await outboxError {
                _ = try await delivery.deliver(copy, asOf: asOf, now: { Self.now + 20 }) { action in
                    switch check {
                    case .waits: .wait(reason: "too-busy", cause: .tooBusy, retryAfter: nil)
                    case .isUnneeded: .skip(reason: "denied")
                    case .isNotNow, .isRefused: .ready(action)
                    }
                }
            }
            #expect(error?.code == .stateChanged)
            try await expect(stored("a", outbox), equals: inFlight)
        }
        await expect(network.requests, equals: 1)
    }

    /// A network whose first answer is lost, and which then refuses what is asked before a request.
    private actor RefusingDeliverer: Deliverer {
        nonisolated let requestDeadline: Duration = .seconds(30)
        nonisolated let resendWindow: Duration? = nil
        nonisolated let clockLead: TimeInterval? = nil
        private(set) var requests = 0
        private var check: Check?

        func refuse(_ check: Check) { self.check = check }

        func prepare(_ action: Action) async -> RequestPreparation {
            switch check {
            case .isNotNow: .notNow(reason: "unavailable", cause: .serverTrouble, retryAfter: nil)
            case .isRefused: .refused(reason: "rejected")
            case .waits, .isUnneeded, nil: .ready(PreparedRequest { _ in await self.request() })
            }
        }

        private func request() -> DeliveryOutcome {
            requests += 1
            return .unknown(reason: "timeout")
        }

        func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
            -> LookUpOutcome
        { .absent }
    }

    // MARK: One of each

    /// An action as its caller reads it.
    private struct Read {
        var action: Action
        var claimed: Claimed?
        var departed: Departed?

        init(_ subject: String, as state: ActionState, _ outbox: OutboxFixture) async throws {
            let store = outbox.store
            action = try await store.propose(OutboxFixture.reply(subject), now: now).action
            guard state != .planned else { return }
            let claimed = try await store.claim(action, now: now)
            self.claimed = claimed
            guard state != .claimed else { return }
            let departed = try await store.beginSending(
                claimed, lookUp: now + 90, deadline: .seconds(30), now: now)
            self.departed = departed
            switch state {
            case .failed:
                _ = try await store.end(
                    departed, as: .failed, reason: .outbox(.unconfirmed), sighting: now + 600,
                    now: now)
                self.departed = try await store.dueUnconfirmed(now: now + 600).first {
                    $0.id == departed.id
                }
            case .done:
                action = try await store.confirm(
                    departed, remoteID: "u", remoteAddress: "7", now: now)
                _ = try await store.askUndo(action.id, now: now)
                let wanted = try await store.dueUndos(now: now, limit: 100).first {
                    $0.id == departed.id
                }
                let due = try #require(wanted)
                action = try #require(try await store.beginUndo(due, until: now + 60, now: now))
            default: break
            }
        }
    }

    private func perform(_ transition: Transition, of read: Read, _ outbox: OutboxFixture)
        async throws
    {
        let store = outbox.store
        let later = Self.now + 100
        func claimed() throws -> Claimed { try #require(read.claimed) }
        func departed() throws -> Departed { try #require(read.departed) }
        switch transition {
        case .claim: _ = try await store.claim(read.action, now: later)
        case .claimAsOf:
            let claimed = try store.claim(read.action, asOf: try await store.wishVersion())
            _ = try await store.beginSending(
                claimed, lookUp: later + 90, deadline: .seconds(30), now: later)
        case .moveBack:
            _ = try await store.holdBack(
                read.action, until: later, reason: .humanActive, now: later)
        case .skipHeld:
            _ = try await store.holdBack(
                read.action, until: nil, reason: .humanActive, now: later)
        case .drop:
            _ = try await store.drop(read.action, as: .expired, reason: .tooManyLate, now: later)
        case .beginSending:
            _ = try await store.beginSending(
                try claimed(), lookUp: later + 90, deadline: .seconds(30), now: later)
        case .noteUploads: _ = try await store.noteUploads([], of: try claimed(), now: later)
        case .postpone:
            _ = try await store.postpone(
                try claimed(), until: later, reason: "too-busy", now: later)
        case .withdrawDeparture: _ = try await store.withdraw(try claimed(), now: later)
        case .endClaimed:
            _ = try await store.end(try claimed(), as: .skipped, reason: "denied", now: later)
        case .resend:
            _ = try await store.resend(
                try departed(), lookUp: later + 90, deadline: .seconds(30), now: later)
        case .awaitLookUp:
            _ = try await store.awaitLookUp(
                try departed(), at: later, reason: "timeout", now: later)
        case .giveBack:
            _ = try await store.giveBack(
                try departed(), until: later, reason: "too-busy", now: later)
        case .withdrawResending: _ = try await store.withdraw(try departed(), now: later)
        case .confirm, .confirmLate:
            _ = try await store.confirm(
                try departed(), remoteID: "v", remoteAddress: "8", now: later)
        case .endDeparted:
            _ = try await store.end(try departed(), as: .failed, reason: "rejected", now: later)
        case .lookAgain: try await store.lookAgain(try departed(), at: later)
        case .undoFailed:
            _ = try await store.undoFailed(read.action, "too-busy", next: later, now: later)
        }
    }

    private func stored(_ subject: String, _ outbox: OutboxFixture) async throws -> Action {
        try #require(try await outbox.store.action(.reply, subject: subject))
    }
}
