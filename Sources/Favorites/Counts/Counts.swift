/// The numbers of learned posts.
///
/// Negative values of a store are read as zero, and the number of seen favorites is at most that of
/// seen posts.
package struct CategoryCounts: Equatable, Sendable {
    /// Posts learned as favorites.
    package var favorites: Int64
    /// Posts learned as normal ones.
    package var normals: Int64
    /// Posts seen on the timeline.
    package var seen: Int64
    /// Posts seen on the timeline that were favorited.
    package var seenFavorites: Int64

    package init(
        favorites: Int64 = 0, normals: Int64 = 0, seen: Int64 = 0, seenFavorites: Int64 = 0
    ) {
        self.favorites = max(0, favorites)
        self.normals = max(0, normals)
        self.seen = max(0, seen)
        self.seenFavorites = min(max(0, seenFavorites), self.seen)
    }
}

/// How many learned posts of each category contain a feature.
package struct FeatureCount: Equatable, Sendable {
    package var favorite: Int64
    package var normal: Int64

    /// Creates a count; values below zero count as zero.
    package init(favorite: Int64 = 0, normal: Int64 = 0) {
        self.favorite = max(0, favorite)
        self.normal = max(0, normal)
    }

    /// The count without one of the posts, a favorite or a normal one.
    func withoutPost(isFavorite: Bool) -> FeatureCount {
        FeatureCount(
            favorite: favorite - (isFavorite ? 1 : 0), normal: normal - (isFavorite ? 0 : 1))
    }
}
