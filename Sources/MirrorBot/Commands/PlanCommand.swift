import Archive
import ArgumentParser
import Foundation
import Mirroring
import Control
import Outbox
import Posts

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
            PlanShowCommand.self, PlanSkipCommand.self, PlanMoveCommand.self, PlanPinCommand.self,
            PlanRerollCommand.self,
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
                let isKnown = try await mirror.table.record().past != nil
                let cause =
                    isKnown
                    ? "no archived post is older"
                    : "the human's past has not been read; run mirror-bot train scheduler first"
                throw CommandError(.badData, "could not plan \(day): \(cause)")
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
        try await options.withPlanChanges { changes, now in [try await changes.skip(slot, now: now)] }.show(output)
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
        try await options.withPlanChanges { changes, now in [try await changes.move(slot, to: time, now: now)] }
            .show(output)
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
        try await options.withPlanChanges { changes, now in [try await changes.pin(slot, to: post, now: now)] }
            .show(output)
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
        let result = try await options.withPlanning { mirror, zone -> (LocalDay, Int, Int) in
            let now = mirror.clock.now
            let day = self.day.flatMap { LocalDay($0) } ?? LocalTime(now, in: zone).day
            let (taken, added) = try await PlanChanges(mirror: mirror, zone: zone).reroll(
                day, seed: UUID().uuidString, now: now)
            return (day, taken, added)
        }
        guard !output.json else {
            return try JSONOutput.print(RerollReport(day: result.0, taken: result.1, added: result.2))
        }
        print(
            "drew \(result.0) anew: \(result.1) slots left out, \(result.2) new ones; see mirror-bot plan --date \(result.0)"
        )
    }
}

/// `mirror-bot never`.
struct NeverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "never",
        abstract: "Never send a text again, whichever post it came from.",
        discussion: "Planned posts with that text get another one. Other posts that read the same are left out too.")

    @Argument(help: "The address or id of an archived post, or a slot that has its text.") var post: String
    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        let result = try await options.withPlanning { mirror, zone in
            (try await PlanChanges(mirror: mirror, zone: zone).never(post, now: mirror.clock.now), zone)
        }
        let (found, isNew, changed, leaving) = result.0
        let left = leaving.map(LeftAction.init)
        let slots = changed.map { ChangedSlot($0, in: result.1) }
        guard !output.json else {
            return try JSONOutput.print(
                NeverReport(post: found.id.value, text: found.text, isNew: isNew, slots: slots, left: left))
        }
        print("\(isNew ? "never again" : "that was so already"): \(Printable.line(found.text, columns: 60))")
        for slot in slots { print(slot.line) }
        for action in left { print(action.line) }
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
        try await options.withPlanChanges { changes, now in [try await changes.publish(post, now: now)] }.show(output)
    }
}

// MARK: - What they share

/// How a change is told of.
struct ChangeOutput: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false
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

private struct ChangeReport: Encodable {
    let schema = "mirror-bot/change/1"
    let slots: [ChangedSlot]
}

private struct RerollReport: Encodable {
    let schema = "mirror-bot/reroll/1"
    let day: LocalDay
    let taken: Int
    let added: Int
}

private struct NeverReport: Encodable {
    let schema = "mirror-bot/never/1"
    let post: String
    let text: String
    let isNew: Bool
    let slots: [ChangedSlot]
    /// The actions with that text whose requests were under way.
    let left: [LeftAction]
}

extension [ChangedSlot] {
    fileprivate func show(_ output: ChangeOutput) throws {
        if output.json { return try JSONOutput.print(ChangeReport(slots: self)) }
        for slot in self { print(slot.line) }
    }
}

extension MirrorOptions {
    /// Opens a mirror whose zone is known, and gives what a person cannot do its exit code.
    func withPlanning<Value>(
        _ body: (HumanMirror, TimeZone) async throws -> Value
    ) async throws -> Value {
        try await withZone(making: .database) { mirror, zone in
            do {
                return try await body(mirror, zone)
            } catch let error as PlanChanges.Obstacle {
                throw CommandError(error.isMisuse ? .usage : .badData, Printable.line(error.description))
            }
        }
    }

    fileprivate func withPlanChanges(
        _ body: (PlanChanges, Date) async throws -> [Action]
    ) async throws -> [ChangedSlot] {
        try await withPlanning { mirror, zone in
            let actions = try await body(PlanChanges(mirror: mirror, zone: zone), mirror.clock.now)
            return actions.map { ChangedSlot($0, in: zone) }
        }
    }
}
