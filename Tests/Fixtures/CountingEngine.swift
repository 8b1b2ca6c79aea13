import Foundation
package import Storage

/// An engine that counts the statements and the units of work that it is asked for.
package final class CountingEngine: StorageEngine, @unchecked Sendable {
    // Sendable because the numbers are only touched under `lock`.
    private let engine: any StorageEngine
    private let lock = NSLock()
    private var numbers = Numbers()

    package struct Numbers: Equatable {
        package var statements = 0
        /// Units of work that may change something.
        package var changes = 0
        /// Units of work that begin a transaction and end it.
        package var transactions = 0

        package init(statements: Int = 0, changes: Int = 0, transactions: Int = 0) {
            self.statements = statements
            self.changes = changes
            self.transactions = transactions
        }

        /// Statements with those that begin and end transactions.
        package var all: Int { statements + 2 * transactions }
    }

    package init(_ engine: any StorageEngine) { self.engine = engine }

    package var kind: StorageKind { engine.kind }

    /// What was counted while `body` ran.
    package func counting(_ body: () async throws -> Void) async rethrows -> Numbers {
        lock.withLock { numbers = Numbers() }
        try await body()
        return counted
    }

    /// What was counted so far.
    package var counted: Numbers { lock.withLock { numbers } }

    package func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        lock.withLock {
            switch unit {
            case .transaction, .exclusive:
                numbers.changes += 1
                numbers.transactions += 1
            case .repeatableChange: numbers.changes += 1
            case .read: numbers.transactions += 1
            case .query, .sameConnectionQuery: break
            }
        }
        return try await engine.run(unit) { connection in
            try body(CountingConnection(connection, self))
        }
    }

    package func scratch(of mirror: String) async throws -> any StorageEngine {
        try await engine.scratch(of: mirror)
    }

    package func backup(to path: String) async throws { try await engine.backup(to: path) }

    package func close() async { await engine.close() }

    fileprivate func count() { lock.withLock { numbers.statements += 1 } }
}

private final class CountingConnection: StorageConnection {
    private let connection: any StorageConnection
    private let engine: CountingEngine

    init(_ connection: any StorageConnection, _ engine: CountingEngine) {
        self.connection = connection
        self.engine = engine
    }

    func query(_ sql: SQL) throws -> [SQLRow] {
        engine.count()
        return try connection.query(sql)
    }

    func execute(_ sql: SQL) throws -> Int {
        engine.count()
        return try connection.execute(sql)
    }

    func insert(_ batch: BulkInsert) throws -> Int {
        engine.count()
        return try connection.insert(batch)
    }

    func forEach(_ sql: SQL, _ body: (SQLRow) throws -> Void) throws {
        engine.count()
        try connection.forEach(sql, body)
    }
}
