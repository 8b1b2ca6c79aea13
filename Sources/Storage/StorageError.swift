/// An error of the database or of the connection to it.
///
/// The description contains the operation, the cause and the native code, never a stored value, a
/// bind or a password.
package struct StorageError: Error, Sendable {
    /// The kind of failure, the same for both engines; more may be added.
    package struct Code: Hashable, Sendable {
        /// A short, stable label for logs and metrics.
        package let label: String

        /// The database cannot be reached or opened, or the connection was
        /// lost before anything was committed.
        package static let unavailable = Code(label: "unavailable")
        /// The connection was lost after `COMMIT` was sent: the transaction
        /// may or may not have happened.
        package static let outcomeUnknown = Code(label: "outcome-unknown")
        /// The server refused the user name or password.
        package static let authentication = Code(label: "authentication")
        /// A row with the same key exists.
        package static let uniqueViolation = Code(label: "unique-violation")
        /// Another constraint refused a row, such as `NOT NULL`.
        package static let constraint = Code(label: "constraint")
        /// Conflicts with other transactions, even after several attempts.
        package static let serialization = Code(label: "serialization")
        /// The database or transaction does not accept changes.
        package static let readOnly = Code(label: "read-only")
        /// The disk, or the space or memory given to the database, is full.
        package static let full = Code(label: "full")
        /// Another process held the database for too long.
        package static let busy = Code(label: "busy")
        /// The file is damaged or is no database.
        package static let corrupt = Code(label: "corrupt")
        /// The database's file, or its log, was replaced since it was opened; opening the database
        /// again uses the new file.
        package static let replaced = Code(label: "replaced")
        /// The tables are older or newer than this program.
        package static let outOfDate = Code(label: "out-of-date")
        /// An answer does not have the expected columns or types.
        package static let decoding = Code(label: "decoding")
        /// A value that the database cannot store, such as a text with NUL.
        package static let invalidValue = Code(label: "invalid-value")
        /// `DATABASE_URL` or the path cannot be understood.
        package static let configuration = Code(label: "configuration")
        /// The engine or connection was used after closing.
        package static let closed = Code(label: "closed")
        /// Any other failure, such as a mistake in a statement.
        package static let other = Code(label: "other")
    }

    package var code: Code
    /// The attempted operation, such as `open the database at /path`.
    package var operation: String
    /// The cause of the failure.
    package var cause: String
    /// The five-character SQLSTATE of Postgres, or SQLite's extended result
    /// code in decimal digits.
    package var nativeCode: String?
    /// The statement with `$n` for its values.
    package var statement: String?

    package init(
        _ code: Code, _ operation: String, because cause: String, nativeCode: String? = nil,
        statement: String? = nil
    ) {
        self.code = code
        self.operation = operation
        self.cause = cause
        self.nativeCode = nativeCode
        self.statement = statement
    }

    /// Whether the same call may succeed later without intervention.
    package var isTransient: Bool { [.unavailable, .serialization, .busy].contains(code) }
}

extension StorageError: CustomStringConvertible {
    package var description: String {
        var text = "could not \(operation): \(cause)"
        if let nativeCode { text += " (\(nativeCode))" }
        // An error of the program cannot be found without its statement.
        if code == .other, let statement { text += " in: \(statement)" }
        return text
    }
}
