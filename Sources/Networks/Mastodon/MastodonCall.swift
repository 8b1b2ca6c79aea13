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
        let path = path.map { "/" + PercentEncoding.encoded($0) }.joined()
        return query.isEmpty ? path : path + "?" + PercentEncoding.query(query)
    }
}
