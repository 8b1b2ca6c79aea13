import Archive
import ArgumentParser
import Control
import Foundation
import Mirroring
import Outbox
import Posts
import Settings

/// `mirror-bot plan`.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show when the bot posts on a day, and what; and change it.",
        discussion: """
            Today's plan is fixed once the worker has made it; another day's is a preview, which is fixed as it is when \
            you change it. A slot is named as #2 of today, as 2026-11-24#2, or by its id.
            """,
        subcommands: [
            PlanShowCommand.self, PlanSkipCommand.self, PlanRestoreCommand.self, PlanMoveCommand.self,
            PlanPinCommand.self, PlanRerollCommand.self,
        ],
        defaultSubcommand: PlanShowCommand.self)
}

/// `mirror-bot plan show`.
struct PlanShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show when the bot posts on a day, and what.")

    @OptionGroup var options: MirrorOptions

    @Option(help: ArgumentHelp("The local day; today if left out.", valueName: "YYYY-MM-DD"))
    var date: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let date, LocalDay(date) == nil {
            throw ValidationError("--date is \"\(date)\"; expected a date such as 2026-11-20")
        }
    }

    func run() async throws {
        try await options.withZone { mirror, zone in
            let now = mirror.clock.now
            let day = date.flatMap { LocalDay($0) } ?? LocalTime(now, in: zone).day
            guard let report = try await PlanReporter(mirror: mirror, zone: zone).report(on: day, now: now) else {
                guard try await mirror.table.record().past != nil else {
                    throw ConfigurationError(
                        "the human's past", "has not been read; run mirror-bot train scheduler first", part: .posts)
                }
                throw CommandError(.badData, "could not plan \(day): no archived post is older")
            }
            if json {
                try JSONOutput.print(report)
            } else {
                for line in PlanView.lines(report, terminal: .output) { print(line) }
            }
        }
    }
}

/// `mirror-bot plan skip`.
struct PlanSkipCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "skip", abstract: "Leave a slot out; its text may come another day.")

    @Argument(help: "As #2 of today, 2026-11-24#2, an id, or next for the one that comes next.") var slot: String
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(SkipSlot(slot: slot), output, needsZone: true) { $0.lines + $0.wayBackLines }
    }
}

/// `mirror-bot plan restore`.
struct PlanRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Let a slot be sent after all that was left out.",
        discussion: "A slot that would say the same gets another text.")

    @Argument(help: "As #2 of today, 2026-11-24#2, or an id.") var slot: String
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(RestoreSlot(slot: slot), output, needsZone: true) { $0.lines }
    }
}

/// `mirror-bot plan move`.
struct PlanMoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Give a slot another time of its day.")

    @Argument(help: "As #2 of today, 2026-11-24#2, an id, or next for the one that comes next.") var slot: String
    @Argument(help: "As 20:15, on the human's clock.") var time: String
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(MoveSlot(slot: slot, time: time), output, needsZone: true) {
            $0.lines + $0.wayBackLines
        }
    }
}

/// `mirror-bot plan pin`.
struct PlanPinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep a slot as it is whatever is drawn anew, or give it a post of your choice.")

    @Argument(help: "As #2 of today, 2026-11-24#2, an id, or next for the one that comes next.") var slot: String
    @Argument(help: "The address or id of an archived post.") var post: String?
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(PinSlot(slot: slot, post: post), output, needsZone: true) { $0.lines }
    }
}

/// `mirror-bot plan reroll`.
struct PlanRerollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reroll",
        abstract: "Draw a day anew; what is pinned stays.",
        discussion: "What was moved counts as pinned. What is left out stays in the plan, as skipped.")

    @Argument(help: ArgumentHelp("The local day; today if left out.", valueName: "YYYY-MM-DD")) var day: String?
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func validate() throws {
        if let day, LocalDay(day) == nil {
            throw ValidationError("the day is \"\(day)\"; expected a date such as 2026-11-20")
        }
    }

    func run() async throws {
        let operation = RerollDay(day: day.flatMap { LocalDay($0) }, seed: UUID().uuidString)
        try await options.change(operation, output, needsZone: true) { change in
            [
                """
                drew \(change.day) anew: \(change.taken) slots left out, \(change.added) new ones; see mirror-bot plan \
                --date \(change.day)
                """
            ]
        }
    }
}

/// `mirror-bot never`.
struct NeverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "never",
        abstract: "Never send a text again, whichever post it came from.",
        discussion: "Planned posts with that text get another one. Other posts that read the same are left out too.")

    @Argument(help: "The address or id of an archived post, or a slot that has its text.") var post: String
    @Flag(help: "Take that back: the text may be sent again.") var undo = false
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        guard undo else {
            return try await options.change(NeverSend(post: post), output, needsZone: true) { change in
                change.lines(change.isNew ? "never again" : "that was so already") + change.wayBackLines
            }
        }
        try await options.change(SendAgain(post: post), output, needsZone: true) { change in
            change.lines(change.isNew ? "may be sent again" : "nothing to do, that may be sent")
        }
    }
}

/// `mirror-bot post`.
struct PostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "post",
        abstract: "Send one of the human's old posts now.",
        discussion: "A running worker sends it within a minute; without one it waits an hour.")

    @Argument(help: "The address or id of an archived post.") var post: String
    @Flag(help: "At once; needed, so that nothing is sent by mistake.") var now = false
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard now else { throw ValidationError("say --now to send it; mirror-bot plan pin gives it to a slot") }
    }

    func run() async throws {
        try await options.change(PublishPost(post: post), output, needsZone: true) { $0.lines + $0.wayBackLines }
    }
}

// MARK: - What they share

extension SlotsChange {
    fileprivate var lines: [String] { slots.map(\.line) }
}

extension NeverChange {
    fileprivate func lines(_ what: String) -> [String] {
        ["\(what): \(Printable.line(text, columns: 60))"] + slots.map(\.line) + left.map(\.line)
    }
}

extension ChangedSlot {
    /// One line for the person.
    var line: String {
        let state = isPinned && state == "planned" ? "pinned" : state
        let waits = isPinned && self.state == "planned" && text == nil
        let shown = waits ? "no text; mirror-bot plan pin \(slot) POST gives it one" : text ?? "-"
        return "\(slot) at \(time) is \(state): \(waits ? shown : Printable.line(shown, columns: 50))"
    }
}
