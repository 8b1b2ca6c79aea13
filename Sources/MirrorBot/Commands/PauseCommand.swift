import ArgumentParser
import Foundation
import Mirroring
import Control
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

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func validate() throws {
        if let reason, reason.utf8.count > 1_000 { throw ValidationError("--reason is longer than 1000 bytes") }
        if let reason, reason.utf8.contains(0) { throw ValidationError("--reason holds a NUL character") }
    }

    func run() async throws {
        try await options.withRecord(making: .database) { mirror, record in
            let now = mirror.clock.now
            let zone = mirror.knownTimeZone(record) ?? .gmt
            let end = try until.map { text in
                guard let end = PersonTime(zone: zone).instant(text, now: now) else {
                    throw ValidationError(
                        "--until is \"\(text)\"; expected a time such as 18:30, 2026-11-24, \"2026-11-24 18:30\" or 6h")
                }
                guard end > now else { throw ValidationError("--until is \"\(text)\", which has passed") }
                return end
            }
            let pause = try await mirror.table.pause(until: end, reason: reason, now: now)
            let left = try await LastWord(mirror: mirror).wait().map(LeftAction.init)
            guard !json else { return try JSONOutput.print(PauseReport(mirror.name, pause, left: left)) }
            let words = end.map { "until \(LocalTime($0, in: zone)); mirror-bot resume ends it sooner" }
            print("mirror \(mirror.name) pauses \(words ?? "until mirror-bot resume")")
            for action in left { print(action.line) }
        }
    }
}

/// `mirror-bot resume`.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "End a pause; a running worker goes on within a minute.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        try await options.withMirror(making: .database) { mirror in
            let pause = try await mirror.table.resume(now: mirror.clock.now)
            guard !json else { return try JSONOutput.print(PauseReport(mirror.name, nil)) }
            print(
                pause == nil ? "nothing to do: mirror \(mirror.name) does not pause" : "mirror \(mirror.name) goes on")
        }
    }
}

/// Whether a mirror pauses, for programs.
private struct PauseReport: Encodable {
    let schema = "mirror-bot/pause/1"
    let mirror: String
    let isPaused: Bool
    let since: Date?
    let until: Date?
    let reason: String?
    /// The actions whose requests were under way when the pause began.
    let left: [LeftAction]

    init(_ mirror: String, _ pause: Pause?, left: [LeftAction] = []) {
        (self.mirror, self.left) = (mirror, left)
        isPaused = pause != nil
        (since, until, reason) = (pause?.since, pause?.until, pause?.reason)
    }
}
