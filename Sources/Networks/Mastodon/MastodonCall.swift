import Transport

/// One request of the Mastodon interface.
struct MastodonCall {
    /// What a request carries.
    enum Body {
        /// Nothing, which the server is told.
        case empty
        case json([UInt8])
        /// Names and values, encoded as a web form.
        case form([(name: String, value: String)])
    }

    /// How long a call may take; slow servers were seen to need 22 s for a long post.
    static let usualDeadline: Duration = .seconds(30)

    var operation: NetworkError.Operation
    var method: HTTPRequest.Method = .get
    /// The parts of the path, not encoded; ids from outside are parts of their own.
    var path: [String]
    var query: [(name: String, value: String)] = []
    var headers: [(String, String)] = []
    var body: Body?
    /// The largest body of an answer that is taken, in bytes.
    var maximumBytes = 8 << 20
    /// The beginning of a larger answer is an answer too.
    var takesBeginning = false
    var deadline = Self.usualDeadline

    /// Path and query, encoded.
    var target: String {
        let path = path.map { "/" + PercentEncoding.encoded($0) }.joined()
        return query.isEmpty ? path : path + "?" + PercentEncoding.query(query)
    }
}

extension MastodonCall.Body {
    /// What is sent.
    var bytes: [UInt8] {
        switch self {
        case .empty: []
        case .json(let bytes): bytes
        case .form(let pairs): Array(PercentEncoding.query(pairs).utf8)
        }
    }

    /// Nil for a body without a content.
    var contentType: String? {
        switch self {
        case .empty: nil
        case .json: "application/json"
        case .form: "application/x-www-form-urlencoded"
        }
    }
}
