import CPostgres
import Foundation

/// One connection; owns libpq's handle.
///
/// Belongs to the thread of its ``PostgresClient``. libpq is used without
/// blocking, so that a wait for the server ends at once when the interruption
/// is requested.
package final class PostgresConnection {
    private let handle: OpaquePointer
    let interruption: PostgresInterruption
    private var statements = PostgresStatementCache()
    private var cursors = 0
    /// The first failure since the transaction began.
    ///
    /// The server accepts
    /// nothing more in that transaction, whatever its body makes of the error.
    private(set) var failure: PostgresError?
    /// Whether the server was asked to stop the running statement.
    private var cancelSent = false
    /// Whether the running statement may be stopped.
    private var isInterruptible = true

    /// Statements that are worth preparing; others run once.
    private static let preparable: Set<Substring> = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"]
    /// How long the server may take to stop a statement.
    private static let cancelMilliseconds = 5_000

    /// Takes ownership of a connected handle.
    init(connected handle: OpaquePointer, interruption: PostgresInterruption) {
        self.handle = handle
        self.interruption = interruption
    }

    deinit { PQfinish(handle) }

    /// Whether the connection can be used as far as the client knows.
    var isAlive: Bool { PQstatus(handle) == CONNECTION_OK }

    /// Forgets earlier failures; before `BEGIN`.
    func beginUnit() { failure = nil }

    /// Runs one statement, prepared where that pays.
    ///
    /// - Throws: ``PostgresError``, or `CancellationError` if the statement was
    ///   interrupted. After either the transaction can only roll back.
    package func execute(_ text: String, _ parameters: [PostgresParameter] = []) throws -> PostgresResult {
        if let failure { throw failure }
        do {
            let encoded = PostgresParameters(parameters)
            let keyword = text.prefix { $0.isLetter }
            // Long lists of values come in many lengths; each would be a statement of its own.
            guard Self.preparable.contains(keyword), parameters.count <= 32 else {
                return try send(text, encoded)
            }
            return try send(prepared: try prepare(text, types: encoded.types), encoded)
        } catch let error as PostgresError {
            if error.isRepeatable { statements.removeAll() }
            failure = error
            throw error
        }
    }

    /// Runs a statement without parameters, such as `BEGIN`, also after a
    /// failure.
    ///
    /// - Parameters:
    ///   - text: The statement.
    ///   - interruptible: False for a statement that must come to its end.
    /// - Returns: The server's answer.
    /// - Throws: ``PostgresError`` or `CancellationError`.
    @discardableResult
    func control(_ text: String, interruptible: Bool = true) throws -> PostgresResult {
        isInterruptible = interruptible
        defer { isInterruptible = true }
        return try roundTrip { PQsendQuery(handle, text) }
    }

    /// Notices a connection that the server has already closed, without a
    /// round trip.
    ///
    /// - Throws: ``PostgresError`` with code `.connectionLost`.
    func probe() throws {
        // The server's last words and the end of the stream are two readings.
        for _ in 0..<2 {
            var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return }
            guard PQconsumeInput(handle) == 1, isAlive else { throw lost() }
        }
    }

    /// Hands over the rows of a `SELECT` in portions of 1,000.
    ///
    /// - Parameters:
    ///   - text: A `SELECT`; the server keeps it as a cursor.
    ///   - parameters: The values of `$1`, `$2`, ….
    ///   - body: Gets each portion; may run other statements.
    /// - Throws: What ``execute(_:_:)`` or `body` throws.
    package func forEachPortion(
        _ text: String, _ parameters: [PostgresParameter], _ body: (PostgresResult) throws -> Void
    ) throws {
        cursors += 1
        let cursor = "mirror_bot_cursor_\(cursors)"
        _ = try execute("DECLARE \(cursor) NO SCROLL CURSOR FOR \(text)", parameters)
        defer { if failure == nil { _ = try? execute("CLOSE \(cursor)") } }
        while true {
            let portion = try execute("FETCH 1000 FROM \(cursor)")
            guard portion.rowCount > 0 else { return }
            try body(portion)
        }
    }

    private func prepare(_ text: String, types: [UInt32]) throws -> String {
        if let name = statements.name(of: text, types: types) { return name }
        let name = statements.freshName()
        try roundTrip { PQsendPrepare(handle, name, text, Int32(types.count), types) }
        if let evicted = statements.insert(name, text: text, types: types) {
            try control("DEALLOCATE \(evicted)", interruptible: false)
        }
        return name
    }

    private func send(prepared name: String, _ parameters: PostgresParameters) throws -> PostgresResult {
        try parameters.withPointers { values, lengths, formats in
            Result {
                try roundTrip {
                    PQsendQueryPrepared(handle, name, Int32(values.count), values, lengths, formats, 0)
                }
            }
        }.get()
    }

    private func send(_ text: String, _ parameters: PostgresParameters) throws -> PostgresResult {
        try parameters.withPointers { values, lengths, formats in
            Result {
                try roundTrip {
                    PQsendQueryParams(
                        handle, text, Int32(values.count), parameters.types, values, lengths, formats, 0)
                }
            }
        }.get()
    }
}

