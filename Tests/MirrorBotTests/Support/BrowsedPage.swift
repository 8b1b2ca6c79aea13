import Testing
import Transport

/// A page of the sandbox on which a person allows a login, as a browser opens it.
enum BrowsedPage {
    /// The code that the page shows, once the person has said yes.
    static func code(at address: String) async throws -> String {
        let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "a browser"))
        defer { client.shutdown() }
        let response = try await client.send(HTTPRequest(method: .get, url: address))
        let page = String(decoding: response.body, as: UTF8.self)
        return String(try #require(page.firstMatch(of: /<code>([^<]+)<\/code>/)).1)
    }
}
