import Foundation
import Storage

/// A database that counts its reads, and in which something may happen right after the first,
/// before its result arrives.
final class InterruptedEngine: StorageEngine {
    private let base: any StorageEngine
    private let interruption: @Sendable () async throws -> Void
    private let lock = NSLock()
    nonisolated(unsafe) private var count = 0  // Only touched under `lock`.

    init(
        _ base: any StorageEngine,
        afterFirstRead interruption: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.base = base
        self.interruption = interruption
    }

    var reads: Int { lock.withLock { count } }
    var kind: StorageKind { base.kind }

    func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        let value = try await base.run(unit, body)
        guard unit == .read || unit == .query else { return value }
        let isFirst = lock.withLock {
            count += 1
            return count == 1
        }
        if isFirst { try await interruption() }
        return value
    }

    func scratch(of mirror: String) async throws -> any StorageEngine {
        try await base.scratch(of: mirror)
    }

    func backup(to path: String) async throws { try await base.backup(to: path) }

    func close() async { await base.close() }
}
