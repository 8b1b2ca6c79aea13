import Control
import Foundation
import Mirroring
import Outbox
import Posts
import Settings

/// The answer of `mirror-bot status`.
enum StatusView {
    static func lines(_ report: StatusReport, terminal: Terminal) -> [String] {
        let zone = report.timeZone.flatMap(TimeZone.init(identifier:)) ?? .gmt
        var lines = setup(report, terminal: terminal)
        lines.append(
            terminal.bold("mirror \(report.mirror)")
                + "  \(Printable.line(report.place?.database ?? report.storage))")
        if let place = report.place { lines += self.place(place, terminal) }
        lines.append(row("accounts", "\(account(.human, report)) → \(account(.bot, report))"))
        if let consent = report.consent, let consentText = consent.wording {
            lines += rows(
                "consent", "\(consentText), stated at \(LocalTime(consent.since, in: zone))",
                terminal)
        }
        if let standing = report.standing {
            let goesOn =
                standing.goesOn.map { ", and the mirror goes on since \(LocalTime($0, in: zone))" }
                ?? ""
            let standingText =
                "\(standing.words), seen at \(LocalTime(standing.since, in: zone))\(goesOn)"
            lines += rows("human", Printable.line(standingText), terminal)
        }
        lines.append(
            row(
                "time zone",
                ([report.timeZone ?? "not set"] + otherZones(report)).joined(separator: "; ")))
        lines.append(row("archive", archive(report, zone)))
        if let texts = report.archive.texts {
            lines += self.texts(texts, today: report.today, terminal)
        }
        lines += rows("classifier", classifier(report), terminal)
        lines.append(row("worker", worker(report, zone)))
        if let spending = report.spending { lines += rows("X", cost(spending), terminal) }
        if let training = report.training {
            lines += rows("training", words(for: training), terminal)
        }
        if let following = report.following {
            lines += rows("deletions", words(for: following), terminal)
        }
        if report.suggestions > 0 {
            lines.append(
                row("suggestions", "\(report.suggestions) wait for you: mirror-bot suggestions"))
        }
        if let undo = report.undo { lines.append(row("undo", words(for: undo))) }
        if let examination = report.examination {
            lines.append(row("doctor", words(for: examination, zone)))
        }
        lines.append(
            row(
                "next post",
                report.nextSlot.map { LocalTime($0, in: zone).description } ?? "none planned"))
        if !report.feeds.isEmpty {
            lines += ["", terminal.bold("what it hears")]
            lines += report.feeds.map { feed($0, zone, terminal) }
        }
        if !report.idle.isEmpty {
            lines += ["", terminal.bold("why something does not happen")]
            lines += report.idle.map { "  " + terminal.yellow("!") + " " + Printable.lines($0) }
        }
        if let today = report.today, !report.slots.isEmpty {
            lines += ["", terminal.bold("today, \(today)")]
            lines += PlanView.slots(report.slots, terminal: terminal).map { "  " + $0 }
        }
        if !report.recent.isEmpty {
            lines += ["", terminal.bold("last actions")]
            lines += report.recent.flatMap {
                self.lines(of: $0, zone, terminal) + reversion(of: $0, terminal)
            }
        }
        return lines
    }

    /// The state of the mirror in one line, and the checklist while it is being set up.
    static func setup(_ report: StatusReport, terminal: Terminal) -> [String] {
        let headline = report.verdict.map { verdict($0, terminal) + [""] } ?? []
        guard let steps = report.setup else { return headline }
        let commandLine = report.setupCommand.map {
            // The command is on one line, so that it can be copied.
            ["  → " + terminal.bold(Printable.line($0)) + " leads through these steps:"]
        }
        return headline + [terminal.bold("before it works")] + (commandLine ?? [])
            + NextStep.lines(steps, terminal: terminal) + [""]
    }

    /// The place of the settings, and another folder that shares the mirror.
    static func place(_ place: StatusReport.Place, _ terminal: Terminal) -> [String] {
        let settings =
            place.settings.isEmpty
            ? "no .env in this folder" + (place.home.map { " or in \($0)" } ?? "")
            : place.settings.joined(separator: ", then ")
        let sharedRows =
            place.sharedWith.isEmpty
            ? []
            : rows(
                "shared",
                "used from \(place.sharedWith.joined(separator: ", ")) too; \(Setting.mirror.name)=NAME in one .env gives it a mirror of its own",
                terminal)
        return rows("settings", settings, terminal) + sharedRows
    }

    /// The first two of the other zones in which the human lived, and the number of further ones.
    private static func otherZones(_ report: StatusReport) -> [String] {
        guard let zones = report.zones else { return [] }
        let firstZones = zones.prefix(2).map { "\(Printable.line($0.timeZone)) \($0.days)" }
        return firstZones + (zones.count > 2 ? ["\(zones.count - 2) more: mirror-bot zones"] : [])
    }

