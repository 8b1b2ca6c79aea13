import ArgumentParser
import Control
import Evaluation
import Favorites
import Foundation
import Mirroring
import Posts
import Settings
import Storage

/// `mirror-bot evaluate classifier`.
struct EvaluateClassifierCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "classifier",
        abstract: "Measure how well favorites are predicted.",
        discussion: """
            Learns the posts of one file and predicts those of another. Both are JSON Lines as for train classifier \
            --from: id, author, text, created_at and favorite (true or false), for every post that was on the \
            human's timeline.

            The base rate of favorites is that of the learned posts. If their order is not that of a timeline, such \
            as all favorites first, --base-rate-tail 800 takes it from the last 800 posts of train.jsonl beside the \
            file, and --base-rate-from from another file.

            The figures and predictions use the weights in use. A table compares plain and learned weights and, where \
            there are other features than words, the learned weights of words alone. Weights are fitted on the \
            learned posts, each judged by all others.
            """)

    @Option(help: ArgumentHelp("Labelled posts to learn; - is standard input.", valueName: "path"))
    var train: String?

    @Option(
        help: ArgumentHelp("Labelled posts to predict; - is standard input.", valueName: "path"))
    var test: String

    @Flag(
        help: """
            Predict the posts in the order of time, and learn each after its prediction, and 50 posts later whether it \
            was a favorite. --train is optional then.
            """)
    var prequential = false

    @Option(
        help: ArgumentHelp(
            "full, spelling, pairs, content or nouns; overrides \(Setting.features.name).",
            valueName: "words"),
        transform: Self.words)
    var features: FeatureWords?

    @Option(
        help: ArgumentHelp(
            "learned or plain; overrides \(Setting.oldBot.name).", valueName: "which"),
        transform: Self.weighting)
    var weights: Weighting?

    @Option(
        help: ArgumentHelp(
            "The rate to exceed; overrides \(Setting.favoriteRateThreshold.name).",
            valueName: "number"))
    var threshold: Double?

    @Option(
        help: ArgumentHelp(
            "Take the base rate from the last so many posts only.", valueName: "number"))
    var baseRateTail: Int?

    @Option(
        help: ArgumentHelp("Take the base rate from the posts of another file.", valueName: "path"))
    var baseRateFrom: String?

    @Option(
        help: ArgumentHelp(
            "Write the id and the logarithm of the favorite rate of each post.", valueName: "path"))
    var predictions: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard train != nil || prequential else {
            throw ValidationError("--train is missing; only --prequential can begin without it")
        }
        let inputs = [train, baseRateFrom, test].compactMap(\.self)
        guard inputs.count(where: { $0 == "-" }) < 2 else {
            throw ValidationError(
                "standard input can be only one of --train, --test and --base-rate-from")
        }
        if let threshold, !FavoriteConfiguration.isThreshold(threshold) {
            throw ValidationError("--threshold is \(threshold); expected a number above 0")
        }
        if let baseRateTail, baseRateTail < 1 {
            throw ValidationError("--base-rate-tail is \(baseRateTail); expected a number above 0")
        }
        if baseRateTail != nil, train == nil, baseRateFrom == nil {
            throw ValidationError("--base-rate-tail needs --train or --base-rate-from")
        }
        if predictions == "-" {
            throw ValidationError("--predictions needs a file; the report is on standard output")
        }
        if let predictions, inputs.contains(where: { Self.isSameFile($0, predictions) }) {
            throw ValidationError("--predictions would overwrite a file that is read")
        }
    }

    func run() async throws {
        let console = Console.current
        let values = try SettingValues.load(
            environment: console.environment, folder: console.folder)
        let settings = try MirrorConfiguration(
            values, environment: console.environment, readsAccounts: false)
        let evaluator = ClassifierEvaluator(
            words: features ?? settings.mirror.featureWords,
            dictionary: settings.process.dictionary,
            configuration: try FavoriteConfiguration(
                threshold: threshold ?? settings.mirror.favorites.threshold,
                weighting: weights ?? settings.mirror.favorites.weighting))
        let report = try await evaluator.evaluate(
            training: train.map(console.path), testing: console.path(test),
            baseRate: .init(path: baseRateFrom.map(console.path), tail: baseRateTail),
            isPrequential: prequential)
        for line in ClassifierReportView.warnings(report) {
            StandardError.write("warning: \(line)\n")
        }
        if let predictions { try write(report, to: predictions) }
        if json { return try JSONOutput.print(report) }
        for line in ClassifierReportView.lines(report, terminal: .output) { print(line) }
    }

    /// Writes the predictions to the file itself and not to a temporary one, because the path may
    /// be a pipe or a device.
    private func write(_ report: ClassifierReport, to path: String) throws {
        let lines = report.predictions.map { String(format: "%@\t%.9f\n", $0.id.value, $0.logRate) }
        let name = Console.current.path(path)
        let descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        do throws(FileFault) {
            guard descriptor >= 0 else { throw FileFault(errno, at: name) }
            defer { close(descriptor) }
            try FileFault.write(Array(lines.joined().utf8), to: descriptor, at: name)
        } catch {
            throw CommandError(
                .unavailable,
                "could not write the predictions to \(Printable.line(path)): \(Printable.line("\(error)"))"
            )
        }
    }

    private static func isSameFile(_ first: String, _ second: String) -> Bool {
        guard first != "-" else { return false }
        return canonical(first) == canonical(second)
    }

    private static func canonical(_ path: String) -> String {
        URL(fileURLWithPath: Console.current.path(path)).resolvingSymlinksInPath()
            .standardizedFileURL.path
    }

    private static func words(_ text: String) throws -> FeatureWords {
        guard let words = FeatureWords(rawValue: text) else {
            throw ValidationError(
                "--features is \"\(text)\"; expected full, spelling, pairs, content or nouns")
        }
        return words
    }

    private static func weighting(_ text: String) throws -> Weighting {
        guard let weighting = Weighting(rawValue: text) else {
            throw ValidationError("--weights is \"\(text)\"; expected learned or plain")
        }
        return weighting
    }
}
