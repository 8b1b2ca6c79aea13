import ArgumentParser
import Control
import Fleet
import Foundation
import Mirroring
import Networks
import Outbox
import Posts

/// `mirror-bot undo`.
struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Delete the bot's posts and replies, withdraw its favorites.",
        discussion: """
            Waiting actions are cancelled. The request is stored first and then carried out, as fast as the network \
            permits. A running worker or undo --resume continues an interrupted one, also during a pause. What was \
            taken back is never sent again, and its text counts as used.

            With --resume or everything, the posts of an interrupted doctor --probe are deleted too, and an \
            interrupted profile is finished.

            Only what this database knows can be taken back: not what the bot did before it had one, or as another \
            account.
            """)

    @Argument(
        help: ArgumentHelp(
            "Ids or slots of actions, as for explain; or one word: last, everything, or proposed (copies of posts that the human deleted or changed).",
            valueName: "id"))
    var ids: [String] = []

    @Option(
        help: ArgumentHelp(
            "Everything since then: 18:30, 2026-11-24, \"2026-11-24 18:30\", or 45m, 6h, 3d, 2w ago.",
            valueName: "time"))
    var since: String?

    @Flag(help: "Continue an interrupted undo.")
    var resume = false

    @Flag(help: "With proposed: keep them for good.")
    var keep = false

    @Flag(
        help:
            "Only posts, with last, everything, --since or --resume; may be combined with the other two."
    )
    var posts = false

    @Flag(help: "Only replies.")
    var replies = false

    @Flag(help: "Only favorites.")
    var favorites = false

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Option(
        help: ArgumentHelp(
            "The bot's handle: the second confirmation of everything.", valueName: "handle"))
    var bot: String?

    @Flag(help: "Print the receipt as JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws {
        let scopeCount = [!ids.isEmpty, since != nil, resume].count { isGiven in isGiven }
        guard scopeCount == 1 else {
            let reason = scopeCount == 0 ? "; \(SlotArgument.comment)" : ""
            throw ValidationError(
                "expected ids, last, everything, --since or --resume, and only one of these\(reason)"
            )
        }
        guard ids.count == 1 || !ids.contains(where: { Self.scopeWords.contains($0) }) else {
            throw ValidationError("last, everything and proposed stand alone")
        }
        if namesActions, posts || replies || favorites {
            throw ValidationError("--posts, --replies and --favorites do not go with ids")
        }
        if keep, ids != ["proposed"] { throw ValidationError("--keep is for undo proposed") }
        if bot != nil, ids != ["everything"] {
            throw ValidationError("--bot is for undo everything")
        }
    }

    private static let scopeWords = ["last", "everything", "proposed"]

    private var namesActions: Bool { !ids.isEmpty && !Self.scopeWords.contains(ids[0]) }

    private var kinds: [ActionKind] {
        let choices: [(isChosen: Bool, kind: ActionKind)] = [
            (posts, .post), (replies, .reply), (favorites, .favorite),
        ]
        let chosenKinds = choices.filter(\.isChosen).map(\.kind)
        return chosenKinds.isEmpty ? ActionKind.allCases : chosenKinds
    }

    func run() async throws {
        try await options.withRecord { mirror, record in
            let zone = mirror.knownTimeZone(record) ?? .gmt
            let undoing = Undoing(mirror: mirror)
            let desk = Desk(mirror, zone: zone)
            if keep {
                let change = try await desk.perform(KeepProposed())
                if json { return try JSONOutput.print(change) }
                return print("\(change.kept) are kept for good")
            }
            let scope = try scope(in: zone, now: mirror.clock.now)
            let actions = try await undoing.actions(scope, kinds: kinds, now: mirror.clock.now)
            var answers: [String: UndoAnswer] = [:]
            if scope != .requested, !actions.isEmpty {
                try confirm(actions, scope, record, zone)
                answers = try await desk.perform(AskUndo(ids: actions.map(\.id))).answers
            }
            let ids = Set(actions.map(\.id))
            // The effects of interrupted commands are part of "everything", and of the requested
            // undos.
            let hasEffects = [.requested, .everything].contains(scope)
            let effectCount = hasEffects ? try await mirror.effects.all().count : 0
            let hasNewUndos = answers.values.contains { $0 == .asked || $0 == .remembered }
            let hasRequestedUndos = scope == .requested && !ids.isEmpty
            let stoppingError =
                hasNewUndos || hasRequestedUndos || effectCount > 0
                ? try await errorOfCarryingOut(ids, withEffects: effectCount > 0, mirror) : nil
            var receipt = try await undoing.receipt(for: actions, answers: answers)
            if effectCount > 0 {
                receipt.add(effects: effectCount, left: try await mirror.effects.all())
            }
            if json {
                try JSONOutput.print(receipt)
            } else {
                UndoView.lines(receipt, scope).forEach { print($0) }
            }
            try await fail(receipt, stoppingError, mirror)
        }
    }

    private func scope(in zone: TimeZone, now: Date) throws -> Undoing.Scope {
        if resume { return .requested }
        if ids == ["last"] { return .last }
        if ids == ["everything"] { return .everything }
        if ids == ["proposed"] { return .proposed }
        guard let since else { return .named(ids) }
        let start = try PersonTime(zone: zone).since(since, now: now)
        guard start <= now else {
            throw ValidationError("--since is \"\(since)\", which is still to come")
        }
        return .since(start)
    }

    // MARK: Asking

    /// Shows the selection and asks for a confirmation; for everything the bot's handle must be
    /// typed too.
    private func confirm(
        _ actions: [Action], _ scope: Undoing.Scope, _ record: MirrorRecord, _ zone: TimeZone
    ) throws {
        if !yes {
            UndoView.announcement(actions, zone: zone).forEach { StandardError.write($0 + "\n") }
        }
        try Confirmation.require(
            "Take \(actions.count == 1 ? "it" : "them") back? [y/N] ", unless: yes)
        guard scope == .everything else { return }
        let handle = record.botHandleToType
        let typed: String
        if let bot {
            typed = bot
        } else {
            guard Console.current.input.isInteractive else {
                throw CommandError(
                    .usage,
                    "nothing was changed; give the bot's handle too: --bot @\(Printable.line(handle))"
                )
            }
            typed = try Question.line(
                "This takes back everything. Type the bot's handle, @\(Printable.line(handle)), to continue: "
            )
        }
        guard record.isBotHandle(typed) else {
            throw CommandError(
                .usage,
                "nothing was changed: \(Printable.line(typed, columns: 60)) is not the bot's handle, which is "
                    + "@\(Printable.line(handle))")
        }
    }

    // MARK: Carrying out

    /// The number of consecutive failed attempts after which the rest is left for later.
    private static let maximumFailures = 3
    /// The longest wait for the next attempt, in seconds: the longest period of the networks'
    /// limits, with a margin.
    private static let longestWait: TimeInterval = 3_700

    /// Carries out the undos that are possible now, and continues as the network permits.
    ///
    /// It may run beside a worker: each of the two leaves alone the undos that the other has begun.
    /// Long waits are left to a running worker.
    ///
    /// - Returns: The error that ended the undos early; nil if none did.
    private func errorOfCarryingOut(
        _ ids: Set<String>, withEffects: Bool, _ mirror: HumanMirror
    ) async throws -> (any Error)? {
        let progress = UndoProgress(total: ids.count, isQuiet: json)
        defer { progress.finish() }
        let recall: Recall
        do {
            let network = try await mirror.confirmedBotNetwork()
            let bot = withEffects ? try await mirror.table.record().bot : nil
            recall = Recall(mirror, network: network, lease: nil, bot: bot)
        } catch let error as NetworkError where !error.stopsActor {
            return error
        }
        var failures = 0
        var uncheckedIDs = ids
        var takesOver = true
        while true {
            let round = try await recall.carryOut(
                lookingAtOnceFor: uncheckedIDs, takingOver: takesOver)
            uncheckedIDs = []
            takesOver = false
            // An undo without a next attempt has ended.
            progress.add(round.tried.count { $0.undo?.next == nil })
            let hasSucceeded = round.obstacle == nil || round.takenBack + round.effects > 0
            failures = hasSucceeded ? 0 : failures + 1
            if let obstacle = round.obstacle,
                obstacle.stopsActor || failures >= Self.maximumFailures
            {
                return obstacle
            }
            guard let next = try await recall.next() else { return nil }
            guard next > mirror.clock.now else { continue }
            let wait = next.timeIntervalSince(mirror.clock.now)
            if wait > Self.longestWait { return round.obstacle ?? StillWaiting() }
            if wait > 5, try await mirror.isAtWork(now: mirror.clock.now) { return StillWaiting() }
            progress.wait(until: next)
            try await mirror.clock.sleep(until: next)
        }
    }

    /// Throws an error if undos remain on which nobody works.
    private func fail(_ receipt: UndoReceipt, _ stoppingError: (any Error)?, _ mirror: HumanMirror)
        async throws
    {
        if let error = stoppingError as? NetworkError, error.stopsActor { throw error }
        if receipt.refused > 0 {
            throw CommandError(
                .refused,
                "could not take back \(receipt.refused) of \(receipt.actions.count): the network refused; see "
                    + "mirror-bot explain ID")
        }
        if receipt.refusedEffects > 0 {
            throw CommandError(
                .refused,
                "could not take back what an interrupted command left at the network; see mirror-bot "
                    + "status")
        }
        guard !receipt.isComplete, try await !mirror.isAtWork(now: mirror.clock.now) else { return }
        let cause = (stoppingError as? NetworkError).map { "\($0)" } ?? "no worker is running"
        throw CommandError(
            .tryLater,
            "could not take back all of it yet: \(cause); mirror-bot undo --resume or a worker continues"
        )
    }
}

