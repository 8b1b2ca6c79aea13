import ArgumentParser
import Control
import Foundation
import Mirroring
import Posts

/// `mirror-bot explain`.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show what an action is, for whom, and why; or judge a post.",
        discussion: """
            An action is named by its id, as status, plan, suggestions and the log show it; the first digits are enough \
            if they are unique. A slot also goes by its number today, as 4 or '#4', by its day and number, as \
            2026-11-20#3, or by its time, as 14:05, and the next post by next.
            """)

    @OptionGroup var options: MirrorOptions

    @Argument(help: ArgumentHelp("The action.", valueName: "id"))
    var id: String?

    @Option(help: "Instead of an action: the text of a post on the bot's home timeline.")
    var text: String?

    @Option(help: "With --text: its author, as user@host, or a handle on X or Bluesky.")
    var author: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (id == nil) != (text == nil) else {
            let reason = id == nil ? "; \(SlotArgument.comment)" : ""
            throw ValidationError("expected either an id or --text\(reason)")
        }
        if author != nil, text == nil { throw ValidationError("--author needs --text") }
        if text?.contains(where: { !$0.isWhitespace }) == false {
            throw ValidationError("--text is empty")
        }
    }

    func run() async throws {
        try await options.withMirror { mirror in
            let reporter = ExplainReporter(mirror: mirror)
            let now = mirror.clock.now
            let report: ExplainReport
            if let text {
                let author: (id: AccountID, handle: String)? =
                    if let author { try await PeopleBook(mirror: mirror).author(author) } else {
                        nil
                    }
                report = try await reporter.report(onText: text, by: author, now: now)
            } else {
                report = try await reporter.report(on: id ?? "", now: now)
            }
            if json { return try JSONOutput.print(report) }
            for line in ExplainView(report: report, terminal: .output).lines { print(line) }
        }
    }
}
