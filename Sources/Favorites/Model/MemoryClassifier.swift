import Posts

/// A classifier whose examples and counts are kept in memory: for trials on posts that are not the mirror's.
///
/// What an event does to an example and to the counts is decided where it is
/// for a mirror, by ``ExampleState`` and `Lesson`.
package struct MemoryClassifier {
    package private(set) var categories = CategoryCounts() {
        didSet { model = FavoriteModel(categories) }
    }
    private var model = FavoriteModel(CategoryCounts())
    private var features: [String: FeatureCount] = [:]
    private var rows: [PostID: ExampleTable.Row] = [:]

    package init() {}

    /// The number of features with a count.
    package var distinctFeatures: Int { features.count }

    /// Learns what happened.
    ///
    /// - Parameters:
    ///   - events: What happened, in order.
    ///   - extract: Finds the features of an example.
    package mutating func learn(_ events: [FavoriteEvent], _ extract: (Example) -> FeatureSet) {
        var known: [PostID: ExampleTable.Row] = [:]
        for event in events { known[event.id] = rows[event.id] }
        let lesson = Lesson(events, stored: known, features: extract)
        for row in lesson.written { rows[row.example.id] = row }
        for id in lesson.deleted { rows[id] = nil }
        apply(lesson.change)
    }

    /// Lets the model believe another base rate than that of the posts it learned.
    package mutating func setBaseRate(posts: Int, favorites: Int) {
        categories = CategoryCounts(
            favorites: categories.favorites, normals: categories.normals, seen: Int64(posts),
            seenFavorites: Int64(favorites))
    }

    /// The favorite rate of a post with these features.
    package func assess(_ set: FeatureSet) -> Assessment {
        model.assess(set) { features[$0] ?? FeatureCount() }
    }

    /// As every count store does: nothing falls below zero, and what is zero is not kept.
    private mutating func apply(_ change: CountChange) {
        categories = CategoryCounts(
            favorites: categories.favorites + change.favorites, normals: categories.normals + change.normals,
            seen: categories.seen + change.seen, seenFavorites: categories.seenFavorites + change.seenFavorites)
        for (category, counts) in change.features {
            for (feature, number) in counts { add(number, to: feature, in: category) }
        }
    }

    private mutating func add(_ number: Int64, to feature: String, in category: Category) {
        let old = features[feature] ?? FeatureCount()
        let new =
            switch category {
            case .favorite: FeatureCount(favorite: old.favorite + number, normal: old.normal)
            case .normal: FeatureCount(favorite: old.favorite, normal: old.normal + number)
            }
        features[feature] = new == FeatureCount() ? nil : new
    }
}
