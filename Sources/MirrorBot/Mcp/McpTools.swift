import Control
import Foundation
import Mirroring

/// The tools of the server: the operations of the desk, and one that reads a report, for clients
/// whose models cannot read resources.
struct McpTools: Sendable {
    /// The tool that reads a resource.
    static let readName = "read"

    let options: MirrorOptions
    /// Whether the operations, which change the mirror, are listed and carried out.
    let allowsChanges: Bool

    /// The outcome of a valid call.
    enum Outcome: Sendable {
        /// A document, as the command prints it.
        case document(String)
        /// The reason why nothing was done.
        case refusal(String)
    }

    // MARK: The list

    var list: JSONText {
        .list([Self.readTool] + (allowsChanges ? DeskTool.all.map(\.json) : []))
    }

    private static let readTool = JSONText.object([
        ("name", JSONText(readName)), ("title", JSONText("Read a report")),
        (
            "description",
            JSONText(
                "Reads a report of the mirror, by the address of its resource: "
                    + McpReport.all.map { $0.template ?? "\(McpReport.scheme)://\($0.name)" }
                    .joined(separator: ", "))
        ),
        (
            "inputSchema",
            .object([
                ("type", JSONText("object")),
                (
                    "properties",
                    .object([
                        (
                            "uri",
                            .object([
                                ("type", JSONText("string")),
                                (
                                    "description",
                                    JSONText(
                                        "Such as mirror-bot://status or mirror-bot://explain?id=next"
                                    )
                                ),
                            ])
                        )
                    ])
                ),
                ("required", .list([JSONText("uri")])),
                ("additionalProperties", JSONText(false)),
            ])
        ),
        ("outputSchema", outputSchema),
        (
            "annotations",
            .object([("readOnlyHint", JSONText(true)), ("openWorldHint", JSONText(false))])
        ),
    ])

    /// The schema of results: every document contains the name of its schema.
    fileprivate static let outputSchema = JSONText.object([
        ("type", JSONText("object")),
        ("properties", .object([("schema", .object([("type", JSONText("string"))]))])),
        ("required", .list([JSONText("schema")])),
    ])

    // MARK: Calls

    /// The parameters of `tools/call`.
    struct Call: Decodable, Sendable {
        private enum CodingKeys: CodingKey { case name, arguments }
        private enum ReadKeys: CodingKey { case uri }

        fileprivate enum Wish: Sendable {
            case read(String)
            case change(DeskTool, Result<any DeskRequest, ChangeRefusal>)
            case unknown
        }

        fileprivate let wish: Wish
        /// Whether the call requests a change, which is carried out to its end.
        var isChange: Bool { if case .change = wish { true } else { false } }

        init(from decoder: any Decoder) throws {
            let call = try decoder.container(keyedBy: CodingKeys.self)
            let name = try call.decode(String.self, forKey: .name)
            if name == McpTools.readName {
                let arguments = try call.nestedContainer(keyedBy: ReadKeys.self, forKey: .arguments)
                wish = .read(try arguments.decode(String.self, forKey: .uri))
            } else if let tool = DeskTool.named(name) {
                let arguments = try call.superDecoder(forKey: .arguments)
                do {
                    wish = .change(tool, .success(try tool.request(from: arguments)))
                } catch let refusal as ChangeRefusal {
                    wish = .change(tool, .failure(refusal))
                }
            } else {
                wish = .unknown
            }
        }
    }

    /// Carries out a call.
    ///
    /// - Returns: The outcome. The language model reads a refusal, and may correct its call.
    /// - Throws: ``McpError`` for an unknown tool.
    func perform(_ call: Call) async throws -> Outcome {
        switch call.wish {
        case .unknown: throw McpError(.invalidParams, "there is no such tool")
        case .read(let address):
            do {
                return .document(try await McpReport.read(address, options))
            } catch let error as McpError {
                return .refusal(error.message)
            }
        case .change(let tool, let request):
            guard allowsChanges else {
                return .refusal(
                    "\(tool.name) changes the mirror, and this server only reads; to allow changes, start it with mirror-bot mcp --allow-changes"
                )
            }
            do {
                return .document(try await perform(try request.get()))
            } catch let refusal as ChangeRefusal {
                return .refusal("\(refusal.code.rawValue): \(Printable.lines("\(refusal)"))")
            } catch {
                return .refusal(Printable.lines("\(error)"))
            }
        }
    }

    private func perform(_ request: any DeskRequest) async throws -> String {
        try await options.withRecord { mirror, record in
            let zone = try await mirror.recordedTimeZone(record, now: mirror.clock.now)
            return try JSONOutput.text(try await request.perform(at: Desk(mirror, zone: zone)))
        }
    }
}

extension DeskTool {
    /// The tool in a list.
    fileprivate var json: JSONText {
        let seen = JSONText.object([
            ("type", JSONText("string")), ("pattern", JSONText("^[0-9a-f]{16}$")),
            (
                "description",
                JSONText("The value of seen of \(self.seen). Nothing is done if it has changed.")
            ),
        ])
        let properties = arguments.map { (name: $0.name, value: Optional($0.json)) }
        let required = arguments.filter(\.isRequired).map(\.name) + [Self.seenName]
        return .object([
            ("name", JSONText(name)), ("description", JSONText(summary)),
            (
                "inputSchema",
                .object([
                    ("type", JSONText("object")),
                    ("properties", .object(properties + [(name: Self.seenName, value: seen)])),
                    ("required", .list(required.map { JSONText($0) })),
                    ("additionalProperties", JSONText(false)),
                ])
            ),
            ("outputSchema", McpTools.outputSchema),
            (
                "annotations",
                .object([
                    ("readOnlyHint", JSONText(false)), ("destructiveHint", JSONText(isFinal)),
                    // A repeated call finds that the item has changed, or that it is in the
                    // requested state already.
                    ("idempotentHint", JSONText(true)), ("openWorldHint", JSONText(true)),
                ])
            ),
        ])
    }
}

extension DeskTool.Argument {
    /// The argument in the schema of a tool.
    fileprivate var json: JSONText {
        let text = JSONText.object([("type", JSONText("string"))])
        let (type, items, values): (String, JSONText?, JSONText?) =
            switch form {
            case .text, .day: ("string", nil, nil)
            case .boolean: ("boolean", nil, nil)
            case .texts: ("array", text, nil)
            case .values: ("object", nil, text)
            }
        return .object([
            ("type", JSONText(type)), ("format", form == .day ? JSONText("date") : nil),
            ("items", items), ("additionalProperties", values), ("description", JSONText(words)),
        ])
    }
}
