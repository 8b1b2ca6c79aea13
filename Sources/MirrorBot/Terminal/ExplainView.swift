import Control
import Foundation
import Mirroring
import Outbox
import Posts

/// The answer of `mirror-bot explain`.
struct ExplainView {
    private static let margin = 14

    let report: ExplainReport
    let terminal: Terminal

    private var zone: TimeZone { report.timeZone.flatMap(TimeZone.init(identifier:)) ?? .gmt }

    /// The whole answer.
    var lines: [String] {
        [headline] + facts.flatMap { row($0, $1) } + rules + obstacles
            + judgement(report.judgement, "how it was judged at the decision")
            + judgement(report.judgementNow, "how it is judged by what is known now") + problem
    }

    private var headline: String {
        guard let id = report.id else { return terminal.bold(verdict) }
        return terminal.bold("\(report.kind.rawValue) \(Printable.line(id))")
            + "  \(Printable.line(report.state ?? ""))"
    }

    private var verdict: String {
        switch report.verdict {
        case .favorite: "the bot would favorite this post"
        case .suggestion: "the bot would suggest this post to you"
        case .nothing, nil: "the bot would leave this post alone"
        }
    }

    // MARK: Facts

    private var facts: [(String, String?)] {
        let isPost = report.kind == .post
        return [
            ("slot", isPost ? report.subject : nil),
            (report.kind == .reply ? "to" : "author", report.person.map(person)),
            (report.kind == .reply ? "answers" : "post", report.target.map { $0.link ?? $0.post }),
            ("they said", report.kind == .reply ? report.target?.text : nil),
            (
                isPost || report.kind == .reply ? "text" : "it says",
                report.text ?? (report.kind == .reply ? nil : report.target?.text)
            ),
            ("below it", report.note), ("then", report.rest?.joined(separator: " / ")),
            ("pictures", report.pictures.map(pictures)),
            ("time", times), ("cost", report.cost.map { "$\(String(format: "%.3f", $0)) at most" }),
            ("published", report.published),
            ("original", original),
            ("", report.original?.link), ("why", report.why),
            ("the day", report.pattern.map { "planned " + $0.inWords }),
            ("undo", report.undo.map(undo)),
        ]
    }

    /// Returns the time, reason and outcome of an undo request.
    private func undo(_ undo: ExplainReport.TakingBack) -> String {
        var parts = ["asked \(minute(undo.asked)): \(undo.reason.text)"]
        if let done = undo.done {
            parts.append((undo.wasGone ? "gone already " : "taken back ") + minute(done))
        }
        if undo.isStillShown == true { parts.append(ExplainReport.TakingBack.stillShown) }
        if let cause = undo.cause { parts.append(cause) }
        if let next = undo.next { parts.append("tried again \(minute(next))") }
        return parts.joined(separator: "; ")
    }

    /// The number and the descriptions of pictures, because a terminal does not show them.
    private func pictures(_ pictures: [ExplainReport.AttachedPicture]) -> String {
        let descriptions = pictures.map {
            ($0.alt.map { "\"\($0)\"" } ?? "not described") + ($0.isUploaded ? ", uploaded" : "")
        }
        return "\(pictures.count): " + descriptions.joined(separator: "; ")
    }

    private func person(_ person: ReportedPerson) -> String {
        person.name == "@\(person.account)" ? person.name : "\(person.name) (\(person.account))"
    }

