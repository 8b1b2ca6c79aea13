extension StorageEngine {
    /// Updates Postgres' statistics of tables if a batch of rows has multiplied those of a mirror;
    /// does nothing on other databases.
    ///
    /// Postgres updates them by itself, but up to a minute later. Until then it expects one row of
    /// the mirror, and scans all of them for each look-up by a list of keys: filling a table would
    /// take time that grows with the square of its rows.
    ///
    /// - Parameters:
    ///   - tables: The tables that were filled; the rows of the first one are counted.
    ///   - mirror: The mirror's name.
    ///   - number: The number of rows of the first table that the batch has added.
    package func analyse(_ tables: [String], of mirror: String, after number: Int) async {
        guard kind == .postgres, number >= fewestRowsForStatistics else { return }
        do {
            let olderRows = try await query(
                """
                SELECT 1 AS found FROM \(unsafe: tables[0]) WHERE mirror = \(mirror)
                LIMIT 1 OFFSET \(number + fewestRowsForStatistics)
                """)
            guard olderRows.isEmpty else { return }
            try await executeRepeatable("ANALYZE \(unsafe: tables.joined(separator: ", "))")
        } catch {
            // The rows are stored, and Postgres makes up for this by itself. A lost connection or
            // cancelled task ends the caller's next statement.
        }
    }
}

/// The number of a mirror's rows from which on outdated statistics of Postgres slow down queries.
package let fewestRowsForStatistics = 500
