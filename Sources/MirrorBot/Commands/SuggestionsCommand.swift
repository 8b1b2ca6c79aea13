import ArgumentParser
import Control
import Foundation
import Mirroring
import Outbox
import Posts
import Settings

/// `mirror-bot suggestions`.
struct SuggestionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggestions",
        abstract: "Show what waits for your approval, and decide.",
        discussion: """
            Favorites wait here where the network or \(Setting.favoriteMode.name) requires a person, and posts and replies as \
            \(Setting.review.name) says. Your decision about a favorite is learned.
            """,
        subcommands: [
            SuggestionsListCommand.self, SuggestionsApproveCommand.self,
            SuggestionsDismissCommand.self,
            SuggestionsReopenCommand.self, SuggestionsDoneCommand.self,
        ],
        defaultSubcommand: SuggestionsListCommand.self)
}

/// `mirror-bot suggestions list`.
struct SuggestionsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show what waits, newest first, with its text or its address for the browser.")

    @Flag(help: "Show first what ends first.")
    var urgent = false

    @OptionGroup var list: ListOptions
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withRecord { mirror, record in
            var search = SuggestionList.Search(limit: list.limit)
            search.cursor = list.after
            search.order = urgent ? .urgent : .newest
            let suggestionList = try await SuggestionList(of: mirror, search)
            if list.json { return try JSONOutput.print(suggestionList) }
            guard !suggestionList.suggestions.isEmpty else {
                return print("nothing waits for a decision")
            }
            let zone = mirror.knownTimeZone(record) ?? .gmt
            for suggestion in suggestionList.suggestions {
                for line in suggestion.lines(now: mirror.clock.now, zone: zone) { print(line) }
            }
            ListOptions.tell(next: suggestionList.next)
        }
    }
}

/// `mirror-bot suggestions approve`.
struct SuggestionsApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract:
            "Let the worker do it; on X, favorite it yourself in the browser, then: suggestions done."
    )

    @OptionGroup var choice: SuggestionChoice

    func run() async throws { try await choice.decide(ApproveSuggestion.self) }
}

/// `mirror-bot suggestions dismiss`.
struct SuggestionsDismissCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss",
        abstract: "Decide against it.", aliases: ["decline"])

    @OptionGroup var choice: SuggestionChoice

    func run() async throws { try await choice.decide(DismissSuggestion.self) }
}

/// `mirror-bot suggestions reopen`.
struct SuggestionsReopenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reopen",
        abstract: "Let a dismissed suggestion wait again.")

    @OptionGroup var choice: SuggestionChoice

    func run() async throws { try await choice.decide(ReopenSuggestion.self) }
}

/// `mirror-bot suggestions done`.
struct SuggestionsDoneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "done",
        abstract: "Note that you favorited it yourself, where the network does not let the bot.")

    @OptionGroup var choice: SuggestionChoice

    func run() async throws { try await choice.decide(NoteSuggestionDone.self) }
}

/// The suggestions that a command names.
struct SuggestionChoice: ParsableArguments {
    @Argument(help: "Ids of suggestions.") var ids: [String]
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func validate() throws {
        if output.seen != nil, ids.count != 1 {
            throw ValidationError("--seen goes with one suggestion")
        }
    }

    /// Decides about each suggestion; fails at the end if one was unknown.
    fileprivate func decide<Operation: SuggestionOperation>(_: Operation.Type) async throws {
        try await options.withRecord { mirror, record in
            let desk = Desk(mirror, zone: mirror.knownTimeZone(record))
            var decided: [SuggestionDecision] = []
            var unknown: [(id: String, refusal: ChangeRefusal)] = []
            for id in ids {
                do {
                    let decision = try await desk.perform(
                        PersonRequest(Operation(id: id), seen: output.digest))
                    decided.append(decision)
                    if !output.json { for line in decision.lines { print(line) } }
                } catch let refusal as ChangeRefusal where refusal.code == .unknown {
                    unknown.append((id, refusal))
                }
            }
            if output.json {
                try JSONOutput.print(
                    SuggestionDecisions(decided: decided, unknown: unknown.map(\.id)))
            }
            if let first = unknown.first { throw first.refusal }
        }
    }
}

/// The decisions, for programs.
private struct SuggestionDecisions: Encodable {
    let schema = "mirror-bot/suggestion-decisions/1"
    let decided: [SuggestionDecision]
    /// The given ids without a waiting suggestion.
    let unknown: [String]
}

extension SuggestionDecision {
    fileprivate var lines: [String] {
        let unlearned =
            notLearned.map { "; nothing was learned from that: \(Printable.line($0))" } ?? ""
        return ["\(isNew ? "" : "already ")\(decision.rawValue) \(id)\(unlearned)"]
            + (decision == .dismissed ? wayBackLines : [])
    }
}

extension SuggestionList.Suggestion {
    fileprivate func lines(now: Date, zone: TimeZone) -> [String] {
        let rate = rate.map { ", rate \(String(format: "%.1f", $0))" } ?? ""
        let time = due > now ? ", for \(LocalTime(due, in: zone))" : ""
        let price = cost.map { ", costs $\(String(format: "%.3f", $0)) at most" } ?? ""
        let age = Int(now.timeIntervalSince(created) / 60)
        // The time is in minutes below an hour, in hours below two days, and else in days.
        let waitingTime =
            switch age {
            case ..<60: "\(age) min"
            case ..<2_880: "\(age / 60) h"
            default: "\(age / 1_440) d"
            }
        let title = "\(id)  \(kind.rawValue)\(rate)\(time), waits for \(waitingTime)"
        var lines = [
            (title + "  " + Printable.line(address ?? "")).trimmingCharacters(in: .whitespaces)
        ]
        let name = person.map { Printable.line($0.name) }
        if let about {
            lines.append(
                "    \(name.map { "\($0): " } ?? "")“\(Printable.line(about, columns: 200))”")
        }
        let threadTexts = [text].compactMap(\.self) + (rest ?? [])
        for text in threadTexts {
            lines.append("    \(kind == .reply ? "→ " : "")“\(Printable.line(text, columns: 200))”")
        }
        let reasonParts = [about == nil ? name : nil, why.map { Printable.line($0) }]
        let reason = reasonParts.compactMap(\.self).joined(separator: ": ")
        if !reason.isEmpty { lines.append("    \(reason)") }
        if !features.isEmpty {
            lines.append("    \(Printable.line(features.joined(separator: ", ")))")
        }
        return lines + ["    decide before \(LocalTime(expires, in: zone))\(price)"]
    }
}
