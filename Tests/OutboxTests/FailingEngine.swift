import Foundation

@testable import Storage

/// An engine whose changes fail on demand, before or after they are committed.
final class FailingEngine: StorageEngine, @unchecked Sendable {
    enum Failure: Equatable {
        /// The connection was lost before anything was committed.
        case before
        /// The answer of `COMMIT` was lost; it happened.
        case after
    }

    // Sendable because every access to a variable holds the lock.
    private let lock = NSLock()
    private let engine: any StorageEngine
    private var failures: [Failure?] = []
    private var isDown = false
    private var interruption: (@Sendable () async throws -> Void)?
    private var readInterruption: (@Sendable () async throws -> Void)?

    init(_ engine: any StorageEngine) { self.engine = engine }

    /// Lets the next changes fail; nil lets one pass.
    func failNext(_ failures: [Failure?]) { lock.withLock { self.failures = failures } }

    /// Lets something happen once, right after the next change is committed.
    func interruptNext(_ interruption: @escaping @Sendable () async throws -> Void) {
        lock.withLock { self.interruption = interruption }
    }

    /// Lets something happen once, right after the next read was answered.
    func interruptNextRead(_ interruption: @escaping @Sendable () async throws -> Void) {
        lock.withLock { readInterruption = interruption }
    }

    /// Nothing is answered until it is up again.
    func setDown(_ isDown: Bool) { lock.withLock { self.isDown = isDown } }

    var kind: StorageKind { engine.kind }

    func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        if unit == .read || unit == .query {
            if lock.withLock({ isDown }) { throw Self.error(.unavailable) }
            let value = try await engine.run(unit, body)
            let interruption = lock.withLock {
                defer { readInterruption = nil }
                return readInterruption
            }
            try await interruption?()
            return value
        }
        switch next() {
        case .before?: throw Self.error(.unavailable)
        case .after?:
            _ = try await engine.run(unit, body)
            throw Self.error(.outcomeUnknown)
        case nil:
            let value = try await engine.run(unit, body)
            try await takeInterruption()?()
            return value
        }
    }

    private func takeInterruption() -> (@Sendable () async throws -> Void)? {
        lock.withLock {
            defer { interruption = nil }
            return interruption
        }
    }

    func scratch(of mirror: String) async throws -> any StorageEngine {
        try await engine.scratch(of: mirror)
    }

    func backup(to path: String) async throws { try await engine.backup(to: path) }

    func close() async { await engine.close() }

    private func next() -> Failure? {
        lock.withLock {
            if isDown { return .before }
            return failures.isEmpty ? nil : failures.removeFirst()
        }
    }

    static func error(_ code: StorageError.Code) -> StorageError {
        StorageError(code, "write to the database", because: "the test wants it so")
    }
}
