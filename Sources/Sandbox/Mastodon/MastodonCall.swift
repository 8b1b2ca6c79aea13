import Foundation

/// A request that was admitted: its route is known, its token is valid, and the names of its
/// parameters are known.
struct MastodonCall: Sendable {
    var request: WireRequest
    /// The values at the positions of `:name` in the route, in order.
    var segments: [String]
    var query: [(name: String, value: String)]
    var fields: WireFields
    /// The index of the person whose token came with the request; `nil` without a token.
    var caller: Int?
    var scopes: Set<String>
    var now: Date
    var habits: MastodonHabits
    /// The application that the token belongs to.
    var application: MastodonTokens.Application?

    func parameter(_ name: String) -> String? { query.last { $0.name == name }?.value }

    /// All values of a parameter that may be repeated.
    func parameters(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

    func flag(_ name: String) -> Bool { ["true", "1"].contains(parameter(name) ?? "") }

    /// The JSON entities of the answer, as the caller may see them.
    func entities(_ state: SandboxState) -> MastodonEntities {
        MastodonEntities(
            state: state, viewer: caller, habits: habits,
            base: "http://" + (request.header("host") ?? "127.0.0.1"))
    }

    /// The account of the token.
    ///
    /// - Throws: 401 without one.
    func account() throws(WireRefusal) -> Int {
        guard let caller else {
            throw WireRefusal(
                status: 401, message: "This method requires an authenticated user",
                tokenFault: .missing)
        }
        return caller
    }

    /// The number in the path.
    ///
    /// - Throws: 404 if there is none, as for an id that does not exist.
    func id() throws(WireRefusal) -> Int64 {
        guard let id = segments.first.flatMap(habits.ids.number) else { throw .notFound }
        return id
    }

    /// The headers with the links to the neighboring pages; the address is the one the client used.
    func links(
        older: Int64?, newer: Int64?, of list: MastodonHabits.List
    ) -> [(name: String, value: String)] {
        let links = habits.links(of: list)
        guard links != .missing else { return [] }
        let ids = habits.ids(of: list)
        let cursors = ["max_id", "since_id", "min_id"]
        let otherParameters = query.filter { !cursors.contains($0.name) }
        func link(cursor: String, id: Int64, relation: String) -> String {
            let pairs = (otherParameters + [(cursor, ids.text(of: id))]).map {
                "\(Self.escaped($0.name))=\(Self.escaped($0.value))"
            }
            let host = request.header("host") ?? "127.0.0.1"
            return
                "<http://\(host)\(request.path)?\(pairs.joined(separator: "&"))>; rel=\"\(relation)\""
        }
        let cursor = links == .untilEmptySince ? "since_id" : "min_id"
        let both = [
            older.map { link(cursor: "max_id", id: $0, relation: "next") },
            newer.map { link(cursor: cursor, id: $0, relation: "prev") },
        ]
        let value = both.compactMap(\.self).joined(separator: ", ")
        return value.isEmpty ? [] : [("link", value)]
    }

    /// The text as a part of a query.
    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(
            withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~"))) ?? ""
    }
}

/// One method and path of the API.
struct MastodonRoute: Sendable {
    enum Access: Sendable {
        /// The route ignores tokens.
        case open
        /// A request without a token returns only public data, if the server answers it at all.
        case anybody(MastodonHabits.Reading)
        /// The route requires a token with one of these scopes.
        case scope([String])
    }

    /// A function that returns, for a call, the change of the state that gives its answer.
    typealias Answer =
        @Sendable (MastodonCall) -> (inout SandboxState) throws(WireRefusal) -> WireAnswer

    var method: String
    /// The segments of the path; one that begins with `:` stands for any value.
    var pattern: [Substring]
    var access: Access
    var parameters: Set<String>
    var fields: Set<String>
    /// Whether a missing post is 404 even if the server answers 403 for everything else that is
    /// missing.
    var alwaysAnswers404: Bool
    var answer: Answer

    init(
        _ method: String, _ path: String, _ access: Access, parameters: Set<String> = [],
        fields: Set<String> = [],
        alwaysAnswers404: Bool = false, answer: @escaping Answer
    ) {
        self.method = method
        self.pattern = Substring(path).split(separator: "/")
        self.access = access
        self.parameters = parameters
        self.fields = fields
        self.alwaysAnswers404 = alwaysAnswers404
        self.answer = answer
    }

    /// Whether an idempotency key prevents a second execution.
    var isPublishing: Bool { method == "POST" && !fields.isEmpty }
}
