import ArgumentParser
import Mirroring

/// `mirror-bot mcp`.
struct McpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract:
            "Give a program with a language model the reports, and operations if you allow it.",
        discussion: """
            A server of the Model Context Protocol for one mirror: a client starts this command and talks to it over its \
            standard input and output, until it closes the input. It shows the reports that other commands print with \
            --json, and no secret. With --allow-changes the client can also pause, plan, approve, undo and the like, \
            each time only if the thing is still as a report showed it. docs/mcp.md tells how to add it to a client.
            """)

    @Flag(help: "Let the client change the mirror; without it, it can only read.")
    var allowChanges = false

    @OptionGroup var options: MirrorOptions

    func run() async throws {
        // A missing part of the setup is reported before the first message.
        try await options.withMirror(allowsMoved: true) { _ in }
        let console = Console.current
        let input = try LineReader(console.input.path, longest: McpServer.longestLine)
        try await McpServer(
            McpTools(options: options, allowsChanges: allowChanges), version: Version.current,
            output: console.output
        ).run(input)
    }
}
