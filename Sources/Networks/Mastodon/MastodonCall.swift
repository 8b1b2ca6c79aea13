import Foundation
import Transport

/// One request of the Mastodon interface.
struct MastodonCall {
    var operation: NetworkError.Operation
    var method: HTTPRequest.Method = .get
    /// The parts of the path, not encoded; ids from outside are parts of their own.
    var path: [String]
    var query: [(name: String, value: String)] = []
    var headers: [(String, String)] = []
    /// JSON; nil sends none.
    var body: [UInt8]?

    /// Path and query, encoded.
    var target: String {
        let path = path.map { "/" + Self.encoded($0) }.joined()
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { Self.encoded($0.name) + "=" + Self.encoded($0.value) }.joined(separator: "&")
    }

    /// Percent-encoded, but for the unreserved characters of RFC 3986.
    private static func encoded(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                result.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
