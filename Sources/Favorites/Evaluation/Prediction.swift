package import Posts

/// What the classifier said of a post before it was told what the human did.
package struct Prediction: Equatable, Sendable {
    package let id: PostID
    /// ln(P(favorite) / P(normal)); finite.
    package let logRate: Double
    /// P(favorite), from 0 to 1.
    package let probability: Double
    /// Whether the bot would have favorited the post: its rate is above the threshold, and enough was learned.
    package let isFired: Bool
    /// Whether the human favorited it.
    package let isFavorite: Bool

    package init(id: PostID, logRate: Double, probability: Double, isFired: Bool, isFavorite: Bool) {
        self.id = id
        self.logRate = logRate
        self.probability = probability
        self.isFired = isFired
        self.isFavorite = isFavorite
    }
}
