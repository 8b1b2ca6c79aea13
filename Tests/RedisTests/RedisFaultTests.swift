import Expectations
import Foundation
import Redis
import TestSupport
import Testing

/// Servers that answer, but not as they should.
@Suite(.timeLimit(.minutes(30))) struct RedisFaultTests {
    private func client(_ url: String) throws -> RedisClient {
        var configuration = try RedisConfiguration(url: url)
        // Longer than a test may take: what is expected to be answered is waited for.
        configuration.connectTimeout = .seconds(600)
        configuration.commandTimeout = .seconds(600)
        return RedisClient(configuration: configuration)
    }

    @Test func afterAFailoverTheNewServerIsFound() async throws {
        let old = try await RedisServer.start()
        let new = try await RedisServer.start()
        let relay = try Relay(to: old.port)
        let client = try client("redis://127.0.0.1:\(relay.port)")
        try await expect(client.command(RedisCommand("INCR", "count")), equals: .integer(1))
        // The old server lives on as a replica, under its open connections.
        try await old.run("REPLICAOF", "127.0.0.1", "1")
        relay.lead(to: new.port)
        let error = try await failure { try await client.command(RedisCommand("INCR", "count")) }
        #expect(error.serverCode == "READONLY")
        #expect(error.description.contains("replica"))
        try await expect(client.command(RedisCommand("INCRBY", "count", "7")), equals: .integer(7))
    }

    @Test func ofSeveralServersTheOneIsFoundThatTakesChanges() async throws {
        let replica = try await RedisServer.start()
        let primary = try await RedisServer.start()
        try await replica.run("REPLICAOF", "127.0.0.1", "\(primary.port)")
        let client = try client("redis://127.0.0.1:\(replica.port),127.0.0.1:\(primary.port)")
        let error = try await failure { try await client.command(RedisCommand("INCR", "count")) }
        #expect(error.serverCode == "READONLY")
        try await expect(client.command(RedisCommand("INCR", "count")), equals: .integer(1))
        await primary.kill()
        try await replica.run("REPLICAOF", "NO", "ONE")
        try await expect(client.command(RedisCommand("SET", "count", "5")), equals: .status("OK"))
        try await expect(client.command(RedisCommand("INCR", "count")), equals: .integer(6))
    }

    @Test func aScriptOnAReplicaLeadsToTheNewServerToo() async throws {
        let old = try await RedisServer.start()
        let new = try await RedisServer.start()
        let relay = try Relay(to: old.port)
        let client = try client("redis://127.0.0.1:\(relay.port)")
        let script = RedisScript("return redis.call('INCR', KEYS[1])")
        try await expect(client.script(script, keys: ["count"]), equals: .integer(1))
        try await old.run("REPLICAOF", "127.0.0.1", "1")
        relay.lead(to: new.port)
        let error = try await failure { try await client.script(script, keys: ["count"]) }
        #expect(error.serverCode == "READONLY")
        try await expect(client.script(script, keys: ["count"]), equals: .integer(1))
    }

    /// The server knows the user: another password would not help.
    @Test func aUserWithoutARightHearsWhichOne() async throws {
        let server = try await RedisServer.start()
        try await server.run(
            "ACL", "SETUSER", "app", "on", ">s3cret", "~mirror-bot:*", "+@read", "+@write")
        let url = "redis://app:s3cret@127.0.0.1:\(server.port)"
        let greeting = try await failure {
            try await client(url).command(RedisCommand("GET", "mirror-bot:key"))
        }
        #expect(greeting.code == .authentication)
        #expect(
            greeting.message == "the server answered NOPERM; its user may not run the command ping")
        try await server.run("ACL", "SETUSER", "app", "+ping")
        let key = try await failure { try await client(url).command(RedisCommand("GET", "s3cret")) }
        #expect(
            key.message == "the server answered NOPERM; its user may not use the keys mirror-bot:*")
        let script = try await failure {
            try await client(url).command(RedisCommand("EVAL", "return 1", "0"))
        }
        #expect(
            script.message == "the server answered NOPERM; its user may not run the command eval")
        try await expect(client(url).command(RedisCommand("GET", "mirror-bot:key")), equals: .null)
    }

    @Test func aWrongPartOfTheURLIsNamed() async throws {
        let server = try await RedisServer.start(arguments: ["--databases", "2"])
        let port = server.port
        for (url, cause) in [
            (
                "redis://:s3cret@127.0.0.1:\(port)",
                "the server has no password; leave user name and password out"
            ),
            ("redis://127.0.0.1:\(port)/2", "the server has no database of that number"),
        ] {
            let error = try await failure {
                try await client(url).command(RedisCommand("GET", "key"))
            }
            #expect(error.message.hasPrefix(cause), "\(error)")
        }
    }

    @Test func aFullMemoryIsNamed() async throws {
        let server = try await RedisServer.start(arguments: ["--maxmemory-policy", "noeviction"])
        let client = try client(server.url)
        try await expect(client.command(RedisCommand("SET", "key", "value")), equals: .status("OK"))
        try await server.run("CONFIG", "SET", "maxmemory", "1")
        let error = try await failure {
            try await client.command(RedisCommand("SET", "key", "other"))
        }
        #expect(error.serverCode == "OOM")
        #expect(error.description.contains("raise maxmemory"))
        try await expect(client.command(RedisCommand("GET", "key")).string, equals: "value")
        try await server.run("CONFIG", "SET", "maxmemory", "0")
        try await expect(client.command(RedisCommand("SET", "key", "other")), equals: .status("OK"))
    }

    @Test func aServerThatHangsIsGivenUpAndFoundAgain() async throws {
        let server = try await RedisServer.start()
        let relay = try Relay(to: server.port)
        var configuration = try RedisConfiguration(url: "redis://127.0.0.1:\(relay.port)")
        configuration.connectTimeout = .milliseconds(500)
        configuration.commandTimeout = .milliseconds(500)
        let client = RedisClient(configuration: configuration)
        try await expect(client.answer(to: RedisCommand("PING")), equals: .status("PONG"))
        try await server.run("SET", "count", "1")
        relay.behave(.silent)
        let first = try await failure { try await client.command(RedisCommand("INCR", "count")) }
        #expect(first.code == .timeout)
        #expect(first.mayHaveRun)
        // Nor does it get a connection that speaks.
        let second = try await failure { try await client.command(RedisCommand("INCR", "count")) }
        #expect(second.code == .timeout)
        #expect(!second.mayHaveRun)
        relay.behave(.pass)
        // The first one may yet arrive; neither was repeated.
        let count = try #require(try await client.answer(to: RedisCommand("GET", "count")).integer)
        #expect((1...2).contains(count))
    }

    @Test func aServerThatIsCrashedComesBackEmpty() async throws {
        let server = try await RedisServer.start()
        let client = try client(server.url)
        try await expect(client.command(RedisCommand("INCR", "count")), equals: .integer(1))
        await server.kill()
        let error = try await failure { try await client.command(RedisCommand("INCR", "count")) }
        #expect(error.code == .unavailable)
        try await server.restart()
        try await expect(client.command(RedisCommand("INCR", "count")), equals: .integer(1))
    }

    @Test func anAnswerThatWasLostMayHaveRunAndIsNotRepeated() async throws {
        let server = try await RedisServer.start()
        let relay = try Relay(to: server.port)
        let client = try client("redis://127.0.0.1:\(relay.port)")
        try await expect(client.command(RedisCommand("PING")), equals: .status("PONG"))
        relay.loseAnswers(to: "INCR")
        let error = try await failure { try await client.command(RedisCommand("INCR", "count")) }
        #expect(error.mayHaveRun)
        try await expect(client.command(RedisCommand("GET", "count")).integer, equals: 1)
    }

    @Test(arguments: [
        ("LOADING Redis is loading the dataset in memory", "LOADING", "still reading"),
        ("NOAUTH Authentication required.", "NOAUTH", "needs a password"),
        ("MISCONF Redis is configured to save RDB snapshots", "MISCONF", "room on its disk"),
        (
            "ERR Error running script (call to f_1): @user_script:1: OOM command not allowed",
            "OOM", "maxmemory"
        ),
        (
            "ERR Error running script: @user_script: 1: -READONLY You can't write", "READONLY",
            "replica"
        ),
        ("ERR unknown command 's3cret'", "ERR", "ERR"),
    ])
    func theServersWordSaysWhatToDo(_ reply: String, _ word: String, _ advice: String) {
        let error = RedisError(reply: reply)
        #expect(error.serverCode == word)
        #expect(error.description.contains(advice))
        #expect(!error.description.contains("s3cret"))
    }

    @Test func aServerThatLoadsItsDataIsAskedAgainOnANewConnection() async throws {
        let loading = Array("-LOADING Redis is loading the dataset in memory\r\n".utf8)
        let server = try LoopbackServer(
            steps: LoopbackServer.redisGreeting + [.awaitText("GET"), .send(loading), .hang])
        let client = try client("redis://127.0.0.1:\(server.port)")
        for _ in 0..<2 {
            let error = try await failure { try await client.command(RedisCommand("GET", "count")) }
            #expect(error.code == .unavailable)
            #expect(error.serverCode == "LOADING")
        }
        #expect(server.connectionCount == 2)
    }
}