    /// The times of the action's events; a minute with several events is named once.
    private var times: String? {
        let events = [
            ("decided", report.decided), ("due", report.due), ("sent", report.sent),
            ("last changed", report.changed),
            (
                "possible until",
                report.state == ActionState.suggested.rawValue ? report.expires : nil
            ),
        ].compactMap { name, date in date.map { (name: name, minute: minute($0)) } }
        var minutes: [String] = []
        for event in events where !minutes.contains(event.minute) { minutes.append(event.minute) }
        var parts = minutes.map { minute in
            events.filter { $0.minute == minute }.map(\.name).joined(separator: ", ") + " " + minute
        }
        if let attempts = report.attempts, attempts > 1 { parts.append("\(attempts) requests") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private var original: String? {
        guard let original = report.original else { return nil }
        guard let written = original.written else { return "no longer in the archive" }
        let text = original.text.flatMap { $0 == report.text ? nil : $0 }
        return "written \(original.writtenTime ?? minute(written))"
            + (text.map { ": \($0)" } ?? ", word for word")
    }

    private func minute(_ date: Date) -> String { LocalTime(date, in: zone).description }

    private func row(_ name: String, _ value: String?) -> [String] {
        guard let value, !value.isEmpty else { return [] }
        return Printable.rows(
            "  \(name)", value, indent: Self.margin,
            columns: max(Self.margin + 20, terminal.columns))
    }

    // MARK: Rules

    private var rules: [String] {
        guard !report.rules.isEmpty else { return [] }
        return ["", terminal.bold("the rules that decided")]
            + report.rules.flatMap { rule in
                let setting = rule.setting.map { "; \($0) changes that" } ?? ""
                let text = Printable.line("\(rule.code): \(rule.text)\(setting)")
                let lines = Printable.wrapped(text, columns: max(20, terminal.columns - 4))
                return lines.enumerated().map { index, line in
                    (index == 0 ? "  · " : "    ") + line
                }
            }
    }

    private var obstacles: [String] {
        guard let obstacles = report.obstacles, !obstacles.isEmpty else { return [] }
        return ["", terminal.bold("what prevents it")]
            + obstacles.flatMap { obstacle in
                let text = Printable.line(obstacle.sentence)
                let lines = Printable.wrapped(text, columns: max(20, terminal.columns - 4))
                return lines.enumerated().map { index, line in
                    (index == 0 ? "  ! " : "    ") + line
                }
            }
    }

    private var problem: [String] {
        guard let problem = report.judgementProblem else { return [] }
        return [""] + Printable.wrapped(Printable.line(problem), columns: terminal.columns)
    }

    // MARK: How a favorite is judged

    private func judgement(_ judgement: ExplainReport.Judgement?, _ title: String) -> [String] {
        guard let judgement else { return [] }
        let comparison = judgement.isAboveThreshold ? "above" : "not above"
        var rate =
            "rate \(short(judgement.rate)), \(comparison) the threshold of "
            + short(judgement.threshold)
        if let favorites = judgement.favorites, let normals = judgement.normals {
            rate += "; \(favorites) favorites and \(normals) other posts learned"
        }
        if let waiting = judgement.waiting { rate += ", which is too little: \(waiting)" }
        let base = judgement.baseLogOdds.map { Explanation.Feature(name: "any post", logOdds: $0) }
        let table = FeatureBars(base: base, features: judgement.features, terminal: terminal)
        let weights = judgement.weights.map { weights in
            weights.text + (weights.sequence.map { " (learned up to example batch \($0))" } ?? "")
        }
        return ["", terminal.bold(title)]
            + [rate, weights].compactMap(\.self).flatMap {
                Printable.wrapped($0, columns: max(20, terminal.columns - 2)).map { "  " + $0 }
            } + table.lines
    }

    private func short(_ number: Double) -> String { String(format: "%.3g", number) }
}

/// The contribution of each feature to the logarithm of a rate, as bars, with its counts among
/// favorites and other posts.
///
/// The groups are words, the author, the spelling and the form, each below its sum.
struct FeatureBars {
    private static let countWidth = 6

    /// The contribution that is the same for every post; `nil` if not recorded.
    let base: Explanation.Feature?
    let features: [Explanation.Feature]
    let terminal: Terminal

    /// A line for each feature, below a heading; empty if there are no features.
    var lines: [String] {
        let terms = [base].compactMap(\.self) + features
        guard !terms.isEmpty else { return [] }
        let columns = min(80, terminal.columns)
        let nameWidth = columns >= 60 ? 24 : 13
        // The other columns of a line: the indent, the name, the sum and two counts.
        let barWidth = max(4, columns - 2 - nameWidth - 7 - 2 * Self.countWidth - 1)
        let strongest = max(terms.map { abs($0.logOdds) }.max() ?? 0, .leastNormalMagnitude)
        let columnTitles =
            "  " + FigureGroup.aligned("adds to ln(rate)", to: nameWidth + 6)
            + Printable.padded("", to: barWidth + 2)
            + FigureGroup.aligned("fav.", to: Self.countWidth)
            + FigureGroup.aligned("other", to: Self.countWidth)
        func line(_ feature: Explanation.Feature) -> String {
            let cells = Int((abs(feature.logOdds) / strongest * Double(barWidth)).rounded())
            let isPositive = feature.logOdds >= 0
            let barText = Printable.padded(
                String(repeating: isPositive ? "█" : "░", count: cells), to: barWidth)
            return "  "
                + Printable.padded(
                    Printable.line(feature.name, columns: nameWidth - 1), to: nameWidth)
                + Self.sum([feature]) + " "
                + (isPositive ? terminal.green(barText) : terminal.yellow(barText)) + " "
                + FigureGroup.aligned(feature.favorites.map(String.init) ?? "", to: Self.countWidth)
                + FigureGroup.aligned(feature.normals.map(String.init) ?? "", to: Self.countWidth)
        }
        let groups = Explanation.Feature.grouped(features)
        return [terminal.dim(columnTitles)] + [base].compactMap(\.self).map(line)
            + groups.flatMap { group, features in
                let title = terminal.dim(
                    "  " + Printable.padded(group.rawValue, to: nameWidth) + Self.sum(features))
                return (groups.count > 1 ? [title] : []) + features.map(line)
            }
    }

    private static func sum(_ features: [Explanation.Feature]) -> String {
        FigureGroup.aligned(String(format: "%+.2f", features.reduce(0) { $0 + $1.logOdds }), to: 6)
    }
}
