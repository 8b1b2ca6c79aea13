import Foundation
import Settings
import TestSupport

/// A server that repeats what it was sent, to whomever: headers, credentials and body, in its own
/// headers and body.
struct SecretEcho: Sendable, CustomStringConvertible {
    /// In what its answer consists of.
    enum Form: String, CaseIterable, Sendable {
        case json, html, text, deepJSON, brokenJSON, wrongTypes
    }

    /// How it writes what it repeats.
    enum Spelling: String, CaseIterable, Sendable {
        case plain, small, capital, urlEncoded, base64, hex, cut
    }

    var status: Int
    var form = Form.json
    var spelling = Spelling.plain

    var description: String { "\(status) \(form) \(spelling)" }

    /// Answers a request with itself.
    func answer(_ request: LoopbackServer.Request, on connection: LoopbackServer.Connection) throws
    {
        let credentials = spelled(Self.credentials(of: request))
        let first = credentials.first ?? "nobody"
        let inURL = first.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? first
        let type =
            switch form {
            case .html: "text/html"
            case .text: "text/plain"
            case .json, .deepJSON, .brokenJSON, .wrongTypes: "application/json"
            }
        let headers = [
            ("X-Request-Id", first), ("Atproto-Request-Id", first), ("x-transaction-id", first),
            ("Location", "http://127.0.0.1:1/?token=\(inURL)"),
            ("Link", "<http://127.0.0.1:1/\(inURL)>; rel=\"next\""),
            ("Retry-After", first), ("X-RateLimit-Reset", first),
            ("WWW-Authenticate", "Bearer realm=\"\(first)\""),
            ("Content-Type", type),
        ].filter { !$0.1.contains { $0.isNewline } }
        try connection.respond(
            status: status, headers: headers, body: Array(body(credentials).utf8))
    }

    private func body(_ credentials: [String]) -> String {
        let all = "refused: " + credentials.joined(separator: " and ")
        let quoted = String(decoding: (try? JSONEncoder().encode(all)) ?? Data(), as: UTF8.self)
        switch form {
        case .json:
            return
                #"{"error":\#(quoted),"error_description":\#(quoted),"message":\#(quoted),"title":\#(quoted),"#
                + #""detail":\#(quoted),"errors":[{"code":1,"message":\#(quoted),"detail":\#(quoted)}]}"#
        case .html: return "<html><title>\(all)</title><p>\(all)</p></html>"
        case .text: return all
        case .deepJSON:
            return String(repeating: "[", count: 20_000) + quoted
                + String(repeating: "]", count: 20_000)
        case .brokenJSON: return #"{"error":\#(quoted), "id": \#(all)"#
        case .wrongTypes:
            return
                #"{"id":[\#(quoted)],"acct":{"a":\#(quoted)},"username":7,"data":\#(quoted),"did":[\#(quoted)],"#
                + #""accessJwt":[\#(quoted)],"feed":\#(quoted),"error":[\#(quoted)]}"#
        }
    }

    private func spelled(_ words: [String]) -> [String] {
        words.map { word in
            switch spelling {
            case .plain: word
            case .small: word.lowercased()
            case .capital: word.uppercased()
            case .urlEncoded:
                word.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? word
            case .base64: Data(word.utf8).base64EncodedString()
            case .hex: word.utf8.map { String(format: "%02x", $0) }.joined()
            case .cut: String(word.prefix(12)) + "…"
            }
        }
    }

    /// The words of the request that look like credentials, and the whole of them last.
    static func credentials(of request: LoopbackServer.Request) -> [String] {
        let header = request.header("Authorization") ?? ""
        let body = String(decoding: request.body, as: UTF8.self)
        let separators = CharacterSet(charactersIn: " ,=&\"{}:")
        let words = (header + " " + body).components(separatedBy: separators).filter {
            $0.utf8.count >= 12
        }
        return words.map { $0.removingPercentEncoding ?? $0 } + (words.isEmpty ? [] : [header])
    }
}
