import Localization
package import Posts

/// Whether the human would favorite a post, and why.
package struct Classification: Equatable, Sendable {
    package let id: PostID
    /// The rate and the contribution of each feature.
    package let assessment: Assessment
    /// Whether the rate is above the threshold, and enough posts were learned.
    package let isFavorite: Bool
    /// The reason why nothing is a favorite yet; nil if enough was learned.
    package let waiting: WaitReason?
    /// The numbers of learned posts.
    package let learned: CategoryCounts
    /// The weight of each kind of evidence; nil if all counted alike.
    package let weights: LearnedWeights?

    /// ln(P(favorite) / P(normal)).
    package var logRate: Double { assessment.logRate }
    /// The contribution of each feature to the log of the rate, strongest first.
    package var contributions: [Contribution] { assessment.contributions }
}

/// The reason why posts cannot be judged: too few were learned.
///
/// It has the numbers, as in `0 of 20 normals`.
package struct WaitReason: Equatable, Sendable, CustomStringConvertible {
    /// The number of learned favorites.
    package let favorites: Int64
    /// The number of learned normal posts.
    package let normals: Int64
    /// The number that each category must reach.
    package let needed: Int

    /// Nil if both categories have as many as needed.
    package init?(_ counts: CategoryCounts, needed: Int) {
        guard counts.favorites < needed || counts.normals < needed else { return nil }
        self.favorites = counts.favorites
        self.normals = counts.normals
        self.needed = needed
    }

    package var description: String {
        var parts: [String] = []
        if favorites < needed { parts.append(localized("\(favorites) of \(needed) favorites")) }
        if normals < needed { parts.append(localized("\(normals) of \(needed) normals")) }
        return parts.joined(by: .comma)
    }
}

/// A failure of the classifier.
package struct FavoritesError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// The store of the counts cannot be reached; favorites pause until it can.
        package static let countsUnavailable = Code(description: "counts-unavailable")
        /// Other processes kept changing the counts while they were rebuilt; a later call succeeds.
        package static let countsUnstable = Code(description: "counts-unstable")
        /// A setting has an invalid value.
        package static let invalidConfiguration = Code(description: "invalid-configuration")
    }

    package let code: Code
    /// The failure in one line for people, without secrets and without text of posts.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
