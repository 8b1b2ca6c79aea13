import ArgumentParser
import Commit
import Control
import Fleet
import Foundation
import Localization
import Mirroring

/// The program with its commands.
@main
struct MirrorBot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirror-bot",
        abstract:
            "Mirrors one person into a bot account that posts, replies and favorites as they do.",
        discussion: """
            Begin here; it asks for what it needs, step by step:
              mirror-bot setup

            Or look at it first, without an account:
              mirror-bot demo --web

            The same steps by hand, with accounts on Mastodon, X or Bluesky:
              mirror-bot login mastodon --as human
              mirror-bot login mastodon --as bot
              mirror-bot train scheduler
              mirror-bot train classifier
              mirror-bot plan
              mirror-bot run --dry-run
              mirror-bot run

            Exit codes:
              0 done          64 usage
              65 bad data     69 unavailable
              70 bug          75 try later
              77 refused      78 configuration
            """,
        version: "mirror-bot \(Version.current) (\(SourceCommit.name))",
        groupedSubcommands: [
            CommandGroup(
                name: "Set up",
                subcommands: demo + [
                    SetupCommand.self,
                    LoginCommand.self,
                    LogoutCommand.self,
                    TrainCommand.self,
                    ZonesCommand.self,
                    ProfileCommand.self,
                    ConfigCommand.self,
                    RunCommand.self,
                ]),
            CommandGroup(
                name: "Watch",
                subcommands: [
                    StatusCommand.self,
                    HistoryCommand.self,
                    ExplainCommand.self,
                    TextsCommand.self,
                    StatsCommand.self,
                    ReportCommand.self,
                    WebCommand.self,
                    McpCommand.self,
                    DoctorCommand.self,
                    NotifyCommand.self,
                ]),
            CommandGroup(
                name: "Steer",
                subcommands: [
                    PlanCommand.self,
                    PostCommand.self,
                    SuggestionsCommand.self,
                    NeverCommand.self,
                    ForgetCommand.self,
                    UndoCommand.self,
                    PauseCommand.self,
                    ResumeCommand.self,
                    RetireCommand.self,
                    SetCommand.self,
                    UnsetCommand.self,
                ]),
            CommandGroup(name: "People", subcommands: [PeopleCommand.self]),
            CommandGroup(
                name: "Data",
                subcommands: [
                    BackupCommand.self,
                    RestoreCommand.self,
                    MoveCommand.self,
                    MigrateCommand.self,
                    MirrorsCommand.self,
                    RebindCommand.self,
                ]),
        ] + measures)

    // A build with MIRROR_BOT_WORKER_ONLY lacks these commands.
    #if WORKER_ONLY
        private static let demo: [any ParsableCommand.Type] = []
        private static let measures: [CommandGroup] = []
    #else
        private static let demo: [any ParsableCommand.Type] = [DemoCommand.self]
        private static let measures = [
            CommandGroup(
                name: "Measure",
                subcommands: [ScoreCommand.self, RehearseCommand.self, EvaluateCommand.self])
        ]
    #endif

    /// The beginning of the parser's errors, which is the same as in this program's own errors.
    static let _errorPrefix = "error: "

    static func main() async {
        ProcessSetup.run()
        Failure.endProcess(await status(of: Array(CommandLine.arguments.dropFirst())))
    }

    /// Runs a command to its end.
    ///
    /// - Parameters:
    ///   - arguments: The words after the program's name.
    ///   - console: The console to use instead of the process.
    /// - Returns: The exit code; on failure the reason was written to the console's standard error.
    static func status(of arguments: [String], in console: Console = .process) async -> Int32 {
        LogOutput.install()
        return await Printable.$hasUnicode.withValue(console.output.terminal.isUnicode) {
            await Console.$current.withValue(console) { await run(arguments, in: console) }
        }
    }

    private static func run(_ arguments: [String], in console: Console) async -> Int32 {
        var commandType: any ParsableCommand.Type = MirrorBot.self
        var language = Language.english
        do {
            let command = try await parse(arguments)
            commandType = type(of: command)
            language = self.language(of: command, in: console)
            try await Language.$current.withValue(language) { try await perform(command) }
            try console.output.flush()
            return 0
        } catch {
            let failure = Failure(error, of: commandType, under: MirrorBot.self)
            return Language.$current.withValue(language) { failure.tell() }
        }
    }
}

extension MirrorBot {
    private static func perform(_ command: any ParsableCommand) async throws {
        var command = command
        if var asynchronous = command as? any AsyncParsableCommand {
            try await asynchronous.run()
        } else {
            try command.run()
        }
    }

    /// Returns the language in which a command speaks.
    ///
    /// The commands of the set-up use the language of the terminal if the terminal supports its
    /// letters. The commands that send notices or serve pages always use it. All other commands use
    /// English, because their tables and lists have no translation.
    private static func language(of command: any ParsableCommand, in console: Console) -> Language {
        switch command {
        case is SetupCommand where !console.error.terminal.isUnicode,
            is LoginCommand where !console.error.terminal.isUnicode:
            .english
        case is SetupCommand, is LoginCommand, is RunCommand, is WebCommand:
            Language.ofTerminal { console.environment[$0] }
        default: .english
        }
    }

    /// The command that the arguments name.
    ///
    /// - Throws: ``UnknownCommand`` for a misspelled command; ``MissingSlot``; the parser's errors.
    private static func parse(_ arguments: [String]) async throws -> any ParsableCommand {
        do {
            return try await asyncParseAsRoot(arguments)
        } catch {
            // All other results of the parser are requested help or versions.
            guard exitCode(for: error) == .validationFailure else { throw error }
            if let unknown = UnknownCommand.first(in: arguments, of: MirrorBot.self) {
                throw unknown
            }
            throw MissingSlot(message(for: error), in: arguments, of: MirrorBot.self) ?? error
        }
    }
}
