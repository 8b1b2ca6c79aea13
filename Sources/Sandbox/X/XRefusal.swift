/// A refusal by X: the message for the client and the reason in the ledger.
struct XRefusal: Error {
    var status: Int
    var body: WireJSON
    /// The reason as the ledger records it.
    var reason: String
    /// Whether the client is not to blame.
    var isExpected = false
    /// The code of the error in version 1.1, if there is one.
    var code: Int?

    /// Creates a refusal with a problem document; `type` is the last part of the problem's address,
    /// and nil stands for `about:blank`.
    static func problem(
        _ status: Int, _ title: String, _ detail: String, type: String? = nil, code: Int? = nil,
        isExpected: Bool = false, more: [(String, WireJSON)] = []
    ) -> XRefusal {
        XRefusal(
            status: status,
            body: .object(
                more + [
                    ("title", .string(title)), ("detail", .string(detail)),
                    ("type", .string(type.map(address) ?? "about:blank")),
                    ("status", .integer(status)),
                ]), reason: detail, isExpected: isExpected, code: code)
    }

    /// Creates a refusal with 400 that names the wrong parameter.
    static func invalid(_ name: String, _ value: String, _ message: String) -> XRefusal {
        XRefusal(
            status: 400,
            body: [
                "errors": [
                    [
                        "parameters": .object([(name, .array([.string(String(value.prefix(80)))]))]
                        ),
                        "message": .string(message),
                    ]
                ], "title": "Invalid Request",
                "detail": "One or more parameters to your request was invalid.",
                "type": .string(address("invalid-request")),
            ], reason: message)
    }

    /// Creates a refusal with 400 for an invalid body.
    static func invalidBody(_ message: String) -> XRefusal {
        problem(400, "Invalid Request", message, type: "invalid-request", code: 214)
    }

    static func unauthorized(_ reason: String, code: Int = 32) -> XRefusal {
        var refusal = problem(401, "Unauthorized", "Unauthorized", code: code)
        refusal.reason = reason
        return refusal
    }

    static func forbidden(_ detail: String, code: Int? = nil) -> XRefusal {
        problem(403, "Forbidden", detail, code: code)
    }

    static let clientForbidden = problem(
        403, "Client Forbidden", "This endpoint is not part of what your client is enrolled for.",
        type: "client-forbidden", code: 453,
        more: [("reason", "client-not-enrolled"), ("client_id", .string(application))])

    static let readOnly = problem(
        403, "Forbidden",
        "Your client app is not configured with the appropriate oauth1 app permissions.",
        type: "oauth1-permissions", code: 261)

    static let noSuchEndpoint = problem(404, "Not Found", "Not Found", code: 34)

    static let tooMany = problem(429, "Too Many Requests", "Too Many Requests", code: 88)

    /// The number of the developer's app.
    static let application = "29000001"

    static func address(_ type: String) -> String { "https://api.x.com/2/problems/\(type)" }

    /// Returns the answer to send; `isOld` requests the form of version 1.1, if the error has a
    /// code there.
    func answer(isOld: Bool) -> WireAnswer {
        if isOld, let code {
            return .json(
                ["errors": [["code": .integer(code), "message": .string(Self.message(code))]]],
                status: status)
        }
        return WireAnswer(
            status: status, headers: [("content-type", "application/problem+json; charset=utf-8")],
            body: body.bytes)
    }

    private static func message(_ code: Int) -> String {
        switch code {
        case 32: "Could not authenticate you."
        case 88: "Rate limit exceeded."
        case 89: "Invalid or expired token."
        case 135: "Timestamp out of bounds."
        case 215: "Bad Authentication data."
        case 415: "Callback URL not approved for this client application."
        default: "Refused."
        }
    }
}
