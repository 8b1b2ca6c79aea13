package import Foundation
import Mirroring
import Outbox
import Settings
import Storage

/// The workers that hold the mirrors of a database.
package struct MirrorOwnership: Equatable, Sendable {
    /// The number of mirrors that each living worker holds, by the worker's name.
    package private(set) var owned: [String: Int] = [:]
    /// Mirrors without a worker that live here and are not paused.
    package private(set) var unowned = 0
    /// The largest delay of each living worker's passes within the last minute, in seconds, by the
    /// worker's name.
    package private(set) var lateness: [String: TimeInterval] = [:]

    /// Counts the mirrors of a database.
    ///
    /// A mirror for which `run --once` is called regularly counts neither as owned nor as unowned.
    ///
    /// - Parameters:
    ///   - mirrors: All mirrors.
    ///   - now: The present on the wall clock, by which silent workers are recognized.
    /// - Throws: The store's error.
    init(
        of mirrors: [(name: String, record: MirrorRecord)], in storage: any StorageEngine, now: Date
    ) async throws {
        let leases = try await LeaseTable.records(of: mirrors.map(\.name), in: storage)
        for worker in try await WorkerTable(storage: storage).records()
        where worker.silence(at: now) < HumanMirror.usualSilence {
            lateness[worker.worker] = worker.lateness
        }
        for (name, record) in mirrors {
            let lease = leases[name]
            switch WorkerFact(lease, now: now) {
            case .running: owned[lease?.owner ?? "", default: 0] += 1
            case .passes: continue
            case .late, .passLate, .absent:
                if record.move?.state == nil, record.pause(at: now) == nil { unowned += 1 }
            }
        }
    }

    /// Runs `work` while holding the lease of a mirror, so that no worker can hold it.
    ///
    /// - Returns: The result of `work`; nil, without running it, if a worker holds the mirror.
    /// - Throws: The error of `work`; `OutboxError` if a worker takes the lease; the store's error.
    static func holding<Value: Sendable>(
        _ mirror: HumanMirror, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let keeper = LeaseKeeper(
            table: LeaseTable(storage: mirror.storage, mirror: mirror.name), clock: mirror.clock,
            timing: mirror.rehearsal.leaseTiming, logger: mirror.logger)
        return try await keeper.holdingNow { _ in try await work() }
    }

    /// Whether no worker holds a mirror, evaluated in the transaction that relies on it.
    static func isFree(_ mirror: String, on connection: any StorageConnection) throws -> Bool {
        try connection.query(
            "SELECT 1 AS found FROM leases WHERE mirror = \(mirror) AND NOT released"
        ).isEmpty
    }
}
