import ArgumentParser
import Control
import Foundation
import Mirroring
import NetworkNames
import Posts
import Sandbox
import Settings

/// `Torture sandbox`: the network alone, for scripts that start the program as people and platforms
/// do.
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Serve the network alone, until the bot has posted on it.",
        discussion: """
            Writes the settings that lead mirror-bot here into a file, those of a clock among them that runs 300 times \
            as fast, and serves the network by that clock. Ends with 0 once the bot has posted, and with 1 when it has \
            not in time, or when it did what nobody may do there.
            """)

    /// A post every minute or two of the system's clock.
    private static let factor = 300.0

    @Option(help: "mastodon, x or bluesky.", transform: SoakCommand.network)
    var network = NetworkName.mastodon

    @Option(
        help: ArgumentHelp(
            "The file to write the settings into, as lines NAME=value.", valueName: "path"))
    var settings: String

    @Flag(
        help: """
            Write no settings but those of the original Heroku button, the eight keys of both accounts on X, with \
            X_ACKNOWLEDGE_POLICY and what leads to the sandbox.
            """)
    var eightKeys = false

    @Option(help: ArgumentHelp("How many posts to wait for.", valueName: "number"))
    var posts = 1

    @Option(
        help: ArgumentHelp("How many minutes of the system's clock to wait.", valueName: "number"))
    var minutes = 10

    func validate() throws {
        guard (1...100).contains(posts) else {
            throw ValidationError("--posts is \(posts); expected a number from 1 to 100")
        }
        guard !eightKeys || network == .x else {
            throw ValidationError("--eight-keys needs --network x")
        }
        guard (1...60).contains(minutes) else {
            throw ValidationError("--minutes is \(minutes); expected a number from 1 to 60")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        let started = Date(milliseconds: Date().milliseconds)
        let clock = AcceleratedClock(origin: Stage.origin, started: started, factor: Self.factor)
        let sandbox = try await Sandbox.start(world: world, now: { clock.now })
        try write(variables(of: sandbox, started))
        let summary = await summary(of: sandbox, until: started + Double(minutes * 60))
        await sandbox.stop()
        print(
            "the bot posted \(summary.posted) times, replied \(summary.replies) times, "
                + "and gave \(summary.favorites) favorites")
        let isClean = summary.errors == 0 && summary.duplicateSends == 0 && summary.unsolicited == 0
        if !isClean { print("among that is what nobody may do there: \(summary)") }
        guard isClean, summary.posted >= posts else { throw ExitCode.failure }
    }

    private var world: SandboxWorld {
        let days = Int(Double(minutes * 60) * Self.factor / 86_400) + 2
        var configuration = SandboxWorld.Configuration(
            seed: 1, origin: Stage.origin, days: days, timeZone: Stage.zone)
        configuration.botNetwork = network
        return SandboxWorld(configuration: configuration)
    }

    private func variables(of sandbox: Sandbox, _ started: Date) -> [String: String] {
        let rehearsal = Rehearsal.Settings(
            origin: Stage.origin, started: started, factor: Self.factor)
        let accounts = SandboxRole.allCases.reduce(into: ["TIME_ZONE": Stage.zone.identifier]) {
            variables, role in
            variables.merge(sandbox.settings(of: role, on: network)) { $1 }
        }
        let written = eightKeys ? accounts.filter { Self.ofTheButton.contains($0.key) } : accounts
        return written.merging(rehearsal.variables) { $1 }
    }

    /// The eight keys and the setting that a button asks for, and the addresses of the sandbox.
    private static let ofTheButton = Set(
        AccountRole.allCases.flatMap { role in
            NetworkName.x.descriptor.requiredNames(of: role) + [Setting.apiBaseURL(of: role).name]
        } + [Setting.acknowledgeXPolicy.name])

    /// Whole at once: who waits for the file may read it as soon as it is there.
    private func write(_ variables: [String: String]) throws {
        let lines = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }
        try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: settings), options: .atomic)
    }

    /// What the network received, once that is enough or the time is over.
    private func summary(of sandbox: Sandbox, until deadline: Date) async -> SandboxLedger.Summary {
        while true {
            let summary = await sandbox.ledger.summary
            if summary.posted >= posts || Date() > deadline { return summary }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }
}