// MARK: - The wire

extension PostgresConnection {
    /// Sends something and returns the last of its answers.
    @discardableResult
    private func roundTrip(_ send: () -> Int32) throws -> PostgresResult {
        cancelSent = false
        guard send() == 1 else { throw lost() }
        try flush()
        var last: OpaquePointer?
        while let next = try nextResult() {
            PQclear(last)
            last = next
            // The statement wants to copy data, which nothing here does: the connection cannot go on.
            if [PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH].contains(PQresultStatus(next)) {
                PQclear(next)
                throw PostgresError(.connectionLost, "the statement copies data")
            }
        }
        guard let last else { throw lost() }
        return try checked(last)
    }

    private func flush() throws {
        while true {
            let state = PQflush(handle)
            if state == 0 { return }
            guard state == 1 else { throw lost() }
            // Reading meanwhile: the server may be blocked on what it wants to send first.
            try wait(for: POLLIN | POLLOUT)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    private func nextResult() throws -> OpaquePointer? {
        while PQisBusy(handle) == 1 {
            try wait(for: POLLIN)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
        return PQgetResult(handle)
    }

    /// Waits for the socket; on an interruption asks the server to stop and
    /// goes on waiting for its answer, which says whether it did.
    private func wait(for events: Int32) throws {
        let isKnown = interruption.isRequested
        if isKnown && isInterruptible && !cancelSent {
            cancelSent = true
            requestCancel()
        }
        let limit = isKnown ? Self.cancelMilliseconds : -1
        let socket = PQsocket(handle)
        guard interruption.wait(for: events, on: socket, milliseconds: limit, ignoring: isKnown) else {
            throw PostgresError(.connectionLost, "the server did not stop a statement in time")
        }
    }

    private func requestCancel() {
        guard let cancel = PQgetCancel(handle) else { return }
        defer { PQfreeCancel(cancel) }
        var complaint = [CChar](repeating: 0, count: 256)
        // A request that does not arrive shows as an answer that does not come; the wait is limited.
        _ = PQcancel(cancel, &complaint, Int32(complaint.count))
    }

    private func checked(_ result: OpaquePointer) throws -> PostgresResult {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY, PGRES_SINGLE_TUPLE:
            return PostgresResult(result)
        default:
            defer { PQclear(result) }
            throw failure(of: result)
        }
    }

    private func failure(of result: OpaquePointer) -> any Error {
        // The fields are PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY and PG_DIAG_CONSTRAINT_NAME, which are character
        // macros that Swift does not import.
        func field(_ code: UnicodeScalar) -> String? {
            PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
        }
        guard let sqlState = field("C") else { return lost() }
        if sqlState == "57014" && cancelSent { return CancellationError() }
        var error = PostgresError(
            sqlState: sqlState, message: field("M") ?? "the server gave no reason", constraint: field("n"))
        // Class 57P: the server goes down or ends this session.
        if !isAlive || sqlState.hasPrefix("57P") || sqlState.hasPrefix("08") { error.code = .connectionLost }
        return error
    }

    private func lost() -> PostgresError {
        PostgresError(.connectionLost, Self.message(of: handle))
    }

    /// libpq's own account of what went wrong, on one line.
    static func message(of handle: OpaquePointer?) -> String {
        let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        let lines = message.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        return lines.isEmpty ? "the connection was lost" : lines.joined(separator: "; ")
    }
}
