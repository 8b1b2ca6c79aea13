import Control
import Evaluation
import Foundation
import Mirroring
import Schedule

/// The output of `mirror-bot evaluate scheduler`: a row for each author, the medians, and an
/// explanation of the columns.
enum ScheduleReportView {
    /// A group of columns below a title.
    private struct Group {
        let title: String
        let columns: [(title: String, measure: ScheduleMeasure)]
        let width: Int
        var digits = 3

        var totalWidth: Int { width * columns.count }
    }

    private static let groups = [
        Group(
            title: "posts", columns: [("learn", .trainingPosts), ("test", .testedPosts)], width: 6,
            digits: 0),
        Group(
            title: "log-likelihood",
            columns: [
                ("model", .logLikelihood), ("hist", .histogramLogLikelihood),
                ("kernel", .kernelLogLikelihood),
            ], width: 7),
        Group(
            title: "posts a day", columns: [("bot", .dailyCounts), ("human", .humanDailyCounts)],
            width: 6),
        Group(title: "gaps", columns: [("bot", .gaps), ("human", .humanGaps)], width: 6),
        Group(
            title: "first post", columns: [("bot", .firstPost), ("human", .humanFirstPost)],
            width: 6),
    ]

    /// The columns about consecutive days, which are in a separate table, because one line has no
    /// room for them.
    private static let consecutiveDayGroups = [
        Group(
            title: "neighbours",
            columns: [("bot", .autocorrelation), ("human", .humanAutocorrelation)], width: 7),
        Group(
            title: "7-day totals", columns: [("bot", .weekTotals), ("human", .humanWeekTotals)],
            width: 6),
        Group(
            title: "a day ahead", columns: [("model", .dayAhead), ("plain", .plainDayAhead)],
            width: 7),
        Group(
            title: "off by", columns: [("model", .dayAheadError), ("plain", .plainDayAheadError)],
            width: 7),
    ]

    /// The most left-out authors that are named.
    private static let maximumNamed = 20
    /// The narrowest column of names.
    private static let leastNameWidth = 8

    static func lines(_ report: ScheduleReport, terminal: Terminal) -> [String] {
        table(groups, report, terminal) + [""] + table(consecutiveDayGroups, report, terminal) + [
            "", gain(report),
        ]
            + toldApart(report).flatMap {
                Printable.wrapped($0, columns: max(20, terminal.columns))
            } + [""]
            + legend.map(terminal.dim) + leftOut(report)
    }

    private static func table(_ groups: [Group], _ report: ScheduleReport, _ terminal: Terminal)
        -> [String]
    {
        let table = Table(groups, report, terminal)
        var lines = [table.titles, table.header].map(terminal.bold)
        lines += report.authors.map { table.row($0.author, $0.scores) }
        if report.authors.count > 1 {
            lines.append(terminal.bold(table.row(medianName(report), report.median)))
        }
        return lines
    }

    /// One line for each author who could not be measured.
    static func leftOut(_ report: ScheduleReport) -> [String] {
        guard !report.leftOut.isEmpty else { return [] }
        var lines = ["", "left out \(report.leftOut.count):"]
        lines += report.leftOut.prefix(maximumNamed).map {
            "  \(Printable.line($0.author, columns: 40)): \($0.reason)"
        }
        if report.leftOut.count > maximumNamed {
            lines.append("  and \(report.leftOut.count - maximumNamed) more")
        }
        return lines
    }

    private static func medianName(_ report: ScheduleReport) -> String {
        "median of \(report.authors.count)"
    }

    /// Returns the model's gain per post, in a sentence.
    private static func gain(_ report: ScheduleReport) -> String {
        func signed(_ measure: ScheduleMeasure) -> String {
            report.median[measure].map { ($0 > 0 ? "+" : "") + figure($0, digits: 3) } ?? "–"
        }
        let gainName = report.authors.count > 1 ? "median gain" : "gain"
        return "\(gainName) per post: \(signed(.kernelGain)) nats over the plain kernel, "
            + "\(signed(.histogramGain)) over the histogram"
    }

