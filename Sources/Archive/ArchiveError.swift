/// A row that the archive cannot understand: the database was changed by
/// somebody else.
package struct ArchiveError: Error, CustomStringConvertible, Sendable {
    /// The column that holds an unknown value.
    package let column: String

    package var description: String {
        "could not read the archive: column \(column) holds an unknown value; run `mirror-bot train scheduler --again`"
    }
}
