import Expectations
import Redis
import TestSupport
import Testing
import Transport

@Suite struct RedisTLSTests {
    @Test func refusesASelfSignedCertificateByDefault() async throws {
        let (server, _) = try await makeServer()
        let error = try await failure { try await ping(server, .full) }
        #expect(error.code == .authentication)
        #expect(!error.mayHaveRun)
        #expect(error.message.contains("certificate"))
        #expect(
            error.message.hasSuffix(
                "; if the server signs its own certificate, set REDIS_TLS_VERIFY to its pin:sha256//…, or to none"
            ))
    }

    @Test func acceptsAKnownAuthority() async throws {
        let (server, certificate) = try await makeServer()
        try await ping(server, .full, authority: certificate.certificatePath)
    }

    @Test func refusesAKnownAuthorityForAnotherName() async throws {
        let (server, certificate) = try await makeServer(arguments: [
            "--bind", "127.0.0.1", "127.0.0.2",
        ])
        let error = try await failure {
            try await ping(server, .full, authority: certificate.certificatePath, host: "127.0.0.2")
        }
        #expect(error.code == .authentication)
    }

    @Test func acceptsAnyCertificateWhenToldTo() async throws {
        let (server, _) = try await makeServer()
        try await ping(server, .none)
    }

    @Test func acceptsThePinnedKeyAndNoOther() async throws {
        let (server, certificate) = try await makeServer()
        let pin = try #require(PublicKeyPin(try await certificate.publicKeyPin()))
        try await ping(server, .pinned(pin))
        let foreign = try #require(PublicKeyPin(try await SelfSignedCertificate().publicKeyPin()))
        let error = try await failure { try await ping(server, .pinned(foreign)) }
        #expect(!error.message.contains("REDIS_TLS_VERIFY"))
        #expect(error.code == .authentication)
        #expect(!error.mayHaveRun)
    }

    @Test func trustsTheFirstCertificateAndRefusesAnother() async throws {
        let (first, certificate) = try await makeServer()
        let client = RedisClient(
            configuration: try RedisConfiguration(
                url: "rediss://localhost:\(first.port)", tlsVerification: .firstUse))
        try await expect(client.command(RedisCommand("PING")), equals: .status("PONG"))
        try await first.restart()
        try await expect(client.command(RedisCommand("PING")), equals: .status("PONG"))
        await first.stop()
        withExtendedLifetime(certificate) {}
        // Somebody else takes the port.
        let (second, _) = try await makeServer(onPortOf: first)
        let error = try await failure { try await client.command(RedisCommand("PING")) }
        #expect(error.code == .authentication)
        #expect(error.message.contains("another certificate"))
        await second.stop()
    }

    @Test func carriesLargePipelinesOverTLS() async throws {
        let (server, _) = try await makeServer()
        let client = RedisClient(
            configuration: try RedisConfiguration(
                url: "rediss://localhost:\(server.port)", tlsVerification: .none))
        let value = RedisArgument([UInt8](repeating: 7, count: 65_536))
        let replies = try await client.pipeline(
            Array(repeating: RedisCommand(["ECHO", value]), count: 300))
        #expect(replies.count == 300)
        expect(replies) { $0.allSatisfy { $0 == .bulk(value.bytes) } }
    }

    @Test func failsOnAServerWithoutTLS() async throws {
        let server = try await RedisServer.shared()
        var configuration = try RedisConfiguration(
            url: "rediss://127.0.0.1:\(server.port)", tlsVerification: .none)
        // Redis waits for the end of what it takes for a command.
        configuration.connectTimeout = .milliseconds(200)
        let client = RedisClient(configuration: configuration)
        let error = try await failure { try await client.command(RedisCommand("PING")) }
        #expect([.authentication, .unavailable, .timeout].contains(error.code))
        #expect(!error.mayHaveRun)
    }

    private func makeServer(
        onPortOf other: RedisServer? = nil, arguments: [String] = []
    ) async throws -> (RedisServer, SelfSignedCertificate) {
        let certificate = try await SelfSignedCertificate()
        let settings = [
            "--port", "0", "--tls-port", "{port}", "--tls-auth-clients", "no",
            "--tls-cert-file", certificate.certificatePath, "--tls-key-file", certificate.keyPath,
            "--tls-ca-cert-file", certificate.certificatePath,
        ]
        return (
            try await RedisServer.start(onPortOf: other, arguments: settings + arguments),
            certificate
        )
    }

    private func ping(
        _ server: RedisServer, _ verification: RedisTLSVerification, authority: String? = nil,
        host: String = "localhost"
    ) async throws {
        var configuration = try RedisConfiguration(
            url: "rediss://\(host):\(server.port)", tlsVerification: verification)
        configuration.caBundlePath = authority
        let reply = try await RedisClient(configuration: configuration).command(
            RedisCommand("PING"))
        #expect(reply == .status("PONG"))
    }
}
