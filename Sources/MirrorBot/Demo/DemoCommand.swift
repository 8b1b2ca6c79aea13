import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts
import Settings
import Synchronization

/// `mirror-bot demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Watch a mirror live some days in seconds: no account, no server, no key.",
        discussion: """
            Learns from a bundled sample archive, or from your own download, and runs the real worker against a small \
            network inside this process. Nothing leaves this machine, and nothing is kept unless you say --keep: then \
            the network stays open until Ctrl-C, and in the new folder every other command works on what the demo made. The \
            sample person then lives where it is early in the morning now, so that today's posts are still to come. \
            With --web the days pass slowly enough to watch them in a browser, whose page stays open until Ctrl-C.
            """)

    @Option(help: "mastodon, x or bluesky.", transform: NetworkArgument.network)
    var network = NetworkName.usual

    @Option(help: ArgumentHelp("Your own downloaded archive or JSON Lines.", valueName: "path"))
    var from: String?

    @Option(help: ArgumentHelp("Days to live through.", valueName: "number"))
    var days = 3

    @Option(help: ArgumentHelp("Another seed makes other days.", valueName: "number"))
    var seed: UInt64 = 2026

    @Option(
        help: ArgumentHelp(
            "Time zone of your own archive, or of the sample person.", valueName: "zone"))
    var timeZone: String?

    @Option(
        help: ArgumentHelp(
            "Make this folder and keep the mirror in it, to try the other commands on.",
            valueName: "folder"))
    var keep: String?

    @Flag(help: "Show it in a browser too, a day in 20 seconds, and keep that open.")
    var web = false

    @Option(
        help: ArgumentHelp(
            "With --web: where to listen, 127.0.0.1:8080 unless given.", valueName: "address:port"))
    var listen: String?

    @Flag(help: "End with one JSON object on a line of its own.")
    var json = false

    func validate() throws {
        if web, keep != nil {
            throw ValidationError(
                "--web and --keep exclude each other; a kept folder has mirror-bot web")
        }
        if !web, listen != nil { throw ValidationError("--listen needs --web") }
        _ = try listening
        guard (1...60).contains(days) else {
            throw ValidationError("--days is \(days); expected a number from 1 to 60")
        }
        if let timeZone, TimeZone(identifier: timeZone) == nil {
            throw ValidationError(
                "--time-zone is \"\(timeZone)\"; expected an IANA name such as Asia/Tokyo")
        }
        if let from, !Self.isReadTwice(from) {
            throw ValidationError(
                "--from is read more than once; expected a file or a folder, not a stream")
        }
    }

    /// The address of the page.
    ///
    /// Only this machine may reach it, because the page shows the person's own posts without a
    /// password.
    private var listening: WebSettings.Listening {
        get throws {
            let text = listen ?? "127.0.0.1:8080"
            guard let listening = WebSettings.Listening(text), listening.isLoopback else {
                throw ValidationError(
                    "--listen is \"\(text.prefix(60))\"; expected an address of this machine and a port, as 127.0.0.1:8080"
                )
            }
            return listening
        }
    }

    /// Whether a file can be read twice: not standard input, a pipe or a device.
    ///
    /// A missing file is reported by its reader.
    private static func isReadTwice(_ path: String) -> Bool {
        var status = stat()
        guard path != "-" else { return false }
        return stat(Console.current.path(path), &status) != 0
            || [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    func run() async throws {
        let console = Console.current
        console.log.silence()
        let line = DemoLine(stream: console.error)
        let rehearsal = try Rehearsal(
            variables: RehearsalVariable.variables(in: console.environment), accounts: [:])
        let clock = rehearsal.clock ?? SystemClock()
        let earlyMorning = keep != nil && from == nil ? DemoZone.earlyMorning(at: clock.now) : nil
        let address = Mutex("")
        let demo = Demo(
            network: network, from: from.map(console.path), days: days, seed: seed,
            zone: timeZone.flatMap(TimeZone.init(identifier:)) ?? earlyMorning,
            keep: keep,
            page: try page(line, opened: { url in address.withLock { $0 = url } }),
            clock: clock,
            say: line.say, report: line.show, watch: line.isShown ? line.show : nil)
        line.begin()
        defer { line.end() }
        try await demo.run { [json, keep, web] result in
            line.end()
            if json {
                try JSONOutput.print(result.summary, isOneLine: true)
            } else {
                for line in DemoView(result: result, terminal: .output).lines { print(line) }
            }
            guard keep != nil || web else { return }
            // The output is flushed now, because it is read while the network stays open. The page
            // stays open even if the output cannot be written.
            try? console.output.flush()
            guard let keep else {
                return StandardError.write(
                    "\nThe page stays open until Ctrl-C: \(address.withLock { $0 })\nIts clock goes as yours does now.\n"
                )
            }
            StandardError.write("\n\(Self.open(keep, result, now: clock.now))\n")
            // The network stays open until a signal ends the program.
            while true { try await Task.sleep(for: .seconds(3_600)) }
        }
    }

    /// The page to show; nil without the option.
    private func page(_ line: DemoLine, opened: @escaping @Sendable (_ address: String) -> Void)
        throws -> DemoPage?
    {
        guard web else { return nil }
        let days = days == 1 ? "a day" : "\(days) days, each"
        return DemoPage(listening: try listening, timer: DemoPage.realTime) { address in
            opened(address)
            line.say(
                "Open \(address) in a browser: \(days) in \(DemoPage.daySeconds) s. Ctrl-C ends it."
            )
        }
    }

    private static func open(_ folder: String, _ result: DemoResult, now: Date) -> String {
        let zone = result.past.zone.zone
        return """
            It is \(LocalTime(now, in: zone).minute) there (\(zone.identifier)).
            The network stays open until Ctrl-C.
            In another terminal:

              cd \(DemoView.quoted(folder))
              mirror-bot status
            """
    }
}
