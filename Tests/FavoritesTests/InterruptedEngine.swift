import Foundation
import Storage

/// A database in which something happens right after the first read, before its result arrives.
final class InterruptedEngine: StorageEngine {
    private let base: any StorageEngine
    private let interruption: @Sendable () async throws -> Void
    private let reads = NSLock()
    nonisolated(unsafe) private var count = 0  // Only touched under `reads`.

    init(_ base: any StorageEngine, afterFirstRead interruption: @escaping @Sendable () async throws -> Void) {
        self.base = base
        self.interruption = interruption
    }

    var kind: StorageKind { base.kind }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        let value = try await base.read(body)
        let isFirst = reads.withLock {
            count += 1
            return count == 1
        }
        if isFirst { try await interruption() }
        return value
    }

    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value { try await base.transaction(body) }

    func exclusiveTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value { try await base.exclusiveTransaction(body) }

    func scratch() async throws -> any StorageEngine { try await base.scratch() }

    func close() async { await base.close() }
}
