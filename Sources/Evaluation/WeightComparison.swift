package import Favorites
import Foundation
import Mirroring

/// The quality of the classifier on the same posts with plain and with learned weights.
package struct WeightComparison: Equatable, Sendable, Encodable {
    /// The figures of one kind of weights; a figure that has no value is nil.
    package struct Side: Equatable, Sendable, Encodable {
        package let averagePrecision: Double?
        package let rocAUC: Double?
        /// The mean loss of the predictions, as ``Calibration/logLoss``.
        package let logLoss: Double?
        /// The expected calibration error, as ``Calibration/expectedError``.
        package let calibrationError: Double?
        /// The share of the bot's favorites at the threshold that the human favorited too.
        package let precision: Double?
        /// The share of the human's favorites that the bot would have favorited.
        package let recall: Double?
        /// The number of posts that the bot would have favorited.
        package let fired: Int

        fileprivate init(_ predictions: [Prediction]) {
            let ranking = Ranking(predictions)
            let calibration = Calibration(predictions)
            let decisions = DecisionCounts(predictions)
            averagePrecision = ranking.averagePrecision
            rocAUC = ranking.rocAUC
            logLoss = calibration.logLoss
            calibrationError = calibration.expectedError
            precision = decisions.precision
            recall = decisions.recall
            fired = decisions.fired
        }

        private enum Key: String, CodingKey {
            case averagePrecision = "average_precision"
            case rocAUC = "roc_auc"
            case logLoss = "log_loss"
            case calibrationError = "ece"
            case precision, recall, fired
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            let figures: [(Key, Double?)] = [
                (.averagePrecision, averagePrecision), (.rocAUC, rocAUC), (.logLoss, logLoss),
                (.calibrationError, calibrationError), (.precision, precision), (.recall, recall),
            ]
            // Encoded one by one, because a figure without a value must appear as null.
            for (key, value) in figures { try container.encode(value, forKey: key) }
            try container.encode(fired, forKey: .fired)
        }
    }

    package let plain: Side
    package let weighted: Side
    /// The last fitted weights; nil if too little was learned.
    package let weights: EvidenceWeights?
    /// The favorite rate at which the weighted bot favorites as many posts as the plain one does at
    /// the threshold; nil if there is none.
    package let equalThreshold: Double?

    /// - Parameters:
    ///   - plain: The predictions with plain weights.
    ///   - weighted: The predictions for the same posts with learned weights.
    ///   - mayFire: For each post, whether enough had been learned for it to be favorited.
    ///   - weights: The last fitted weights; nil if too little was learned.
    package init(
        plain: [Prediction], weighted: [Prediction], mayFire: [Bool], weights: EvidenceWeights?
    ) {
        self.plain = Side(plain)
        self.weighted = Side(weighted)
        self.weights = weights
        let rates = zip(weighted, mayFire).compactMap { prediction, mayFire in
            mayFire ? prediction.logRate : nil
        }
        equalThreshold = Self.threshold(above: plain.count(where: \.isFired), of: rates)
    }

    /// A favorite rate that is exceeded by exactly `wantedNumber` of the rates: halfway between two
    /// neighbouring rates; nil if there is none.
    private static func threshold(above wantedNumber: Int, of logRates: [Double]) -> Double? {
        let sorted = logRates.sorted(by: >)
        guard wantedNumber > 0, wantedNumber < sorted.count,
            sorted[wantedNumber - 1] > sorted[wantedNumber]
        else {
            return nil
        }
        let rate = exp((sorted[wantedNumber - 1] + sorted[wantedNumber]) / 2)
        return rate.isFinite && rate > 0 ? rate : nil
    }

    private enum Key: String, CodingKey {
        case plain, weighted
        case weights = "learned_weights"
        case equalThreshold = "equal_threshold"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(plain, forKey: .plain)
        try container.encode(weighted, forKey: .weighted)
        try container.encode(weights.map { ReportedWeights($0) }, forKey: .weights)
        try container.encode(equalThreshold, forKey: .equalThreshold)
    }
}
