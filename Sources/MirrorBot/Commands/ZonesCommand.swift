import ArgumentParser
import Control
import Foundation
import Mirroring
import Settings

/// `mirror-bot zones`.
struct ZonesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zones",
        abstract: "Note the time zones in which the human lived before.",
        discussion: """
            A post counts for the time of day on the human's clock when they wrote it. Unless a zone is noted here \
            or the post has an offset, that is the clock of \(Setting.timeZone.name), which the bot always posts by.

              mirror-bot zones
              mirror-bot zones add Asia/Tokyo --to 2019-02-28
              mirror-bot zones add America/New_York --from 2019-03-01 --to 2021-08-15
              mirror-bot zones remove 2019-03-01
            """,
        subcommands: [ZonesListCommand.self, ZonesAddCommand.self, ZonesRemoveCommand.self],
        defaultSubcommand: ZonesListCommand.self)
}

/// `mirror-bot zones list`.
struct ZonesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the zones; the word list can be left out.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        let report = try await options.withZone(making: .database) {
            try await ZonesReport(of: $0, home: $1)
        }
        if json { return try JSONOutput.print(report) }
        for line in ZonesView.lines(report) { print(line) }
    }
}

/// `mirror-bot zones add`.
struct ZonesAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Note that the human lived in a zone for some time.")

    @Argument(help: ArgumentHelp("An IANA time zone, such as Asia/Tokyo.", valueName: "zone"))
    var zone: String

    @Option(
        help: ArgumentHelp(
            "The first day, in that zone; without it the period has no beginning.",
            valueName: "YYYY-MM-DD"))
    var from: String?

    @Option(
        help: ArgumentHelp(
            "The last day, in that zone; without it the period has no end.", valueName: "YYYY-MM-DD"
        ))
    var to: String?

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(AddZone(zone: zone, from: from, to: to), output, needsZone: true) {
            change in
            change.lines(change.isNew ? "noted" : "that was noted already") + change.wayBackLines
        }
    }
}

/// `mirror-bot zones remove`.
struct ZonesRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a period; its posts count by \(Setting.timeZone.name) again.")

    @Argument(
        help: ArgumentHelp(
            "Any day of the period, or its zone if that has only one.", valueName: "day or zone"))
    var time: String

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(RemoveZone(time: time), output, needsZone: true) { change in
            change.lines("taken out") + change.wayBackLines
        }
    }
}

/// The output of `mirror-bot zones` and `status` about the human's clocks.
enum ZonesView {
    static func lines(_ report: ZonesReport) -> [String] {
        let width =
            ([report.timeZone] + report.zones.map(\.timeZone)).map(Printable.width).max() ?? 0
        let homePeriods =
            report.zones.isEmpty ? "at all times" : "at all other times, and for the bot"
        return report.zones.map {
            Printable.padded(Printable.line($0.timeZone), to: width) + "  " + $0.days
        }
            + [Printable.padded(Printable.line(report.timeZone), to: width) + "  " + homePeriods]
    }
}

extension ZonesChange {
    fileprivate func lines(_ outcome: String) -> [String] {
        ["\(outcome): \(change.timeZone) \(change.days)"]
            + (isNew ? ["moved: \(moved) \(moved == 1 ? "post" : "posts")"] : [])
    }
}
