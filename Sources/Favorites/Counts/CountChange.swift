/// What one batch of examples adds to the counts; negative where something is unlearned.
package struct CountChange: Equatable, Sendable {
    package private(set) var favorites: Int64 = 0
    package private(set) var normals: Int64 = 0
    package private(set) var seen: Int64 = 0
    package private(set) var seenFavorites: Int64 = 0
    private var favoriteFeatures: [FeatureKey: Int64] = [:]
    private var normalFeatures: [FeatureKey: Int64] = [:]

    package init() {}

    /// Per category, what each feature's count grows by; never zero.
    package var features: [Category: [String: Int64]] {
        var features: [Category: [String: Int64]] = [:]
        for category in Category.allCases {
            features[category] = Dictionary(uniqueKeysWithValues: self.features(of: category).map { ($0, $1) })
        }
        return features
    }

    /// What the count of each feature in a category grows by; never zero.
    package func features(of category: Category) -> [(feature: String, amount: Int64)] {
        (category == .favorite ? favoriteFeatures : normalFeatures).map { ($0.feature, $1) }
    }

    /// Whether applying the change would do nothing.
    package var isEmpty: Bool { self == CountChange() }

    /// Takes a post from one state to another; nil means that the post is not learned.
    package mutating func move(_ features: FeatureSet, from old: ExampleState?, to new: ExampleState?) {
        if let old { add(features, old, -1) }
        if let new { add(features, new, 1) }
    }

    private mutating func add(_ set: FeatureSet, _ state: ExampleState, _ sign: Int64) {
        if state.isSeen { seen += sign }
        if state == .seenFavorite { seenFavorites += sign }
        switch state.category {
        case .favorite:
            favorites += sign
            Self.add(set, sign, to: &favoriteFeatures)
        case .normal:
            normals += sign
            Self.add(set, sign, to: &normalFeatures)
        }
    }

    private static func add(_ set: FeatureSet, _ sign: Int64, to counts: inout [FeatureKey: Int64]) {
        for word in set.words { add(word, sign, to: &counts) }
        if let author = set.author { add(author, sign, to: &counts) }
    }

    private static func add(_ feature: String, _ sign: Int64, to counts: inout [FeatureKey: Int64]) {
        let key = FeatureKey(feature: feature)
        if isZero(&counts[key, default: 0], after: sign) { counts[key] = nil }
    }

    private static func isZero(_ count: inout Int64, after change: Int64) -> Bool {
        count += change
        return count == 0
    }
}
