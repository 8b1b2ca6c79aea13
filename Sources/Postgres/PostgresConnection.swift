import CPostgres
import Foundation

/// One connection; owns libpq's handle.
///
/// Belongs to the thread of its ``PostgresClient``. libpq is used without
/// blocking, so that a wait for the server ends at once when the interruption
/// is requested.
package final class PostgresConnection {
    let handle: OpaquePointer
    let interruption: PostgresInterruption
    /// How long the server may say nothing before the connection counts as lost, in milliseconds.
    let answerMilliseconds: Int
    /// Which history of the server's data the connection writes to; nil if the server does not say.
    ///
    /// It changes when a standby takes over, and numbers of transactions mean
    /// the same only within one.
    var timeline: String?
    /// Whether rows are worth copying: false once a key of theirs was known, as the next ones then are likely to be.
    package var mayCopy = true
    /// Whether the transaction that is open changed anything, as far as the server's answers tell.
    private(set) var hasChanged = false
    /// The statement that the server has ready without a name, to run again; only within one transaction, since a pooler
    /// may hand the next one to another session.
    private var ready: (text: String, types: [UInt32])?
    private var cursors = 0
    /// The first failure since the transaction began.
    ///
    /// The server accepts
    /// nothing more in that transaction, whatever its body makes of the error.
    private(set) var failure: PostgresError?
    /// The request to stop the running statement, if there was one.
    var cancelRequest: PostgresCancelRequest?
    /// Whether the running statement may be stopped.
    var isInterruptible = true
    /// Whether client and server no longer agree on what was asked and answered.
    var isOutOfStep = false

    /// Takes ownership of a connected handle.
    init(connected handle: OpaquePointer, interruption: PostgresInterruption, answerMilliseconds: Int) {
        self.handle = handle
        self.interruption = interruption
        self.answerMilliseconds = answerMilliseconds
    }

    deinit { PQfinish(handle) }

    /// Whether the connection can be used as far as the client knows.
    var isAlive: Bool { PQstatus(handle) == CONNECTION_OK && !isOutOfStep }

    /// Forgets earlier failures; before `BEGIN`.
    func beginUnit() {
        failure = nil
        ready = nil
        hasChanged = false
    }

    /// Runs one statement.
    ///
    /// - Throws: ``PostgresError``, or `CancellationError` if the statement was
    ///   interrupted. After either the transaction can only roll back.
    package func execute(_ text: String, _ parameters: [PostgresParameter] = []) throws -> PostgresResult {
        try failing { try send(text, PostgresParameters(parameters), parameters.count) }
    }

    /// Runs one statement again and again.
    ///
    /// - Parameters:
    ///   - text: The statement.
    ///   - next: Makes the values of the next run, while the server works on the one before; nil ends the series. What
    ///     it throws ends the series too, after that run.
    /// - Returns: How many rows all runs together changed.
    /// - Throws: What ``execute(_:_:)`` or `next` throws.
    package func executeSeries(_ text: String, _ next: () throws -> [PostgresParameter]?) throws -> Int {
        var changed = 0
        var upcoming = try next()
        while let parameters = upcoming {
            var following: Result<[PostgresParameter]?, any Error> = .success(nil)
            let result = try failing {
                try send(text, PostgresParameters(parameters), parameters.count) { following = Result(catching: next) }
            }
            changed += result.affectedRows
            upcoming = try following.get()
        }
        return changed
    }

    /// Runs something that the transaction does not survive if the server refuses it.
    @discardableResult
    func failing(_ body: () throws -> PostgresResult) throws -> PostgresResult {
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
    ///   - interruptible: False for a statement that must come to its end.
    /// - Returns: The server's answer.
    /// - Throws: ``PostgresError`` or `CancellationError`.
    @discardableResult
    func control(_ text: String, interruptible: Bool = true) throws -> PostgresResult {
        isInterruptible = interruptible
        ready = nil
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

    private func send(
        _ text: String, _ parameters: PostgresParameters, _ count: Int, meanwhile: () -> Void = {}
    ) throws -> PostgresResult {
        let isReady = ready.map { $0.text == text && $0.types == parameters.types } ?? false
        ready = nil
        let result = try parameters.withPointers { values, lengths, formats in
            Result {
                try roundTrip(meanwhile: meanwhile) {
                    // Without a name nothing is left in the session; the same text again need not be parsed again.
                    isReady
                        ? PQsendQueryPrepared(handle, "", Int32(values.count), values, lengths, formats, 0)
                        : PQsendQueryParams(
                            handle, text, Int32(values.count), parameters.types, values, lengths, formats, 0)
                }
            }
        }.get()
        ready = (text, parameters.types)
        return result
    }
}
