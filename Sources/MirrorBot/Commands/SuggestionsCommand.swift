import ArgumentParser
import Foundation
import Mirroring
import Outbox
import Posts

/// `mirror-bot suggestions`.
struct SuggestionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggestions",
        abstract: "See what the bot would favorite, and decide about it.",
        subcommands: [SuggestionsListCommand.self, SuggestionsApproveCommand.self, SuggestionsDismissCommand.self],
        defaultSubcommand: SuggestionsListCommand.self)
}

/// `mirror-bot suggestions list`.
struct SuggestionsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show what waits for a decision, newest first, each with its address to open in a browser.")

    @OptionGroup var options: MirrorOptions

    @Option(help: ArgumentHelp("The most to show.", valueName: "number"))
    var limit = 20

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (1...10_000).contains(limit) else {
            throw ValidationError("--limit is \(limit); expected a number from 1 to 10000")
        }
    }

    func run() async throws {
        try await options.withMirror { mirror in
            var suggestions: [Suggestion] = []
            for action in try await mirror.outbox(lease: nil).suggestions(limit: limit) {
                suggestions.append(Suggestion(action, person: await mirror.people.reported(action)))
            }
            if json { return try JSONOutput.print(SuggestionList(suggestions: suggestions)) }
            guard !suggestions.isEmpty else { return print("nothing waits for a decision") }
            for suggestion in suggestions {
                let rate = suggestion.rate.map { ", rate \(String(format: "%.1f", $0))" } ?? ""
                print("\(suggestion.id)  \(suggestion.kind)\(rate)  \(Printable.line(suggestion.address ?? "-"))")
                let about = [suggestion.person?.name, suggestion.why].compactMap(\.self).joined(separator: ": ")
                if !about.isEmpty { print("    \(Printable.line(about))") }
            }
        }
    }
}

/// `mirror-bot suggestions approve`.
struct SuggestionsApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Let the worker do what was suggested; on X, favorite it yourself in the browser.")

    /// How long an approved suggestion may wait for the worker, in seconds.
    private static let patience: TimeInterval = 24 * 3_600

    @OptionGroup var options: MirrorOptions
    @Argument(help: "The suggestions' short names.") var ids: [String]

    func run() async throws {
        try await options.withMirror { mirror in
            guard try await mirror.requiredAccount(.bot).network != .x else {
                throw CommandError(
                    .configuration, "could not approve: X does not let software favorite; open the address instead")
            }
            let now = mirror.clock.now
            try await SuggestionIDs(ids).forEach("approved") { id in
                try await mirror.outbox(lease: nil).approve(id, now: now, expires: now + Self.patience)
            }
        }
    }
}

/// `mirror-bot suggestions dismiss`.
struct SuggestionsDismissCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss",
        abstract: "Decide against what was suggested.")

    @OptionGroup var options: MirrorOptions
    @Argument(help: "The suggestions' short names.") var ids: [String]

    func run() async throws {
        try await options.withMirror { mirror in
            let now = mirror.clock.now
            try await SuggestionIDs(ids).forEach("dismissed") { id in
                try await mirror.outbox(lease: nil).dismiss(id, now: now)
            }
        }
    }
}

/// The suggestions that a person named.
private struct SuggestionIDs {
    let ids: [String]

    init(_ ids: [String]) { self.ids = ids }

    /// Decides about each; fails at the end if one of them was no suggestion.
    func forEach(_ word: String, _ decide: (String) async throws -> Bool) async throws {
        var unknown: [String] = []
        for id in ids {
            if try await decide(id) { print("\(word) \(Printable.line(id))") } else { unknown.append(id) }
        }
        guard let first = unknown.first else { return }
        throw CommandError(
            .usage, "\(Printable.line(first, columns: 60)) is no suggestion that waits; see mirror-bot suggestions")
    }
}

/// The answer for programs.
private struct SuggestionList: Encodable {
    let schema = "mirror-bot/suggestions/1"
    let suggestions: [Suggestion]
}

/// A suggestion as it is shown.
private struct Suggestion: Encodable {
    let id: String
    let kind: String
    let person: ReportedPerson?
    /// Where a person can look at the post and favorite it.
    let address: String?
    let rate: Double?
    let why: String?
    let created: Date

    init(_ action: Action, person: ReportedPerson?) {
        id = action.id
        self.person = person
        kind = action.kind.rawValue
        address = action.target.flatMap { target in
            PostID(network: target.author.network, value: target.post).webAddress
        }
        rate = action.explanation?.favoriteRate
        why = action.explanation?.summary
        created = action.created
    }
}
