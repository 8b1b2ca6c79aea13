import Expectations
import TestSupport
import Testing

@testable import Redis

/// What a broken or hostile server can send.
@Suite struct RedisProtocolTests {
    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "$-2\r\n", "*-2\r\n", ":12a\r\n",
        ":99999999999999999999\r\n",
        "$99999999999999999999\r\n", "*99999999999999999999\r\n", "?\r\n", "\0\0\0\0",
        String(repeating: "*1\r\n", count: 100_000), "+one\r\n+two\r\n", ",1.5\r\n", "#t\r\n",
    ])
    func refusesAnAnswerThatIsNotRedis(answer: String) async throws {
        let error = try await failure { try await ask(answering: answer) }
        #expect(error.code == .protocolViolation)
        #expect(error.mayHaveRun)
    }

    @Test(arguments: [
        "$10\r\nshort\r\n", "*3\r\n:1\r\n", "*2147483647\r\n", "$2147483647\r\nabc", "+no end", "",
        String(repeating: "*1\r\n", count: 5),
    ])
    func reportsAnAnswerThatEndsTooSoon(answer: String) async throws {
        let error = try await failure { try await ask(answering: answer) }
        #expect([.unavailable, .protocolViolation].contains(error.code))
        #expect(error.mayHaveRun)
    }

    @Test func writesCommandsInRedisOwnWay() {
        let long = String(repeating: "x", count: 1_234)
        let commands = [
            RedisCommand("PING"),
            RedisCommand(["SET", "key", RedisArgument([0, 13, 10, 255]), ""]),
            RedisCommand((0..<12).map { RedisArgument($0 + 1) }), RedisCommand("GET", long),
        ]
        var expected = Array("*1\r\n$4\r\nPING\r\n*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$4\r\n".utf8)
        expected += [0, 13, 10, 255] + Array("\r\n$0\r\n\r\n*12\r\n".utf8)
        for number in 1...12 { expected += Array("$\("\(number)".count)\r\n\(number)\r\n".utf8) }
        expected += Array("*2\r\n$3\r\nGET\r\n$1234\r\n\(long)\r\n".utf8)
        #expect(RedisCommand.encode(commands) == expected)
    }

    @Test func readsNestedAnswers() async throws {
        let answer = String(repeating: "*1\r\n", count: 5) + ":7\r\n"
        let nested = (0..<5).reduce(RedisReply.integer(7)) { reply, _ in .array([reply]) }
        try await expect(ask(answering: answer), equals: nested)
    }

    @Test func stopsAnEndlessAnswer() async throws {
        let server = try LoopbackServer(
            steps: LoopbackServer.redisGreeting + [
                .awaitText("GET\r\n"), .send(Array("*1000000000\r\n".utf8)),
                .flood(Array(String(repeating: ":1\r\n", count: 10_000).utf8)),
            ])
        var configuration = try RedisConfiguration(url: "redis://127.0.0.1:\(server.port)")
        configuration.maximumReplyBytes = 1 << 20
        let client = RedisClient(configuration: configuration)
        let error = try await failure { try await client.command(RedisCommand("GET")) }
        #expect(error.code == .protocolViolation)
        #expect(error.message == "the answer is too large")
    }

    @Test(arguments: [
        ("-LOADING Redis is loading the dataset in memory\r\n", RedisError.Code.unavailable),
        ("-DENIED Redis is running in protected mode\r\n", .unavailable),
        ("-NOAUTH Authentication required.\r\n", .authentication),
        ("-ERR s3cr3t\r\n", .server), ("-\r\n", .server), (":1\r\n", .protocolViolation),
        ("220 smtp.example ESMTP\r\n", .protocolViolation),
    ])
    func reportsAGreetingThatFails(greeting: String, code: RedisError.Code) async throws {
        let server = try LoopbackServer(steps: [
            .awaitText("PING\r\n"), .send(Array(greeting.utf8)), .hang,
        ])
        let client = RedisClient(
            configuration: try RedisConfiguration(url: "redis://127.0.0.1:\(server.port)"))
        let error = try await failure { try await client.command(RedisCommand("GET")) }
        #expect(error.code == code)
        #expect(!error.mayHaveRun)
        #expect(!String(reflecting: error).contains("s3cr3t"))
    }

    @Test func fallsBackToAPasswordAloneOnOldServers() async throws {
        let server = try LoopbackServer(
            steps: [
                .awaitText("$1\r\nh\r\n$6\r\ns3cr3t\r\n"),
                .send(Array("-ERR wrong number of arguments for 'auth' command\r\n".utf8)),
                .awaitText("*2\r\n$4\r\nAUTH\r\n$6\r\ns3cr3t\r\n"), .send(Array("+OK\r\n".utf8)),
            ] + LoopbackServer.redisGreeting + [
                .awaitText("GET\r\n"), .send(Array("+yes\r\n".utf8)), .hang,
            ])
        let client = RedisClient(
            configuration: try RedisConfiguration(url: "redis://h:s3cr3t@127.0.0.1:\(server.port)"))
        try await expect(client.command(RedisCommand("GET")), equals: .status("yes"))
    }

    /// Asks a server that greets as it should and then sends `answer` and closes.
    private func ask(answering answer: String) async throws -> RedisReply {
        let server = try LoopbackServer(
            steps: LoopbackServer.redisGreeting + [
                .awaitText("GET\r\n"), .send(Array(answer.utf8)),
            ])
        let client = RedisClient(
            configuration: try RedisConfiguration(url: "redis://127.0.0.1:\(server.port)"))
        return try await client.command(RedisCommand("GET"))
    }
}
