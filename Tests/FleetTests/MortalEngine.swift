import Foundation

@testable import Storage

/// An engine that stops to answer after a number of changes, as for a process that is killed there.
final class MortalEngine: StorageEngine, @unchecked Sendable {
    // Sendable because `left` is only touched under `lock`.
    private let engine: any StorageEngine
    private let lock = NSLock()
    private var left: Int?

    init(_ engine: any StorageEngine) { self.engine = engine }

    /// Answers until that many changes are committed; nil for ever.
    func live(for changes: Int?) { lock.withLock { left = changes } }

    var kind: StorageKind { engine.kind }

    func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        guard isAlive(for: unit) else {
            throw StorageError(.unavailable, "ask the database", because: "it is over")
        }
        return try await engine.run(unit, body)
    }

    private func isAlive(for unit: UnitOfWork) -> Bool {
        lock.withLock {
            guard let left else { return true }
            guard left > 0 else { return false }
            switch unit {
            case .transaction, .exclusive, .repeatableChange: self.left = left - 1
            case .read, .query, .sameConnectionQuery: break
            }
            return true
        }
    }

    func scratch(of mirror: String) async throws -> any StorageEngine {
        try await engine.scratch(of: mirror)
    }

    func backup(to path: String) async throws { try await engine.backup(to: path) }

    func close() async { await engine.close() }
}
