import Evaluation
import Favorites
import Foundation
import NetworkNames
import Posts

extension Prediction {
    /// A prediction of which only the favorite rate matters.
    static func ranked(_ logRate: Double, _ isFavorite: Bool) -> Prediction {
        Prediction(
            id: PostID(network: .mastodon, value: "p"), logRate: logRate,
            probability: 1 / (1 + exp(-logRate)),
            isFired: false, isFavorite: isFavorite)
    }

    /// A prediction of which only the decision matters.
    static func decided(_ isFired: Bool, _ isFavorite: Bool) -> Prediction {
        Prediction(
            id: PostID(network: .mastodon, value: "p"), logRate: 0, probability: 0.5,
            isFired: isFired,
            isFavorite: isFavorite)
    }

    /// A prediction of which only the probability matters.
    static func saying(_ probability: Double, _ isFavorite: Bool) -> Prediction {
        Prediction(
            id: PostID(network: .mastodon, value: "p"), logRate: 0, probability: probability,
            isFired: false,
            isFavorite: isFavorite)
    }
}

/// Numbers that are the same in every run.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 2 &+ 1 }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state ^ (state >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    }
}
