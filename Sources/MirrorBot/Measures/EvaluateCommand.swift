import ArgumentParser

/// `mirror-bot evaluate`.
struct EvaluateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate",
        abstract: "Measure the models and the rules on files.",
        discussion: "Needs no account and no database, and changes nothing.",
        subcommands: [
            EvaluateSchedulerCommand.self, EvaluateClassifierCommand.self,
            EvaluateTextsCommand.self,
        ])
}