/// The error if the next undo is due later than the command waits, without a failure.
private struct StillWaiting: Error {}

/// Shows the progress of undos: on a terminal in a line that is overwritten, else in an occasional
/// line.
private final class UndoProgress {
    private let terminal = Terminal.error
    private let total: Int
    private let isQuiet: Bool
    private var done = 0
    /// The number that the last line showed.
    private var lastShown = 0

    init(total: Int, isQuiet: Bool) {
        self.total = total
        self.isQuiet = isQuiet
    }

    func add(_ count: Int) {
        done += count
        // A single undo needs no progress.
        guard !isQuiet, total > 1, count > 0 else { return }
        if terminal.isInteractive {
            StandardError.write("\r\(done) of \(total) ")
        } else if done >= max(100, 2 * lastShown) {
            lastShown = done
            StandardError.write("\(done) of \(total)\n")
        }
    }

    func wait(until time: Date) {
        guard !isQuiet, terminal.isInteractive else { return }
        StandardError.write(
            "\r\(done) of \(total), continues at \(LocalTime(time, in: .current))  ")
    }

    func finish() {
        if !isQuiet, total > 1, terminal.isInteractive { StandardError.write("\n") }
    }
}

/// The output of `mirror-bot undo`.
private enum UndoView {
    /// The number of actions that are listed before the question, and of failed ones after it.
    private static let mostListed = 5

