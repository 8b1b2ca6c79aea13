import Control
import Evaluation
import Foundation
import Mirroring

/// The answer of `mirror-bot evaluate texts`.
enum TextReportView {
    static func lines(_ report: TextReport, terminal: Terminal) -> [String] {
        var lines = [terminal.bold("texts") + "  \(report.posts) posts that answer nobody"]
        lines.append(row("fit", report.fit, of: report.posts, "stand for themselves"))
        lines.append(
            row(
                "plain", report.plain, of: report.posts,
                "of these are plain: nothing in them dates them"))
        lines.append(
            row("sometimes", report.sometimes, of: report.posts, "do on some days or at some hours")
        )
        lines.append(row("unfit", report.unfit - report.sometimes, of: report.posts, "do not"))
        if let share = report.poolShare, !report.otherRules.isEmpty {
            let otherRules = byCount(report.otherRules).map { rule, count in "\(count) \(rule)" }
                .joined(separator: ", ")
            let plainNote = report.plainShare.map { ", \(percent($0)) are plain" } ?? ""
            let text =
                "\(percent(share)) of the texts that other rules let pass are left\(plainNote); those leave out \(otherRules)"
            lines += wrapped(text, indent: 2, terminal)
        }
        if let agreement = report.agreement { lines += [""] + labels(agreement, report, terminal) }
        if let learning = report.learning { lines += [""] + Self.learning(learning, terminal) }
        lines += costs(report, terminal)
        for (reason, count) in byCount(firstReasons(report)) {
            lines += ["", terminal.bold(reason) + "  \(count): \(ReportedReason(reason).text)"]
            lines += (report.samples[reason] ?? []).map { sample($0, terminal) }
        }
        return lines
    }

    private static func row(_ name: String, _ count: Int, of all: Int, _ meaning: String) -> String
    {
        "  " + Printable.padded(name, to: 10) + FigureGroup.aligned("\(count)", to: 8)
            + FigureGroup.aligned(all > 0 ? percent(Double(count) / Double(all)) : "", to: 7) + "  "
            + meaning
    }

    /// Returns, for each reason, the number of texts against which it is the first reason.
    private static func firstReasons(_ report: TextReport) -> [String: Int] {
        report.byReason.merging(report.later, uniquingKeysWith: +)
    }

    /// Returns the counts, the highest first; equal ones are in the order of their keys.
    private static func byCount(_ counts: [String: Int]) -> [(key: String, count: Int)] {
        counts.map { (key: $0.key, count: $0.value) }.sorted { one, other in
            one.count != other.count ? one.count > other.count : one.key < other.key
        }
    }

    private static func costs(_ report: TextReport, _ terminal: Terminal) -> [String] {
        guard !report.costs.isEmpty else { return [] }
        func line(_ name: String, _ figures: [String]) -> String {
            "  " + Printable.padded(name, to: 16)
                + figures.map { FigureGroup.aligned($0, to: 11) }.joined()
        }
        let title =
            terminal.bold("what each rule costs") + "  alone: nothing else speaks against the text"
        let columnTitles = line("", ["never", "sometimes", "later", "alone"])
        return ["", title, terminal.dim(columnTitles)]
            + report.costs.map { cost in
                line(
                    cost.reason,
                    [cost.refuses, cost.restricts, cost.demotes, cost.alone].map { "\($0)" })
            }
    }

    private static func percent(_ share: Double) -> String {
        String(format: "%.0f %%", 100 * share)
    }

    private static func labels(
        _ agreement: TextReport.Agreement, _ report: TextReport, _ terminal: Terminal
    ) -> [String] {
        guard agreement.labelled > 0 else {
            return [
                terminal.yellow("!") + " no label is about a text of the archive: their ids differ"
            ]
        }
        let languages =
            report.languages.count > 1 ? report.languages.sorted { $0.key < $1.key } : []
        let rows = [("all", agreement)] + languages
        return [
            terminal.bold("beside a person")
                + "  who finds \(agreement.labelledUnfit) of \(agreement.labelled) unfit"
        ]
            + rows.map { name, agreement in
                "  " + Printable.padded(Printable.line(name, columns: 10), to: 10) + "  precision "
                    + share(agreement.precision) + "  recall " + share(agreement.recall)
            } + [
                "  \(agreement.sameReason) of the \(agreement.foundUnfit) that both find for the same reason"
            ]
    }

    private static func learning(_ learning: TextLearning, _ terminal: Terminal) -> [String] {
        func line(_ name: String, _ figures: [String]) -> String {
            "  " + Printable.padded(name, to: 8)
                + figures.map { FigureGroup.aligned($0, to: 14) }.joined()
        }
        let title =
            terminal.bold("learned from persons")
            + "  \(learning.persons) simulated, who label one text in ten wrongly"
        return [title, terminal.dim(line("texts", ["labels", "out of place", "in place first"]))]
            + learning.rows.map { row in
                line(
                    row.texts,
                    [
                        "\(row.labels)",
                        String(format: "%.1f ± %.1f %%", 100 * row.outOfPlace, 100 * row.error),
                        percent(row.inPlaceFirst),
                    ])
            }
    }

    private static func share(_ value: Double?) -> String {
        value.map { String(format: "%.3f", $0) } ?? "-"
    }

    private static func sample(_ sample: TextReport.Sample, _ terminal: Terminal) -> String {
        let when = sample.when.map { "  (\($0))" } ?? ""
        let text = Printable.line(sample.text, columns: max(20, terminal.columns - 4 - when.count))
        return "  · " + terminal.dim(text + when)
    }

    private static func wrapped(_ text: String, indent: Int, _ terminal: Terminal) -> [String] {
        Printable.wrapped(text, columns: max(20, terminal.columns - indent))
            .map { String(repeating: " ", count: indent) + $0 }
    }
}
