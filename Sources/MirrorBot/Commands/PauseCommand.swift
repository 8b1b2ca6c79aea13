import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts

/// `mirror-bot pause`.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Let the bot be silent for a while; nothing is sent once this returns.",
        discussion: """
            Neither read nor decided nor sent is anything; a worker may go on running, and waits. Afterwards mentions of \
            the last 24 hours are answered, as after an outage, and what was planned meanwhile is left out. What is \
            leaving at that moment is waited for, half a minute or two at most, and named.
            """)

    @Option(
        help: ArgumentHelp(
            "When it goes on by itself: 18:30, 2026-11-24, \"2026-11-24 18:30\", 45m, 6h, 3d or 2w.", valueName: "time")
    )
    var until: String?

    @Option(help: ArgumentHelp("What you want to be told of later.", valueName: "words"))
    var reason: String?

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(PauseMirror(until: until, reason: reason), output) { change in
            let words = change.untilLocal.map { "until \($0); mirror-bot resume ends it sooner" }
            return ["mirror \(change.mirror) pauses \(words ?? "until mirror-bot resume")"] + change.left.map(\.line)
        }
    }
}

/// `mirror-bot resume`.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "End a pause; a running worker goes on within a minute.")

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.change(ResumeMirror(), output) { change in
            [
                change.wasPaused == true
                    ? "mirror \(change.mirror) goes on" : "nothing to do: mirror \(change.mirror) does not pause"
            ]
        }
    }
}
