import ArgumentParser
import Control
import Evaluation
import Foundation
import Mirroring
import Schedule
import Settings

/// `mirror-bot evaluate scheduler`.
struct EvaluateSchedulerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scheduler",
        abstract: "Measure how well posting times are learned.",
        discussion: """
            Learns the first four fifths of each author's posts, in the order of time, and reports on the rest: how \
            probable it found the minutes of the posts, and how far simulated days are from the real ones, beside \
            the human's own earlier days.

            Nothing after the cut is learned. No day is split: the day of the first held-out post is held out as a \
            whole. Finally, days of a bot that follows its human are mixed with the human's own, and a classifier \
            trained on other authors tells them apart. Days are simulated \(ScheduleEvaluation.usualRepetitions) \
            times from fixed seeds, so the same posts always give the same figures.

            A table of events is a CSV file with the columns author and timestamp, such as \
            2026-11-20T08:15:30+09:00; other columns are ignored. Times are read at their own offset unless \
            --time-zone is given. Archives are read in their owner's zone if they name it, else in UTC.
            """)

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Tables of events, or folders of them; - is standard input.", valueName: "path"))
    var events: [String] = []

    @Option(
        help: ArgumentHelp(
            "A downloaded archive or JSON Lines instead; - is standard input.", valueName: "path"))
    var from: String?

    @Option(
        help: ArgumentHelp("Convert times to this IANA time zone.", valueName: "zone"))
    var timeZone: String?

    @Option(
        help: "days copies whole days; kernel and raw draw minutes one by one, raw only used ones.")
    var model: ScheduleModel?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard events.isEmpty != (from == nil) else {
            throw ValidationError("give either --events or --from")
        }
        guard events.count(where: { $0 == "-" }) < 2 else {
            throw ValidationError("--events names standard input twice")
        }
        if let timeZone, TimeZone(identifier: timeZone) == nil {
            throw ValidationError(
                "--time-zone is \"\(timeZone)\"; expected an IANA name such as Asia/Tokyo")
        }
    }

    func run() async throws {
        let report = try await report()
        if report.authors.isEmpty {
            // The two lines that are dropped are an empty one and a title.
            throw CommandError(
                .badData,
                (["could not evaluate anybody"] + ScheduleReportView.leftOut(report).dropFirst(2))
                    .joined(separator: "\n"))
        }
        if json { return try JSONOutput.print(report) }
        for line in ScheduleReportView.lines(report, terminal: .output) { print(line) }
    }

    private func report() async throws -> ScheduleReport {
        let zone = timeZone.flatMap(TimeZone.init(identifier:))
        let reader = PastReader(zone: zone)
        var configuration = ScheduleConfiguration()
        if let model { configuration.model = model }
        guard let from else {
            return try await ScheduleReport(
                on: try await reader.tables(at: events.map(Console.current.path)),
                configuration: configuration,
                zone: zone)
        }
        let (past, usedZone) = try await reader.archive(at: Console.current.path(from))
        return try await ScheduleReport(on: [past], configuration: configuration, zone: usedZone)
    }
}

extension ScheduleModel: ExpressibleByArgument {}
