import Blocking
import Foundation
import Import
import Posts

/// Reads a downloaded archive on a thread of its own and hands it over in batches.
struct ArchiveBatches: Sendable {
    let path: String
    let purpose: ImportPurpose
    let network: NetworkName
    let localHost: String?
    let batchSize: Int

    /// Hands over the items in the order of the archive.
    ///
    /// The reader waits while a batch is handled, so memory stays flat
    /// whatever the size of the archive.
    ///
    /// - Parameter handle: Given at most `batchSize` items at a time.
    /// - Returns: What the reader found besides the items.
    /// - Throws: ``ImportError``, or what `handle` throws.
    func forEach(_ handle: @escaping @Sendable ([ArchiveItem]) async throws -> Void) async throws -> ImportSummary {
        let executor = ThreadExecutor(name: "import")
        defer { executor.shutdown() }
        return try await executor.run {
            var batch: [ArchiveItem] = []
            let reader = ArchiveReader(
                path: path, purpose: purpose, network: network, localHost: localHost)
            let summary = try reader.read { item in
                batch.append(item)
                guard batch.count >= batchSize else { return }
                try Self.wait(for: batch, handle)
                batch.removeAll(keepingCapacity: true)
            }
            if !batch.isEmpty { try Self.wait(for: batch, handle) }
            return summary
        }
    }

    /// Blocks the reader's own thread until the batch is handled.
    private static func wait(
        for batch: [ArchiveItem], _ handle: @escaping @Sendable ([ArchiveItem]) async throws -> Void
    ) throws {
        let done = DispatchSemaphore(value: 0)
        let outcome = Outcome()
        Task {
            do { try await handle(batch) } catch { outcome.set(error) }
            done.signal()
        }
        done.wait()
        if let error = outcome.error { throw error }
    }

    /// What a batch ended with.
    private final class Outcome: @unchecked Sendable {
        // Sendable because `error` is written before the semaphore is signalled and read after.
        private(set) var error: (any Error)?

        func set(_ error: any Error) { self.error = error }
    }
}
