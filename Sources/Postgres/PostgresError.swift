import Foundation

/// An error of Postgres or of the connection to it.
///
/// The error contains no value of a row or bind and no password: of the server's report it keeps
/// the primary message, and not even that for errors about data, whose message quotes the value.
package struct PostgresError: Error, Sendable {
    /// The kind of failure; more may be added.
    package struct Code: Hashable, Sendable {
        private let label: String

        /// The URL cannot be used.
        package static let configuration = Code(label: "configuration")
        /// No connection could be made.
        package static let connect = Code(label: "connect")
        /// The server asked for a password or refused it.
        package static let authentication = Code(label: "authentication")
        /// The connection was lost, and nothing was committed.
        package static let connectionLost = Code(label: "connectionLost")
        /// The connection was lost after `COMMIT` was sent.
        package static let commitUnknown = Code(label: "commitUnknown")
        /// The server reported an error; see ``PostgresError/sqlState``.
        package static let server = Code(label: "server")
        /// The client was closed.
        package static let closed = Code(label: "closed")
    }

    package var code: Code
    /// The five-character SQLSTATE; nil if the server gave none.
    package var sqlState: String?
    package var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Makes an error from a report of the server.
    init(sqlState: String, message: String) {
        self.code = .server
        self.sqlState = sqlState
        // The messages of class 22, data exceptions, quote the data.
        self.message = sqlState.hasPrefix("22") ? "the server refused a value" : message
    }

    /// Makes an error from libpq's verbose message about a refused connection.
    ///
    /// In `FATAL:  28P01: …`, the SQLSTATE is 28P01.
    init(refusal text: String) {
        let report = text.matches(of: #/:  ([0-9A-Z]{5}): /#).last
        self.sqlState = report.map { String($0.output.1) }
        // 28: invalid authorization.
        let isRefused = sqlState?.hasPrefix("28") ?? text.contains("authentication failed")
        self.code = isRefused ? .authentication : .connect
        // libpq itself refused an option in the URL or in the environment; its value is not
        // repeated.
        if let option = text.firstMatch(of: #/^invalid ([a-z_]+) value: /#)?.output.1 {
            self.code = .configuration
            self.message =
                "\(option) has a value that PostgreSQL does not know; correct it in the URL, or in the variable of the "
                + "environment that begins with PG"
            return
        }
        let parts = text.components(separatedBy: "; ").filter { !$0.hasPrefix("LOCATION:") }
        let message = parts.joined(separator: "; ")
        self.message =
            report.map { message.replacingOccurrences(of: ":  \($0.output.1): ", with: ": ") }
            ?? message
    }

    /// Whether the transaction failed only because of a concurrent one, so that repeating it may
    /// succeed at once.
    var isRepeatable: Bool {
        // serialization_failure, deadlock_detected
        sqlState == "40001" || sqlState == "40P01"
    }

    /// Whether the connection was lost, so that a new one is needed, and may help.
    var isConnectionLost: Bool { code == .connectionLost }
}

extension PostgresError: CustomStringConvertible {
    package var description: String { sqlState.map { "\(message) (\($0))" } ?? message }
}
