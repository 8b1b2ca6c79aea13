/// A revision of the Model Context Protocol.
struct McpRevision: Equatable, Sendable {
    /// The date by which messages name the revision.
    let name: String
    /// Whether a client begins with `initialize`; otherwise each request names the revision.
    let hasSession: Bool

    /// The newest supported revision.
    static let latest = McpRevision(name: "2026-07-28", hasSession: false)
    /// The newest revision with `initialize`.
    static let latestWithSession = McpRevision(name: "2025-11-25", hasSession: true)
    private static let earlier = McpRevision(name: "2025-06-18", hasSession: true)

    static let versionKey = "io.modelcontextprotocol/protocolVersion"

    /// The revision for a session: the requested one, or else the newest, which the client may
    /// refuse.
    static func forSession(_ requested: String) -> McpRevision {
        requested == earlier.name ? earlier : latestWithSession
    }

    /// The revision that a request names in its `_meta`; nil if it names none.
    ///
    /// - Throws: ``McpError`` for a revision other than ``latest``, or if the client's
    ///   capabilities, which that revision requires, are missing.
    static func named(in request: McpRequest) throws -> McpRevision? {
        guard let meta = try request.optionalParameters(Parameters.self)?._meta,
            let version = meta.version
        else { return nil }
        guard version == latest.name else {
            throw McpError(
                .unsupportedVersion, "this revision of the protocol is not supported",
                details: [
                    "supported": .list([JSONText(latest.name)]),
                    "requested": JSONText(String(version.prefix(100))),
                ])
        }
        guard meta.hasCapabilities else {
            throw McpError(.invalidParams, "params._meta.\(Meta.capabilitiesKey) is missing")
        }
        return latest
    }

    private struct Parameters: Decodable { let _meta: Meta? }

    private struct Meta: Decodable {
        static let capabilitiesKey = CodingKeys.capabilities.rawValue

        private enum CodingKeys: String, CodingKey {
            case version = "io.modelcontextprotocol/protocolVersion"
            case capabilities = "io.modelcontextprotocol/clientCapabilities"
        }

        /// The client's capabilities, which may be any object, because the server does not depend
        /// on them.
        private struct Capabilities: Decodable {
            private enum CodingKeys: CodingKey {}

            init(from decoder: any Decoder) throws {
                _ = try decoder.container(keyedBy: CodingKeys.self)
            }
        }

        let version: String?
        let hasCapabilities: Bool

        init(from decoder: any Decoder) throws {
            let meta = try decoder.container(keyedBy: CodingKeys.self)
            version = try meta.decodeIfPresent(String.self, forKey: .version)
            let capabilities = try meta.decodeIfPresent(Capabilities.self, forKey: .capabilities)
            hasCapabilities = capabilities != nil
        }
    }

    // MARK: Members of results

    /// The members that every result has.
    func members(of server: JSONText) -> [(name: String, value: JSONText?)] {
        guard !hasSession else { return [] }
        return [
            ("resultType", JSONText("complete")),
            ("_meta", .object([("io.modelcontextprotocol/serverInfo", server)])),
        ]
    }

    /// Returns the members that state for how many seconds a client may cache a result; empty for
    /// revisions before 2026-07-28.
    func freshness(seconds: Int) -> [(name: String, value: JSONText?)] {
        guard !hasSession else { return [] }
        return [("ttlMs", JSONText(seconds * 1_000)), ("cacheScope", JSONText("private"))]
    }
}
