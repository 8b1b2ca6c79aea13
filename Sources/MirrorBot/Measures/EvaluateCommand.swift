import ArgumentParser

/// `mirror-bot evaluate`.
struct EvaluateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Measure how good the models and the rules are.",
        discussion: "Needs no account and no database, and changes nothing.",
        subcommands: [EvaluateSchedulerCommand.self, EvaluateClassifierCommand.self, EvaluateTextsCommand.self])
}
