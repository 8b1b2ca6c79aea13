import Blocking
import Foundation
import TestSupport
import Testing
import Transport

@Suite struct ByteStreamTests {
    let executor = ThreadExecutor(name: "test")

    @Test func carriesBytesBothWays() async throws {
        let server = try LoopbackServer { request, connection in
            try connection.send(request.body)
            connection.close()
        }
        let endpoint = ByteStreamEndpoint(host: "127.0.0.1", port: server.port)
        let body = [UInt8](repeating: 0, count: 300_000) + [1, 2, 3]
        let answer = try await executor.run {
            let stream = try ByteStream(to: endpoint, deadline: .now + .seconds(10))
            try stream.sendAll(
                Array("POST / HTTP/1.1\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
            return try stream.receiveAll()
        }
        #expect(answer == body)
    }

    @Test func givesUpAtTheDeadline() async throws {
        let server = try LoopbackServer(steps: [.hang])
        let endpoint = ByteStreamEndpoint(host: "127.0.0.1", port: server.port)
        let hasArrived = try await executor.run {
            let stream = try ByteStream(to: endpoint, deadline: .now + .seconds(10))
            return try stream.wait(until: .now + .milliseconds(50))
        }
        #expect(!hasArrived)
    }

    @Test func givesUpOnAHandshakeAtTheDeadline() async throws {
        let server = try LoopbackServer(steps: [.hang])
        let endpoint = ByteStreamEndpoint(host: "127.0.0.1", port: server.port, tls: .full)
        let error = try await #require(throws: TransportError.self) {
            try await executor.run {
                _ = try ByteStream(to: endpoint, deadline: .now + .milliseconds(100))
            }
        }
        #expect(error.code == .timeout)
        #expect(error.requestDidNotLeave)
    }

    @Test(arguments: [nil, TLSVerification.full])
    func isInterruptedFromAnotherThread(tls: TLSVerification?) async throws {
        // With TLS the handshake is what waits; without, the wait for bytes.
        let server = try LoopbackServer(steps: [.hang])
        let endpoint = ByteStreamEndpoint(host: "127.0.0.1", port: server.port, tls: tls)
        let interruption = Interruption()
        let task = Task {
            try await executor.run {
                let stream = try ByteStream(
                    to: endpoint, deadline: .now + .seconds(600), interruption: interruption)
                _ = try stream.wait(until: .now + .seconds(600), interruption: interruption)
            }
        }
        interruption.request()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func seesTheEndOfTheStream() async throws {
        let server = try LoopbackServer(steps: [.close])
        let endpoint = ByteStreamEndpoint(host: "127.0.0.1", port: server.port)
        let answer = try await executor.run {
            try ByteStream(to: endpoint, deadline: .now + .seconds(10)).receiveAll()
        }
        #expect(answer.isEmpty)
    }

    @Test func failsWhenTheConnectionIsReset() async throws {
        let server = try LoopbackServer(steps: [.reset])
        let endpoint = ByteStreamEndpoint(host: "127.0.0.1", port: server.port)
        let error = try await #require(throws: TransportError.self) {
            try await executor.run {
                try ByteStream(to: endpoint, deadline: .now + .seconds(10)).receiveAll()
            }
        }
        #expect([.interrupted, .connect].contains(error.code))
    }

    @Test(arguments: [
        ("", 80), ("a b", 80), ("a/b", 80), ("a@b", 80), ("a\r\nb", 80), ("[::1]", 80),
        ("localhost", 0),
        ("localhost", -1), ("localhost", 65_536), ("local?host", 80), ("a%0d", 80),
    ])
    func refusesEndpointsThatAreNone(host: String, port: Int) async throws {
        let error = try await #require(throws: TransportError.self) {
            try await executor.run {
                _ = try ByteStream(
                    to: ByteStreamEndpoint(host: host, port: port), deadline: .now + .seconds(1))
            }
        }
        #expect(error.code == .invalidURL)
        #expect(error.requestDidNotLeave)
    }

    @Test(arguments: [
        "b67Lj6BfbN3O/5/YE4/aj5zOWQ4D3FjX0tWurfGiH0k=",
        "sha256//b67Lj6BfbN3O/5/YE4/aj5zOWQ4D3FjX0tWurfGiH0k=",
    ])
    func readsAPin(text: String) {
        #expect(
            PublicKeyPin(text)?.description
                == "sha256//b67Lj6BfbN3O/5/YE4/aj5zOWQ4D3FjX0tWurfGiH0k=")
    }

    @Test(arguments: [
        "", "sha256//", "/etc/passwd", "b67L", String(repeating: "=", count: 44),
        "sha256//b67L;sha256//=",
    ])
    func refusesWhatIsNoPin(text: String) {
        #expect(PublicKeyPin(text) == nil)
    }
}

extension ByteStream {
    fileprivate func sendAll(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = try rest.withUnsafeBytes { try sendSome($0) }
            rest = rest.dropFirst(sent)
            if sent == 0 { _ = try wait(toSend: true, until: .now + .seconds(10)) }
        }
    }

    fileprivate func receiveAll() throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let received = try buffer.withUnsafeMutableBytes { try receiveSome(into: $0) }
            switch received {
            case nil: _ = try wait(until: .now + .seconds(10))
            case 0?: return all
            case let count?: all += buffer[..<count]
            }
        }
    }
}
