import TestSupport

/// A private server with the settings that it is installed with, so that what is committed is on
/// disk.
enum DurablePostgres {
    static func start() async throws -> PostgresServer {
        try await PostgresServer.start(settings: [
            "fsync": "on", "full_page_writes": "on", "shared_buffers": "128MB",
            "max_connections": "100",
        ])
    }
}
