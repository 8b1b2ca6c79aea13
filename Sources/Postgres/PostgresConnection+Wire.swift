import CPostgres
import Foundation

/// Talking to the server without ever waiting for it for ever.
extension PostgresConnection {
    /// How long the server may take to stop a statement.
    private static let cancelMilliseconds = 5_000

    /// Sends something and returns the last of its answers.
    ///
    /// - Parameters:
    ///   - meanwhile: Called once when everything is sent and the answer is not asked for yet.
    ///   - send: Hands what is to be sent to libpq.
    /// - Returns: The last answer.
    /// - Throws: ``PostgresError`` or `CancellationError`.
    @discardableResult
    func roundTrip(meanwhile: () -> Void = {}, _ send: () -> Int32) throws -> PostgresResult {
        try settled {
            guard send() == 1 else { throw lost() }
            try flush()
            meanwhile()
            return try lastResult()
        }
    }

    /// Runs an exchange with the server and what an interruption has begun meanwhile to its end.
    func settled(_ exchange: () throws -> PostgresResult) throws -> PostgresResult {
        guard !isOutOfStep else { throw lost() }
        cancelRequest = nil
        let result = Result { try exchange() }
        // A request that is still on its way might stop the next statement instead.
        if !isOutOfStep, cancelRequest?.isOver(within: Self.cancelMilliseconds) == false { isOutOfStep = true }
        return try result.get()
    }

    /// Reads the server's answers and returns the last.
    func lastResult() throws -> PostgresResult {
        var last: OpaquePointer?
        defer { PQclear(last) }
        while let next = try nextResult() {
            PQclear(last)
            last = next
            // The statement wants to copy data where nothing is to be copied: the connection cannot go on.
            if [PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH].contains(PQresultStatus(next)) {
                throw outOfStep("the statement copies data")
            }
        }
        guard let result = last else { throw lost() }
        last = nil
        return try checked(result)
    }

    func flush() throws {
        while true {
            let state = PQflush(handle)
            if state == 0 { return }
            guard state == 1 else { throw lost() }
            // Reading meanwhile: the server may be blocked on what it wants to send first.
            try wait(for: POLLIN | POLLOUT)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    func nextResult() throws -> OpaquePointer? {
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
        if isKnown && isInterruptible && cancelRequest == nil {
            cancelRequest = PostgresCancelRequest(stopping: handle)
        }
        let limit = isKnown ? min(Self.cancelMilliseconds, answerMilliseconds) : answerMilliseconds
        let socket = PQsocket(handle)
        guard interruption.wait(for: events, on: socket, milliseconds: limit, ignoring: isKnown) else {
            throw outOfStep(isKnown ? "the server did not stop a statement in time" : "the server does not answer")
        }
    }

    func checked(_ result: OpaquePointer) throws -> PostgresResult {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY, PGRES_SINGLE_TUPLE:
            return PostgresResult(result)
        default:
            defer { PQclear(result) }
            throw failure(of: result)
        }
    }

    private func failure(of result: OpaquePointer) -> any Error {
        // The fields are PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY, PG_DIAG_CONSTRAINT_NAME and
        // PG_DIAG_SEVERITY_NONLOCALIZED, which are character macros that Swift does not import.
        func field(_ code: UnicodeScalar) -> String? {
            PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
        }
        guard let sqlState = field("C") else { return lost() }
        if sqlState == "57014" && cancelRequest != nil { return CancellationError() }
        var error = PostgresError(
            sqlState: sqlState,
            message: Self.withoutPassword(field("M") ?? "the server gave no reason", of: handle), constraint: field("n")
        )
        // The server ends this session, whatever for. Class 57P: it goes down; a proxy may say so less gravely.
        let isTheEnd = ["FATAL", "PANIC"].contains(field("V"))
        if isTheEnd || !isAlive || sqlState.hasPrefix("57P") || sqlState.hasPrefix("08") {
            isOutOfStep = true
            error.code = .connectionLost
        }
        return error
    }

    /// The failure of a connection that must not be used again, though it is still open.
    func outOfStep(_ message: String) -> PostgresError {
        isOutOfStep = true
        return PostgresError(.connectionLost, message)
    }

    func lost() -> PostgresError {
        isOutOfStep = true
        return PostgresError(.connectionLost, Self.message(of: handle))
    }

    /// libpq's own account of what went wrong, on one line.
    static func message(of handle: OpaquePointer?) -> String {
        let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        let lines = message.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        return lines.isEmpty
            ? "the connection was lost" : withoutPassword(lines.joined(separator: "; "), of: handle)
    }

    /// A shorter password is not told from the words around it.
    private static let shortestPassword = 4

    /// A server, or what poses as one, may repeat the password that it was sent.
    private static func withoutPassword(_ message: String, of handle: OpaquePointer?) -> String {
        guard let password = PQpass(handle).map({ String(cString: $0) }), password.utf8.count >= shortestPassword
        else { return message }
        return message.replacingOccurrences(of: password, with: "<redacted>", options: .literal)
    }
}
