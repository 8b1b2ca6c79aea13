import Archive
import ArgumentParser
import Control
import Favorites
import Foundation
import Localization
import Mirroring
import Networks
import Posts
import Settings

/// `mirror-bot train`.
struct TrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "train",
        abstract: "Learn from the human's posts and favorites.",
        subcommands: [
            TrainSchedulerCommand.self, TrainClassifierCommand.self, TrainClearCommand.self,
        ])
}

/// `mirror-bot train scheduler`.
struct TrainSchedulerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scheduler",
        abstract: "Read the human's posts: the source of times and texts.",
        discussion: """
            Reads the newest 3,200 posts from the network. A second run reads only new posts, or continues an \
            interrupted one. Reading X costs money: the command first prints the price, and spends at most the month's \
            share for older posts, a quarter of the budget. run reads the rest by itself, month by month; a downloaded \
            archive costs nothing.

            --from reads a downloaded archive instead, without an account: of X (zip, folder or tweets.csv) or \
            Mastodon (zip, tar.gz or folder), a file of mastodon-archive, an export of Pixelfed, Misskey, Sharkey or \
            Firefish (for the last three, log the human in first), a repository of Bluesky (CAR) or its records as \
            JSON, or JSON Lines. If X split an archive into several zips, extract all into one folder. \
            docs/archives.md lists what is read.
            """)

    @OptionGroup var options: MirrorOptions

    @Option(
        help: ArgumentHelp(
            "A downloaded archive or JSON Lines; - is standard input.", valueName: "path")
    )
    var from: String?

    @Flag(help: "X archive: also read the human's posts in communities.")
    var communities = false

    @Flag(help: "Start over: replace the archived posts as soon as new ones can be read.")
    var again = false

    @OptionGroup var ifPossibleFlag: IfPossibleFlag
    @OptionGroup var output: ChangeOutput

    func validate() throws {
        if communities, from == nil { throw ValidationError("--communities needs --from") }
    }

    func run() async throws {
        try await ifPossibleFlag.runTolerantly(output) { try await train() }
    }

    private func train() async throws {
        try await options.withMirror(making: .mirror) { mirror in
            let progress = ProgressView()
            let outcome = try await mirror.trainScheduler(
                from: from.map {
                    .archive(path: Console.current.path($0), includesCommunities: communities)
                } ?? .account,
                again: again, report: progress.show)
            progress.finish()
            try tell(outcome)
            await NextStep.print(for: mirror)
        }
    }

    private func tell(_ outcome: SchedulerTraining) throws {
        if output.json { return try JSONOutput.print(outcome) }
        outcome.reading.tell()
        print(localized("the archive holds \(outcome.archived) posts"))
        if let zone = outcome.timeZone, let source = outcome.timeZoneSource {
            print(
                localized(
                    "the time zone is \(zone), \(source.words); set \(Setting.timeZone.name) if it is another"
                ))
        } else if outcome.timeZone == nil {
            print(
                localized(
                    "set \(Setting.timeZone.name) before run: there are too few posts to guess the human's time zone from"
                ))
        }
    }
}

/// `mirror-bot train classifier`.
struct TrainClassifierCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "classifier",
        abstract: "Learn which posts the human favorites.",
        discussion: """
            Reads 800 favorites and 800 posts of the home timeline from the network. A second run reads only new \
            posts. On X, it spends at most the month's share for favorites, a quarter of the budget; run reads the rest \
            by itself, month by month. --from reads favorites with their texts from a file instead: an X archive, a \
            file of mastodon-archive, or labelled JSON Lines. Other archives do not hold the texts of favorites.
            """)

    @OptionGroup var options: MirrorOptions

    @Option(
        help: ArgumentHelp(
            "A downloaded archive or JSON Lines; - is standard input.", valueName: "path")
    )
    var from: String?

    @Option(
        help: ArgumentHelp(
            "Maximum of favorites, and of other posts, to read; 800 from the network, all from an archive.",
            valueName: "number"))
    var limit: Int?

    @Flag(help: "Start over: replace what was learned as soon as posts can be read.")
    var again = false

    @OptionGroup var ifPossibleFlag: IfPossibleFlag
    @OptionGroup var output: ChangeOutput

    func validate() throws {
        if let limit, !(1...1_000_000).contains(limit) {
            throw ValidationError("--limit is \(limit); expected a number from 1 to 1000000")
        }
    }

    func run() async throws {
        try await ifPossibleFlag.runTolerantly(output) { try await train() }
    }

    private func train() async throws {
        try await options.withMirror(making: .mirror) { mirror in
            let progress = ProgressView()
            let outcome = try await mirror.trainClassifier(
                from: from.map { .archive(path: Console.current.path($0)) } ?? .account,
                limit: limit, again: again, report: progress.show)
            progress.finish()
            try tell(outcome)
            await NextStep.print(for: mirror)
        }
    }

    private func tell(_ outcome: ClassifierTraining) throws {
        if let problem = outcome.countsProblem {
            StandardError.write(
                localized("warning: \(problem); favorites wait for it, but nothing learned is lost")
                    + "\n")
        }
        if output.json { return try JSONOutput.print(outcome) }
        outcome.reading.tell()
        let favorites = outcome.favorites
        let normals = outcome.normals
        if let wordless = outcome.wordless, wordless > 0 {
            print(
                localized(
                    "learned so far: \(favorites) favorites, \(normals) other posts, \(wordless) of them without a word"
                ))
        } else {
            print(localized("learned so far: \(favorites) favorites, \(normals) other posts"))
        }
        if let waiting = outcome.waiting {
            print(localized("favorites wait until there is more: \(waiting)"))
        }
    }
}

