import Foundation

/// A request as it came over the wire.
struct WireRequest: Sendable {
    var method: String
    /// Path and query as sent.
    var target: String
    /// Names in lower case.
    var headers: [(name: String, value: String)]
    var body: [UInt8]
    /// When it came, where that is not the moment at which it is answered.
    var arrival: Date?

    /// The path without the query, percent-encoding resolved.
    var path: String { Self.unescaped(target.prefix { $0 != "?" }, plusIsSpace: false) }

    /// The parameters of the query in order.
    var query: [(name: String, value: String)] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        return Self.form(target[target.index(after: mark)...])
    }

    /// The first header of the name, which must be in lower case.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// `application/json` of `application/json; charset=utf-8`.
    var mediaType: String? {
        header("content-type")?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// The members of the body, a JSON object or a form; empty where it is neither.
    var members: [String: RecordValue] {
        guard mediaType == "application/x-www-form-urlencoded" else { return RecordValue.members(ofJSON: body) ?? [:] }
        let pairs = Self.form(String(decoding: body, as: UTF8.self))
        return Dictionary(pairs.map { ($0.name, .text($0.value)) }, uniquingKeysWith: { $1 })
    }

    /// The parts of `a=1&b=2`.
    static func form(_ text: some StringProtocol) -> [(name: String, value: String)] {
        text.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (
                unescaped(pair[0], plusIsSpace: true),
                pair.count > 1 ? unescaped(pair[1], plusIsSpace: true) : ""
            )
        }
    }

    /// A broken escape stays as it is.
    private static func unescaped(_ text: some StringProtocol, plusIsSpace: Bool) -> String {
        var bytes: [UInt8] = []
        let source = Array(text.utf8)
        var index = 0
        while index < source.count {
            let byte = source[index]
            if byte == UInt8(ascii: "%"), index + 2 < source.count,
                let value = UInt8(String(decoding: source[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
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

/// What goes back over the wire.
struct WireAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    static func json(_ value: WireJSON, status: Int = 200) -> WireAnswer {
        WireAnswer(
            status: status, headers: [("content-type", "application/json; charset=utf-8")], body: value.bytes)
    }
}

/// Why a request is refused: the status, what the client is told, and what the ledger notes.
struct WireRefusal: Error {
    var status: Int
    var message: String
    /// Not the client's fault.
    var isExpected = false
    /// What a person is told, where `message` is a code.
    var details: String?
    var headers: [(name: String, value: String)] = []

    static func invalid(_ message: String) -> WireRefusal {
        WireRefusal(status: 422, message: "Validation failed: \(message)")
    }

    static let notFound = WireRefusal(status: 404, message: "Record not found")
    /// An endpoint that only some servers have.
    static let notThere = WireRefusal(status: 404, message: "Not Found", isExpected: true)
}
