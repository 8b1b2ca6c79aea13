import ArgumentParser
import Foundation
import Mirroring
import Control
import Outbox
import Posts

/// `mirror-bot suggestions`.
struct SuggestionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggestions",
        abstract: "See what waits for your decision, and decide about it.",
        discussion: """
            Favorites where the network or FAVORITE_MODE wants a person, and whatever REVIEW names. What you say of a \
            favorite is learned.
            """,
        subcommands: [SuggestionsListCommand.self, SuggestionsApproveCommand.self, SuggestionsDismissCommand.self],
        defaultSubcommand: SuggestionsListCommand.self)
}

/// `mirror-bot suggestions list`.
struct SuggestionsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show what waits for a decision, newest first, with its text, or its address to open in a browser.")

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
            let list = try await SuggestionList(of: mirror, limit: limit)
            if json { return try JSONOutput.print(list) }
            guard !list.suggestions.isEmpty else { return print("nothing waits for a decision") }
            let zone = try await mirror.knownTimeZone() ?? .gmt
            for suggestion in list.suggestions {
                for line in suggestion.lines(now: mirror.clock.now, zone: zone) { print(line) }
            }
        }
    }
}

/// `mirror-bot suggestions approve`.
struct SuggestionsApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Let the worker do what was suggested; on X, favorite it yourself in the browser.")

    @OptionGroup var options: MirrorOptions
    @Argument(help: "The suggestions' short names.") var ids: [String]
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        try await options.withMirror { mirror in
            let (review, now) = (SuggestionReview(mirror: mirror), mirror.clock.now)
            try await decide(ids, "approved", json: json) { try await review.approve($0, now: now) }
        }
    }
}

/// `mirror-bot suggestions dismiss`.
struct SuggestionsDismissCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss",
        abstract: "Decide against what was suggested.", aliases: ["decline"])

    @OptionGroup var options: MirrorOptions
    @Argument(help: "The suggestions' short names.") var ids: [String]
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        try await options.withMirror { mirror in
            let (review, now) = (SuggestionReview(mirror: mirror), mirror.clock.now)
            try await decide(ids, "dismissed", json: json) { try await review.dismiss($0, now: now) }
        }
    }
}

/// Decides about each suggestion that a person named; fails at the end if one of them was none.
private func decide(
    _ ids: [String], _ word: String, json: Bool, _ decide: (String) async throws -> SuggestionReview.Outcome?
) async throws {
    var decided: [SuggestionDecisions.Decision] = []
    var unknown: [String] = []
    for id in ids {
        guard let outcome = try await decide(id) else {
            unknown.append(id)
            continue
        }
        decided.append(.init(id: outcome.action.id, decision: word, notLearned: outcome.unlearned))
        guard !json else { continue }
        let unlearned = outcome.unlearned.map { "; nothing was learned from that: \(Printable.line($0))" } ?? ""
        print("\(word) \(outcome.action.id)\(unlearned)")
    }
    if json { try JSONOutput.print(SuggestionDecisions(decided: decided, unknown: unknown)) }
    guard let first = unknown.first else { return }
    throw CommandError(
        .usage, "\(Printable.line(first, columns: 60)) is no suggestion that waits; see mirror-bot suggestions")
}

/// What was decided, for programs.
private struct SuggestionDecisions: Encodable {
    let schema = "mirror-bot/suggestion-decisions/1"
    let decided: [Decision]
    /// What was named and is no suggestion that waits.
    let unknown: [String]

    struct Decision: Encodable {
        let id: String
        let decision: String
        /// Why nothing was learned from it; nil if something was, or nothing is to be.
        let notLearned: String?
    }
}

extension SuggestionList.Suggestion {
    fileprivate func lines(now: Date, zone: TimeZone) -> [String] {
        let rate = rate.map { ", rate \(String(format: "%.1f", $0))" } ?? ""
        let time = due > now ? ", for \(LocalTime(due, in: zone))" : ""
        let price = cost.map { ", costs $\(String(format: "%.3f", $0)) at most" } ?? ""
        let age = Int(now.timeIntervalSince(created) / 60)
        let since = age < 60 ? "\(age) min" : age < 2_880 ? "\(age / 60) h" : "\(age / 1_440) d"
        let head = "\(id)  \(kind.rawValue)\(rate)\(time), waits for \(since)"
        var lines = [(head + "  " + Printable.line(address ?? "")).trimmingCharacters(in: .whitespaces)]
        let name = person.map { Printable.line($0.name) }
        if let about { lines.append("    \(name.map { "\($0): " } ?? "")“\(Printable.line(about, columns: 200))”") }
        for text in [text].compactMap(\.self) + (rest ?? []) {
            lines.append("    \(kind == .reply ? "→ " : "")“\(Printable.line(text, columns: 200))”")
        }
        let reason = [about == nil ? name : nil, why.map { Printable.line($0) }].compactMap(\.self).joined(
            separator: ": ")
        if !reason.isEmpty { lines.append("    \(reason)") }
        if !features.isEmpty { lines.append("    \(Printable.line(features.joined(separator: ", ")))") }
        return lines + ["    to be decided until \(LocalTime(expires, in: zone))\(price)"]
    }
}
