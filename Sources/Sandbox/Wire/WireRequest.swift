import Foundation
import Posts

/// A request as it arrived.
struct WireRequest: Sendable {
    var method: String
    /// The path and the query, as sent.
    var target: String
    /// The headers, with their names in lower case.
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// The time of arrival, if the request is answered at another time.
    var arrival: Date?

    /// The path without the query, after percent-decoding.
    var path: String { Self.unescaped(target.prefix { $0 != "?" }, plusIsSpace: false) }

    /// The parameters of the query in order.
    var query: [(name: String, value: String)] {
        guard let questionMark = target.firstIndex(of: "?") else { return [] }
        return Self.form(target[target.index(after: questionMark)...])
    }

    /// The first header of the name, which must be in lower case.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The token of the `Authorization` header; the scheme is case-sensitive, as it is on strict
    /// servers.
    var bearerToken: String? {
        guard let value = header("authorization"), value.hasPrefix("Bearer ") else { return nil }
        return String(value.dropFirst("Bearer ".count))
    }

    /// Returns the segments of the path for which `pattern` has segments that begin with `:`; `nil`
    /// if the path does not match.
    func values(in pattern: [Substring]) -> [String]? {
        let segments = Substring(path).split(separator: "/")
        guard segments.count == pattern.count else { return nil }
        var values: [String] = []
        for (expected, actual) in zip(pattern, segments) {
            if expected.first == ":" {
                values.append(String(actual))
            } else if expected != actual {
                return nil
            }
        }
        return values
    }

    /// The media type without parameters, as `application/json` of `application/json;
    /// charset=utf-8`.
    var mediaType: String? {
        header("content-type")?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            .lowercased()
    }

    /// The members of the body, a JSON object or a form; empty if it is neither.
    var members: [String: RecordValue] {
        guard mediaType == "application/x-www-form-urlencoded" else {
            return RecordValue.members(ofJSON: body) ?? [:]
        }
        let pairs = Self.form(String(decoding: body, as: UTF8.self))
        return Dictionary(pairs.map { ($0.name, .text($0.value)) }, uniquingKeysWith: { $1 })
    }

