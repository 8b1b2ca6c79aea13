/// Why a request is refused, in the words of the protocol.
struct BlueskyRefusal: Error, Equatable {
    var status: Int
    /// The name that clients go by.
    var error: String
    var message: String
    /// Not the client's fault.
    var isExpected: Bool

    init(_ status: Int, _ error: String, _ message: String, isExpected: Bool = false) {
        self.status = status
        self.error = error
        self.message = message
        self.isExpected = isExpected
    }

    static func invalid(_ message: String, isExpected: Bool = false) -> BlueskyRefusal {
        BlueskyRefusal(400, "InvalidRequest", message, isExpected: isExpected)
    }

    /// A client cannot know when a token ends: it is told so by this.
    static func expired(_ message: String) -> BlueskyRefusal {
        BlueskyRefusal(400, "ExpiredToken", message, isExpected: true)
    }

    static func invalidToken(_ message: String) -> BlueskyRefusal { BlueskyRefusal(400, "InvalidToken", message) }

    static let rateLimited = BlueskyRefusal(429, "RateLimitExceeded", "Rate Limit Exceeded")

    static let missingAuthentication = BlueskyRefusal(401, "AuthMissing", "Authentication Required")

    /// Asking is how a client learns whether a record is there.
    static func recordNotFound(_ uri: String) -> BlueskyRefusal {
        BlueskyRefusal(400, "RecordNotFound", "Could not locate record: \(uri)", isExpected: true)
    }

    /// `isExpected` where the client demanded that there be no record: who asks again cannot know that there is one.
    static func invalidSwap(was cid: String?, isExpected: Bool = false) -> BlueskyRefusal {
        BlueskyRefusal(400, "InvalidSwap", "Record was at \(cid ?? "null")", isExpected: isExpected)
    }

    var body: WireJSON { ["error": .string(error), "message": .string(message)] }

    func answer(as form: BlueskyHabits.ErrorForm) -> WireAnswer {
        switch form {
        case .xrpc: return .json(body, status: status)
        case .plainText: return text("text/plain; charset=utf-8", "\(error): \(message)")
        case .html: return text("text/html", "<html><body><h1>\(status)</h1></body></html>")
        case .empty: return WireAnswer(status: status)
        }
    }

    private func text(_ type: String, _ body: String) -> WireAnswer {
        WireAnswer(status: status, headers: [("content-type", type)], body: Array(body.utf8))
    }
}
