import Mirroring
package import Posts
import Settings

/// The description of a person's operation for programs that call it by name: its effect and its
/// arguments.
///
/// The arguments are properties of the operation, so that the compiler knows their types and which
/// may be left out. The operation's own `Codable` reads a call.
///
/// ```swift
/// DeskTool(
///     MoveSlot.self, "Moves a slot to another time of its day.", seen: "the slot in the plan",
///     .init("slot", \.slot, "The slot."), .init("time", \.time, "Such as 20:15."))
/// ```
package struct DeskTool: Sendable {
    /// An argument of a call.
    package struct Argument: Equatable, Sendable {
        /// The forms of an argument in JSON.
        package enum Form: Equatable, Sendable {
            case text
            /// A date such as `2026-11-24`.
            case day
            /// `true` or `false`.
            case boolean
            /// A list of texts.
            case texts
            /// An object whose values are texts, such as settings by their names.
            case values
        }

        package let name: String
        package let form: Form
        package let isRequired: Bool
        /// The meaning, for people.
        package let words: String
    }

    /// A property of an operation that a call gives as an argument of the same name.
    package struct Property<Operation: PersonOperation>: Sendable {
        fileprivate let argument: Argument

        /// - Parameters:
        ///   - name: The name of the property.
        ///   - property: The property, for its type.
        ///   - words: The meaning, for people.
        package init<Value: DeskArgument>(
            _ name: String, _ property: KeyPath<Operation, Value>, _ words: String
        ) {
            argument = Argument(
                name: name, form: Value.form, isRequired: Value.isRequired, words: words)
        }
    }

    /// The name of the argument, which every call has, with the digest of the item as it was shown.
    package static let seenName = "seen"
    /// The settings by which a person states something, and which no program may set.
    private static let statements = [
        Setting.humanConsent.name, Setting.acknowledgeXPolicy.name,
    ]
    /// The longest text of an argument, in bytes.
    package static let longestText = 10_000

    /// The operation's ``PersonOperation/name``.
    package let name: String
    /// The operation's effect, in one or two sentences.
    package let summary: String
    /// The item whose digest a call has to give as `seen`, and the report that shows the digest.
    package let seen: String
    /// Whether no other operation reverts this one.
    package let isFinal: Bool
    /// The arguments besides `seen`.
    package let arguments: [Argument]
    private let operation: any PersonOperation.Type

    package init<Operation: PersonOperation>(
        _ operation: Operation.Type, _ summary: String, seen: String, isFinal: Bool = false,
        _ properties: Property<Operation>...
    ) {
        name = Operation.name
        self.summary = summary
        self.seen = seen
        self.isFinal = isFinal
        arguments = properties.map(\.argument)
        self.operation = operation
    }
}

/// A type of a property that a call of a ``DeskTool`` can give.
package protocol DeskArgument {
    static var form: DeskTool.Argument.Form { get }
    static var isRequired: Bool { get }
}

extension DeskArgument {
    package static var isRequired: Bool { true }
}

extension String: DeskArgument { package static var form: DeskTool.Argument.Form { .text } }

extension Bool: DeskArgument { package static var form: DeskTool.Argument.Form { .boolean } }

extension LocalDay: DeskArgument { package static var form: DeskTool.Argument.Form { .day } }

extension [String]: DeskArgument { package static var form: DeskTool.Argument.Form { .texts } }

extension [String: String]: DeskArgument {
    package static var form: DeskTool.Argument.Form { .values }
}

extension Optional: DeskArgument where Wrapped: DeskArgument {
    package static var form: DeskTool.Argument.Form { Wrapped.form }
    package static var isRequired: Bool { false }
}

// MARK: - Calls

/// A request for any operation.
package protocol DeskRequest: Sendable {
    /// Carries the request out; see ``Desk``.
    func perform(at desk: Desk) async throws -> any PersonOutcome
}

extension PersonRequest: DeskRequest {
    package func perform(at desk: Desk) async throws -> any PersonOutcome {
        try await desk.perform(self)
    }
}

extension DeskTool {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads a call: the operation's properties and `seen`, in one object.
    ///
    /// - Throws: `ChangeRefusal` with the argument that is missing, unknown or of another form.
    package func request(from decoder: any Decoder) throws -> any DeskRequest {
        do {
            let call = try decoder.container(keyedBy: Name.self)
            try check(call)
            let seen = try call.decode(Seen.self, forKey: Name(stringValue: Self.seenName))
            return try Self.request(operation, from: decoder, seen: seen)
        } catch let error as DecodingError {
            throw refusal(error)
        }
    }

    private static func request<Operation: PersonOperation>(
        _ operation: Operation.Type, from decoder: any Decoder, seen: Seen
    ) throws -> any DeskRequest {
        PersonRequest(try Operation(from: decoder), seen: seen)
    }

    /// Refuses unknown arguments, statements of a person, and texts that are too long or that no
    /// store accepts.
    private func check(_ call: KeyedDecodingContainer<Name>) throws {
        let knownNames = Set(arguments.map(\.name) + [Self.seenName])
        for key in call.allKeys where !knownNames.contains(key.stringValue) {
            let names = (arguments.map(\.name) + [Self.seenName]).joined(separator: ", ")
            throw ChangeRefusal(
                .unusable,
                "\(name) has no argument \"\(key.stringValue.prefix(40))\"; it takes \(names)")
        }
        for argument in arguments {
            for text in try texts(of: argument, in: call) {
                if argument.form == .values, Self.statements.contains(text) {
                    throw ChangeRefusal(
                        .notAllowed,
                        "\(text) is a statement of a person, who makes it with mirror-bot set")
                }
                guard text.utf8.count <= Self.longestText, !text.utf8.contains(0) else {
                    throw ChangeRefusal(
                        .unusable,
                        "\(argument.name) is longer than \(Self.longestText) bytes or holds a NUL character"
                    )
                }
            }
        }
    }

    private func texts(of argument: Argument, in call: KeyedDecodingContainer<Name>) throws
        -> [String]
    {
        let key = Name(stringValue: argument.name)
        switch argument.form {
        case .boolean: return []
        case .text, .day: return [try call.decodeIfPresent(String.self, forKey: key) ?? ""]
        case .texts: return try call.decodeIfPresent([String].self, forKey: key) ?? []
        case .values:
            let values = try call.decodeIfPresent([String: String].self, forKey: key) ?? [:]
            return values.flatMap { [$0.key, $0.value] }
        }
    }

    private func refusal(_ error: DecodingError) -> ChangeRefusal {
        let (path, problem): ([any CodingKey], String) =
            switch error {
            case .keyNotFound(let key, let context): (context.codingPath + [key], "is missing")
            case .valueNotFound(_, let context): (context.codingPath, "is missing")
            case .typeMismatch(_, let context): (context.codingPath, "has the wrong type")
            case .dataCorrupted(let context): (context.codingPath, "has the wrong form")
            @unknown default: ([], "cannot be read")
            }
        let names = arguments.map(\.name) + [Self.seenName]
        let argument = path.map(\.stringValue).last { names.contains($0) }
        guard let argument else {
            return ChangeRefusal(.unusable, "the arguments of \(name) are no object")
        }
        let help =
            argument == Self.seenName ? "; give the 16 digits that \(seen) shows as seen" : ""
        return ChangeRefusal(.unusable, "\(argument) \(problem)\(help)")
    }
}
