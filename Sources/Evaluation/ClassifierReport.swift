import Blocking
package import Favorites
import Foundation
import Import
import MeCab
package import Mirroring
import Settings

/// The results of evaluating the classifier, and the files they come from.
package struct ClassifierReport: Sendable {
    /// A file that was read.
    package struct File: Sendable {
        /// The path of the file, as it was given.
        package let path: String
        /// The numbers of items left out, by reason, and the items that could not be read.
        package let summary: TrainingSummary

        init(_ file: LabelledFile) {
            path = file.path
            summary = file.summary
        }

        /// The number of lines that were left out or could not be read.
        package var leftOut: Int { summary.leftOut.values.reduce(summary.problemCount, +) }
    }

    package let scores: FavoriteScores
    /// The prediction for each tested post, in the order in which the posts were predicted.
    package let predictions: [Prediction]
    /// The quality of the predictions for the same posts with plain and with learned weights.
    package let comparison: WeightComparison
    /// The same comparison for content words alone; nil if content words are the only features.
    package let wordsAlone: WeightComparison?
    package let words: FeatureWords
    /// Whether each post was learned after it was predicted.
    package let isPrequential: Bool
    /// Whether the posts were predicted in the order of their times, not in the order of the file.
    package let isInTimeOrder: Bool
    /// The file that was learned before the first prediction; nil if there was none.
    package let training: File?
    package let testing: File
    /// The file whose last posts determine the base rate; nil if it is the rate of the learned
    /// posts.
    package let baseRateFile: String?
    /// The number of tested posts that were also learned before, which makes them easier to
    /// predict.
    package let repeated: Int

    init(
        outcome: FavoriteEvaluation.Outcome, wordsAlone: WeightComparison?, words: FeatureWords,
        isPrequential: Bool,
        isInTimeOrder: Bool, training: File?, testing: File, baseRateFile: String?, repeated: Int
    ) {
        scores = outcome.scores
        predictions = outcome.predictions
        comparison = outcome.comparison
        self.wordsAlone = wordsAlone
        self.words = words
        self.isPrequential = isPrequential
        self.isInTimeOrder = isInTimeOrder
        self.training = training
        self.testing = testing
        self.baseRateFile = baseRateFile
        self.repeated = repeated
    }
}

extension ClassifierReport: Encodable {
    private enum Key: String, CodingKey {
        case schema, features, prequential, repeated
        case baseRateFile = "base_rate_file"
        case wordsAlone = "words_alone"
        case leftOutOfTraining = "left_out_train"
        case leftOutOfTesting = "left_out_test"
    }

    /// Encodes the keys of ``scores``, the keys of ``comparison``, and a few keys of the report
    /// itself.
    package func encode(to encoder: any Encoder) throws {
        try scores.encode(to: encoder)
        try comparison.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("mirror-bot/evaluate-classifier/1", forKey: .schema)
        try container.encode(words.rawValue, forKey: .features)
        if let wordsAlone { try container.encode(wordsAlone, forKey: .wordsAlone) }
        try container.encode(isPrequential, forKey: .prequential)
        try container.encode(baseRateFile, forKey: .baseRateFile)
        try container.encode(repeated, forKey: .repeated)
        try container.encode(training?.leftOut ?? 0, forKey: .leftOutOfTraining)
        try container.encode(testing.leftOut, forKey: .leftOutOfTesting)
    }
}

