import Testing
import Transport

/// A page of the sandbox on which a person allows a login, as a browser opens it.
enum BrowsedPage {
    /// The code that the page shows, once the person has said yes.
    static func code(at address: String) async throws -> String {
        let response = try await opened(address)
        let page = String(decoding: response.body, as: UTF8.self)
        return String(try #require(page.firstMatch(of: /<code>([^<]+)<\/code>/)).1)
    }

    /// The address to which the page leads back, once the person has said yes.
    static func wayBack(from address: String) async throws -> String {
        let response = try await opened(address)
        #expect(response.status == 302)
        return try #require(response.headers["Location"])
    }

    private static func opened(_ address: String) async throws -> HTTPResponse {
        let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "a browser"))
        defer { client.shutdown() }
        return try await client.send(HTTPRequest(method: .get, url: address))
    }
}
