import Expectations
import Foundation
import Redis
import TestSupport
import Testing

/// Against a real server that all tests share; each uses keys of its own.
@Suite struct RedisClientTests {
    let prefix = "test:\(UUID().uuidString):"

    @Test func returnsEveryKindOfReply() async throws {
        let client = try await makeClient()
        let key = prefix + "kinds"
        let replies = try await client.pipeline([
            RedisCommand("SET", key, "5"), RedisCommand("INCR", key), RedisCommand("GET", key),
            RedisCommand("GET", key + "missing"), RedisCommand("LPUSH", key, "x"),
            RedisCommand("MGET", key, key + "missing"),
            RedisCommand("LRANGE", key + "missing", "0", "-1"),
            RedisCommand("EVAL", "return {1, {'a', {}}, false}", "0"),
        ])
        #expect(replies.count == 8)
        #expect(replies[0] == .status("OK"))
        #expect(replies[1] == .integer(6))
        #expect(replies[2] == .bulk(Array("6".utf8)))
        #expect(replies[2].integer == 6)
        #expect(replies[3] == .null)
        guard case .error(let text) = replies[4] else {
            return #expect(Bool(false), "\(replies[4])")
        }
        #expect(text.hasPrefix("WRONGTYPE "))
        #expect(replies[5] == .array([.bulk(Array("6".utf8)), .null]))
        #expect(replies[6] == .array([]))
        #expect(
            replies[7]
                == .array([.integer(1), .array([.bulk(Array("a".utf8)), .array([])]), .null]))
        await client.close()
    }

    @Test func keepsEveryByte() async throws {
        let client = try await makeClient()
        let key = RedisArgument(Array(prefix.utf8) + [0, 255, 13, 10, 36])
        let value = RedisArgument((0..<70_000).map { UInt8(truncatingIfNeeded: $0) })
        _ = try await client.command(RedisCommand(["SET", key, value]))
        try await expect(client.command(RedisCommand(["GET", key])), equals: .bulk(value.bytes))
        _ = try await client.command(RedisCommand(["SET", key, ""]))
        try await expect(client.command(RedisCommand(["GET", key])), equals: .bulk([]))
        await client.close()
    }

    @Test func carriesEverySingleByte() async throws {
        let client = try await makeClient()
        let values = (UInt8.min...UInt8.max).map { RedisArgument([$0]) }
        let replies = try await client.pipeline(values.map { RedisCommand(["ECHO", $0]) })
        #expect(replies == values.map { .bulk($0.bytes) })
        await client.close()
    }

    @Test func throwsTheErrorOfASingleCommand() async throws {
        let client = try await makeClient()
        let error = try await failure { try await client.command(RedisCommand("NOSUCH", "s3cr3t")) }
        #expect(error.code == .server)
        #expect(error.serverCode == "ERR")
        // The server's sentence repeats the arguments.
        #expect(!error.description.contains("s3cr3t"))
        await client.close()
    }

    @Test func sendsNothingForAnEmptyPipeline() async throws {
        let client = try makeClient(port: 1)
        try await expect(client.pipeline([])) { $0.isEmpty }
    }

    @Test(arguments: [[], [""], ["", "GET"]] as [[RedisArgument]])
    func refusesACommandWithoutAName(parts: [RedisArgument]) async throws {
        let client = try makeClient(port: 1)
        let error = try await failure {
            try await client.pipeline([RedisCommand("PING"), RedisCommand(parts)])
        }
        #expect(error.code == .invalidCommand)
        #expect(!error.mayHaveRun)
    }

    @Test func carriesPipelinesLargerThanAllBuffers() async throws {
        let client = try await makeClient()
        let value = RedisArgument([UInt8](repeating: 7, count: 65_536))
        let replies = try await client.pipeline(
            Array(repeating: RedisCommand(["ECHO", value]), count: 600))
        #expect(replies.count == 600)
        expect(replies) { $0.allSatisfy { $0 == .bulk(value.bytes) } }
        await client.close()
    }

    @Test func carriesPipelinesOfManyCommands() async throws {
        let client = try await makeClient()
        let key = prefix + "many"
        let replies = try await client.pipeline(
            Array(repeating: RedisCommand("INCR", key), count: 50_000))
        #expect(replies.map(\.integer) == (1...50_000).map { Int64($0) })
        await client.close()
    }

    @Test func answersEachOfManyCallers() async throws {
        let client = try await makeClient()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<500 {
                group.addTask {
                    try await client.command(RedisCommand("ECHO", "\(number)")).string
                        == "\(number)"
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        await client.close()
    }

    @Test func runsAScriptTheServerDoesNotKnow() async throws {
        let client = try await makeClient()
        let script = RedisScript("redis.call('SET', KEYS[1], ARGV[1]) return ARGV[2] -- \(prefix)")
        let exists = RedisCommand("SCRIPT", "EXISTS", script.digest)
        try await expect(client.command(exists), equals: .array([.integer(0)]))
        for _ in 0..<2 {
            let reply = try await client.script(
                script, keys: [prefix + "script"], arguments: ["v", RedisArgument(42)])
            #expect(reply.integer == 42)
            try await expect(client.command(exists), equals: .array([.integer(1)]))
        }
        try await expect(client.command(RedisCommand("GET", prefix + "script")).string, equals: "v")
        await client.close()
    }

    @Test func passesTheErrorOfAScriptOn() async throws {
        let client = try await makeClient()
        let script = RedisScript("return redis.error_reply('STALE the sequence is not the next')")
        let error = try await failure { try await client.script(script) }
        #expect(error.serverCode == "STALE")
        await client.close()
    }

    @Test func namesScriptsAsTheServerDoes() async throws {
        let client = try await makeClient()
        // Every length around the borders of a block.
        let scripts = (0...130).map {
            RedisScript(
                "--" + String(repeating: "é", count: $0 / 2) + String(repeating: "x", count: $0 % 2)
            )
        }
        let replies = try await client.pipeline(
            scripts.map { RedisCommand("SCRIPT", "LOAD", $0.source) })
        #expect(replies.map(\.string) == scripts.map(\.digest))
        await client.close()
    }

    @Test func keepsToItsDatabase() async throws {
        let server = try await RedisServer.shared()
        let first = RedisClient(configuration: try RedisConfiguration(url: server.url + "/1"))
        let second = RedisClient(configuration: try RedisConfiguration(url: server.url + "/2"))
        let key = prefix + "database"
        _ = try await first.command(RedisCommand("SET", key, "1"))
        try await expect(second.command(RedisCommand("GET", key)), equals: .null)
        let wrong = RedisClient(configuration: try RedisConfiguration(url: server.url + "/9999"))
        let error = try await failure { try await wrong.command(RedisCommand("PING")) }
        #expect(error.code == .server)
        #expect(!error.mayHaveRun)
    }

    @Test func givesUpOnASlowCommand() async throws {
        var configuration = try RedisConfiguration(url: try await RedisServer.shared().url)
        configuration.commandTimeout = .milliseconds(50)
        let client = RedisClient(configuration: configuration)
        let error = try await failure {
            try await client.command(RedisCommand("BLPOP", prefix + "slow", "0"))
        }
        #expect(error.code == .timeout)
        #expect(error.mayHaveRun)
        try await expect(client.answer(to: RedisCommand("PING")), equals: .status("PONG"))
    }

    @Test func anAnswerThatTakesLongerThanAMomentIsWaitedForElsewhere() async throws {
        let client = try await makeClient()
        let sleep = RedisCommand("EVAL", Self.slowScript, "0")
        for number in 0..<3 {
            try await expect(
                client.command(RedisCommand("ECHO", "\(number)")).string, equals: "\(number)")
            try await expect(client.command(sleep), equals: .integer(1))
        }
        await client.close()
    }

    @Test func anAnswerThatNobodyWaitsForIsNotTakenForAnothers() async throws {
        let client = try await makeClient()
        for number in 0..<20 {
            try await expect(
                client.command(RedisCommand("ECHO", "\(number)")).string, equals: "\(number)")
            let task = Task { try await client.command(RedisCommand("EVAL", Self.slowScript, "0")) }
            // At once, while it is being sent, or while it is waited for.
            for _ in 0..<number { await Task.yield() }
            task.cancel()
            _ = await task.result
            try await expect(
                client.command(RedisCommand("ECHO", "-\(number)")).string, equals: "-\(number)")
        }
        await client.close()
    }

    /// Keeps the server busy for three milliseconds.
    private static let slowScript = """
        local start = redis.call('TIME')
        repeat
            local now = redis.call('TIME')
        until (now[1] - start[1]) * 1000000 + now[2] - start[2] > 3000
        return 1
        """

    @Test func refusesCommandsOnceClosed() async throws {
        let client = try await makeClient()
        try await expect(client.command(RedisCommand("PING")), equals: .status("PONG"))
        await client.close()
        await client.close()
        let error = try await failure { try await client.command(RedisCommand("PING")) }
        #expect(error.code == .closed)
        #expect(!error.mayHaveRun)
    }

    private func makeClient() async throws -> RedisClient {
        RedisClient(configuration: try RedisConfiguration(url: try await RedisServer.shared().url))
    }

    private func makeClient(port: Int) throws -> RedisClient {
        RedisClient(configuration: try RedisConfiguration(url: "redis://127.0.0.1:\(port)"))
    }
}

extension RedisClient {
    /// The reply to a command that changes nothing, from a client that is given little time: as
    /// long as a busy machine cannot answer in that time, it is asked again.
    func answer(to question: RedisCommand) async throws -> RedisReply {
        while true {
            do { return try await command(question) } catch let error as RedisError
                where error.code == .timeout
            {}
        }
    }

    /// Returns when a connection of this name waits in a blocking command.
    func waitUntilClientIsBlocked(_ name: String) async throws {
        for _ in 0..<100_000 {
            let list = try await command(RedisCommand("CLIENT", "LIST")).string ?? ""
            let isBlocked = list.split(separator: "\n").contains { line in
                line.contains("name=\(name) ") && line.contains(" flags=b ")
            }
            if isBlocked { return }
        }
        Issue.record("the client \(name) never waited")
    }
}

/// The error that an operation ends with.
func failure<Value>(_ operation: () async throws -> Value) async throws -> RedisError {
    try await #require(throws: RedisError.self) { _ = try await operation() }
}
