import Posts

/// A classifier that keeps its examples and counts in memory, for trials on posts that are not the
/// mirror's.
///
/// It uses the same ``ExampleState`` and `Lesson` as a mirror to apply events.
package struct MemoryClassifier {
    package private(set) var categories = CategoryCounts() {
        didSet { model = FavoriteModel(categories, weights: weights) }
    }
    /// The weight of each kind of evidence; plain until ``fitWeights(_:)``.
    package private(set) var weights: EvidenceWeights {
        didSet { model = FavoriteModel(categories, weights: weights) }
    }
    private let words: FeatureWords
    private var model: FavoriteModel
    private var features: [String: FeatureCount] = [:]
    private var rows: [PostID: ExampleTable.Row] = [:]
    /// The learned posts, in the order in which they were learned.
    private var learned: [PostID] = []
    /// The features of the posts on which the weights were fitted, most of which the next fit needs
    /// again.
    private var fittedFeatures: [PostID: (example: Example, features: FeatureSet)] = [:]

    package init(_ words: FeatureWords) {
        self.words = words
        weights = .plain(of: words)
        model = FavoriteModel(CategoryCounts(), weights: weights)
    }

    /// The number of features with a count.
    package var distinctFeatures: Int { features.count }

    /// Learns from events.
    ///
    /// - Parameters:
    ///   - events: The events, in order.
    package mutating func learn(_ events: [FavoriteEvent], _ extract: (Example) -> FeatureSet) {
        var storedRows: [PostID: ExampleTable.Row] = [:]
        for event in events { storedRows[event.id] = rows[event.id] }
        let lesson = Lesson(events, stored: storedRows, features: extract)
        for row in lesson.written where rows.updateValue(row, forKey: row.example.id) == nil {
            learned.append(row.example.id)
        }
        for id in lesson.deleted { rows[id] = nil }
        apply(lesson.change)
    }

    /// Fits the weights on the newest posts, each classified by what all other posts teach.
    ///
    /// The new weights apply from now on.
    package mutating func fitWeights(_ extract: (Example) -> FeatureSet) {
        var newest: [PostID: (example: Example, features: FeatureSet)] = [:]
        var samples: [WeightFit.Sample] = []
        for id in learned.reversed()
        where samples.count < WeightFit.mostExamples && newest[id] == nil {
            guard let row = rows[id] else { continue }
            let reusable = fittedFeatures[id].flatMap {
                $0.example == row.example ? $0.features : nil
            }
            let set = reusable ?? extract(row.example)
            newest[id] = (row.example, set)
            samples.append(
                model.sample(set, isFavorite: row.state.category == .favorite) {
                    features[$0] ?? FeatureCount()
                })
        }
        fittedFeatures = newest
        weights = WeightFit(samples.reversed(), of: words).weights
    }

    /// Sets a base rate that is independent of the learned posts.
    package mutating func setBaseRate(posts: Int, favorites: Int) {
        categories = CategoryCounts(
            favorites: categories.favorites, normals: categories.normals, seen: Int64(posts),
            seenFavorites: Int64(favorites))
    }

    /// The favorite rate of a post with these features.
    package func assess(_ set: FeatureSet) -> Assessment {
        model.assess(set) { features[$0] ?? FeatureCount() }
    }

    /// Applies a change; as in every count store, no count falls below zero, and zeros are not
    /// stored.
    private mutating func apply(_ change: CountChange) {
        categories = CategoryCounts(
            favorites: categories.favorites + change.favorites,
            normals: categories.normals + change.normals,
            seen: categories.seen + change.seen,
            seenFavorites: categories.seenFavorites + change.seenFavorites)
        for (category, counts) in change.features {
            for (feature, number) in counts { add(number, to: feature, in: category) }
        }
    }

    private mutating func add(_ number: Int64, to feature: String, in category: Category) {
        let former = features[feature] ?? FeatureCount()
        let updated =
            switch category {
            case .favorite: FeatureCount(favorite: former.favorite + number, normal: former.normal)
            case .normal: FeatureCount(favorite: former.favorite, normal: former.normal + number)
            }
        features[feature] = updated == FeatureCount() ? nil : updated
    }
}
