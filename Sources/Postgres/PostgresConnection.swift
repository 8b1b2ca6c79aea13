import Blocking
import CPostgres
import Foundation

/// One connection, the owner of libpq's handle.
///
/// Used only on the thread of its ``PostgresClient``. libpq is used without blocking, so that an
/// interruption ends a wait for the server at once.
package final class PostgresConnection {
    private let handle: OpaquePointer
    private let interruption: Interruption
    /// The time for which the server may be silent before the connection counts as lost, in
    /// milliseconds.
    private let answerMilliseconds: Int
    /// The server's system identifier; nil if it cannot be read, or if the server cannot report
    /// outcomes of transactions.
    private(set) var cluster: String?
    /// Whether to try `COPY`: false after a key existed already, because then the next rows are
    /// likely to exist too.
    package var mayCopy = true
    /// Whether the open transaction has changed anything, as far as the server's answers show.
    private(set) var hasChanged = false
    /// The unnamed statement that the server has prepared, for reuse.
    ///
    /// The statement is reused only within one transaction, because a pooler may give the next
    /// transaction another session.
    private var preparedStatement: (text: String, types: [UInt32])?
    /// The number of cursors declared so far, for their names.
    private var cursorCount = 0
    /// The first failure since the transaction began.
    ///
    /// After a failure, the server accepts no more statements in the transaction, whatever the body
    /// does.
    private(set) var failure: PostgresError?
    /// The pending request to cancel the running statement, if there is one.
    private var cancelRequest: PostgresCancelRequest?
    /// Whether the running statement may be stopped.
    private var isInterruptible = true
    /// Whether client and server have lost synchronization.
    private var isOutOfStep = false

    /// Takes ownership of a connected handle.
    private init(
        connected handle: OpaquePointer, interruption: Interruption, answerMilliseconds: Int
    ) {
        self.handle = handle
        self.interruption = interruption
        self.answerMilliseconds = answerMilliseconds
    }

    deinit { PQfinish(handle) }

    /// Whether the connection is usable, as far as the client knows.
    var isAlive: Bool { PQstatus(handle) == CONNECTION_OK && !isOutOfStep }

    /// Resets the state before `BEGIN`.
    func beginUnit() {
        failure = nil
        preparedStatement = nil
        hasChanged = false
    }

    /// Runs one statement.
    ///
    /// - Throws: ``PostgresError``, or `CancellationError` if the statement was interrupted. After
    ///   either, the transaction can only be rolled back.
    package func execute(_ text: String, _ parameters: [SQLValue] = []) throws -> PostgresResult {
        try recordingFailure { try send(text, PostgresParameters(parameters)) }
    }

    /// Inserts many rows with a statement that takes an array for each column.
    ///
    /// - Parameters:
    ///   - text: The statement.
    ///   - columns: The element types of the arrays `$1`, `$2`, …
    ///   - rows: The numbers of the rows.
    ///   - row: Makes a row, each value null or of its column's type, while the server processes
    ///     the previous rows. An error that it throws ends the insert; the rows sent before stay
    ///     inserted.
    /// - Returns: The number of changed rows.
    /// - Throws: The error of ``execute(_:_:)`` or `row`.
    package func insert(
        _ text: String, columns: [ColumnType], rows: [Int], _ row: (Int) throws -> [SQLValue]
    ) throws -> Int {
        var changed = 0
        var portions = rows.portions(of: Self.rowsInPortion).makeIterator()
        func next() throws -> PostgresParameters? {
            try portions.next().map { try PostgresParameters(columns: columns, rows: $0, row) }
        }
        var upcoming = try next()
        while let parameters = upcoming {
            var following: Result<PostgresParameters?, any Error> = .success(nil)
            let result = try recordingFailure {
                try send(text, parameters) { following = Result(catching: next) }
            }
            changed += result.affectedRows
            upcoming = try following.get()
        }
        return changed
    }

    /// The number of rows in one message; measured as the fastest.
    private static let rowsInPortion = 1_000

    /// Runs a closure whose failure on the server ends the transaction.
    @discardableResult
    private func recordingFailure(_ body: () throws -> PostgresResult) throws -> PostgresResult {
        if let failure { throw failure }
        do {
            let result = try body()
            hasChanged = hasChanged || result.isChange
            return result
        } catch let error as PostgresError {
            failure = error
            throw error
        }
    }

    /// Runs a statement without parameters, such as `BEGIN`, also after a
    /// failure.
    ///
    /// - Parameters:
    ///   - text: The statement.
    ///   - interruptible: False for a statement that must complete.
    /// - Returns: The server's answer.
    /// - Throws: ``PostgresError`` or `CancellationError`.
    @discardableResult
    func control(_ text: String, interruptible: Bool = true) throws -> PostgresResult {
        isInterruptible = interruptible
        preparedStatement = nil
        defer { isInterruptible = true }
        return try roundTrip { PQsendQuery(handle, text) }
    }

    /// Detects a connection that the server has closed, without a round trip.
    ///
    /// - Throws: ``PostgresError`` with code `.connectionLost`.
    func probe() throws {
        // The server's last message and the end of the stream need two readings.
        for _ in 0..<2 {
            var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return }
            guard PQconsumeInput(handle) == 1, isAlive else { throw lostConnection() }
        }
    }

    /// Hands over the rows of a `SELECT` in portions of 1,000.
    ///
    /// - Parameters:
    ///   - text: A `SELECT`; the server keeps it as a cursor.
    ///   - parameters: The values of `$1`, `$2`, ….
    ///   - body: A function that is called with each portion; it may run other statements.
    /// - Throws: The error of ``execute(_:_:)`` or `body`.
    package func forEachPortion(
        _ text: String, _ parameters: [SQLValue], _ body: (PostgresResult) throws -> Void
    ) throws {
        cursorCount += 1
        let cursor = "mirror_bot_cursor_\(cursorCount)"
        _ = try execute("DECLARE \(cursor) NO SCROLL CURSOR FOR \(text)", parameters)
        // A cursor that could not be closed ends with the transaction.
        defer { if failure == nil { _ = try? execute("CLOSE \(cursor)") } }
        while true {
            let portion = try execute("FETCH 1000 FROM \(cursor)")
            guard portion.rowCount > 0 else { return }
            try body(portion)
        }
    }

    private func send(
        _ text: String, _ parameters: PostgresParameters, meanwhile: () -> Void = {}
    ) throws -> PostgresResult {
        // Between transactions a pooler may switch to a session that has not prepared it.
        let isPrepared =
            PQtransactionStatus(handle) == PQTRANS_INTRANS
            && preparedStatement.map { $0.text == text && $0.types == parameters.types } ?? false
        preparedStatement = nil
        let result = try parameters.withPointers { values, lengths, formats in
            Result {
                try roundTrip(meanwhile: meanwhile) {
                    // The statement has no name, so that it leaves nothing in the session. If it is
                    // prepared, the server need not parse it again.
                    isPrepared
                        ? PQsendQueryPrepared(
                            handle, "", Int32(values.count), values, lengths, formats, 0)
                        : PQsendQueryParams(
                            handle, text, Int32(values.count), parameters.types, values, lengths,
                            formats, 0)
                }
            }
        }.get()
        preparedStatement = (text, parameters.types)
        return result
    }
}

