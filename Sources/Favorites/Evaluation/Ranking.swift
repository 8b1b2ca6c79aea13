/// Posts ordered by their favorite rate, and how well that order puts favorites first.
///
/// Only the order counts: neither the base rate nor the threshold matters.
package struct Ranking: Sendable {
    /// Posts with the same rate, which no threshold can part.
    private struct Tie {
        let logRate: Double
        var favorites = 0
        var others = 0
    }

    /// The highest rate first.
    private let ties: [Tie]
    private let favorites: Int
    private let others: Int

    package init(_ predictions: [Prediction]) {
        var ties: [Tie] = []
        for prediction in predictions.sorted(by: { $0.logRate > $1.logRate }) {
            if ties.last?.logRate != prediction.logRate { ties.append(Tie(logRate: prediction.logRate)) }
            if prediction.isFavorite {
                ties[ties.count - 1].favorites += 1
            } else {
                ties[ties.count - 1].others += 1
            }
        }
        self.ties = ties
        favorites = ties.reduce(0) { $0 + $1.favorites }
        others = ties.reduce(0) { $0 + $1.others }
    }

    /// The area under the receiver operating characteristic.
    ///
    /// It is the probability that a favorite ranks above another post, both
    /// drawn at random, where a tie counts half (Hanley and McNeil 1982): 1 for
    /// a perfect order, 0.5 for one by chance. Nil without a favorite or
    /// without another post.
    package var rocAUC: Double? {
        guard favorites > 0, others > 0 else { return nil }
        var below = Double(others)
        var wins = 0.0
        for tie in ties {
            below -= Double(tie.others)
            wins += Double(tie.favorites) * (below + Double(tie.others) / 2)
        }
        return wins / (Double(favorites) * Double(others))
    }

    /// The area under the curve of precision over recall, as steps.
    ///
    /// Σ (Rᵢ − Rᵢ₋₁) Pᵢ over the rates in falling order, without interpolation:
    /// scikit-learn's `average_precision_score`. By chance it is the share of
    /// favorites. Nil without a favorite.
    package var averagePrecision: Double? {
        guard favorites > 0 else { return nil }
        var (hits, fired, sum) = (0, 0, 0.0)
        for tie in ties {
            hits += tie.favorites
            fired += tie.favorites + tie.others
            sum += Double(tie.favorites) * Double(hits) / Double(fired)
        }
        return sum / Double(favorites)
    }

    /// The highest F1 that any threshold reaches, and the logarithm of the lowest rate that must fire for it.
    ///
    /// Nil without a favorite. Of equal ones it is the one with the highest rate.
    package var bestF1: (f1: Double, logRate: Double)? {
        guard favorites > 0 else { return nil }
        var (hits, fired) = (0, 0)
        var best: (f1: Double, logRate: Double)?
        for tie in ties {
            hits += tie.favorites
            fired += tie.favorites + tie.others
            let f1 = 2 * Double(hits) / Double(fired + favorites)
            if f1 > best?.f1 ?? 0 { best = (f1, tie.logRate) }
        }
        return best
    }
}
