import Archive
import ArgumentParser
import Foundation
import Mirroring
import Posts

/// `mirror-bot plan`.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show when the bot posts on a day, and what.",
        discussion: "Today's plan is fixed once the worker has made it; another day's is a preview.")

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
        try await options.withMirror { mirror in
            let now = mirror.clock.now
            guard let zone = try await mirror.settleTimeZone(now: now) else {
                throw try await mirror.missingTimeZone()
            }
            let day = date.flatMap { LocalDay($0) } ?? LocalTime(now, in: zone).day
            guard let report = try await PlanReporter(mirror: mirror, zone: zone).report(on: day, now: now) else {
                let cause =
                    try await mirror.archive.count() == 0
                    ? "the archive is empty; run mirror-bot train scheduler first" : "no archived post is older"
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