// MARK: - Connecting

extension PostgresConnection {
    /// Connects to the first host that answers and has the properties that the URL requires, each
    /// within its `connect_timeout`.
    ///
    /// - Throws: ``PostgresError`` with code `.connect` or `.authentication`,
    ///   or `CancellationError` if the interruption was requested.
    static func connect(
        _ configuration: PostgresConfiguration, interruption: Interruption
    ) throws -> PostgresConnection {
        var refusals: [String] = []
        for (index, host) in configuration.hosts.enumerated() {
            do {
                return try connect(to: host, configuration, interruption)
            } catch var error as PostgresError where error.code == .connect {
                refusals.append(error.message)
                guard index == configuration.hosts.count - 1 else { continue }
                error.message = refusals.joined(separator: "; ")
                throw error
            }
        }
        throw PostgresError(.connect, "there is no host")
    }

    private static func connect(
        to host: [String: String], _ configuration: PostgresConfiguration,
        _ interruption: Interruption
    ) throws -> PostgresConnection {
        guard let handle = start(host) else { throw PostgresError(.connect, "no memory") }
        do {
            try finishConnecting(handle, configuration, interruption)
        } catch {
            PQfinish(handle)
            throw error
        }
        let connection = PostgresConnection(
            connected: handle, interruption: interruption,
            answerMilliseconds: configuration.answerMilliseconds)
        try connection.requireUTF8()
        try connection.readCluster()
        return connection
    }