    /// Returns a sentence that says how well days of the bots can be distinguished from days of the
    /// humans.
    private static func toldApart(_ report: ScheduleReport) -> [String] {
        let scores = report.botOrHuman
        let areas = [
            (scores.auc, "of all days"), (scores.aucOfSeveral, "of days of at least two posts"),
            (scores.aucOfShape, "by their shape alone"),
        ]
        .compactMap { area, basis in area.map { "\(figure($0, digits: 3)) \(basis)" } }
        guard !areas.isEmpty else { return [] }
        let otherDays =
            scores.people > 1 ? "the days of other authors" : "other days of the author's"
        return [
            "bot or human, told by what is known of \(otherDays): AUC "
                + areas.joined(separator: ", ")
        ]
    }

    private static func figure(_ value: Double, digits: Int) -> String {
        guard value.isFinite else { return value < 0 ? "-∞" : "∞" }
        return String(format: "%.\(digits)f", value)
    }

    /// A table with aligned columns.
    private struct Table {
        private let groups: [Group]
        private let nameWidth: Int
        /// Spaces between groups, if there is room.
        private let gap: String

        init(_ groups: [Group], _ report: ScheduleReport, _ terminal: Terminal) {
            self.groups = groups
            let names = report.authors.map { Printable.line($0.author) } + [medianName(report)]
            let figures = groups.reduce(0) { $0 + $1.totalWidth }
            let columnsForGaps = terminal.columns - figures - leastNameWidth
            gap = String(repeating: " ", count: min(max(0, columnsForGaps / groups.count), 2))
            let columnsForNames = terminal.columns - figures - gap.count * groups.count
            nameWidth = min(
                names.map(Printable.width).max() ?? 0, max(columnsForNames, leastNameWidth))
        }

        var titles: String {
            String(repeating: " ", count: nameWidth)
                + groups.map { gap + FigureGroup.aligned($0.title, to: $0.totalWidth) }.joined()
        }

        var header: String {
            Printable.padded("author", to: nameWidth)
                + groups.map { group in
                    gap
                        + group.columns.map { FigureGroup.aligned($0.title, to: group.width) }
                        .joined()
                }.joined()
        }

        func row(_ name: String, _ scores: ScheduleScores) -> String {
            Printable.padded(Printable.line(name, columns: nameWidth), to: nameWidth)
                + groups.map { group in
                    gap
                        + group.columns.map { column in
                            let text =
                                scores[column.measure].map { figure($0, digits: group.digits) }
                                ?? "–"
                            return " " + FigureGroup.aligned(text, to: group.width - 1)
                        }.joined()
                }.joined()
        }
    }

    /// A line for each column.
    private static let legend = [
        "learn, test  posts before and after the cut at four fifths; no day is split",
        "model        ln of the chance that the schedule gave each tested post's minute;",
        "             nearer to 0 is better, -7.272 knows nothing, 0.05 is 5 % of chance",
        "hist         the same for the bare histogram of the minutes, one added to each",
        "kernel       the same for the histogram smoothed over 20 minutes, all days alike",
        "posts a day  how far simulated days are from tested ones in numbers of posts:",
        "             0 is no different, 1 has nothing in common (total variation)",
        "gaps         the same for the minutes from a post to the day's next, at least 1",
        "             each (Kolmogorov–Smirnov)",
        "first post   the same for the time of the day's first post",
        "neighbours   how alike the numbers of posts of a day and the next are, from 0",
        "             for not at all to 1 (autocorrelation)",
        "7-day totals how far sums of seven days are from tested ones (Kolmogorov–",
        "             Smirnov)",
        "a day ahead  ln of the chance that a day's number of posts had on the eve;",
        "             plain is without quiet and busy spells",
        "off by       the error of that in posts (CRPS)",
        "AUC          the chance that of a day of a bot that follows its human and one of",
        "             the human's the first looks more like a bot's: 0.5 is guessing, 1",
        "             is certain",
        "human        how far the human's own days are, as many before the cut: no model",
        "             can be expected to come much nearer",
    ]
}