    /// Parses a form such as `a=1&b=2`.
    static func form(_ text: some StringProtocol) -> [(name: String, value: String)] {
        text.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (
                unescaped(pair[0], plusIsSpace: true),
                pair.count > 1 ? unescaped(pair[1], plusIsSpace: true) : ""
            )
        }
    }

    /// Decodes percent escapes; an invalid one stays unchanged.
    private static func unescaped(_ text: some StringProtocol, plusIsSpace: Bool) -> String {
        var bytes: [UInt8] = []
        let source = Array(text.utf8)
        var index = 0
        while index < source.count {
            let byte = source[index]
            if byte == UInt8(ascii: "%"), index + 2 < source.count,
                let value = UInt8(
                    String(decoding: source[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                index += 3
            } else {
                bytes.append(byte == UInt8(ascii: "+") && plusIsSpace ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// An HTTP response.
struct WireAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// Whether it is sent without a `Content-Length`, so that it ends with the connection.
    var omitsLength = false

    static func json(_ value: WireJSON, status: Int = 200) -> WireAnswer {
        WireAnswer(
            status: status, headers: [("content-type", "application/json; charset=utf-8")],
            body: value.bytes)
    }

    static func text(_ text: String, type: String = "text/html; charset=utf-8", status: Int = 200)
        -> WireAnswer
    {
        WireAnswer(status: status, headers: [("content-type", type)], body: Array(text.utf8))
    }
}

/// A refusal: the status, the message for the client, and the reason in the ledger.
struct WireRefusal: Error {
    var status: Int
    var message: String
    /// Whether the client is not to blame.
    var isExpected = false
    /// The message for a person, if `message` is a code.
    var details: String?
    var headers: [(name: String, value: String)] = []
    /// The fault of the token; `nil` if the refusal has another cause.
    var tokenFault: TokenFault?

    enum TokenFault {
        case missing
        case bad
        /// The token is unknown, in a request for the account that it belongs to.
        case badLogin
    }

    static func invalid(_ message: String) -> WireRefusal {
        WireRefusal(status: 422, message: "Validation failed: \(message)")
    }

    static let notFound = WireRefusal(status: 404, message: "Record not found")
    /// The refusal for an endpoint that only some servers have.
    static let notThere = WireRefusal(status: 404, message: "Not Found", isExpected: true)
}

/// The interface of one kind of network to the shared state.
///
/// All interfaces are on the same port and have the same people and posts, each with the names of
/// its network. Each answers as a strict server of its kind would, including refusals, and records
/// those in the ledger.
protocol SandboxWire: Sendable {
    /// Whether the request is for this interface; the path decides, or the query for a path that
    /// two interfaces share.
    static func owns(_ request: WireRequest) -> Bool

    /// Returns the post or favorite that a `POST` requests, as far as it can be read without a
    /// check; `nil` if it requests neither.
    func draft(of request: WireRequest, at now: Date) -> SandboxLedger.Write?

    /// Executes a request and returns the answer to send.
    ///
    /// - Parameters:
    ///   - request: The request as it arrived.
    ///   - state: The network; everything up to `now` has happened in it.
    ///   - now: The sandbox's clock.
    /// - Returns: The answer, which may be a refusal.
    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date)
        -> WireAnswer
}

extension SandboxState {
    /// Records in the ledger that a request was refused.
    ///
    /// `isExpected` means that the client is not to blame.
    mutating func note(
        _ request: WireRequest, status: Int, reason: String, isExpected: Bool, at now: Date
    ) {
        record(
            .init(
                date: now, method: request.method, path: request.path, status: status,
                reason: reason,
                isExpected: isExpected))
    }
}

extension Date {
    /// The instant in the form of HTTP headers: `Fri, 20 Nov 2026 08:15:30 GMT`.
    var httpDate: String {
        let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let day = LocalDay(ordinal: Int((timeIntervalSince1970 / 86_400).rounded(.down)))
        let (year, month, date) = day.components
        let digits = date < 10 ? "0\(date)" : String(date)
        let clock = rfc3339.dropFirst(11).prefix(8)
        return "\(weekdays[day.weekday - 1]), \(digits) \(months[month - 1]) \(year) \(clock) GMT"
    }
}

/// The fields of a request body, from JSON or from a form.
///
/// It is stricter than real servers, so that a misspelled field is noticed: every name must be
/// known and every value must have the right type.
struct WireFields: Sendable {
    private let values: [String: RecordValue]

    /// - Throws: 406 for a body that is neither JSON nor a form, 400 for an unreadable one, 422 for
    ///   an unknown field.
    init(_ request: WireRequest, allowed: Set<String>) throws(WireRefusal) {
        switch request.mediaType {
        case _ where request.body.isEmpty: values = [:]
        case "application/x-www-form-urlencoded": values = request.members
        case "multipart/form-data" where allowed.contains("file"):
            guard let form = WireForm(request) else {
                throw WireRefusal(status: 400, message: "Bad Request: could not read the form")
            }
            values = form.texts.mapValues(RecordValue.text).merging(
                form.files.mapValues { .text($0.name) }
            ) { $1 }
        case "application/json":
            guard let members = RecordValue.members(ofJSON: request.body) else {
                throw WireRefusal(status: 400, message: "Bad Request: could not read the JSON body")
            }
            values = members
        default: throw WireRefusal(status: 406, message: "Not Acceptable: expected JSON or a form")
        }
        if let unknown = values.keys.sorted().first(where: { !allowed.contains($0) }) {
            throw .invalid("unknown field \(unknown.prefix(40))")
        }
    }

    func text(_ name: String) throws(WireRefusal) -> String? {
        switch values[name] {
        case .text(let text): return text
        case nil: return nil
        default: throw .invalid("\(name) must be a text")
        }
    }

    /// The texts of a list; empty without it.
    func texts(_ name: String) throws(WireRefusal) -> [String] {
        guard let value = values[name] else { return [] }
        let texts = value.list?.compactMap(\.text)
        guard let texts, texts.count == value.list?.count else {
            throw .invalid("\(name) must be a list of texts")
        }
        return texts
    }

    func flag(_ name: String) throws(WireRefusal) -> Bool? {
        switch values[name] {
        case .bool(let flag): return flag
        case .text("true"), .text("1"): return true
        case .text("false"), .text("0"): return false
        case nil: return nil
        default: throw .invalid("\(name) must be true or false")
        }
    }
}
