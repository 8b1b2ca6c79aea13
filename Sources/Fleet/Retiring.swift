import Control
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import ServiceLifecycle
import Settings

/// Carries out the retirement of a mirror, from its last post to the removal of its logins.
///
/// The mirror's row and its actions alone determine the remaining steps, so that after a crash the
/// next worker can continue.
struct Retiring {
    /// Seconds until the next attempt of a step that has to wait for an unknown time.
    private static let retryWait: TimeInterval = 60

    private let worker: Worker
    private let lease: Lease
    private let gates: Gates
    private let store: OutboxStore
    private let steps: RetirementSteps
    private var mirror: HumanMirror { worker.mirror }
    private var now: Date { worker.clock.now }

    init(_ worker: Worker, lease: Lease, gates: Gates) {
        self.worker = worker
        self.lease = lease
        self.gates = gates
        store = worker.mirror.outbox(lease: lease)
        steps = RetirementSteps(worker.mirror, lease: lease)
    }

    /// Does the steps that are possible now.
    ///
    /// - Parameter record: The record of the mirror, whose retirement is due.
    /// - Returns: When to continue; nil after the mirror has retired.
    /// - Throws: An error that needs a person; `NetworkError` of a server that may answer later;
    ///   the store's error.
    func carryOut(_ record: MirrorRecord) async throws -> Date? {
        guard var retirement = record.retirement, !retirement.isOver else { return nil }
        try await mirror.table.requireHere()
        if retirement.begun == nil {
            try await steps.begin(retirement, record)
            // The stored retirement contains the id of the last post's action.
            guard let stored = try await mirror.table.record().retirement, stored.begun != nil
            else {
                return now + 1
            }
            retirement = stored
        }
        if try await store.isSending(last: retirement.post), let next = try await send(retirement) {
            return next
        }
        if Task.isCancelled || Task.isShuttingDownGracefully { return now + 1 }
        if retirement.profileSettled == nil { try await steps.settleProfile(retirement) }
        if retirement.takesBack, retirement.undosRequested == nil {
            try await steps.askUndos(retirement)
        }
        if let next = try await takeBack() { return next }
        try await steps.end()
        return nil
    }

    /// Sends the last post, and looks up requests whose answers were lost.
    ///
    /// - Returns: When to continue; nil once both are settled.
    private func send(_ retirement: Retirement) async throws -> Date? {
        let parts = try await worker.parts(lease: lease, deliverer: nil, gates: gates)
        let next = try await parts.courier.deliverDue(ActionKind.allCases)
        guard try await store.isSending(last: retirement.post) else { return nil }
        guard let next else { return now + Self.retryWait }
        return max(next, now + 1)
    }

    /// Carries out requests to undo, as fast as the network permits.
    ///
    /// - Returns: When to continue; nil once all are done.
    private func takeBack() async throws -> Date? {
        guard let due = try await store.nextRecall(now: now) else { return nil }
        guard due <= now else { return due }
        let bot = await gates.gate(before: try await mirror.confirmedBotNetwork(), .bot, of: worker)
        guard try await bot.isOpen() else { return bot.pause(at: now) ?? now + Self.retryWait }
        let account = try await mirror.table.record().bot
        let round = try await Recall(mirror, network: bot, lease: lease, bot: account).carryOut()
        guard let next = try await store.nextRecall(now: now) else { return nil }
        // After an error of the network the next attempt waits.
        return max(next, round.obstacle == nil ? now : now + Self.retryWait)
    }
}
