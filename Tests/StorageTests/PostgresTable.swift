import Storage
import TestSupport

/// An engine over a fresh database with one empty table, and its URL.
func withPostgresTable(_ body: (any StorageEngine, PostgresServer, String) async throws -> Void)
    async throws
{
    let server = try await PostgresServer.shared()
    let url = try await server.makeDatabase()
    let engine = try await Storage.open(.postgres(url: url))
    try await engine.execute("CREATE TABLE t (x BIGINT)")
    try await body(engine, server, url)
    await engine.close()
}
