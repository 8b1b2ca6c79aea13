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
    /// While a batch is handled the next one is read; the reader then waits for
    /// it, so memory stays flat whatever the size of the archive.
    ///
    /// - Parameter handle: Given at most `batchSize` items at a time, never two
    ///   batches at once.
    /// - Returns: What the reader found besides the items.
    /// - Throws: ``ImportError``, or what `handle` throws.
    func forEach(_ handle: @escaping @Sendable ([ArchiveItem]) async throws -> Void) async throws -> ImportSummary {
        let executor = ThreadExecutor(name: "import")
        defer { executor.shutdown() }
        return try await executor.run {
            var handling: Handling?
            // Whatever ends the reading, nothing is handled any more after it.
            defer { _ = try? handling?.wait() }
            var batch: [ArchiveItem] = []
            func handOver() throws {
                try handling?.wait()
                handling = Handling(of: batch, handle)
                batch.removeAll(keepingCapacity: true)
            }
            let reader = ArchiveReader(
                path: path, purpose: purpose, network: network, localHost: localHost)
            let summary = try reader.read { item in
                batch.append(item)
                if batch.count >= batchSize { try handOver() }
            }
            if !batch.isEmpty { try handOver() }
            try handling?.wait()
            return summary
        }
    }

    /// A batch that is being handled, and the reader's own thread that waits for it.
    private final class Handling: @unchecked Sendable {
        // Sendable because `error` is written before the semaphore is signalled and read after.
        private let done = DispatchSemaphore(value: 0)
        private var error: (any Error)?

        init(of batch: [ArchiveItem], _ handle: @escaping @Sendable ([ArchiveItem]) async throws -> Void) {
            Task {
                do { try await handle(batch) } catch { self.error = error }
                done.signal()
            }
        }

        /// Blocks the thread until the batch is handled; may be called again.
        func wait() throws {
            done.wait()
            done.signal()
            if let error { throw error }
        }
    }
}