/// `mirror-bot train clear`.
struct TrainClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove what this mirror has learned.",
        discussion:
            "Removes posts and examples. The history, decisions about people and other mirrors stay."
    )

    @OptionGroup var options: MirrorOptions

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @OptionGroup var output: ChangeOutput

    func run() async throws {
        try await options.withMirror { mirror in
            let name = mirror.name
            let posts = try await mirror.archive.count()
            let question =
                "Remove \(posts) archived posts and everything learned by mirror \(name)? [y/N] "
            try Confirmation.require(question, unless: yes, or: "nothing was removed")
            let outcome = try await mirror.forgetTraining()
            if output.json { return try JSONOutput.print(outcome) }
            print("removed what mirror \(name) had learned")
        }
    }
}

/// The flag with which the command succeeds although the training is not possible yet.
struct IfPossibleFlag: ParsableArguments {
    @Flag(help: "End with 0 if a token is missing or the network asks to wait; for setup scripts.")
    var ifPossible = false

    /// Runs `body`; with the flag, an error that only requires waiting becomes a warning.
    func runTolerantly(_ output: ChangeOutput, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch  where ifPossible && Self.canWait(error) {
            if output.json { try JSONOutput.print(TrainingWaits(reason: "\(error)")) }
            StandardError.write("not trained yet: \(Printable.lines("\(error)"))\n")
        }
    }

    private static func canWait(_ error: any Error) -> Bool {
        switch error {
        case let error as ConfigurationError: error.isMissing
        case let error as NetworkError: error.code == .rateLimited || error.code == .unavailable
        default: false
        }
    }
}

/// Asks a person at the terminal.
enum Confirmation {
    /// Continues only if a person answers yes, or the command has `--yes`.
    ///
    /// - Parameters:
    ///   - question: The question; not asked without a terminal.
    ///   - yes: Whether the command has `--yes`.
    ///   - outcome: The result without a yes, such as "nothing was removed".
    /// - Throws: ``CommandError`` for usage.
    static func require(
        _ question: String, unless yes: Bool, or outcome: String = localized("nothing was changed")
    ) throws {
        if yes || ask(question) { return }
        throw CommandError(.usage, localized("\(outcome); answer y, or pass --yes"))
    }

    /// Whether a person answers yes; false without a terminal.
    static func ask(_ question: String) -> Bool {
        guard Console.current.input.isInteractive else { return false }
        StandardError.write(question)
        return ["y", "yes", "はい"].contains(Console.current.input.readLine()?.lowercased())
    }
}

extension TrainingReading {
    /// Prints the result of a training.
    fileprivate func tell() {
        for sentence in archive { print(Printable.lines(sentence)) }
        print(localized("read \(read) posts: \(learned) new, \(known) known"))
        if pictures > 0 { print(localized("kept \(pictures) files of their pictures")) }
        for part in leftOut { print(localized("left out \(part.count): \(part.reason)")) }
        for sentence in missing { print(Printable.lines(sentence)) }
        guard problemCount > 0 else { return }
        print(localized("left out because they cannot be read: \(problemCount)"))
        let shownProblems = problems.prefix(10)
        for problem in shownProblems { print("  \(Printable.line(problem))") }
        if problemCount > 10 {
            print("  " + localized("and \(problemCount - shownProblems.count) more"))
        }
    }
}
