/// Whether probabilities mean what they say: of the posts that get 30 %, three of ten should be favorites.
package struct Calibration: Equatable, Sendable {
    /// Posts whose probabilities are close to each other.
    package struct Bin: Equatable, Sendable {
        /// The number of posts.
        package fileprivate(set) var posts = 0
        /// Those of them that the human favorited.
        package fileprivate(set) var favorites = 0
        fileprivate var probabilities = 0.0

        /// The mean of the probabilities; nil for an empty bin.
        package var predicted: Double? { posts > 0 ? probabilities / Double(posts) : nil }
        /// The share of favorites; nil for an empty bin.
        package var observed: Double? { posts > 0 ? Double(favorites) / Double(posts) : nil }
    }

    /// The number of bins, each a tenth wide; 1 belongs to the last.
    ///
    /// With ten of equal width the reference's predictions give the reference's errors to the last digit.
    package static let binCount = 10

    /// From the lowest probabilities to the highest.
    package let bins: [Bin]
    /// The mean squared distance of the probability from what happened, 1 or 0 (Brier 1950); nil without posts.
    ///
    /// 0 is perfect; always saying the share s of favorites gives s · (1 − s).
    package let brier: Double?

    package init(_ predictions: [Prediction]) {
        var bins = [Bin](repeating: Bin(), count: Self.binCount)
        var squares = 0.0
        for prediction in predictions {
            let probability = min(max(0, prediction.probability), 1)
            let index = min(Int(probability * Double(Self.binCount)), Self.binCount - 1)
            bins[index].posts += 1
            bins[index].probabilities += probability
            if prediction.isFavorite { bins[index].favorites += 1 }
            let distance = probability - (prediction.isFavorite ? 1 : 0)
            squares += distance * distance
        }
        self.bins = bins
        brier = predictions.isEmpty ? nil : squares / Double(predictions.count)
    }

    /// The expected calibration error; nil without posts.
    ///
    /// The distance of each bin's mean probability from its share of
    /// favorites, weighted by the posts in the bin (Naeini, Cooper and
    /// Hauskrecht 2015).
    package var expectedError: Double? {
        let posts = bins.reduce(0) { $0 + $1.posts }
        guard posts > 0 else { return nil }
        return bins.reduce(0) { $0 + abs($1.probabilities - Double($1.favorites)) } / Double(posts)
    }
}