    private static func verdict(_ verdict: StatusReport.Verdict, _ terminal: Terminal) -> [String] {
        let stateSign = stateSign(verdict.state, terminal)
        let verdictText = Printable.line(verdict.text)
        // In piped output the verdict is not wrapped, because programs read the first line.
        let lines =
            terminal.hasWidth
            ? Printable.wrapped(verdictText, columns: terminal.columns - 2) : [verdictText]
        return lines.enumerated().map { index, line in
            (index == 0 ? stateSign : " ") + " " + line
        }
    }

    /// One sign for a state.
    static func stateSign(_ state: Health.Verdict.State, _ terminal: Terminal) -> String {
        switch state {
        case .healthy: terminal.green("●")
        case .paused, .hindered: terminal.yellow("◐")
        case .unset: "○"
        case .failing: terminal.bold("✖")
        }
    }

    private static func feed(_ feed: FeedHealth, _ zone: TimeZone, _ terminal: Terminal) -> String {
        var parts = [feed.lastSuccess.map { "read \(LocalTime($0, in: zone))" } ?? "not read yet"]
        if feed.unreadable > 0 { parts.append("\(feed.unreadable) unreadable") }
        if feed.waiting > 0 { parts.append("\(feed.waiting) to be tried again") }
        if feed.givenUp > 0 { parts.append("\(feed.givenUp) given up") }
        // The error and its time are not repeated, because they are among the reasons below the
        // feeds.
        if feed.error != nil { parts.append(terminal.yellow("cannot be read")) }
        return "  " + Printable.padded(Printable.line(feed.feed), to: 16)
            + parts.joined(separator: ", ")
    }

    private static func worker(_ report: StatusReport, _ zone: TimeZone) -> String {
        guard let worker = report.worker else {
            return report.isRunning ? "running" : "not running"
        }
        switch worker.state {
        case .running: return "running"
        case .passes:
            return "called by a schedule"
                + (worker.lastPass.map { ", last at \(LocalTime($0, in: zone))" } ?? "")
        case .late, .absent:
            return "not running"
                + (worker.beat.map { ", last heard of at \(LocalTime($0, in: zone))" } ?? "")
        }
    }

    /// The command that reverts an action, on a separate line; empty without one.
    private static func reversion(of action: ReportedAction, _ terminal: Terminal) -> [String] {
        guard let revert = action.revert else { return [] }
        return [
            "    "
                + terminal.dim(
                    Printable.line("reverted by: \(revert)", columns: terminal.columns - 4))
        ]
    }

    /// An action on one line, or on several if the terminal is narrow.
    static func lines(
        of action: ReportedAction, _ zone: TimeZone, _ terminal: Terminal
    ) -> [String] {
        let stateText =
            action.reason.map { "\(action.state.rawValue), \($0)" } ?? action.state.rawValue
        let start = "  \(ActionID.short(action.id)) \(LocalTime(action.at, in: zone)) "
        let about = [
            action.person?.name,
            text(of: action) ?? words(of: action) ?? (action.person == nil ? action.why : nil),
        ].compactMap(\.self).joined(separator: ": ")
        guard terminal.columns < narrow else {
            let lineStart =
                start + Printable.padded(action.kind.rawValue, to: 9)
                + Printable.line(stateText, columns: 24) + "  "
            let remainingColumns = max(16, terminal.columns - Printable.width(lineStart))
            return [lineStart + terminal.dim(Printable.line(about, columns: remainingColumns))]
        }
        let firstLine = start + action.kind.rawValue
        let lineStart = "    " + Printable.line(stateText, columns: terminal.columns - 4)
        let remainingColumns = terminal.columns - Printable.width(lineStart) - 2
        let subject = Printable.line(
            about, columns: remainingColumns >= 12 ? remainingColumns : terminal.columns - 4)
        if subject.isEmpty { return [firstLine, lineStart] }
        return remainingColumns >= 12
            ? [firstLine, lineStart + "  " + terminal.dim(subject)]
            : [firstLine, lineStart, "    " + terminal.dim(subject)]
    }

    /// The width of the names before the values.
    private static let indent = 12
    /// Below this width an action takes more than one line.
    private static let narrow = 80