    /// Keywords and values are passed as arrays, so no string is assembled.
    private static func start(_ host: [String: String]) -> OpaquePointer? {
        let settings = host.sorted { $0.key < $1.key }
        let keywords = settings.map { strdup($0.key) }
        let values = settings.map { strdup($0.value) }
        defer { for case let text? in keywords + values { free(text) } }
        // libpq reads both arrays up to a null.
        return PQconnectStartParams(
            keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
    }

    private static func finishConnecting(
        _ handle: OpaquePointer, _ configuration: PostgresConfiguration,
        _ interruption: Interruption
    ) throws {
        let clock = ContinuousClock()
        let deadline = configuration.connectTimeoutMilliseconds.map {
            clock.now + .milliseconds($0)
        }
        // Only the verbose report of a refusal contains its SQLSTATE.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        // libpq's rule: before the first PQconnectPoll act as if it had returned
        // PGRES_POLLING_WRITING.
        var state = PGRES_POLLING_WRITING
        guard PQstatus(handle) != CONNECTION_BAD else { throw refusal(handle) }
        while state != PGRES_POLLING_OK {
            let millisecondsLeft =
                deadline.map { max(0, Int(($0 - clock.now) / .milliseconds(1))) } ?? -1
            let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard millisecondsLeft != 0,
                interruption.wait(for: events, on: PQsocket(handle), milliseconds: millisecondsLeft)
            else {
                throw PostgresError(.connect, "the server did not answer in time")
            }
            if interruption.isRequested { throw CancellationError() }
            state = PQconnectPoll(handle)
            if state == PGRES_POLLING_FAILED { throw refusal(handle) }
        }
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        PQsetnonblocking(handle, 1)
        // Without a processor, libpq would print notices to the standard error output.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
    }

    private static func refusal(_ handle: OpaquePointer) -> PostgresError {
        var error = PostgresError(refusal: message(of: handle))
        if PQconnectionNeedsPassword(handle) == 1 { error.code = .authentication }
        return error
    }

    /// Refuses a database whose encoding cannot store every text, such as an emoji, or does not
    /// validate it (`SQL_ASCII`).
    ///
    /// The server reports the database's encoding when it accepts the connection; a proxy may not.
    private func requireUTF8() throws {
        guard
            let encoding = PQparameterStatus(handle, "server_encoding").map({ String(cString: $0) }
            ),
            encoding != "UTF8"
        else { return }
        throw PostgresError(
            .configuration,
            "the database has the encoding \(encoding), in which not every text can be stored; make one with "
                + "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name it in DATABASE_URL"
        )
    }

    /// The expression for the system identifier of the server's database cluster.
    static let clusterExpression =
        "(SELECT CAST(system_identifier AS TEXT) FROM pg_control_system())"
    /// The expression for the server's current timeline; null on a standby.
    static let timelineExpression =
        "CASE WHEN pg_is_in_recovery() THEN NULL ELSE SUBSTR(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END"

    /// Reads the identity of the server's data, which determines the meaning of transaction
    /// numbers.
    private func readCluster() throws {
        do {
            cluster = try control("SELECT \(Self.clusterExpression), \(Self.timelineExpression)")
                .firstText
        } catch let error as PostgresError where error.code == .server {
            // Some compatible servers have no timeline.
        }
    }
}

// MARK: - Exchanges with the server, all with a time limit

extension PostgresConnection {
    /// The longest wait for the server to cancel a statement, in milliseconds.
    private static let cancelMilliseconds = 5_000
    /// The interval between requests to cancel a statement, in milliseconds.
    private static let cancelPause = 250

    /// Sends data to the server, and returns the last of its results.
    ///
    /// - Parameters:
    ///   - meanwhile: A function that is called once, when everything is sent and before the result
    ///     is read.
    ///   - send: Passes the data to libpq.
    /// - Returns: The last answer.
    /// - Throws: ``PostgresError`` or `CancellationError`.
    @discardableResult
    private func roundTrip(meanwhile: () -> Void = {}, _ send: () -> Int32) throws -> PostgresResult
    {
        try completingExchange {
            guard send() == 1 else { throw lostConnection() }
            try flush()
            meanwhile()
            return try lastResult()
        }
    }

    /// Completes an exchange with the server, including a cancel request that an interruption
    /// started.
    private func completingExchange(_ exchange: () throws -> PostgresResult) throws
        -> PostgresResult
    {
        guard !isOutOfStep else { throw lostConnection() }
        cancelRequest = nil
        let result = Result { try exchange() }
        // A request that is still in flight might cancel the next statement instead.
        if !isOutOfStep, cancelRequest?.isOver(within: Self.cancelMilliseconds) == false {
            isOutOfStep = true
        }
        return try result.get()
    }

    /// Reads the server's answers and returns the last.
    private func lastResult() throws -> PostgresResult {
        var last: OpaquePointer?
        defer { PQclear(last) }
        while let next = try nextResult() {
            PQclear(last)
            last = next
            // The statement started a `COPY` that nobody requested: the connection is unusable.
            if [PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH].contains(PQresultStatus(next)) {
                throw outOfStep("the statement copies data")
            }
        }
        guard let result = last else { throw lostConnection() }
        last = nil
        return try checked(result)
    }

