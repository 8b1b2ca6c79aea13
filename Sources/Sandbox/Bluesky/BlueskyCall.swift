import Foundation

/// A request that was admitted: its method is known, and so are the names of its parameters and
/// fields.
struct BlueskyCall: Sendable {
    var request: WireRequest
    var query: [(name: String, value: String)]
    var fields: [String: RecordValue]
    /// The index of the logged-in person; `nil` for guests.
    var caller: Int?
    /// The token that came with the request.
    var token: String?
    var now: Date
    var habits: BlueskyHabits

    /// The address at which the client reached the server.
    var url: String { "http://" + (request.header("host") ?? "127.0.0.1") }

    func parameter(_ name: String) -> String? { query.last { $0.name == name }?.value }

    /// All values of a parameter that may be repeated.
    func parameters(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

    func required(_ name: String) throws(BlueskyRefusal) -> String {
        guard let value = parameter(name), !value.isEmpty else {
            throw .invalid("Error: Params must have the property \"\(name)\"")
        }
        return value
    }

    func number(_ name: String, standard: Int, in range: ClosedRange<Int>) throws(BlueskyRefusal)
        -> Int
    {
        guard let text = parameter(name) else { return standard }
        guard let number = Int(text) else { throw .invalid("Error: \(name) must be an integer") }
        guard range.contains(number) else {
            throw .invalid(
                "Error: \(name) must be between \(range.lowerBound) and \(range.upperBound)")
        }
        return number
    }

    func flag(_ name: String) throws(BlueskyRefusal) -> Bool {
        switch parameter(name) {
        case "true": return true
        case "false", nil: return false
        default: throw .invalid("Error: \(name) must be a boolean")
        }
    }

    /// A field of the body that must be there.
    func requiredField(_ name: String) throws(BlueskyRefusal) -> RecordValue {
        guard let value = fields[name] else {
            throw .invalid("Error: Input must have the property \"\(name)\"")
        }
        return value
    }

    func requiredText(_ name: String) throws(BlueskyRefusal) -> String {
        guard let text = try requiredField(name).text else {
            throw .invalid("Error: Input/\(name) must be a string")
        }
        return text
    }

    /// The account of the token.
    func account() throws(BlueskyRefusal) -> Int {
        guard let caller else { throw .missingAuthentication }
        return caller
    }

    /// Answers with a page of a list.
    ///
    /// - Parameters:
    ///   - name: The name of the list in the answer.
    ///   - maximum: The largest limit that may be requested.
    ///   - members: Further members of the answer.
    ///   - read: Returns items and the next cursor, for a cursor and a number of items.
    /// - Returns: The page, or an empty one if that is the server's habit.
    /// - Throws: `InvalidRequest` for a limit out of range, and the error of `read`.
    func page(
        _ name: String, maximum: Int = 100, with members: [(String, WireJSON)] = [],
        read: (_ cursor: String?, _ limit: Int) throws(BlueskyRefusal) -> (
            items: [WireJSON], next: String?
        )
    ) throws(BlueskyRefusal) -> WireAnswer {
        let limit = try number("limit", standard: 50, in: 1...maximum)
        let cursor = parameter("cursor")
        // The cursor of an empty page is this mark and the cursor of the page that follows.
        let emptyPageMark = "~"
        if habits.sendsEmptyPages, !(cursor ?? "").hasPrefix(emptyPageMark) {
            return .json(
                .object(
                    [(name, .array([])), ("cursor", .string(emptyPageMark + (cursor ?? "")))]
                        + members))
        }
        let realCursor = cursor.map { $0.hasPrefix(emptyPageMark) ? String($0.dropFirst()) : $0 }
        let page = try read(realCursor.flatMap { $0.isEmpty ? nil : $0 }, limit)
        let next = page.next.map { [("cursor", WireJSON.string($0))] } ?? []
        return .json(.object([(name, .array(page.items))] + next + members))
    }
}

/// One method of the protocol.
struct BlueskyRoute: Sendable {
    enum Access: Sendable {
        /// The method ignores tokens.
        case open
        /// The method answers guests too; a token that is sent must be valid.
        case anybody
        /// The method requires an access token.
        case session
        /// The method itself checks the refresh token.
        case refresh
    }

    typealias Answer =
        @Sendable (BlueskyCall) -> (inout BlueskyWire, inout SandboxState) throws(BlueskyRefusal) ->
        WireAnswer

    var isQuery: Bool
    var access: Access
    var parameters: Set<String>
    /// The fields of the body; nil if it must be empty.
    var fields: Set<String>?
    /// Whether the body is a file.
    var takesFile = false
    var answer: Answer

    static func query(
        _ access: Access, parameters: Set<String> = [], answer: @escaping Answer
    ) -> BlueskyRoute {
        BlueskyRoute(
            isQuery: true, access: access, parameters: parameters, fields: nil, answer: answer)
    }

    static func upload(_ access: Access, answer: @escaping Answer) -> BlueskyRoute {
        BlueskyRoute(
            isQuery: false, access: access, parameters: [], fields: nil, takesFile: true,
            answer: answer)
    }

    static func procedure(
        _ access: Access, fields: Set<String>?, answer: @escaping Answer
    ) -> BlueskyRoute {
        BlueskyRoute(isQuery: false, access: access, parameters: [], fields: fields, answer: answer)
    }
}
