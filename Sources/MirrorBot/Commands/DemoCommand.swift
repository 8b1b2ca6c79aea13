import ArgumentParser
import Foundation
import Logging
import Posts

/// `mirror-bot demo`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Watch a mirror live some days in seconds: no account, no server, no key.",
        discussion: """
            Learns from a bundled sample archive, or from your own download, and runs the real worker against a small \
            network inside this process. Nothing leaves this machine and nothing is kept.
            """)

    @Option(help: "mastodon, x or bluesky.", transform: NetworkArgument.network)
    var network = NetworkName.mastodon

    @Option(help: ArgumentHelp("Your own downloaded archive or JSON Lines.", valueName: "path"))
    var from: String?

    @Option(help: ArgumentHelp("Days to live through.", valueName: "number"))
    var days = 3

    @Option(help: ArgumentHelp("Another seed makes other days.", valueName: "number"))
    var seed: UInt64 = 2026

    @Option(help: ArgumentHelp("Time zone of your own archive.", valueName: "zone"))
    var timeZone: String?

    @Flag(help: "End with one JSON object on a line of its own.")
    var json = false

    func validate() throws {
        guard (1...60).contains(days) else {
            throw ValidationError("--days is \(days); expected a number from 1 to 60")
        }
        if let timeZone, TimeZone(identifier: timeZone) == nil {
            throw ValidationError("--time-zone is \"\(timeZone)\"; expected an IANA name such as Asia/Tokyo")
        }
    }

    func run() async throws {
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let demo = Demo(
            network: network, from: from, days: days, seed: seed, zone: timeZone.flatMap(TimeZone.init(identifier:)),
            say: { line in StandardError.write(line + "\n") })
        let result = try await demo.run()
        if json {
            try JSONOutput.print(result.summary, isOneLine: true)
        } else {
            for line in DemoView(result: result, terminal: .output).lines { print(line) }
        }
    }
}
