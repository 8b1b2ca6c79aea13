import Archive
import ArgumentParser
import Control
import Favorites
import Foundation
import Import
import Localization
import MeCab
import Mirroring
import Networks
import Outbox
import Redis
import Settings
import Storage
import Web

/// The documented exit codes, as in `sysexits.h`.
enum ExitStatus: Int32 {
    case usage = 64
    case badData = 65
    case unavailable = 69
    case bug = 70
    case tryLater = 75
    case refused = 77
    case configuration = 78
}

/// An error of a command, with its message on the terminal and its exit code.
struct Failure {
    private let error: any Error
    private let command: any ParsableCommand.Type
    private let root: any ParsableCommand.Type

    /// - Parameters:
    ///   - error: The error.
    ///   - command: The command that failed.
    ///   - root: The root command, which formats the parser's errors.
    init(
        _ error: any Error, of command: any ParsableCommand.Type,
        under root: any ParsableCommand.Type
    ) {
        self.error = error
        self.command = command
        self.root = root
    }

    /// Prints the error, or the requested help or version, and returns the exit code.
    func tell() -> Int32 {
        if let usageError {
            let usage = CommandPath.usage(of: usageError.command, under: root)
            StandardError.write(Self.line(usageError.message) + usage + "\n")
            return ExitStatus.usage.rawValue
        }
        guard let status else { return tellAsParser() }
        StandardError.write(Self.line(error))
        if let hint { StandardError.write("  \(hint)\n") }
        return status.rawValue
    }

    /// The line that tells a person of an error.
    static func line(_ error: Any) -> String {
        localized("error: \(Printable.lines("\(error)"))") + "\n"
    }

    /// Prints help, the version or a usage error with the parser's text, and returns the exit code.
    private func tellAsParser() -> Int32 {
        let code = root.exitCode(for: error)
        let text = root.fullMessage(for: error, columns: HelpText.unwrapped)
        guard !text.isEmpty else { return code.rawValue }
        if code == .success {
            // A version, a script or a machine-readable description is printed unchanged.
            let isHelp = text.hasPrefix("OVERVIEW: ")
            print(isHelp ? HelpText(columns: Terminal.output.columns).help(text) : text)
            return flush() ?? code.rawValue
        } else {
            let help = HelpText(columns: Terminal.error.columns)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { $0.hasPrefix("Usage: ") ? help.usage(String($0)) : String($0) }
            StandardError.write(lines.joined(separator: "\n") + "\n")
        }
        return code.rawValue
    }

    /// Flushes the output; on failure prints the reason and returns the exit code.
    private func flush() -> Int32? {
        do {
            try Console.current.output.flush()
            return nil
        } catch {
            return Failure(error, of: command, under: root).tell()
        }
    }

    /// Ends the process at once, without the exit handlers of the C libraries, whose threads may
    /// still run.
    static func endProcess(_ code: Int32) -> Never {
        // The process ends, even if the output fails.
        try? Console.process.output.flush()
        fflush(nil)
        _exit(code)
    }

    /// The exit code of an error of this program; nil for an error of the parser.
    var status: ExitStatus? {
        switch error {
        case is ConfigurationError, is MeCabError: .configuration
        case is WebServer.Unavailable: .unavailable
        case is ImportError, is ArchiveError, is EntryProblem: .badData
        case let error as CommandError: error.status
        case is InputEnded: .usage
        case let error as ChangeRefusal: status(of: error)
        case let error as LoginRefusal: status(of: error)
        case is ActionNameError: .usage
        case let error as NetworkError: status(of: error)
        case let error as StorageError: status(of: error)
        case let error as RedisError: status(of: error)
        case let error as FavoritesError:
            error.code == .invalidConfiguration ? .configuration : .unavailable
        case let error as OutboxError: error.code == .unfitting ? .badData : .tryLater
        case is CancellationError: .tryLater
        case is ExitCode, is CleanExit, is ValidationError, is UnknownCommand, is MissingSlot: nil
        default: isParserError ? nil : .bug
        }
    }

    /// A usage error that is found only when the command runs, or an unknown command; nil for any
    /// other error.
    private var usageError: (message: String, command: any ParsableCommand.Type)? {
        switch error {
        case let error as UnknownCommand: (error.description, error.parent)
        case let error as MissingSlot: (error.description, error.command)
        case let error as ValidationError: (error.message, command)
        case let error as ChangeRefusal where error.code == .unusable: (error.description, command)
        default: nil
        }
    }

    private func status(of error: ChangeRefusal) -> ExitStatus {
        switch error.code {
        case _ where error.isMisuse: .usage
        case .changed, .busy: .tryLater
        case .notAllowed: .configuration
        default: .badData
        }
    }

    private func status(of error: LoginRefusal) -> ExitStatus {
        switch error {
        case .lacks: .refused
        case .isOther, .isBound: .configuration
        case .isHeld: .tryLater
        }
    }

    private func status(of error: NetworkError) -> ExitStatus {
        switch error.code {
        case .configuration: .configuration
        case .redirected where error.operation == .logIn: .configuration
        case .rateLimited, .capReached, .creditsDepleted, .overBudget: .tryLater
        case .rejected where error.operation == .logIn: .refused
        case _ where error.stopsActor: .refused
        default: .unavailable
        }
    }

    private func status(of error: RedisError) -> ExitStatus {
        switch error.code {
        case .invalidConfiguration: .configuration
        case .authentication: .refused
        default: .unavailable
        }
    }

    private func status(of error: StorageError) -> ExitStatus {
        switch error.code {
        case .configuration, .outOfDate: .configuration
        case .authentication: .refused
        case .corrupt: .badData
        case .busy, .serialization: .tryLater
        case .other, .decoding, .closed, .constraint, .uniqueViolation: .bug
        default: .unavailable
        }
    }

    private var hint: String? {
        status == .bug
            ? localized("this is a bug; please report it with the command and the line above") : nil
    }

    /// ArgumentParser's own error types are internal; they are recognized by their exit code.
    private var isParserError: Bool {
        let code = root.exitCode(for: error)
        return code == .validationFailure || code == .success
    }
}

/// An error of a command, with its exit code.
struct CommandError: Error, CustomStringConvertible {
    let status: ExitStatus
    let description: String

    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }
}

/// The input ended where an answer was expected, or Ctrl-C was pressed while keys are read one by
/// one.
struct InputEnded: Error, CustomStringConvertible {
    static var nothing: InputEnded { InputEnded(cause: localized("nothing was entered")) }

    let cause: String

    var description: String { localized("\(cause); nothing was changed") }
}
