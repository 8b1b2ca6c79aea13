import Expectations
import Foundation
import TestSupport
import Testing

@Suite struct ServerProcessTests {
    @Test func aPrivatePostgresAnswersAndKeepsItsDataOverARestart() async throws {
        let server = try await PostgresServer.start()
        try await server.run("CREATE TABLE kept (x int)")
        try await server.run("INSERT INTO kept VALUES (7)")
        try await server.restart()
        try await expect(server.run("SELECT x FROM kept"), equals: "7\n")
        await server.stop()
        await #expect(throws: TestSupportError.self) { try await server.run("SELECT 1") }
    }

    @Test func aPrivateRedisListensAgainOnItsPortAfterARestart() async throws {
        let server = try await RedisServer.start()
        await expect(server.log()) { $0.contains("port=\(server.port)") }
        try await server.restart()
        await expect(server.log()) { $0.contains("port=\(server.port)") }
        await server.stop()
        await expect(server.log()) { $0.isEmpty }
    }

    @Test func aServerWhoseTestsAreGoneVanishesWithItsFolder() async throws {
        let server = try await RedisServer.start()
        let folder = try await server.abandon()
        #expect(!FileManager.default.fileExists(atPath: folder))
        await expect(server.log()) { $0.isEmpty }
    }

    @Test func aMissingProgramNamesTheCommandThatInstallsIt() throws {
        let error = try #require(throws: TestSupportError.self) {
            try ServerProcess.locate("no-such-program")
        }
        #expect("\(error)" == "could not find no-such-program: install it with `make deps`")
    }

    @Test func aServerThatCannotStartFailsWithItsLog() async throws {
        let error = try await #require(throws: TestSupportError.self) {
            _ = try await RedisServer.start(arguments: ["--no-such-setting", "1"])
        }
        #expect("\(error)".contains("it ended"))
        #expect("\(error)".contains("no-such-setting"))
    }
}
