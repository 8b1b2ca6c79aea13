import Expectations
import Foundation
import Redis
import TestSupport
import Testing

/// Lost connections and lost servers, each test with a server of its own.
@Suite struct RedisReconnectTests {
    @Test func replacesAConnectionThatDiedWhileIdle() async throws {
        let server = try await RedisServer.start()
        let client = RedisClient(configuration: try RedisConfiguration(url: server.url))
        let other = RedisClient(configuration: try RedisConfiguration(url: server.url))
        for number in 1...3 {
            try await expect(
                client.command(RedisCommand("INCR", "count")), equals: .integer(Int64(number)))
            let killed = try await other.command(RedisCommand("CLIENT", "KILL", "TYPE", "normal"))
            #expect(killed == .integer(1))
        }
    }

    @Test func saysThatAKilledCommandMayHaveRun() async throws {
        let server = try await RedisServer.start()
        let client = RedisClient(configuration: try RedisConfiguration(url: server.url))
        let other = RedisClient(configuration: try RedisConfiguration(url: server.url))
        _ = try await client.command(RedisCommand("CLIENT", "SETNAME", "victim"))
        let task = Task {
            try await client.pipeline([
                RedisCommand("INCR", "count"), RedisCommand("BLPOP", "list", "0"),
            ])
        }
        try await other.waitUntilClientIsBlocked("victim")
        _ = try await other.command(RedisCommand("CLIENT", "KILL", "TYPE", "normal"))
        let error = try await failure { try await task.value }
        #expect(error.code == .unavailable)
        #expect(error.mayHaveRun)
        // Not repeated behind the caller's back.
        try await expect(client.command(RedisCommand("GET", "count")).integer, equals: 1)
    }

    @Test func endsABlockedCommandWhenCancelled() async throws {
        let server = try await RedisServer.start()
        let client = RedisClient(configuration: try RedisConfiguration(url: server.url))
        let other = RedisClient(configuration: try RedisConfiguration(url: server.url))
        _ = try await client.command(RedisCommand("CLIENT", "SETNAME", "patient"))
        let task = Task { try await client.command(RedisCommand("BLPOP", "list", "0")) }
        try await other.waitUntilClientIsBlocked("patient")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expect(client.command(RedisCommand("PING")), equals: .status("PONG"))
    }

    @Test func comesBackAfterTheServerDoes() async throws {
        let server = try await RedisServer.start()
        let client = RedisClient(configuration: try RedisConfiguration(url: server.url))
        try await expect(client.command(RedisCommand("PING")), equals: .status("PONG"))
        await server.stop()
        let error = try await failure { try await client.command(RedisCommand("PING")) }
        #expect(error.code == .unavailable)
        #expect(!error.mayHaveRun)
        #expect(error.description.contains("127.0.0.1:\(server.port)"))
        try await server.restart()
        try await expect(client.command(RedisCommand("PING")), equals: .status("PONG"))
    }

    @Test func loadsAScriptAgainAfterTheServerForgotIt() async throws {
        let server = try await RedisServer.start()
        let client = RedisClient(configuration: try RedisConfiguration(url: server.url))
        let script = RedisScript("return redis.call('INCR', 'count')")
        try await expect(client.script(script), equals: .integer(1))
        _ = try await client.command(RedisCommand("SCRIPT", "FLUSH"))
        try await expect(client.script(script), equals: .integer(2))
    }

    @Test(arguments: [
        ("s3cr3t", true), ("wrong", false), ("", false),
    ])
    func givesThePassword(password: String, isAccepted: Bool) async throws {
        let server = try await RedisServer.start(arguments: ["--requirepass", "s3cr3t"])
        let login = password.isEmpty ? "" : ":\(password)@"
        let client = RedisClient(
            configuration: try RedisConfiguration(url: "redis://\(login)127.0.0.1:\(server.port)"))
        if isAccepted {
            try await expect(client.command(RedisCommand("PING")), equals: .status("PONG"))
        } else {
            let error = try await failure { try await client.command(RedisCommand("PING")) }
            #expect(error.code == .authentication)
            #expect(!error.mayHaveRun)
            #expect(!String(reflecting: error).contains("wrong"))
        }
    }

    @Test func givesUserAndPasswordAfterDecodingThem() async throws {
        let server = try await RedisServer.start(arguments: [
            "--user", "ro:b", "on", ">p@ss/:%", "~*", "+@all",
        ])
        let url = "redis://ro%3Ab:p%40ss%2f%3A%25@127.0.0.1:\(server.port)/3"
        let client = RedisClient(configuration: try RedisConfiguration(url: url))
        try await expect(client.command(RedisCommand("ACL", "WHOAMI")).string, equals: "ro:b")
        let unescaped = "redis://ro%3Ab:p@ss%2F:%25@127.0.0.1:\(server.port)"
        let other = RedisClient(configuration: try RedisConfiguration(url: unescaped))
        try await expect(other.command(RedisCommand("ACL", "WHOAMI")).string, equals: "ro:b")
    }

    @Test func reportsAPasswordTheServerDoesNotWant() async throws {
        let server = try await RedisServer.start()
        let client = RedisClient(
            configuration: try RedisConfiguration(url: "redis://:s3cr3t@127.0.0.1:\(server.port)"))
        let error = try await failure { try await client.command(RedisCommand("PING")) }
        #expect(error.code == .authentication)
    }
}
