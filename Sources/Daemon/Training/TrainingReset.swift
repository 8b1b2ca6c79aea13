import Archive
import Favorites

/// Removes what a mirror has learned: posts, examples and counts, and where they were read up to.
///
/// What the bot did and whom it leaves alone stays, so that nothing happens
/// twice afterwards.
package struct TrainingReset: Sendable {
    let stores: MirrorStores

    /// - Parameter stores: The mirror's data.
    package init(stores: MirrorStores) { self.stores = stores }

    /// Removes everything learned by this mirror, and nothing of another.
    package func clear() async throws {
        try await stores.archive.clear()
        try await stores.favorites().clear()
        try await stores.feeds.reset([FeedName.humanPosts, FeedName.humanFavorites, FeedName.seen])
    }
}
