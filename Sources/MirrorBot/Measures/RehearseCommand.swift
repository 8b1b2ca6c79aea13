import ArgumentParser
import Evaluation
import Mirroring

/// `mirror-bot rehearse`.
struct RehearseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Show a past year beside the one that the bot would have lived.",
        discussion: """
            The bot begins the year with what you had posted before it and learns each later day once that day is over, as \
            a worker would have. Its posts, replies and favorites are then laid beside yours. Settings, muted words and \
            texts that are never to be sent are those of today. Nothing is stored or sent.

            A mirror keeps the posts of others for some months only. To compare replies and favorites of an older year, \
            --favorites reads them from JSON Lines: id, author, text, created_at and favorite (true or false), one \
            post of the home timeline a line.

            Examples:
              mirror-bot rehearse --year 2024
              mirror-bot rehearse --year 2024 --html 2024.html

            The page makes no request, so it opens anywhere. It contains texts of people; its file is readable by you \
            alone.
            """)

    @OptionGroup var options: MirrorOptions

    @Option(help: ArgumentHelp("The year, in the human's time zone.", valueName: "year"))
    var year: Int

    @Option(
        help: ArgumentHelp(
            "Draw another life of the bot's, always the same for a number.", valueName: "number"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp(
            "Posts of the home timeline as JSON Lines that say which were favorited.",
            valueName: "path")
    )
    var favorites: String?

    @Option(
        help: ArgumentHelp("Draw both years into a page; - prints it alone.", valueName: "file"))
    var html: String?

    @Flag(help: "Print JSON instead of a summary.")
    var json = false

    @Flag(help: "With --html: overwrite an existing file.")
    var force = false

    func validate() throws {
        guard (1...9_999).contains(year) else {
            throw ValidationError("--year is \(year); expected a year such as 2024")
        }
        if html != nil, json { throw ValidationError("--html and --json do not go together") }
        if html == "" { throw ValidationError("--html is empty") }
        if favorites == "" { throw ValidationError("--favorites is empty") }
        if force, html == nil { throw ValidationError("--force needs --html") }
    }

    func run() async throws {
        let file = html.map { OutputFile($0, isForced: force) }
        try file?.check()
        let labels = favorites.map(Console.current.path)
        try await options.withZone { mirror, zone in
            let rehearsal = YearRehearsal(
                mirror: mirror, zone: zone, year: year, seed: seed, labels: labels)
            let progress = DayProgress()
            let report: RehearsedYear
            do {
                report = try await rehearsal.run(now: mirror.clock.now) {
                    progress.show($0, of: $1)
                }
            } catch let problem as YearProblem {
                throw CommandError(
                    problem.code == .future ? .usage : .badData,
                    "could not rehearse \(year): \(problem)")
            }
            if json { return try JSONOutput.print(report) }
            if file?.path != OutputFile.standardOutput {
                for line in RehearsalView.lines(report, terminal: .output, page: file?.path) {
                    print(line)
                }
            }
            try file?.write(RehearsalPage(report).html)
        }
    }
}

/// Shows on a terminal the number of simulated days.
private struct DayProgress {
    private static let step = 5

    private let stream = Console.current.error

    func show(_ done: Int, of total: Int) {
        guard stream.terminal.isInteractive, done % Self.step == 0 || done == total else { return }
        // The line is overwritten by the next output.
        stream.show("\rday \(done) of \(total)" + (done == total ? "\r\u{1B}[K" : ""))
    }
}
