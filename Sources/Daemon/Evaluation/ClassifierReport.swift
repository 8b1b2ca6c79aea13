package import Favorites

/// What an evaluation of the classifier found, and on what.
package struct ClassifierReport: Sendable {
    /// A file that was read.
    package struct File: Sendable {
        /// As it was given.
        package let path: String
        /// What was left out, by reason, and what could not be read.
        package let summary: TrainingSummary

        init(_ file: LabelledFile) {
            path = file.path
            summary = file.summary
        }

        /// Lines that were left out or could not be read.
        package var leftOut: Int { summary.leftOut.values.reduce(summary.problemCount, +) }
    }

    package let scores: FavoriteScores
    /// One for each tested post, in the order in which they were predicted.
    package let predictions: [Prediction]
    package let words: FeatureWords
    /// Each post was learned after it was predicted.
    package let isPrequential: Bool
    /// The posts were predicted in the order of their times, not of the file.
    package let isInTimeOrder: Bool
    /// Nil if nothing was learned before.
    package let training: File?
    package let testing: File
    /// The file whose last posts told the base rate; nil if it is that of the learned posts.
    package let baseRateFile: String?
    /// Tested posts that were also learned before, which makes them easier than new ones.
    package let repeated: Int

    init(
        outcome: FavoriteEvaluation.Outcome, words: FeatureWords, isPrequential: Bool, isInTimeOrder: Bool,
        training: File?, testing: File, baseRateFile: String?, repeated: Int
    ) {
        scores = outcome.scores
        predictions = outcome.predictions
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
        case leftOutOfTraining = "left_out_train"
        case leftOutOfTesting = "left_out_test"
    }

    /// The keys of ``scores`` and a few of its own.
    package func encode(to encoder: any Encoder) throws {
        try scores.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("mirror-bot/evaluate-classifier/1", forKey: .schema)
        try container.encode(words.rawValue, forKey: .features)
        try container.encode(isPrequential, forKey: .prequential)
        try container.encode(baseRateFile, forKey: .baseRateFile)
        try container.encode(repeated, forKey: .repeated)
        try container.encode(training?.leftOut ?? 0, forKey: .leftOutOfTraining)
        try container.encode(testing.leftOut, forKey: .leftOutOfTesting)
    }
}
