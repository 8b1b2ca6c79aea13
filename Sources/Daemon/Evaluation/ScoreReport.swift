package import Favorites
package import Schedule

/// How good a mirror's models are on a part of its own past that they had not seen.
package struct ScoreReport: Encodable, Sendable {
    /// What was measured, or why nothing could be.
    package enum Part<Scores: Encodable & Sendable>: Encodable, Sendable {
        case measured(Scores)
        /// A sentence in lower case without a full stop.
        case missing(String)

        /// The keys of the measures; of what is missing, only `missing`.
        package func encode(to encoder: any Encoder) throws {
            switch self {
            case .measured(let scores): try scores.encode(to: encoder)
            case .missing(let reason): try ["missing": reason].encode(to: encoder)
            }
        }

        /// The measures, if there are any.
        package var scores: Scores? {
            guard case .measured(let scores) = self else { return nil }
            return scores
        }
    }

    package private(set) var schema = "mirror-bot/score/1"
    package let mirror: String
    package let scheduler: Part<ScheduleScores>
    package let classifier: Part<FavoriteScores>

    package init(mirror: String, scheduler: Part<ScheduleScores>, classifier: Part<FavoriteScores>) {
        self.mirror = mirror
        self.scheduler = scheduler
        self.classifier = classifier
    }
}