    private func flush() throws {
        while true {
            let state = PQflush(handle)
            if state == 0 { return }
            guard state == 1 else { throw lostConnection() }
            // Also reads, because the server may be blocked until it can send.
            try wait(for: POLLIN | POLLOUT)
            guard PQconsumeInput(handle) == 1 else { throw lostConnection() }
        }
    }

    private func nextResult() throws -> OpaquePointer? {
        while PQisBusy(handle) == 1 {
            try wait(for: POLLIN)
            guard PQconsumeInput(handle) == 1 else { throw lostConnection() }
        }
        return PQgetResult(handle)
    }

    /// Waits for the socket; on an interruption asks the server to cancel the statement, and waits
    /// for the statement's result, which shows whether it was cancelled.
    private func wait(for events: Int32) throws {
        let socket = PQsocket(handle)
        guard interruption.isRequested else {
            guard interruption.wait(for: events, on: socket, milliseconds: answerMilliseconds)
            else {
                throw outOfStep("the server does not answer")
            }
            return
        }
        var millisecondsLeft = min(Self.cancelMilliseconds, answerMilliseconds)
        while millisecondsLeft > 0 {
            // The request is repeated, because a request that arrives before the statement cancels
            // nothing.
            let isNoRequestInFlight = cancelRequest?.isOver(within: 0) ?? true
            if isInterruptible, isNoRequestInFlight {
                cancelRequest = PostgresCancelRequest(stopping: handle)
            }
            let pause = min(millisecondsLeft, Self.cancelPause)
            if interruption.wait(
                for: events, on: socket, milliseconds: pause, ignoringRequest: true)
            {
                return
            }
            millisecondsLeft -= pause
        }
        throw outOfStep("the server did not stop a statement in time")
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
        // The fields are PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY, PG_DIAG_CONSTRAINT_NAME and
        // PG_DIAG_SEVERITY_NONLOCALIZED, which are character macros that Swift does not import.
        func field(_ code: UnicodeScalar) -> String? {
            PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
        }
        guard let sqlState = field("C") else { return lostConnection() }
        if sqlState == "57014" && cancelRequest != nil { return CancellationError() }
        var error = PostgresError(
            sqlState: sqlState,
            message: Self.withoutPassword(field("M") ?? "the server gave no reason", of: handle)
        )
        // With these severities the server ends the session. Class 57P means that it is shutting
        // down; a proxy may report that with a lower severity.
        let endsSession = ["FATAL", "PANIC"].contains(field("V"))
        if endsSession || !isAlive || sqlState.hasPrefix("57P") || sqlState.hasPrefix("08") {
            isOutOfStep = true
            error.code = .connectionLost
        }
        return error
    }

    /// The error for a connection that is open but must not be used again.
    private func outOfStep(_ message: String) -> PostgresError {
        isOutOfStep = true
        return PostgresError(.connectionLost, message)
    }

    private func lostConnection() -> PostgresError {
        isOutOfStep = true
        return PostgresError(.connectionLost, Self.message(of: handle))
    }

    /// libpq's own error message, on one line.
    private static func message(of handle: OpaquePointer?) -> String {
        let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        let lines = message.split(whereSeparator: \.isNewline).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        return lines.isEmpty
            ? "the connection was lost" : withoutPassword(lines.joined(separator: "; "), of: handle)
    }

    /// The shortest password that is searched for, in bytes: a shorter password might be part of an
    /// ordinary word.
    private static let shortestPassword = 4

    /// Removes the password from a message: a server, or an impostor, may repeat the password that
    /// it received.
    private static func withoutPassword(_ message: String, of handle: OpaquePointer?) -> String {
        guard let password = PQpass(handle).map({ String(cString: $0) }),
            password.utf8.count >= shortestPassword
        else { return message }
        return message.replacingOccurrences(of: password, with: "<redacted>", options: .literal)
    }
}

// MARK: - Copying

extension PostgresConnection {
    /// The header of binary `COPY` data: an eleven-byte signature, no flags, no extension.
    private static let copyHeader: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)
    /// The trailer of binary `COPY` data: a row with -1 values.
    private static let copyTrailer: [UInt8] = [0xFF, 0xFF]

