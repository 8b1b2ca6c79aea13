import Foundation

/// A message of a client: JSON-RPC 2.0, one object on a line.
///
/// See <https://www.jsonrpc.org/specification> and, for parts of JSON-RPC that the protocol
/// excludes (batches, `null` ids),
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic>.
enum McpMessage {
    /// A message that must be answered.
    case request(McpRequest)
    /// A message that must not be answered.
    case notification(McpNotification)
    /// The answer to a request, which this server never makes.
    case response
    /// A line that is no message; it is answered with an error, and with its id if that can be
    /// read.
    case fault(McpError, id: McpIdentifier?)

    init(_ line: [UInt8]) {
        // Validation fails only if the bytes are not UTF-8.
        guard (try? UTF8Span(validating: line.span)) != nil else {
            self = .fault(McpError(.parse, "the line is not valid UTF-8"), id: nil)
            return
        }
        let data = Data(line)
        guard Self.isJSON(data) else {
            self = .fault(McpError(.parse, "the line is not valid JSON"), id: nil)
            return
        }
        do {
            self = try JSONDecoder().decode(Envelope.self, from: data).message(data)
        } catch {
            self = .fault(
                McpError(.invalidRequest, "the line is no JSON-RPC 2.0 message; batches are none"),
                id: nil)
        }
    }

    /// Whether the data is a JSON text that is not nested too deeply for the decoder.
    private static func isJSON(_ data: Data) -> Bool {
        // The decoder would read a text with NUL bytes as UTF-16. `AnyValue` decodes nothing, so
        // the decoder fails only if its scanner does.
        !data.contains(0) && (try? JSONDecoder().decode(AnyValue.self, from: data)) != nil
    }

    private struct AnyValue: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// The members of every message.
    private struct Envelope: Decodable {
        private enum CodingKeys: CodingKey { case jsonrpc, id, method, result, error }

        let isVersion2: Bool
        let hasID: Bool
        let id: McpIdentifier?
        let method: String?
        let isResponse: Bool

        init(from decoder: any Decoder) throws {
            let message = try decoder.container(keyedBy: CodingKeys.self)
            hasID = message.contains(.id)
            // A value of another type is no version, id or method.
            isVersion2 = (try? message.decode(String.self, forKey: .jsonrpc)) == "2.0"
            id = try? message.decode(McpIdentifier.self, forKey: .id)
            method = try? message.decode(String.self, forKey: .method)
            isResponse = message.contains(.result) || message.contains(.error)
        }

        func message(_ data: Data) -> McpMessage {
            guard isVersion2 else {
                return .fault(McpError(.invalidRequest, "jsonrpc is not \"2.0\""), id: id)
            }
            guard !hasID || id != nil else {
                return .fault(
                    McpError(.invalidRequest, "the id is neither a text nor a whole number"),
                    id: nil)
            }
            guard let method else {
                if isResponse { return .response }
                return .fault(McpError(.invalidRequest, "the message has no method"), id: id)
            }
            guard let id else {
                return .notification(McpNotification(method: method, data: data))
            }
            return .request(McpRequest(id: id, method: method, data: data))
        }
    }
}

/// The id of a request.
enum McpIdentifier: Hashable, Decodable, Sendable {
    case text(String)
    case number(Int)

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // Decoding a text as a number fails.
        if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else {
            self = .text(try value.decode(String.self))
        }
    }

    var json: JSONText {
        switch self {
        case .text(let text): JSONText(text)
        case .number(let number): JSONText(number)
        }
    }
}

/// A request of the client.
struct McpRequest: Sendable {
    let id: McpIdentifier
    let method: String
    /// The whole message as JSON.
    fileprivate let data: Data

    init(id: McpIdentifier, method: String, data: Data) {
        self.id = id
        self.method = method
        self.data = data
    }

    /// The parameters in the form that the method expects.
    ///
    /// - Throws: ``McpError`` with the parameter that is missing or of another type.
    func parameters<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try McpParameters.read(type, from: data)
    }

    /// Returns the parameters in the form that the method expects; nil if they are left out.
    func optionalParameters<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        try McpParameters.readOptional(type, from: data)
    }
}

/// A notification of the client.
struct McpNotification: Sendable {
    let method: String
    fileprivate let data: Data

    /// The id of the request that `notifications/cancelled` is about; nil if it names none.
    var cancelled: McpIdentifier? {
        struct Cancelled: Decodable { let requestId: McpIdentifier }
        // An invalid notification is ignored, as the protocol asks for.
        return (try? McpParameters.read(Cancelled.self, from: data))?.requestId
    }
}

private enum McpParameters {
    private struct Message<Value: Decodable>: Decodable { let params: Value }
    private struct MessageWithOptionalParameters<Value: Decodable>: Decodable { let params: Value? }

    static func read<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decode(Message<Value>.self, data).params
    }

    static func readOptional<Value: Decodable>(_ type: Value.Type, from data: Data) throws
        -> Value?
    {
        try decode(MessageWithOptionalParameters<Value>.self, data).params
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch let error as DecodingError {
            throw McpError(.invalidParams, problem(error))
        }
    }

    private static func problem(_ error: DecodingError) -> String {
        let (path, predicate): ([any CodingKey], String) =
            switch error {
            case .keyNotFound(let key, let context): (context.codingPath + [key], "is missing")
            case .valueNotFound(_, let context): (context.codingPath, "is missing")
            case .typeMismatch(_, let context): (context.codingPath, "has the wrong type")
            case .dataCorrupted(let context): (context.codingPath, "has the wrong form")
            @unknown default: ([], "cannot be read")
            }
        // Names that the client invented are not repeated.
        let knownNames = path.map(\.stringValue).filter { name in
            ["params", "_meta", "uri", "name", "arguments", "protocolVersion", "cursor"].contains(
                name) || name.hasPrefix("io.modelcontextprotocol/")
        }
        return
            "\(knownNames.isEmpty ? "a parameter" : knownNames.joined(separator: ".")) \(predicate)"
    }
}

/// An error that is sent in place of a result.
struct McpError: Error, Equatable {
    /// The codes of JSON-RPC, and those of the protocol.
    enum Code: Int {
        case parse = -32700
        case invalidRequest = -32600
        case unknownMethod = -32601
        case invalidParams = -32602
        case `internal` = -32603
        /// The code for an unknown resource until revision 2025-11-25; later it is `invalidParams`.
        case unknownResource = -32002
        /// The code for an unsupported revision, since revision 2026-07-28.
        case unsupportedVersion = -32022
    }

    let code: Code
    let message: String
    /// The members of the error's `data`.
    var details: [String: JSONText] = [:]

    init(_ code: Code, _ message: String, details: [String: JSONText] = [:]) {
        self.code = code
        self.message = message
        self.details = details
    }

    var json: JSONText {
        let members = details.sorted { $0.key < $1.key }.map {
            (name: $0.key, value: Optional($0.value))
        }
        return .object([
            ("code", JSONText(code.rawValue)), ("message", JSONText(message)),
            ("data", members.isEmpty ? nil : .object(members)),
        ])
    }
}
