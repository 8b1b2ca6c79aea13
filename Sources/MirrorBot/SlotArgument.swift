import ArgumentParser

/// A command whose first argument may be a slot of a plan.
protocol TakesSlot: ParsableCommand {}

/// The help and the errors of slot arguments; `TypedSlot` parses them.
enum SlotArgument {
    static let help: ArgumentHelp =
        "As 4 or '#4' for today's, 2026-11-24#2, a time such as 14:05, next, or an id."

    /// The reason why a typed argument may be missing.
    static let comment = "a shell takes #4 for a comment: write 4 or '#4'"
}

/// The error for a missing slot, most likely because the shell took it for a comment.
struct MissingSlot: Error, CustomStringConvertible {
    let description = "no slot was given; \(SlotArgument.comment)"
    let command: any ParsableCommand.Type

    /// Recognizes the error; nil for any other error, and for a command without a slot.
    ///
    /// - Parameters:
    ///   - message: The message of the parser.
    ///   - arguments: The words after the program's name.
    ///   - root: The command line.
    init?(_ message: String, in arguments: [String], of root: any ParsableCommand.Type) {
        // The parser's error types are internal, so the message is checked.
        let isMissing = ["'<slot>'", "'<post>'"].contains {
            message.hasPrefix("Missing expected argument \($0)")
        }
        guard isMissing,
            let command = CommandPath.command(of: arguments, under: root) as? any TakesSlot.Type
        else {
            return nil
        }
        self.command = command
    }
}