    /// Copies rows into a table, at half the cost of any `INSERT`, unless a key exists already.
    ///
    /// - Parameters:
    ///   - text: `COPY … FROM STDIN (FORMAT BINARY)`.
    ///   - rows: The numbers of the rows.
    ///   - row: Makes a row, each value null or of exactly its column's type, while the server
    ///     processes the previous rows.
    /// - Returns: The number of copied rows; nil, without copying any, if one of the keys existed
    ///   already.
    /// - Throws: ``PostgresError``, `CancellationError`, or what `row` throws. After any of them
    ///   the transaction can only be rolled back.
    package func copy(_ text: String, rows: [Int], _ row: (Int) throws -> [SQLValue]) throws -> Int?
    {
        try recordingFailure { try control("SAVEPOINT mirror_bot_copy") }
        let result: PostgresResult
        do {
            result = try copyRows(text, rows, row)
        } catch let error as PostgresError where error.sqlState == "23505" {
            try recordingFailure { try control("ROLLBACK TO SAVEPOINT mirror_bot_copy") }
            return nil
        } catch {
            return try recordingFailure { throw error }.affectedRows
        }
        try recordingFailure { try control("RELEASE SAVEPOINT mirror_bot_copy") }
        // The copy counts as a change of the transaction.
        return try recordingFailure { result }.affectedRows
    }

    private func copyRows(
        _ text: String, _ rows: [Int], _ row: (Int) throws -> [SQLValue]
    ) throws -> PostgresResult {
        try completingExchange {
            try beginCopying(text)
            let sending = Result {
                try put(Self.copyHeader)
                for portion in rows.portions(of: Self.rowsInPortion) {
                    var bytes: [UInt8] = []
                    for number in portion { bytes.append(copied: try row(number)) }
                    try put(bytes)
                }
                try put(Self.copyTrailer)
            }
            guard case .failure(let error) = sending else {
                try endCopying(nil)
                return try lastResult()
            }
            // Makes the server discard the data, unless the connection is lost.
            if !isOutOfStep {
                try endCopying("no more rows")
                // The server's result only repeats the error text that it received.
                _ = try? lastResult()
            }
            throw error
        }
    }

    private func beginCopying(_ text: String) throws {
        guard PQsendQuery(handle, text) == 1 else { throw lostConnection() }
        try flush()
        guard let answer = try nextResult() else { throw lostConnection() }
        guard PQresultStatus(answer) == PGRES_COPY_IN else {
            let refusal = Result { try checked(answer) }
            while let furtherResult = try nextResult() { PQclear(furtherResult) }
            _ = try refusal.get()
            throw outOfStep("the statement copies nothing")
        }
        PQclear(answer)
    }

    private func put(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { buffer in
            try repeatingUntilAccepted {
                PQputCopyData(
                    handle, buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(clamping: buffer.count))
            }
        }
        try flush()
    }

    private func endCopying(_ reason: String?) throws {
        try repeatingUntilAccepted { PQputCopyEnd(handle, reason) }
        try flush()
    }

    /// Repeats a call until libpq has room for its data.
    private func repeatingUntilAccepted(_ offer: () -> Int32) throws {
        while true {
            switch offer() {
            case 1: return
            case 0: try flush()
            default: throw lostConnection()
            }
        }
    }
}

/// Asks the server, over a separate connection, to cancel a statement.
///
/// libpq waits for the server's reaction without a time limit, so each request has its own thread.
private final class PostgresCancelRequest: @unchecked Sendable {
    // Unchecked because `pointer` is used only by the sending thread, and `isOver` only under the
    // condition.
    private let pointer: OpaquePointer
    private let condition = NSCondition()
    private var isOver = false

    /// Sends a cancel request for the statement of a connection; nil if there is no connection.
    init?(stopping handle: OpaquePointer) {
        guard let pointer = PQgetCancel(handle) else { return nil }
        self.pointer = pointer
        // The thread inherits the signal mask of the client's thread, which blocks SIGPIPE.
        Thread.detachNewThread { self.send() }
    }

    deinit { PQfreeCancel(pointer) }

    /// Waits until the server has received the request, or could not be reached.
    ///
    /// Until then the request may still stop a later statement of the same
    /// connection.
    ///
    /// - Returns: Whether that was the case within `milliseconds`.
    func isOver(within milliseconds: Int) -> Bool {
        let limit = Date(timeIntervalSinceNow: Double(milliseconds) / 1_000)
        return condition.withLock {
            while !isOver {
                guard condition.wait(until: limit) else { return isOver }
            }
            return true
        }
    }

    private func send() {
        var errorText = [CChar](repeating: 0, count: 256)
        // If the request does not arrive, the wait for the statement's result times out.
        _ = PQcancel(pointer, &errorText, Int32(errorText.count))
        condition.withLock {
            isOver = true
            condition.broadcast()
        }
    }
}
