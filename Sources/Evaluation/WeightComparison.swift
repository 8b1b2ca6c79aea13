package import Favorites
import Foundation
import Mirroring

/// How good the classifier is on the same posts with plain and with learned weights.
package struct WeightComparison: Equatable, Sendable, Encodable {
    /// The figures by which both are compared; nil for one that has no value.
    package struct Side: Equatable, Sendable, Encodable {
        package let averagePrecision: Double?
        package let rocAUC: Double?
        /// ``Calibration/logLoss``.
        package let logLoss: Double?
        /// ``Calibration/expectedError``.
        package let calibrationError: Double?
        /// Of what the bot would have favorited at the threshold.
        package let precision: Double?
        /// Of what the human favorited.
        package let recall: Double?
        /// How many posts the bot would have favorited.
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
            // Written one by one because a figure without a value must be there as null.
            for (key, value) in figures { try container.encode(value, forKey: key) }
            try container.encode(fired, forKey: .fired)
        }
    }

    package let plain: Side
    package let weighted: Side
    /// The last weights that were fitted; nil if too little was learned for any.
    package let weights: EvidenceWeights?
    /// The favorite rate at which the weighted bot favorites as many posts as the plain one does at
    /// the threshold; nil where there is none.
    package let equalThreshold: Double?

    /// - Parameters:
    ///   - plain: What was predicted with plain weights.
    ///   - weighted: What was predicted of the same posts with learned ones.
    ///   - mayFire: Whether enough had been learned for each of them to become a favorite.
    ///   - weights: The last weights that were fitted; nil for none.
    package init(
        plain: [Prediction], weighted: [Prediction], mayFire: [Bool], weights: EvidenceWeights?
    ) {
        self.plain = Side(plain)
        self.weighted = Side(weighted)
        self.weights = weights
        let rates = zip(weighted, mayFire).filter(\.1).map(\.0.logRate)
        equalThreshold = Self.threshold(above: plain.count(where: \.isFired), of: rates)
    }

    /// The rate that as many of the rates exceed as wanted, in the middle between two; nil if there
    /// is none.
    private static func threshold(above number: Int, of logRates: [Double]) -> Double? {
        let sorted = logRates.sorted(by: >)
        guard number > 0, number < sorted.count, sorted[number - 1] > sorted[number] else {
            return nil
        }
        let rate = exp((sorted[number - 1] + sorted[number]) / 2)
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
