import Dispatch
import Expectations
import Foundation
import Storage
import TestSupport
import Testing

/// Connections that end at the worst moments.
@Suite struct PostgresLossTests {
    private func backend(of connection: any StorageConnection) throws -> Int64 {
        try #require(try connection.query("SELECT pg_backend_pid() AS pid").first).integer("pid")
    }

    @Test func aConnectionLostWhileIdleComesBack() async throws {
        try await withPostgresTable { engine, server, url in
            let pid = try await engine.transaction { connection in try backend(of: connection) }
            try await server.run("SELECT pg_terminate_backend(\(pid), 180000)")
            try await expect(engine.execute("INSERT INTO t (x) VALUES (\(1))"), equals: 1)
            try await expect(server.run("SELECT x FROM t", database: url), equals: "1\n")
        }
    }

    @Test func aTransactionThatLostItsConnectionRunsOnceMore() async throws {
        try await withPostgresTable { engine, server, url in
            let runs = RunCounter()
            try await engine.transaction { connection in
                try connection.execute("INSERT INTO t (x) VALUES (\(1))")
                if runs.next() == 1 {
                    try connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
                }
            }
            #expect(runs.value == 2)
            try await expect(server.run("SELECT x FROM t", database: url), equals: "1\n")
        }
    }

    @Test func aConnectionThatDiedBeforeTheCommitIsNoUnknownOutcome() async throws {
        try await withPostgresTable { engine, server, url in
            let runs = RunCounter()
            let (pids, give) = AsyncStream.makeStream(of: Int64.self)
            let terminated = DispatchSemaphore(value: 0)
            async let done: Void = engine.transaction { connection in
                try connection.execute("INSERT INTO t (x) VALUES (\(1))")
                guard runs.next() == 1 else { return }
                give.yield(try backend(of: connection))
                terminated.wait()
            }
            for await pid in pids {
                try await server.run("SELECT pg_terminate_backend(\(pid), 180000)")
                break
            }
            terminated.signal()
            try await done
            #expect(runs.value == 2)
            try await expect(server.run("SELECT x FROM t", database: url), equals: "1\n")
        }
    }

    @Test func aServerThatGoesAndComesIsFoundAgain() async throws {
        let server = try await PostgresServer.start()
        let engine = try await Storage.open(.postgres(url: server.url()))
        try await engine.execute("CREATE TABLE t (x BIGINT)")
        try await expect(engine.query("SELECT x FROM t")) { $0.isEmpty }
        await server.stop()
        for _ in 0..<2 {
            let error = try await #require(throws: StorageError.self) {
                try await engine.query("SELECT x FROM t")
            }
            #expect(error.code == .unavailable)
            #expect(error.isTransient)
        }
        try await server.restart()
        try await expect(engine.execute("INSERT INTO t (x) VALUES (\(1))"), equals: 1)
        try await expect(engine.query("SELECT x FROM t").count, equals: 1)
        await engine.close()
    }

    @Test func aScratchEngineThatLostItsCopyNeverTouchesTheOriginal() async throws {
        try await withPostgresTable { engine, server, url in
            let scratch = try await engine.scratch(of: "m")
            try await scratch.execute("INSERT INTO t (x) VALUES (\(1))")
            let pid = try await scratch.transaction { connection in try backend(of: connection) }
            try await server.run("SELECT pg_terminate_backend(\(pid), 180000)")
            for _ in 0..<2 {
                let error = try await #require(throws: StorageError.self) {
                    try await scratch.execute("INSERT INTO t (x) VALUES (\(2))")
                }
                #expect(error.code == .unavailable)
            }
            try await expect(server.run("SELECT x FROM t", database: url)) { $0.isEmpty }
            await scratch.close()
        }
    }
}
