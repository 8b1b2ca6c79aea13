import Foundation
import TestSupport
import Testing
import Transport

/// A browser without script: it keeps cookies, sends forms with the token of the page that it
/// shows, and goes where answers lead.
final class FormBrowser {
    private let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "a browser"))
    private let origin: String
    private var cookies: [String: String] = [:]
    /// The page that is shown.
    private(set) var page = ""
    /// Its address.
    private(set) var path = "/"

    /// - Parameter program: Serves the page.
    init(_ program: RunningProgram) async throws {
        try await program.waitForError("Web page opened")
        let opened = try #require(
            program.errorSoFar.firstMatch(of: #/address=(http:\/\/127\.0\.0\.1:[0-9]+)\//#))
        origin = String(opened.output.1)
    }

    deinit { client.shutdown() }

    /// Opens a page.
    func open(_ path: String) async throws { try await send(.get, path, []) }

    /// Goes to an address of the server to which another site leads, without cookies, and asks
    /// again if the answer says so.
    func comeBack(_ address: String) async throws {
        try #require(address.hasPrefix(origin + "/"), "\(address)")
        try await send(.get, String(address.dropFirst(origin.count)), [], isOwn: false)
    }

    /// Sends a form of the page.
    func submit(_ path: String, _ fields: [String: String] = [:]) async throws {
        try #require(
            page.contains("action=\"\(path)\""), "no form for \(path) on \(self.path): \(page)")
        try await force(path, fields)
    }

    /// Logs in with the password of the page.
    func logIn(_ password: String) async throws {
        try await send(.post, "/login", [("password", password), ("next", "/")])
    }

    /// Sends a form that the page does not have, with the token of another one.
    func force(_ path: String, _ fields: [String: String]) async throws {
        let token = try #require(
            page.firstMatch(of: /name="csrf" value="([^"]+)"/), "no form on \(self.path): \(page)")
        try await send(
            .post, path, [("csrf", String(token.output.1))] + fields.map { ($0.key, $0.value) })
    }

    /// The address of the first link whose text holds these words.
    func link(_ words: String) throws -> String {
        for match in page.matches(of: /<a [^>]*href="([^"]+)"[^>]*>([^<]*)</)
        where match.output.2.contains(words) {
            return String(match.output.1).replacing("&amp;", with: "&")
        }
        throw TestSupportError("no link \(words) on \(path): \(page)")
    }

    /// - Parameter isOwn: Whether a page of the server leads there, so that cookies are sent.
    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ fields: [(String, String)],
        isOwn: Bool = true
    ) async throws {
        var request = HTTPRequest(method: method, url: origin + path)
        let jar = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        if isOwn { request.headers = HTTPHeaders([("Cookie", jar), ("Origin", origin)]) }
        if method == .post {
            request.headers = HTTPHeaders([
                ("Cookie", jar), ("Origin", origin),
                ("Content-Type", "application/x-www-form-urlencoded"),
            ])
            request.body = Array(Self.encoded(fields).utf8)
        }
        let response = try await client.send(request)
        for (name, value) in response.headers.pairs where name.lowercased() == "set-cookie" {
            let pair = value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { cookies[String(pair[0])] = String(pair[1]) }
        }
        if response.status == 303, let next = response.headers["Location"] {
            return try await send(.get, next, [], isOwn: isOwn)
        }
        if let refresh = response.headers["Refresh"] {
            let next = try #require(refresh.firstMatch(of: /^0;url=(.+)$/)).output.1
            return try await send(.get, String(next), [])
        }
        self.path = path
        page = String(decoding: response.body, as: UTF8.self)
        try #require([200, 400, 409].contains(response.status), "\(response.status): \(page)")
    }

    private static func encoded(_ fields: [(String, String)]) -> String {
        func encoded(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        }
        return fields.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
    }
}
