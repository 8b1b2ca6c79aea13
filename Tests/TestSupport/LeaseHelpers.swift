package import Outbox
import Storage

/// Another worker as a test plays it, which takes a lease at once, whoever holds it.
extension LeaseTable {
    /// Takes the lease for `owner` if its fence is still that of `seen`; nil if it is not.
    package func take(owner: String, after seen: LeaseRecord?, now: Int64) async throws -> Lease? {
        let beat = WorkerRecord(
            worker: owner, beat: (seen?.beat ?? 0) + 1, version: "0", isSharing: false, mirrors: 1,
            lateness: 0,
            updatedMilliseconds: now)
        return try await storage.transaction { [mirror] connection in
            try connection.execute(WorkerTable.beat(beat))
            let free = FreeMirror(mirror: mirror, fence: seen?.fence ?? 0)
            return try LeaseTable.take([free], for: owner, version: "0", now: now, on: connection)[
                mirror]
        }
    }

    /// Beats for the holder; throws `OutboxError` if the lease is not held any more.
    package func beat(_ lease: Lease, now: Int64) async throws {
        // Not twice, as a strict engine would.
        try await storage.lenient.executeRepeatable(
            "UPDATE workers SET beat = beat + 1, updated_ms = \(now) WHERE worker = \(lease.owner)")
        guard try await record()?.lease(of: lease.owner) == lease else {
            throw OutboxError.leaseLost
        }
    }

    package func release(_ lease: Lease, now: Int64) async throws {
        try await storage.executeRepeatable(
            """
            UPDATE leases SET released = TRUE, updated_ms = \(now)
            WHERE mirror = \(mirror) AND worker = \(lease.owner) AND fence = \(lease.fence)
            """)
    }
}
