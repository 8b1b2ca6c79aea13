import CPostgres
import Foundation

extension PostgresConnection {
    /// Connects, within the URL's `connect_timeout`.
    ///
    /// - Throws: ``PostgresError`` with code `.connect` or `.authentication`,
    ///   or `CancellationError` if the interruption was requested.
    static func connect(
        _ configuration: PostgresConfiguration, interruption: PostgresInterruption
    ) throws -> PostgresConnection {
        guard let handle = start(configuration) else { throw PostgresError(.connect, "no memory") }
        do {
            try finishConnecting(handle, configuration, interruption)
        } catch {
            PQfinish(handle)
            throw error
        }
        let connection = PostgresConnection(
            connected: handle, interruption: interruption, answerMilliseconds: configuration.answerMilliseconds)
        try connection.readTimeline()
        return connection
    }

    /// Keywords and values go as arrays: nothing is glued into a string.
    private static func start(_ configuration: PostgresConfiguration) -> OpaquePointer? {
        let settings = configuration.settings.sorted { $0.key < $1.key }
        let keywords = settings.map { strdup($0.key) }
        let values = settings.map { strdup($0.value) }
        defer { for case let text? in keywords + values { free(text) } }
        // libpq reads both arrays up to a null.
        return PQconnectStartParams(
            keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
    }

    private static func finishConnecting(
        _ handle: OpaquePointer, _ configuration: PostgresConfiguration, _ interruption: PostgresInterruption
    ) throws {
        let clock = ContinuousClock()
        let deadline = configuration.connectTimeoutMilliseconds.map { clock.now + .milliseconds($0) }
        // Only the verbose report of a refusal holds its SQLSTATE.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        // libpq: before the first PQconnectPoll act as if it had returned PGRES_POLLING_WRITING.
        var state = PGRES_POLLING_WRITING
        guard PQstatus(handle) != CONNECTION_BAD else { throw refusal(handle) }
        while state != PGRES_POLLING_OK {
            let left = deadline.map { max(0, Int(($0 - clock.now) / .milliseconds(1))) } ?? -1
            let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard left != 0, interruption.wait(for: events, on: PQsocket(handle), milliseconds: left) else {
                throw PostgresError(.connect, "the server did not answer in time")
            }
            if interruption.isRequested { throw CancellationError() }
            state = PQconnectPoll(handle)
            if state == PGRES_POLLING_FAILED { throw refusal(handle) }
        }
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        PQsetnonblocking(handle, 1)
        // Notices would go to the error output.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
    }

    private static func refusal(_ handle: OpaquePointer) -> PostgresError {
        var error = PostgresError(refusal: message(of: handle))
        if PQconnectionNeedsPassword(handle) == 1 { error.code = .authentication }
        return error
    }

    /// Asks which history of the data the server writes, which tells what the number of a transaction means.
    private func readTimeline() throws {
        do {
            timeline = try control(
                """
                SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_walfile_name(pg_current_wal_lsn()) END
                """
            ).firstText.map { String($0.prefix(8)) }
        } catch let error as PostgresError where error.code == .server {
            // Not every server of this kind has a log to name.
        }
    }
}