    /// The strongest words for a favorite, without the name of its author.
    private static func words(of action: ReportedAction) -> String? {
        let words = action.words?.filter { !$0.hasPrefix("@") } ?? []
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// Returns an action's text without the name of the person at its start, who is named before
    /// it.
    private static func text(of action: ReportedAction) -> String? {
        guard let text = action.text, let name = action.person?.name,
            text.lowercased().hasPrefix(name.lowercased())
        else { return action.text.map { PlanView.pictures(action.pictures) + $0 } }
        return String(text.dropFirst(name.count).drop(while: \.isWhitespace))
    }

    private static func archive(_ report: StatusReport, _ zone: TimeZone) -> String {
        var text = "\(report.archive.posts) of at most \(report.archive.limit) posts"
        if let oldest = report.archive.oldest, let newest = report.archive.newest {
            text += ", \(LocalTime(oldest, in: zone).day) to \(LocalTime(newest, in: zone).day)"
        }
        if let pictures = report.archive.pictures {
            text += ", \(pictures.posts) with pictures that may be sent"
        }
        return text
    }

    private static func texts(
        _ texts: StatusReport.TextState, today: LocalDay?, _ terminal: Terminal
    ) -> [String] {
        let plainNote = texts.plain.map { ", \($0) of them plain ones that come first" } ?? ""
        var parts = [("\(texts.fit) may be posted by themselves\(plainNote)", texts.fit)]
        parts.append(("\(texts.sometimes) more on some days or at some hours", texts.sometimes))
        parts.append(("\(texts.unfit) may not: \(texts.commonest)", texts.unfit))
        parts.append(("\(texts.unjudged) are not judged yet", texts.unjudged))
        let nonzeroParts = parts.filter { _, count in count > 0 }.map { text, _ in text }
        guard !nonzeroParts.isEmpty else { return [] }
        let forecast = texts.forecast.map { "; \($0.sentence(today: today))" } ?? ""
        return rows("texts", nonzeroParts.joined(separator: ", ") + forecast, terminal)
    }

    /// A row that may wrap.
    private static func rows(_ name: String, _ text: String, _ terminal: Terminal) -> [String] {
        Printable.rows(name, text, indent: indent, columns: max(indent + 20, terminal.columns))
    }

    private static func classifier(_ report: StatusReport) -> String {
        guard let state = report.classifier else { return "cannot be reached" }
        let wordlessNote =
            state.wordless.flatMap { $0 > 0 ? ", \($0) of them without a word" : nil } ?? ""
        let weights = state.weights.map { "; \($0.text)" } ?? ""
        return
            "\(state.favorites) favorites and \(state.normals) other posts learned\(wordlessNote)\(weights)"
    }

    private static func account(_ role: AccountRole, _ report: StatusReport) -> String {
        guard let account = report.accounts.first(where: { $0.role == role }),
            let handle = account.handle
        else {
            return "unknown"
        }
        return "@\(Printable.line(handle)) (\(account.network.displayName))"
    }

    private static func cost(_ spending: StatusReport.SpendingState) -> String {
        // The highest amount comes first; equal ones are in the order of their purposes.
        let costs = spending.byPurpose.filter { $0.value > 0 }.sorted { one, other in
            one.value != other.value ? one.value > other.value : one.key < other.key
        }
        let parts = costs.map { purpose, amount in
            "\(purpose.replacing("_", with: "-")) \(dollars(amount))"
        }
        let isWithin = spending.spent <= spending.budget
        let spent =
            isWithin
            ? "\(dollars(spending.spent)) of \(dollars(spending.budget)) spent in \(spending.month)"
            : "\(dollars(spending.spent)) spent in \(spending.month), more than the budget, now \(dollars(spending.budget))"
        return parts.isEmpty ? spent : "\(spent): \(parts.joined(separator: ", "))"
    }

    private static func dollars(_ amount: Double) -> String { String(format: "$%.2f", amount) }

    private static func words(for examination: LastExamination, _ zone: TimeZone) -> String {
        let isFine = examination.failed + examination.warned == 0
        let examinationText =
            isFine
            ? "nothing wrong" : "\(examination.failed) failed, \(examination.warned) to look at"
        return
            "\(examinationText), seen \(LocalTime(examination.at, in: zone)): mirror-bot doctor --last"
    }

    private static func words(for following: StatusReport.FollowingState) -> String {
        let originals =
            "\(following.originals) \(following.originals == 1 ? "original" : "originals")"
        guard following.missing > 0 else { return "\(originals) looked at each day" }
        let reach =
            following.days.map { days in
                "a deletion of one of \(originals) is followed within \(days) \(days == 1 ? "day" : "days")"
            } ?? "no month has money to look at \(originals)"
        let missingDollars = dollars((following.missing * 100).rounded(.up) / 100)
        return
            "\(reach); \(missingDollars) a month are missing for one day: raise \(Setting.xBudget.name)"
    }

    private static func words(for training: StatusReport.TrainingState) -> String {
        let parts = [
            (training.postsLeft, "older posts"), (training.favoritesLeft, "favorites"),
            (training.comparedLeft, "posts to compare them with"),
        ]
        let remaining = parts.filter { count, _ in count > 0 }
            .map { count, name in "\(count) \(name)" }.joined(separator: ", ")
        guard let months = training.monthsLeft else {
            return
                "at most \(remaining) to read, for which no month has money: raise \(Setting.xBudget.name), or train from an "
                + "archive"
        }
        return
            "at most \(remaining) to read; run goes on by itself from \(training.goesOn.rfc3339.prefix(10)) on, about "
            + "\(months) \(months == 1 ? "month" : "months")"
    }

    private static func words(for undo: StatusReport.UndoState) -> String {
        let parts = [
            (undo.waiting, "to be taken back"),
            (undo.unknown, "to be taken back if it turns out to have arrived"),
            (undo.refused, "refused by the network"),
            (undo.proposed, "whose original is gone or changed: mirror-bot undo proposed"),
        ]
        return parts.filter { count, _ in count > 0 }.map { count, text in "\(count) \(text)" }
            .joined(separator: ", ")
    }

    private static func row(_ name: String, _ value: String) -> String {
        Printable.padded(name, to: indent) + value
    }
}