/// Measures the classifier on labelled files, without a mirror: it uses no database, no server and
/// no account.
package struct ClassifierEvaluator: Sendable {
    /// The posts from which the human's rate of favorites is estimated.
    package struct BaseRateSource: Sendable {
        /// The path of the file; nil for the file of the learned posts.
        package var path: String?
        /// The number of lines at the end of the file that are used; nil for all lines.
        package var tail: Int?

        package init(path: String? = nil, tail: Int? = nil) {
            self.path = path
            self.tail = tail
        }
    }

    /// The name of the timeline's file in the folder of a training set.
    ///
    /// A training set lists favorites first, so it does not show the base rate.
    static let timelineName = "train.jsonl"

    private let words: FeatureWords
    private let dictionary: String
    private let configuration: FavoriteConfiguration

    /// - Parameters:
    ///   - words: The kinds of words that are features.
    ///   - dictionary: A value of `MECAB_DICTIONARY`.
    ///   - configuration: The threshold, and the number of posts that must be learned before
    ///     anything is a favorite.
    package init(words: FeatureWords, dictionary: String, configuration: FavoriteConfiguration) {
        self.words = words
        self.dictionary = dictionary
        self.configuration = configuration
    }

    /// Learns the posts of one file and predicts the posts of another, on a separate thread.
    ///
    /// - Parameters:
    ///   - training: The path of the posts to learn first; nil for none.
    ///   - testing: The path of the posts to predict.
    ///   - source: The posts for the base rate; by default the learned ones.
    ///   - isPrequential: Whether each post is learned after it was predicted, in the order of
    ///     time.
    /// - Returns: The measures and the files on which they are based.
    /// - Throws: `ImportError` for a file that cannot be used, `MeCabError` without a dictionary.
    package func evaluate(
        training: String?, testing: String, baseRate source: BaseRateSource = BaseRateSource(),
        isPrequential: Bool = false
    ) async throws -> ClassifierReport {
        let executor = ThreadExecutor(name: "evaluation")
        defer { executor.shutdown() }
        return try await executor.run {
            try report(
                training: training, testing: testing, baseRate: source, isPrequential: isPrequential
            )
        }
    }

    private func report(
        training: String?, testing: String, baseRate source: BaseRateSource, isPrequential: Bool
    ) throws -> ClassifierReport {
        let tokenizer = try Tokenizer(dictionary: dictionary)
        let learnedFile = try training.map { try LabelledFile(path: $0) }
        let testedFile = try LabelledFile(path: testing)
        let timeline = try self.timeline(source, learned: learnedFile)
        let baseRate = timeline.map { file in BaseRate(of: file.posts.suffix(source.tail ?? .max)) }
        let learnedPosts = learnedFile?.posts ?? []
        func outcome(_ words: FeatureWords) -> FavoriteEvaluation.Outcome {
            let evaluation = FavoriteEvaluation(
                extractor: FeatureExtractor(tokenizer: tokenizer, words: words),
                configuration: configuration)
            return isPrequential
                ? evaluation.prequential(
                    training: learnedPosts, testing: testedFile.postsInTime, baseRate: baseRate)
                : evaluation.split(
                    training: learnedPosts, testing: testedFile.posts, baseRate: baseRate)
        }
        let learnedIDs = Set(learnedPosts.map(\.id))
        return ClassifierReport(
            outcome: outcome(words),
            wordsAlone: words.isOfWordsAlone ? nil : outcome(.content).comparison,
            words: words, isPrequential: isPrequential,
            isInTimeOrder: isPrequential && testedFile.isTimed,
            training: learnedFile.map { .init($0) }, testing: .init(testedFile),
            baseRateFile: timeline?.path,
            repeated: testedFile.posts.count { learnedIDs.contains($0.id) })
    }

    /// The file whose posts determine the base rate; nil for the rate of the learned posts.
    private func timeline(_ source: BaseRateSource, learned: LabelledFile?) throws -> LabelledFile?
    {
        if let path = source.path { return try LabelledFile(path: path) }
        guard source.tail != nil, let learned else { return nil }
        guard learned.isGrouped(atLeast: configuration.minimumPerCategory) else { return learned }
        // A training set lists favorites first. The timeline from which it was drawn is in the same
        // folder.
        let path = URL(fileURLWithPath: learned.path).deletingLastPathComponent()
            .appendingPathComponent(Self.timelineName).path
        guard learned.path != "-", FileManager.default.fileExists(atPath: path) else {
            throw ImportError(
                .nothingToRead, path: learned.path,
                "it lists all favorites before all other posts, so its end tells no base rate; "
                    + "name a file in the order of a timeline with --base-rate-from")
        }
        return try LabelledFile(path: path)
    }
}