    /// Returns the number of actions of each kind, and a line for each of the first ones.
    static func announcement(_ actions: [Action], zone: TimeZone) -> [String] {
        let countsByKind = ActionKind.allCases.compactMap { kind -> String? in
            let count = actions.count { $0.kind == kind }
            let name =
                if count == 1 {
                    kind.rawValue
                } else if kind == .reply {
                    "replies"
                } else {
                    kind.rawValue + "s"
                }
            return count == 0 ? nil : "\(count) \(name)"
        }
        let lines = actions.prefix(mostListed).map { action in
            let quotedText = action.text.map { "“\($0)”" }
            let about = quotedText ?? action.target?.post ?? ""
            return
                "  \(ActionID.short(action.id)) \(LocalTime(action.sending ?? action.due, in: zone)) "
                + Printable.line(
                    "\(action.kind.rawValue), \(action.state.rawValue): \(about)", columns: 76)
        }
        let furtherActions =
            actions.count > mostListed ? ["  and \(actions.count - mostListed) more"] : []
        return [countsByKind.joined(separator: ", ")] + lines + furtherActions
    }

    /// Returns the receipt in lines.
    static func lines(_ receipt: UndoReceipt, _ scope: Undoing.Scope) -> [String] {
        let counts: [(Int, String)] = [
            (receipt.takenBack, "taken back"),
            (receipt.stillShown, "deleted, but \(ExplainReport.TakingBack.stillShown)"),
            (receipt.alreadyGone, "gone already"),
            (receipt.withheld, "cancelled before they happened"),
            (receipt.already, "taken back before"),
            (receipt.waiting, "waiting to be taken back"),
            (receipt.unknown, "may have arrived; taken back if so"),
            (receipt.refused, "refused by the network"),
            (receipt.nothing, "did not happen, as far as known"),
            (receipt.outOfReach, "done by another account of the bot, so out of reach"),
            (receipt.effects, "interrupted probes or changes of the profile, over now"),
            (
                receipt.openEffects,
                "interrupted probes or changes of the profile, tried again later"
            ),
            (
                receipt.refusedEffects,
                "interrupted probes or changes of the profile, refused by the network"
            ),
        ]
        var lines = counts.filter { count, _ in count > 0 }
            .map { count, text in "\(count) \(text)" }
        if lines.isEmpty { lines = ["nothing to take back"] }
        let failed = receipt.actions.filter { $0.cause != nil }
        lines += failed.prefix(mostListed).map {
            "  \(ActionID.short($0.id)): " + Printable.line($0.cause ?? "")
        }
        if failed.count > mostListed { lines.append("  and \(failed.count - mostListed) more") }
        if scope == .everything {
            lines.append("what the bot did before it had this database is not included")
        }
        return lines
    }
}
