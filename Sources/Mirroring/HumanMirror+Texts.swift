package import Archive
import Conduct
package import Favorites
import Foundation
import Networks
package import Posts
package import Settings

extension HumanMirror {
    /// The numbers of archived texts that are not posted without a person's request, by reason.
    ///
    /// - Parameter mode: The required fitness; nil for the setting.
    /// - Returns: The numbers.
    /// - Throws: The store's error.
    package func unsentTexts(_ mode: FitnessMode? = nil) async throws -> Archive.Unsent {
        try await archive.unsent(textFilter(mode))
    }

    /// Returns the filter for texts that the bot may post without a person's request, at any time.
    ///
    /// - Parameter mode: The required fitness; nil for the setting.
    package func textFilter(_ mode: FitnessMode? = nil) -> Archive.TextFilter {
        let mode = mode ?? configuration.fitness
        let limits = PublishingLimits.usual(of: configuration.botNetwork)
        // Nil for texts of all time windows; empty for only those that fit at any time.
        return Archive.TextFilter(
            longest: limits.maximumCharacters, grade: mode.grade.rawValue,
            windows: mode == .off ? nil : [])
    }

    /// Returns the learned opinions of archived texts, by post.
    ///
    /// - Returns: Empty if a person has given too few labels, and while texts cannot be judged.
    /// - Throws: The store's error.
    package func opinions(on texts: [(id: PostID, text: String)]) async throws -> [PostID:
        TextOpinion]
    {
        guard !texts.isEmpty, let session = try await textTaste()?.session() else { return [:] }
        do {
            let opinions = try await session.opinions(on: texts)
            return Dictionary(opinions.map { ($0.id, $0) }) { first, _ in first }
        } catch is FavoritesError {
            // Without Redis no text is demoted; the health report names the fault.
            return [:]
        }
    }
}
