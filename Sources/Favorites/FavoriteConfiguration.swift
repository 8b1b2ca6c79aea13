import Foundation
import Localization

/// The origin of the weights of the kinds of evidence.
package enum Weighting: String, Sendable, CaseIterable {
    /// The weights are learned from the mirror's own examples.
    case learned
    /// All kinds of evidence have the same weight.
    case plain
}

/// The settings of the classifier: how it decides, and how much it remembers.
package struct FavoriteConfiguration: Equatable, Sendable {
    /// The threshold unless another one is set.
    package static let defaultThreshold = 2.0
    /// The number of kept examples unless another one is set.
    package static let defaultExampleLimit = 50_000

    /// A post whose favorite rate is above it counts as a favorite (`FAVORITE_RATE_THRESHOLD`).
    ///
    /// At 2 about two of three such posts are favorites of the human too, at 3 three of four.
    package let threshold: Double
    /// The natural logarithm of ``threshold``.
    private let logThreshold: Double
    /// The number of examples that are kept, newest first (`EXAMPLE_LIMIT`).
    package let exampleLimit: Int
    /// The number of days for which an example is kept.
    package var maximumAgeDays: Int
    /// The number of posts of each category below which nothing is a favorite.
    package let minimumPerCategory: Int
    /// Whether the weights of the evidence are learned.
    package let weighting: Weighting

    /// - Throws: ``FavoritesError`` with code `.invalidConfiguration` if the threshold is not a
    ///   number above 0, or another value is below 1.
    package init(
        threshold: Double = Self.defaultThreshold, exampleLimit: Int = Self.defaultExampleLimit,
        maximumAgeDays: Int = 180, minimumPerCategory: Int = 20,
        weighting: Weighting = .learned
    ) throws(FavoritesError) {
        guard Self.isThreshold(threshold) else {
            throw FavoritesError(
                .invalidConfiguration,
                localized(
                    "could not use FAVORITE_RATE_THRESHOLD: it is \(threshold); expected a number above 0"
                )
            )
        }
        guard exampleLimit >= 1, maximumAgeDays >= 1, minimumPerCategory >= 0 else {
            throw FavoritesError(
                .invalidConfiguration,
                localized(
                    "could not use EXAMPLE_LIMIT: the number of examples and days kept must be at least 1"
                )
            )
        }
        self.threshold = threshold
        logThreshold = log(threshold)
        self.exampleLimit = exampleLimit
        self.maximumAgeDays = maximumAgeDays
        self.minimumPerCategory = minimumPerCategory
        self.weighting = weighting
    }

    /// Returns whether a number can be a threshold.
    package static func isThreshold(_ number: Double) -> Bool { number.isFinite && number > 0 }

    /// Returns whether a favorite rate, given as its natural logarithm, is above the threshold.
    package func isAbove(logRate: Double) -> Bool { logRate > logThreshold }

    /// Returns whether a stored favorite rate was above its threshold, as ``isAbove(logRate:)``
    /// compares them.
    package static func isAbove(rate: Double, threshold: Double) -> Bool {
        log(rate) > log(threshold)
    }
}
