import ArgumentParser
import Control
import Mirroring
import Web

/// `mirror-bot stats`.
struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show posting times, favorites, and what is left out and why.")

    @OptionGroup var options: MirrorOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Draw the hours, the week and the days into an SVG file; - prints it.",
            valueName: "file"))
    var svg: String?

    @Flag(help: "With --svg: overwrite an existing file.")
    var force = false

    func validate() throws {
        if svg != nil, json { throw ValidationError("--svg and --json do not go together") }
        if svg == "" { throw ValidationError("--svg is empty") }
        if force, svg == nil { throw ValidationError("--force needs --svg") }
    }

    func run() async throws {
        let file = svg.map { OutputFile($0, isForced: force) }
        try file?.check()
        try await options.withZone { mirror, zone in
            let now = mirror.clock.now
            let report = try await StatsReporter(mirror: mirror, zone: zone).report(now: now)
            if let file { return try file.write(HoursPicture(report).svg) }
            if json { return try JSONOutput.print(report) }
            for line in StatsView(report: report, terminal: .output).lines { print(line) }
        }
    }
}

/// `mirror-bot report`.
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write everything about the mirror into one page, or as JSON.",
        discussion: """
            The page makes no request, so it opens anywhere. It contains names and texts of people; its file is \
            readable by you alone.
            """)

    @OptionGroup var options: MirrorOptions

    @Option(help: ArgumentHelp("The file; - prints it.", valueName: "file"))
    var html: String?

    @Flag(help: "Print JSON instead of a page.")
    var json = false

    @Flag(help: "With --html: overwrite an existing file.")
    var force = false

    func validate() throws {
        if html != nil, json { throw ValidationError("--html and --json do not go together") }
        if html == nil, !json { throw ValidationError("say --html FILE for a page, or --json") }
        if html == "" { throw ValidationError("--html is empty") }
        if force, html == nil { throw ValidationError("--force needs --html") }
    }

    func run() async throws {
        let file = html.map { OutputFile($0, isForced: force) }
        try file?.check()
        try await options.withZone { mirror, zone in
            let report = try await MirrorReport(of: mirror, zone: zone, now: mirror.clock.now)
            guard let file else { return try JSONOutput.print(report) }
            try file.write(ReportPage(report).html)
        }
    }
}
