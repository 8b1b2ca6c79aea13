import ArgumentParser
import Foundation
import Synchronization

/// A report as a resource, which is read by running the command that prints its JSON.
struct McpReport: Sendable {
    /// A parameter of the resource's query, which becomes a word of the command.
    struct Parameter: Sendable {
        /// The place of a value among the words of a command.
        enum Place: Sendable {
            /// The value of the option with the parameter's name.
            case option
            /// An argument of the command.
            case argument
        }

        let name: String
        let place: Place
        let isRequired: Bool
        /// The explanation of the parameter for the client.
        let summary: String

        static func option(_ name: String, _ summary: String) -> Parameter {
            Parameter(name: name, place: .option, isRequired: false, summary: summary)
        }

        static func argument(
            _ name: String, isRequired: Bool = false, _ summary: String
        ) -> Parameter {
            Parameter(name: name, place: .argument, isRequired: isRequired, summary: summary)
        }
    }

    /// The scheme of the addresses.
    static let scheme = "mirror-bot"
    /// The type of the documents.
    static let mediaType = "application/json"
    /// The longest value of a parameter, in bytes.
    private static let longestValue = 2_000

    let name: String
    let summary: String
    private let command: any AsyncParsableCommand.Type
    /// The words of the command, without `--json`.
    private let words: [String]
    let parameters: [Parameter]

    private init(
        _ name: String, _ command: any AsyncParsableCommand.Type, words: [String] = [],
        _ summary: String, _ parameters: Parameter...
    ) {
        self.name = name
        self.summary = summary
        self.command = command
        self.words = words
        self.parameters = parameters
    }

    /// The address without parameters; nil if it needs one.
    var address: String? {
        parameters.contains(where: \.isRequired) ? nil : "\(Self.scheme)://\(name)"
    }

    /// The address with its parameters as a URI template (RFC 6570); nil without any.
    var template: String? {
        let names = parameters.map(\.name).joined(separator: ",")
        return parameters.isEmpty ? nil : "\(Self.scheme)://\(name){?\(names)}"
    }

    // MARK: All of them

    private static let limit = Parameter.option("limit", "The most to list, 20 unless given.")
    private static let after = Parameter.option(
        "after", "Where to continue: next of the page before.")

    static let all = [
        McpReport(
            "status", StatusCommand.self,
            "What the mirror knows, did last and waits for; its verdict and obstacles, its limits of today, and pause_seen."
        ),
        McpReport(
            "plan", PlanShowCommand.self,
            "The posts of a day, each with its seen; today's unless given.",
            .option("date", "The day, such as 2026-11-24.")),
        McpReport(
            "explain", ExplainCommand.self, "What an action is, for whom, and why.",
            .argument(
                "id", isRequired: true,
                "The id of the action or its first digits, or a slot such as next, 4 or 2026-11-24#2."
            )),
        McpReport(
            "history", HistoryCommand.self,
            "What the bot did, decided and plans, newest change first, each with its seen.",
            .argument("words", "Only actions whose texts contain all of these words."),
            .option("since", "Only changes since then: 2026-11-24, or 45m, 6h, 3d, 2w ago."),
            .option("day", "Only changes of that day, such as 2026-11-24."),
            .option("kind", "Only post, reply or favorite."),
            .option("state", "Only this state, such as done or skipped."),
            .option("person", "Only actions for this account."), limit, after),
        McpReport(
            "suggestions", SuggestionsListCommand.self,
            "What waits for a person's approval, newest first, each with its seen.", limit, after),
        McpReport(
            "texts", TextsListCommand.self,
            "The human's archived texts, newest first, and which may be posted, each with its seen.",
            .argument("words", "Only texts that contain all of these words."),
            .option("only", "Only one kind: fit, sometimes, unfit, never or answers."),
            .option("reason", "Only those that one rule decides about, such as time-bound."),
            limit, after),
        McpReport(
            "people", PeopleListCommand.self,
            "Whom the human answered most, and everybody who is denied, allowed or linked, each with their seen.",
            .argument("words", "Only accounts or handles that contain these words."),
            .option("stance", "Only people who are allowed, denied, none of it or forgotten."),
            limit, after),
        McpReport(
            "person", PeopleReportCommand.self,
            "Everything that is stored about a person, with the seen of each of their accounts.",
            .argument("account", isRequired: true, "The account, such as user@host.")),
        McpReport(
            "stats", StatsCommand.self,
            "Posting times, favorites, and what is left out and why."),
        McpReport(
            "config", ConfigCommand.self,
            "Every setting with its value and origin, and the seen of those that can be set; secrets are redacted.",
            .argument("word", "Only settings whose name or text contains it.")),
        McpReport(
            "zones", ZonesListCommand.self,
            "The time zones in which the human lived before, with their seen."),
        McpReport(
            "notices", NotifyCommand.self, "The notifications that were sent."),
        McpReport(
            "doctor", DoctorCommand.self, words: ["--last"],
            "The result of the last mirror-bot doctor, without any request to a server."),
    ]

