import ArgumentParser
import Foundation
import TestSupport

/// Measures the hot paths beside the same work done with the C library or the public tool alone.
@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Benchmarks",
        abstract:
            "Measure the hot paths, each beside the same work done in C or with a public tool.",
        discussion: """
            Both sides of a line take turns in one run, so the ratio says something even where other programs run. \
            It is the median over the pairs; half of the pairs lie in the range beside it. A target that is missed \
            is no failure of the run. A line whose tool is not installed is skipped and says what to install. A line \
            that fails says why, and the others are measured all the same.

            Exit codes:
              0 measured or skipped   70 something could not be measured
            """)

    @Option(
        help: ArgumentHelp(
            "Only works whose name contains this; more than one may be given.", valueName: "name"))
    var filter: [String] = []

    @Flag(help: "Fewer repetitions of the same work.")
    var quick = false

    @Flag(
        help:
            "Tiny data, once: whether every line works, not how fast it is. A missing tool is a failure."
    )
    var smoke = false

    @Flag(
        help:
            "End with one line of JSON: the name of each line and its ratio, or why there is none.")
    var json = false

    @Flag(help: "Only list the names of the works.")
    var list = false

    @Option(
        help: ArgumentHelp(
            "Where files of some gigabytes may be written for a while.", valueName: "path"))
    var folder: String?

    func run() async throws {
        let works = Work.all.filter { work in
            filter.isEmpty || filter.contains { work.name.contains($0) }
        }
        guard !works.isEmpty else {
            throw ValidationError(
                "no work is called that; there are \(Work.all.map(\.name).joined(separator: ", "))")
        }
        if list { return print(works.map(\.name).joined(separator: "\n")) }
        signal(SIGPIPE, SIG_IGN)
        let effort: Effort = if smoke { .smoke } else if quick { .quick } else { .full }
        let bench = try Bench(effort, folder: folder)
        let report = await measure(works, bench)
        await bench.servers.stop()
        print(report.table)
        if json { print(report.json) }
        if report.hasFailed { throw ExitCode(70) }
    }

    private func measure(_ works: [Work], _ bench: Bench) async -> Report {
        Bench.say(Machine.description)
        var report = Report(needsEveryTool: smoke)
        for work in works {
            Bench.say("measuring \(work.name)")
            do {
                try await work.measure(bench, &report)
            } catch {
                report.add(error, of: work.name)
            }
        }
        return report
    }
}

/// What the figures were measured on.
enum Machine {
    static var description: String {
        let processor = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
            .split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
        let load = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(
            separator: " "
        ).first
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return
            "\(processor ?? "unknown processor"), \(cores) cores, load \(load ?? "unknown") at the start"
    }
}
