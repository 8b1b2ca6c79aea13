import ArgumentParser
import Mirroring
import Settings

/// The error for an argument that is not a command, with the name of the nearest command.
struct UnknownCommand: Error, CustomStringConvertible {
    let description: String
    /// The command without a subcommand of this name.
    let parent: any ParsableCommand.Type

    /// Returns the error for the first word that names no command.
    ///
    /// The result is nil if every word before the first option names a command, or if no command
    /// has a similar name.
    static func first(in arguments: [String], of root: any ParsableCommand.Type) -> UnknownCommand?
    {
        var parent = root
        for word in arguments {
            let commands = parent.configuration.subcommands
            guard !word.hasPrefix("-"), !commands.isEmpty else { return nil }
            if let command = commands.first(where: { $0.configuration.commandName == word }) {
                parent = command
                continue
            }
            #if WORKER_ONLY
                if ["demo", "evaluate", "rehearse", "score"].contains(word) {
                    return UnknownCommand(
                        description:
                            "\(word) is not part of this build, which holds only what a worker needs",
                        parent: parent)
                }
            #endif
            let names = commands.compactMap { $0.configuration.commandName }
            guard let nearestName = Spelling.nearest(to: word.lowercased(), among: names) else {
                return nil
            }
            return UnknownCommand(
                description:
                    "\"\(word)\" is no command; did you mean \(CommandPath.words(to: parent, under: root)) \(nearestName)?",
                parent: parent)
        }
        return nil
    }
}

/// The command line of a command.
enum CommandPath {
    /// Returns the words that call a command, such as `mirror-bot people link`.
    static func words(to command: any ParsableCommand.Type, under root: any ParsableCommand.Type)
        -> String
    {
        (path(from: root, to: command) ?? [root]).compactMap { $0.configuration.commandName }
            .joined(separator: " ")
    }

    /// The usage of the command, and the command that shows its help.
    static func usage(of command: any ParsableCommand.Type, under root: any ParsableCommand.Type)
        -> String
    {
        let usage = HelpText(columns: Terminal.error.columns).usage(
            "Usage: \(root.usageString(for: command))")
        return usage + "\n  See '\(words(to: command, under: root)) --help' for more information."
    }

    /// The command that is named by the words before the first option or argument.
    static func command(of arguments: [String], under root: any ParsableCommand.Type)
        -> any ParsableCommand.Type
    {
        var command = root
        for word in arguments {
            let children = command.configuration.subcommands
            guard let child = children.first(where: { $0.configuration.commandName == word }) else {
                break
            }
            command = child
        }
        return command
    }

    private static func path(
        from start: any ParsableCommand.Type, to command: any ParsableCommand.Type
    ) -> [any ParsableCommand.Type]? {
        if start == command { return [start] }
        for child in start.configuration.subcommands {
            if let pathFromChild = path(from: child, to: command) {
                return [start] + pathFromChild
            }
        }
        return nil
    }
}
