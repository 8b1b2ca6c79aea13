import ArgumentParser
import Control
import Fleet
import Foundation
import Mirroring

/// The command line.
@main
struct MirrorBot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirror-bot",
        abstract: "Mirrors one person into a bot account that posts, replies and favorites as they do.",
        discussion: """
            Try it without any account:
              mirror-bot demo

            With real accounts on Mastodon, X or Bluesky:
              mirror-bot login mastodon --as human
              mirror-bot login mastodon --as bot
              mirror-bot train scheduler
              mirror-bot train classifier
              mirror-bot plan
              mirror-bot run --dry-run
              mirror-bot run

            Exit codes:
              0 done   64 usage   65 bad data   69 unavailable
              70 bug   75 try later   77 refused   78 configuration
            """,
        version: Version.current,
        subcommands: [
            SetupCommand.self, DemoCommand.self, LoginCommand.self, LogoutCommand.self, TrainCommand.self,
            PlanCommand.self,
            PostCommand.self, NeverCommand.self, ForgetCommand.self, UndoCommand.self, PauseCommand.self,
            ResumeCommand.self, RunCommand.self, StatusCommand.self, HistoryCommand.self, TextsCommand.self,
            NotifyCommand.self, ExplainCommand.self,
            StatsCommand.self, ReportCommand.self, ProfileCommand.self, DoctorCommand.self, ScoreCommand.self,
            SuggestionsCommand.self, PeopleCommand.self, EvaluateCommand.self, ConfigCommand.self, SetCommand.self,
            UnsetCommand.self, ZonesCommand.self, RebindCommand.self, BackupCommand.self, MirrorsCommand.self,
            MoveCommand.self,
            MigrateCommand.self,
        ])

    /// The parser's errors begin as ours do.
    static let _errorPrefix = "error: "

    static func main() async {
        ProcessSetup.run()
        Failure.leave(await status(of: Array(CommandLine.arguments.dropFirst())))
    }

    /// Runs a command to its end.
    ///
    /// - Parameters:
    ///   - arguments: The words after the program's name.
    ///   - console: What the command has in the place of its process.
    /// - Returns: The exit code; why it is not 0 was written to the console's standard error.
    static func status(of arguments: [String], in console: Console = .process) async -> Int32 {
        LogOutput.install()
        return await Console.$current.withValue(console) {
            var failed: any ParsableCommand.Type = MirrorBot.self
            do {
                var command = try await parse(arguments)
                failed = type(of: command)
                if var asynchronous = command as? any AsyncParsableCommand {
                    try await asynchronous.run()
                } else {
                    try command.run()
                }
                try console.output.flush()
                return 0
            } catch {
                return Failure(error, of: failed, under: MirrorBot.self).tell()
            }
        }
    }
}

extension MirrorBot {
    /// The command that the arguments name.
    ///
    /// - Throws: ``UnknownCommand`` for a word that is none but nearly one; the parser's errors.
    private static func parse(_ arguments: [String]) async throws -> any ParsableCommand {
        do {
            return try await asyncParseAsRoot(arguments)
        } catch {
            // Anything but a usage error is help or a version that was asked for.
            guard exitCode(for: error) == .validationFailure,
                let unknown = UnknownCommand.first(in: arguments, of: MirrorBot.self)
            else { throw error }
            throw unknown
        }
    }
}
