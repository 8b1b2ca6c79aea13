import Expectations
import TestSupport
import Testing

@testable import Transport

@Suite struct HostPlaceTests {
    @Test(arguments: [
        "localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "127.255.255.255", "[::1]",
    ])
    func knowsThisMachine(host: String) {
        #expect(HostPlace.isLoopback(host))
        #expect(HostPlace.mayBeLocal(host))
    }

    /// Each of them is this machine to one library or another.
    static let spellings = [
        "0x7f.1", "0x7f000001", "2130706433", "127.1", "127.0.1", "0177.0.0.1", "0", "0.0.0.0",
        "127.00.0.1",
        "[::ffff:127.0.0.1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "localhost.",
        "127.0.0.1.", "a.localhost",
        "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
    ]

    @Test(arguments: spellings) func trustsNoOtherSpelling(host: String) {
        #expect(!HostPlace.isLoopback(host))
        #expect(HostPlace.mayBeLocal(host))
    }

    @Test(arguments: [
        "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255", "3232235777", "[fe80::1]", "[fe80::1%25eth0]", "[fd00::1]", "[ff02::1]",
        "[::ffff:10.0.0.1]", "router", "pds.local", "pds.internal", "pds.home.arpa", "",
    ])
    func knowsPrivateNetworks(host: String) {
        #expect(HostPlace.mayBeLocal(host))
        #expect(!HostPlace.isLoopback(host))
    }

    @Test(arguments: [
        "bsky.social", "pds.example.", "1.1.1.1", "172.32.0.1", "192.169.0.1", "[2606:4700::1]",
        "[::ffff:1.1.1.1]", "127.example", "10.0.0.1.example",
    ])
    func knowsPublicPlaces(host: String) {
        #expect(!HostPlace.mayBeLocal(host))
        #expect(!HostPlace.isLoopback(host))
    }

    @Test(arguments: [
        "0x7f.1", "0x7f000001", "2130706433", "127.1", "0177.0.0.1", "0", "%31%32%37.0.0.1",
        "[::ffff:127.0.0.1]",
    ])
    func plainHTTPGoesToNoOtherSpelling(host: String) async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))
        defer { client.shutdown() }
        let error = try await #require(throws: TransportError.self) {
            try await client.send(HTTPRequest(url: "http://\(host):\(server.port)/"))
        }
        #expect([.forbiddenScheme, .invalidURL].contains(error.code))
        #expect(error.requestDidNotLeave)
        #expect(server.requests.isEmpty)
    }

    /// The name is a harmless one: only the address that it leads to tells.
    @Test(arguments: ["localhost", "127.0.0.1"])
    func whatIsForPublicHostsFollowsNoNameToThisMachine(host: String) async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))
        defer { client.shutdown() }
        var request = HTTPRequest(method: .post, url: "http://\(host):\(server.port)/", body: [1])
        try await expect(client.send(request).status, equals: 200)
        request.isPublicOnly = true
        let refused = request
        let error = try await #require(throws: TransportError.self) {
            try await client.send(refused)
        }
        #expect(error.code == .connect)
        #expect(error.requestDidNotLeave)
        #expect(server.requests.count == 1)
    }
}
