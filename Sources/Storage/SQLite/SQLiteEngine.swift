import Foundation
import GRDB

/// SQLite through GRDB: one writer, readers that do not wait for it.
///
/// WAL journal, `synchronous=FULL`, ten seconds of patience for another
/// process, foreign keys off as in the Postgres tables, which declare none.
final class SQLiteEngine: StorageEngine {
    private let database: any DatabaseWriter
    private let name: String
    /// The files of the database; nil in memory.
    private let files: SQLiteFiles?

    var kind: StorageKind { .sqlite }

    private init(database: any DatabaseWriter, name: String, files: SQLiteFiles?) {
        self.database = database
        self.name = name
        self.files = files
    }

    /// Opens the file, making it and its folder where they do not exist.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - patience: How many seconds to wait for another process.
    /// - Returns: The engine.
    /// - Throws: ``StorageError`` or `CancellationError`.
    static func open(path: String, patience: Double = 10) async throws -> SQLiteEngine {
        let name = "the database at \(path)"
        return try await mappingErrors("open \(name)") {
            try await offPool {
                try SQLiteFile.prepare(path)
                let pool = try SQLitePatience.opening(seconds: patience) {
                    let pool = try DatabasePool(path: path, configuration: configuration(patience))
                    // GRDB lowers this to NORMAL when it turns on the WAL.
                    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
                    return pool
                }
                return SQLiteEngine(database: pool, name: name, files: SQLiteFiles(openedAt: path))
            }
        }
    }

    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try files?.check("write to \(name)")
        return try await patiently("write to \(name)") { call in
            try await database.writeWithoutTransaction { database in
                var result: Value?
                try SQLitePatience.during(call) {
                    try database.inTransaction(.immediate) {
                        result = try Self.lend(database, to: body)
                        return .commit
                    }
                }
                guard let result else { throw CancellationError() }
                return result
            }
        }
    }

    func exclusiveTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await transaction(body)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try files?.check("read from \(name)")
        return try await patiently("read from \(name)") { call in
            try await database.read { database in
                try SQLitePatience.during(call) { try Self.lend(database, to: body) }
            }
        }
    }

    func scratch(of mirror: String) async throws -> any StorageEngine {
        try await Self.mappingErrors("copy \(name)") {
            try await Self.offPool {
                let copy = try DatabaseQueue(configuration: Self.configuration(0))
                try self.database.backup(to: copy)
                return SQLiteEngine(database: copy, name: "a copy of \(self.name)", files: nil)
            }
        }
    }

    func backup(to path: String) async throws {
        let operation = "back up \(name) to \(path)"
        try files?.check(operation)
        try await Self.mappingErrors(operation) {
            try await Self.offPool {
                let partial = try SQLiteFile.makePartial(of: path, operation)
                defer { SQLiteFile.remove(partial) }
                let copy = try DatabaseQueue(path: partial, configuration: Self.configuration(0))
                try self.database.backup(to: copy)
                // One file, without a log beside it.
                try copy.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
                try copy.close()
                try SQLiteFile.publish(partial, as: path, operation)
            }
        }
    }

    func close() async {
        // Otherwise what was committed last may stay in the log, and a copy of the file alone lacks it. Whoever uses
        // the file still is not waited for: the last to close does this.
        if files?.forget() == true {
            try? await Self.offPool {
                try self.database.writeWithoutTransaction {
                    try $0.execute(sql: "PRAGMA busy_timeout = 500; PRAGMA wal_checkpoint(TRUNCATE)")
                }
            }
        }
        // A statement still in use keeps the file open; its owner is a call in progress, and SQLite ends with it.
        try? await Self.offPool { try self.database.close() }
    }

    private static func configuration(_ patience: Double) -> Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = SQLitePatience.mode(seconds: patience)
        configuration.maximumReaderCount = 2
        configuration.label = "mirror-bot.storage"
        return configuration
    }

    private static func lend<Value>(
        _ database: Database, to body: (any StorageConnection) throws -> Value
    ) throws -> Value {
        let connection = SQLiteConnection(database)
        let result = Result { try body(connection) }
        try connection.end()
        return try result.get()
    }

    /// Runs blocking work on a thread of its own.
    ///
    /// Not on a global queue: its few threads also run Swift's tasks.
    private static func offPool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result(catching: work)) }.start()
        }
    }

    /// Runs a call that stops waiting for another process when its task is cancelled.
    private func patiently<Value: Sendable>(
        _ operation: String, _ body: (SQLitePatience.Call) async throws -> Value
    ) async throws -> Value {
        let call = SQLitePatience.Call()
        return try await withTaskCancellationHandler {
            do {
                return try await Self.mappingErrors(operation) { try await body(call) }
            } catch let error as StorageError where error.code == .busy && call.isCancelled {
                throw CancellationError()
            }
        } onCancel: {
            call.cancel()
        }
    }

    private static func mappingErrors<Value>(
        _ operation: String, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as DatabaseError {
            throw StorageError(error, operation)
        }
    }
}
