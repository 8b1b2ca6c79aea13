import Foundation
import Transport

/// One request of X's interface.
struct XCall {
    /// What the server's limits are counted for.
    enum Endpoint: String, Hashable, Sendable {
        case me, userPosts, mentions, home, favorites, post, publish, delete, requestToken, accessToken
    }

    var operation: NetworkError.Operation
    var endpoint: Endpoint
    var method: HTTPRequest.Method = .get
    /// The parts of the path, not encoded; ids from outside are parts of their own.
    var path: [String]
    var query: [(name: String, value: String)] = []
    /// Parameters of the signature's header beside the usual ones.
    var oauth: [(name: String, value: String)] = []
    /// JSON, which is not signed; nil sends none.
    var body: [UInt8]?

    /// The same for calls that read the same part of a feed, or the same thing.
    ///
    /// A later look at what has arrived shows all that an earlier one showed and that was not paid since.
    var reading: String {
        let places: Set<String> = ["pagination_token", "until_id", "start_time"]
        return encodedPath + "?" + PercentEncoding.query(query.filter { places.contains($0.name) })
    }

    /// The path, encoded.
    var encodedPath: String { path.map { "/" + PercentEncoding.encoded($0) }.joined() }
}
