import Archive
import ArgumentParser
import Control
import Foundation
import Localization
import Mirroring
import Outbox
import Posts
import Settings

/// `mirror-bot plan`.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show and change the posts of a day.",
        discussion: """
            Today's plan is fixed once the worker has made it; another day's is a preview, which is fixed as it is when \
            you change it. A slot is named as 4 or '#4' (a shell takes #4 without quotes for a comment) for number 4 of \
            today, as 2026-11-24#2 or tomorrow#2, by its time as 14:05, as next for the one that comes next, or by its id.
            """,
        subcommands: [
            PlanShowCommand.self, PlanSkipCommand.self, PlanRestoreCommand.self,
            PlanMoveCommand.self,
            PlanPinCommand.self, PlanRerollCommand.self,
        ],
        defaultSubcommand: PlanShowCommand.self)
}

/// `mirror-bot plan show`.
struct PlanShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the posts of a day.")

    @OptionGroup var options: MirrorOptions

    @Option(help: ArgumentHelp("The day; today by default.", valueName: "YYYY-MM-DD"))
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
            guard
                let report = try await PlanReporter(mirror: mirror, zone: zone).report(
                    on: day, now: now)
            else {
                guard try await mirror.table.record().past != nil else {
                    throw ConfigurationError(
                        localized("the human's past"),
                        localized("has not been read; run mirror-bot train scheduler first"),
                        part: .posts)
                }
                throw CommandError(
                    .badData, localized("could not plan \(day): no archived post is older"))
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
struct PlanSkipCommand: AsyncParsableCommand, TakesSlot {
    static let configuration = CommandConfiguration(
        commandName: "skip", abstract: "Skip a slot; its text may come another day.")

    @Argument(help: SlotArgument.help) var slot: String
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(SkipSlot(slot: slot), output, needsZone: true) {
            $0.lines + $0.wayBackLines
        }
    }
}

/// `mirror-bot plan restore`.
struct PlanRestoreCommand: AsyncParsableCommand, TakesSlot {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Send a skipped slot after all.",
        discussion: "A slot that got the same text meanwhile gets another one.")

    @Argument(help: SlotArgument.help) var slot: String
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(RestoreSlot(slot: slot), output, needsZone: true) { $0.lines }
    }
}

/// `mirror-bot plan move`.
struct PlanMoveCommand: AsyncParsableCommand, TakesSlot {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move a slot to another time of its day.")

    @Argument(help: SlotArgument.help) var slot: String
    @Argument(help: "Such as 20:15, on the human's clock.") var time: String
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(MoveSlot(slot: slot, time: time), output, needsZone: true) {
            $0.lines + $0.wayBackLines
        }
    }
}

/// `mirror-bot plan pin`.
struct PlanPinCommand: AsyncParsableCommand, TakesSlot {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep a slot as it is, or give it a post of your choice.")

    @Argument(help: SlotArgument.help) var slot: String
    @Argument(help: "The address or id of an archived post.") var post: String?
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(PinSlot(slot: slot, post: post), output, needsZone: true) {
            $0.lines
        }
    }
}

/// `mirror-bot plan reroll`.
struct PlanRerollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reroll",
        abstract: "Draw a day again; pinned and moved slots stay.",
        discussion: "Replaced slots stay in the plan, as skipped.")

    @Argument(help: ArgumentHelp("The day; today by default.", valueName: "YYYY-MM-DD")) var day:
        String?
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
                drew \(change.day) again: \(change.taken) slots skipped, \(change.added) new ones; see mirror-bot plan \
                --date \(change.day)
                """
            ]
        }
    }
}

/// `mirror-bot never`.
struct NeverCommand: AsyncParsableCommand, TakesSlot {
    static let configuration = CommandConfiguration(
        commandName: "never",
        abstract: "Never send a text again, whichever post it came from.",
        discussion:
            "Planned slots with that text get another one. Other posts with the same text are excluded too."
    )

    @Argument(
        help: "The address or id of an archived post, or a slot that has its text, as 4 or '#4'.")
    var post: String
    @Flag(help: "Revert that: the text may be sent again.") var undo = false
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        guard undo else {
            return try await options.change(NeverSend(post: post), output, needsZone: true) {
                change in
                change.lines(change.isNew ? "excluded" : "excluded already") + change.wayBackLines
            }
        }
        try await options.change(SendAgain(post: post), output, needsZone: true) { change in
            change.lines(change.isNew ? "may be sent again" : "nothing to do, it was not excluded")
        }
    }
}

/// `mirror-bot post`.
struct PostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "post",
        abstract: "Send one of the human's old posts now.",
        discussion:
            "A running worker sends it within a minute. Without a worker it expires after an hour.")

    @Argument(help: "The address or id of an archived post.") var post: String
    @Flag(help: "Required, so that nothing is sent by mistake.") var now = false
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func validate() throws {
        guard now else {
            throw ValidationError(
                "give --now to send it, or give it to a slot with mirror-bot plan pin")
        }
    }

    func run() async throws {
        try await options.change(PublishPost(post: post), output, needsZone: true) {
            $0.lines + $0.wayBackLines
        }
    }
}

// MARK: - Output

extension SlotsChange {
    fileprivate var lines: [String] { slots.map(\.line) }
}

extension NeverChange {
    fileprivate func lines(_ outcome: String) -> [String] {
        ["\(outcome): \(Printable.line(text, columns: 60))"] + slots.map(\.line) + left.map(\.line)
    }
}

extension ChangedSlot {
    /// The change in one line, for the person.
    var line: String {
        let isPinnedPlan = isPinned && state == "planned"
        let beginning = "\(slot) at \(time) is \(isPinnedPlan ? "pinned" : state): "
        if isPinnedPlan, text == nil {
            return beginning + "no text; mirror-bot plan pin \(slot) POST gives it one"
        }
        return beginning + Printable.line(text ?? "-", columns: 50)
    }
}
