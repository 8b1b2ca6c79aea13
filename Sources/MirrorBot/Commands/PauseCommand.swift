import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts

/// `mirror-bot pause`.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Send nothing for a while.",
        discussion: """
            Once this command has returned, nothing is read, decided or sent; a running worker waits. It waits for a \
            request that is being sent, at most two minutes, and says what became of it. After the pause mentions of \
            the last 24 hours are answered, and slots that have passed are skipped.
            """)

    @Option(
        help: ArgumentHelp(
            "When the pause ends: 18:30, 2026-11-24, \"2026-11-24 18:30\", or in 45m, 6h, 3d, 2w.",
            valueName: "time")
    )
    var until: String?

    @Option(help: ArgumentHelp("A note for yourself, shown by status.", valueName: "words"))
    var reason: String?

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(PauseMirror(until: until, reason: reason), output) { change in
            let pauseEnd = change.untilLocal.map { "until \($0); mirror-bot resume ends it sooner" }
            return ["mirror \(change.mirror) pauses \(pauseEnd ?? "until mirror-bot resume")"]
                + change.left.map(\.line)
        }
    }
}

/// `mirror-bot resume`.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "End a pause; a running worker continues within a minute.",
        discussion: """
            A mirror also sends nothing once its network calls the human's account a memorial, suspended, switched off or \
            gone. That ends with --knowing, and for an account that was suspended also when it is active again.
            """)

    @Flag(
        help:
            "Go on although the human's account is a memorial, suspended, switched off, moved or gone."
    )
    var knowing = false

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(ResumeMirror(knowing: knowing), output) { $0.resumptionLines }
    }
}

extension PauseChange {
    /// The outcome of a resumption, for people.
    var resumptionLines: [String] {
        // `human` says what holds the mirror besides a pause, such as that the account is a
        // memorial.
        guard let human else {
            let isDone = wasPaused == true
            return [
                isDone
                    ? "mirror \(mirror) continues" : "nothing to do: mirror \(mirror) is not paused"
            ]
        }
        guard isHeld else { return ["mirror \(mirror) continues, although \(human)"] }
        let reason =
            "mirror \(mirror) sends nothing, because \(human): resume --knowing goes on all the same"
        return (wasPaused == true ? ["the pause of mirror \(mirror) has ended"] : []) + [reason]
    }
}
