package import Foundation
import Storage

/// The quality of the classifier on a part of the mirror's past that it was not trained on, as
/// measured by the last `mirror-bot score`.
package struct ClassifierMeasure: Codable, Equatable, Sendable {
    /// Posts with similar predicted probabilities of being a favorite.
    package struct Bin: Codable, Equatable, Sendable {
        /// The mean predicted probability, 0 to 1.
        package var predicted: Double
        /// The share of favorites among them.
        package var observed: Double
        package var posts: Int

        package init(predicted: Double, observed: Double, posts: Int) {
            self.predicted = predicted
            self.observed = observed
            self.posts = posts
        }
    }

    package var measured: Date
    /// Posts that were judged.
    package var posts: Int
    /// The posts that the human favorited.
    package var favorites: Int
    /// The favorite rate above which the bot favorites.
    package var threshold: Double
    /// Posts that the bot would have favorited.
    package var fired: Int
    /// The posts of ``fired`` that the human favorited.
    package var hits: Int
    /// The share of ``hits`` among the bot's favorites; nil if there are none.
    package var precision: Double?
    /// The share of ``hits`` among the human's favorites; nil if there are none.
    package var recall: Double?
    /// Bins from the lowest probability to the highest; empty bins are left out.
    package var calibration: [Bin]

    package init(
        measured: Date, posts: Int, favorites: Int, threshold: Double, fired: Int, hits: Int,
        precision: Double?,
        recall: Double?, calibration: [Bin]
    ) {
        self.measured = measured
        self.posts = posts
        self.favorites = favorites
        self.threshold = threshold
        self.fired = fired
        self.hits = hits
        self.precision = precision
        self.recall = recall
        self.calibration = calibration
    }
}

extension HumanMirror {
    /// Stores a measure in place of the last one.
    ///
    /// - Throws: The store's error.
    package func keep(_ measure: ClassifierMeasure) async throws {
        let json = String(decoding: try JSONEncoder().encode(measure), as: UTF8.self)
        try await storage.execute(
            """
            INSERT INTO measures (mirror, classifier, measured_ms) VALUES (\(name), \(json), \(measure.measured))
            ON CONFLICT (mirror) DO UPDATE SET classifier = excluded.classifier, measured_ms = excluded.measured_ms
            """)
    }

    /// The last stored measure; nil if there is none, or if another version of the program stored
    /// it.
    ///
    /// - Throws: The store's error.
    package func classifierMeasure() async throws -> ClassifierMeasure? {
        let rows = try await storage.query("SELECT classifier FROM measures WHERE mirror = \(name)")
        return try rows.first.flatMap { row in
            let json = Data(try row.text("classifier").utf8)
            return try? JSONDecoder().decode(ClassifierMeasure.self, from: json)
        }
    }
}
