import Foundation
import Mirroring
import Outbox
import Posts

/// What a person sees of a demo.
struct DemoView {
    private static let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let featuresShown = 3

    let result: DemoResult
    let terminal: Terminal

    var lines: [String] { learned + [""] + timeline + [""] + hours + [""] + figures }

    private var learned: [String] {
        let zone = result.past.zone
        return [
            terminal.bold("what it learned"),
            "  \(result.past.posts) posts, \(DateText.day(result.past.oldest, in: zone)) to "
                + "\(DateText.day(result.past.newest, in: zone)), clock of \(zone.name)",
            "  \(result.favoritesLearned) favorites and \(result.normalsLearned) other posts",
        ]
    }

    // MARK: What happened

    private var timeline: [String] {
        var lines = [terminal.bold("what it did")]
        var day: LocalDay?
        for action in result.actions {
            let time = LocalTime(action.due, in: result.past.zone)
            if time.day != day {
                lines.append("  " + terminal.bold("\(Self.names[time.day.weekday - 1]) \(time.day)"))
                day = time.day
            }
            lines.append(line(action, at: time.minute))
        }
        return lines
    }

    private func line(_ action: Action, at minute: MinuteOfDay) -> String {
        let head = "    \(minute) "
        let columns = max(30, terminal.columns - 24)
        switch (action.kind, action.state) {
        case (.post, .done):
            return head + terminal.blue("● post      ") + Printable.line(action.text ?? "", columns: columns)
        case (.reply, .done):
            return head + terminal.green("↩ reply     ") + Printable.line(action.text ?? "", columns: columns)
        case (.favorite, .done):
            return head + terminal.yellow("★ favorite  ") + Printable.line(why(action), columns: columns)
        case (.favorite, _) where action.isSuggestion:
            return head + terminal.yellow("☆ suggests  ") + Printable.line(why(action), columns: columns)
        default:
            let who = action.targetAuthor.map { "\(name(of: $0)): " } ?? ""
            let reason = Explanation(json: action.explanation)?.summary ?? action.reason ?? ""
            return head
                + terminal.dim(
                    "· \(Printable.padded(name(of: action), to: 10))"
                        + Printable.line(who + reason, columns: columns))
        }
    }

    private func name(of action: Action) -> String {
        switch action.state {
        case .skipped where action.kind == .reply: "silent"
        default: action.state.rawValue
        }
    }

    /// What people call somebody; the identity where that is not known.
    private func name(of author: AccountID) -> String { result.names[author] ?? author.value }

    /// Whose post was favorited, and the features that spoke for it most.
    private func why(_ action: Action) -> String {
        let author = action.targetAuthor.map(name) ?? ""
        guard let explanation = Explanation(json: action.explanation), let features = explanation.features else {
            return author
        }
        let shown = features.filter { $0.logOdds > 0 }.prefix(Self.featuresShown).map { feature in
            "\(feature.name) +\(feature.logOdds.formatted(.number.precision(.fractionLength(1))))"
        }
        let rate = explanation.favoriteRate.map { $0.formatted(.number.precision(.fractionLength(1))) } ?? "?"
        return "\(author), rate \(rate): \(shown.joined(separator: ", "))"
    }

    // MARK: Figures

    private var hours: [String] {
        [terminal.bold("when it posts, beside the human")]
            + HourPlot(human: result.humanHours, bot: result.botHours, terminal: terminal).text
            .split(separator: "\n", omittingEmptySubsequences: false).map { "  " + $0 }
    }

    private var figures: [String] {
        let summary = result.summary
        return [
            terminal.bold("what the network received"),
            row("posts", "\(summary.posted) of \(summary.planned) planned, \(summary.skipped) skipped"),
            row("replies", "\(summary.replies) of \(summary.expectedReplies) expected"),
            summary.suggested > 0
                ? row("suggested", "\(summary.suggested) favorites, for the human to give")
                : row("favorites", favorites(summary)),
            row("unsolicited", "\(summary.unsolicited)"),
            row("sent twice", "\(summary.duplicateSends)"),
            row("errors", "\(summary.errors)"),
        ] + result.complaints.map { "  ! " + Printable.line($0) }
    }

    private func favorites(_ summary: DemoSummary) -> String {
        guard let precision = summary.favoritePrecision, let base = summary.baseRate else {
            return "\(summary.favorites)"
        }
        return "\(summary.favorites), \(percent(precision)) of them what the human would favorite "
            + "(by chance: \(percent(base)))"
    }

    private func percent(_ share: Double) -> String { share.formatted(.percent.precision(.fractionLength(0))) }

    private func row(_ name: String, _ value: String) -> String { "  " + Printable.padded(name, to: 13) + value }
}
