import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts

/// `mirror-bot retire`.
struct RetireCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "End the mirror: one last post, a line in its profile, then silence.",
        discussion: """
            From its date on nothing leaves but the last post. A running worker then changes the line in the bot's \
            profile, takes everything else back if that is wanted (--undo), as fast as the network permits, and removes \
            the stored logins. What was posted can still be read with status, history and report.

            Until that date retire --cancel takes it back; afterwards it is for good. What the human deletes later is \
            not followed any more: there is no login.
            """)

    @Option(
        help: ArgumentHelp(
            "When: 2026-12-31, \"2026-12-31 18:00\" or in 30d; now if it is left out.",
            valueName: "date"))
    var on: String?

    @Option(
        help: ArgumentHelp(
            "The last post: a text, or the address or id of an archived post.", valueName: "text"))
    var last: String?

    @Flag(help: "Leave what was posted where it is (as is usual).")
    var keep = false

    @Flag(help: "Take back everything but the last post.")
    var undo = false

    @Flag(help: "Let the mirror go on after all.")
    var cancel = false

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @OptionGroup var output: ChangeOutput
    @OptionGroup var options: MirrorOptions

    func validate() throws {
        if keep, undo { throw ValidationError("--keep and --undo exclude each other") }
        guard cancel else { return }
        if on != nil || last != nil || keep || undo {
            throw ValidationError("--cancel goes with none of --on, --last, --keep and --undo")
        }
    }

    func run() async throws {
        if cancel {
            return try await options.change(CancelRetirement(), output) { change in
                [
                    change.isNew
                        ? "mirror \(change.mirror) goes on"
                        : "nothing to do: mirror \(change.mirror) is not to retire"
                ]
            }
        }
        let wish = RetireMirror(date: on, last: last, takesBack: undo)
        try await options.change(wish, output, asking: { try await ask($0) }, lines)
    }

    /// Shows the consequences, and asks for a confirmation.
    private func ask(_ desk: Desk) async throws -> Seen? {
        let subject = try await RetirementSubject(desk.mirror, last: last)
        guard !yes else { return subject.seen }
        let record = subject.record
        let bot = record.botHandle.map { "@\($0)" } ?? "no bot yet"
        let human = record.humanHandle.map { "@\($0)" } ?? "an archive"
        var lines = ["mirror \(desk.mirror.name): \(bot), which mirrors \(human)"]
        lines.append("  the last post: " + (subject.says.map { "“\($0)”" } ?? "none"))
        let count = subject.outlook.requests
        lines.append(
            undo
                ? "  everything else is taken back: \(count) posts, replies and favorites"
                : "  what was posted stays: \(count) posts, replies and favorites")
        lines.append("  then the logins are removed, which is for good")
        for line in lines { StandardError.write(Printable.line(line) + "\n") }
        try Confirmation.require(
            "Retire it \(on.map { "at \($0)" } ?? "now")? [y/N] ", unless: false)
        return subject.seen
    }

    private func lines(_ change: RetirementChange) -> [String] {
        let date = change.dateLocal ?? "now"
        var lines = [
            change.isNew
                ? "mirror \(change.mirror) retires at \(date)"
                : "mirror \(change.mirror) is to retire at \(date) already"
        ]
        if let last = change.last { lines.append(Printable.line("its last post: “\(last)”")) }
        lines.append("a running worker carries it out; see mirror-bot status")
        return lines + change.left.map(\.line) + change.wayBackLines
    }
}