    // MARK: Reading

    /// Reads the resource at an address.
    ///
    /// - Parameters:
    ///   - address: The address that the client sent.
    ///   - options: The flags that name the mirror.
    /// - Returns: The document that the command prints.
    /// - Throws: ``McpError`` for an address that names no report; the error of the command.
    static func read(_ address: String, _ options: MirrorOptions) async throws -> String {
        guard let (report, words) = call(address) else {
            throw McpError(
                .unknownResource, "there is no such resource",
                details: ["uri": JSONText(String(address.prefix(200)))])
        }
        return try await report.printed(options.words + words)
    }

    /// The report that an address names, and the words of its command for the parameters.
    ///
    /// - Returns: Nil for an address of another form, and if a parameter is unknown, repeated or
    ///   missing.
    private static func call(_ address: String) -> (McpReport, [String])? {
        guard
            let parts = URLComponents(string: address, encodingInvalidCharacters: false),
            parts.scheme == scheme, parts.path.isEmpty, parts.fragment == nil, parts.port == nil,
            parts.user == nil, let report = all.first(where: { $0.name == parts.host })
        else { return nil }
        var values: [String: String] = [:]
        for item in parts.queryItems ?? [] {
            guard let value = item.value, value.utf8.count <= longestValue,
                !value.utf8.contains(0),
                report.parameters.contains(where: { $0.name == item.name }),
                values.updateValue(value, forKey: item.name) == nil
            else { return nil }
        }
        let required = report.parameters.filter(\.isRequired).map(\.name)
        return required.allSatisfy { values[$0] != nil } ? (report, report.words(values)) : nil
    }

    /// Returns the words of the command for the parameters; a value is never taken for an option,
    /// because it follows the name of its own option or `--`.
    private func words(_ values: [String: String]) -> [String] {
        let givenParameters = parameters.compactMap { parameter in
            values[parameter.name].map { (parameter: parameter, value: $0) }
        }
        let options = givenParameters.filter { $0.parameter.place == .option }
            .map { "--\($0.parameter.name)=\($0.value)" }
        let arguments = givenParameters.filter { $0.parameter.place == .argument }.map(\.value)
        return words + options + (arguments.isEmpty ? [] : ["--"] + arguments)
    }

    /// Runs the command with a console of its own.
    ///
    /// - Throws: ``McpError``.
    private func printed(_ words: [String]) async throws -> String {
        let printed = PrintedText()
        let console = Console.current.printing(to: printed)
        do {
            try await Console.$current.withValue(console) {
                var command = try await command.asyncParse(["--json"] + words)
                try await command.run()
            }
        } catch {
            // A command may print its document, and then report a problem by its exit code.
            guard printed.text.isEmpty else { return printed.document }
            throw failure(error)
        }
        return printed.document
    }

    private func failure(_ error: any Error) -> McpError {
        switch Failure(error, of: command, under: command).status {
        case nil: McpError(.invalidParams, command.message(for: error))
        case .usage, .badData: McpError(.invalidParams, Printable.lines("\(error)"))
        default: McpError(.internal, Printable.lines("\(error)"))
        }
    }
}

extension Console {
    /// Returns the console without input, and with another output.
    fileprivate func printing(to text: PrintedText) -> Console {
        var console = self
        console.input = Input(isInteractive: false, path: "/dev/null", readLine: { nil })
        console.output = Output(
            terminal: Terminal(isInteractive: false, columns: 100), write: { text.append($0) })
        console.ownsProcess = false
        return console
    }
}

/// The text that a command prints.
private final class PrintedText: Sendable {
    private let state = Mutex("")

    var text: String { state.withLock { $0 } }
    /// The text without the line break at its end.
    var document: String { text.hasSuffix("\n") ? String(text.dropLast()) : text }

    func append(_ text: String) { state.withLock { $0 += text } }
}
