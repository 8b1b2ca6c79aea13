import TestSupport
import Testing
import Transport

@Suite struct HTTPClientTLSTests {
    @Test func refusesACertificateNobodySigned() async throws {
        let server = try await TLSPageServer(SelfSignedCertificate())
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))
        let error = try await #require(throws: TransportError.self) {
            try await client.send(
                HTTPRequest(
                    method: .post, url: "https://localhost:\(server.port)/",
                    body: Array("secret".utf8)))
        }
        #expect(error.code == .tls)
        #expect(error.requestDidNotLeave)
        #expect(error.message.contains("certificate"))
    }

    @Test func acceptsACertificateOfTheGivenAuthority() async throws {
        let certificate = try await SelfSignedCertificate()
        let server = try await TLSPageServer(certificate)
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(
                userAgent: "mirror-bot-tests/1", caBundlePath: certificate.certificatePath))
        let response = try await client.send(HTTPRequest(url: "https://localhost:\(server.port)/"))
        #expect(response.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self).contains("TLSv1.3"))
    }

    @Test func refusesACertificateForAnotherName() async throws {
        let certificate = try await SelfSignedCertificate()
        let server = try await TLSPageServer(certificate)
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(
                userAgent: "mirror-bot-tests/1", caBundlePath: certificate.certificatePath))
        let error = try await #require(throws: TransportError.self) {
            try await client.send(HTTPRequest(url: "https://127.0.0.2:\(server.port)/"))
        }
        // The server listens on one address only where the system separates them.
        #expect([.tls, .connect].contains(error.code))
        #expect(error.requestDidNotLeave)
    }

    @Test func saysWhichAuthorityFileIsMissing() async throws {
        let server = try await TLSPageServer(SelfSignedCertificate())
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(
                userAgent: "mirror-bot-tests/1", caBundlePath: "/nowhere/ca.pem"))
        let error = try await #require(throws: TransportError.self) {
            try await client.send(HTTPRequest(url: "https://localhost:\(server.port)/"))
        }
        #expect(error.code == .tls)
        #expect(error.requestDidNotLeave)
    }
}
