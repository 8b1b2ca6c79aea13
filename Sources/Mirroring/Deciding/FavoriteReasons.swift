package import Favorites
package import Outbox

extension Explanation {
    /// The features that mean something to a person, the strongest first, also of what an older version noted.
    package var tellingFeatures: [Feature] {
        features?.filter { $0.sums == nil && !SmallFeatures.contains($0.name) } ?? []
    }
}

extension Explanation.Feature {
    /// What each feature adds to ln of a favorite rate, and at last the sum of those that are not told one by one.
    ///
    /// - Parameters:
    ///   - assessment: What the classifier found.
    ///   - number: How many features are told at most; nil for all but signs, numbers and small words.
    /// - Returns: Together with the base they add up to ln of the rate.
    package static func all(of assessment: Assessment, atMost number: Int? = nil) -> [Self] {
        let (strongest, rest) = assessment.told(atMost: number ?? .max)
        let features = strongest.map {
            Self(
                name: WordPair.shown($0.feature), logOdds: $0.logOdds, favorites: $0.favoriteCount,
                normals: $0.normalCount)
        }
        guard rest.count > 0 else { return features }
        let name = number == nil ? "signs, small words (\(rest.count))" : "others (\(rest.count))"
        return features + [Self(name: name, logOdds: rest.logOdds, sums: rest.count)]
    }
}
