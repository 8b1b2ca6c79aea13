/// What one batch of examples adds to the counts; negative where something is unlearned.
package struct CountChange: Equatable, Sendable {
    package private(set) var favorites: Int64 = 0
    package private(set) var normals: Int64 = 0
    package private(set) var seen: Int64 = 0
    package private(set) var seenFavorites: Int64 = 0
    /// Per category, what each feature's count grows by; never zero.
    package private(set) var features: [Category: [String: Int64]] = [.favorite: [:], .normal: [:]]

    package init() {}

    /// Whether applying the change would do nothing.
    package var isEmpty: Bool { self == CountChange() }

    /// Takes a post from one state to another; nil means that the post is not learned.
    package mutating func move(_ features: FeatureSet, from old: ExampleState?, to new: ExampleState?) {
        if let old { add(features, old, -1) }
        if let new { add(features, new, 1) }
    }

    private mutating func add(_ set: FeatureSet, _ state: ExampleState, _ sign: Int64) {
        switch state.category {
        case .favorite: favorites += sign
        case .normal: normals += sign
        }
        if state.isSeen { seen += sign }
        if state == .seenFavorite { seenFavorites += sign }
        for feature in set.all {
            let count = features[state.category]?[feature] ?? 0
            features[state.category]?[feature] = count + sign == 0 ? nil : count + sign
        }
    }
}
