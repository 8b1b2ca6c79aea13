package import Storage

extension StorageEngine {
    /// Whether a transaction of this database waits until another one ends, which holds its row;
    /// for Postgres.
    package var hasBlockedTransaction: Bool {
        get async throws {
            try await !query(
                """
                SELECT pid FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'
                    AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())
                """
            ).isEmpty
        }
    }
}
