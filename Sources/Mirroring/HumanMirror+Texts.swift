package import Archive
import Conduct
package import Favorites
import Foundation
import Networks
package import Posts
package import Settings

extension HumanMirror {
    /// How many texts of the archive are not posted by themselves, and why not.
    ///
    /// - Parameter mode: How fit they have to be; nil for what is set.
    /// - Returns: The numbers.
    /// - Throws: The store's error.
    package func unsentTexts(_ mode: FitnessMode? = nil) async throws -> Archive.Unsent {
        try await archive.unsent(textFilter(mode))
    }

    /// Returns the filter for texts that the bot may post by itself, at any time.
    ///
    /// - Parameter mode: How fit a text has to be; nil for what is set.
    package func textFilter(_ mode: FitnessMode? = nil) -> Archive.TextFilter {
        let mode = mode ?? configuration.fitness
        let limits = PublishingLimits.usual(of: configuration.botNetwork)
        return Archive.TextFilter(
            longest: limits.maximumCharacters, grade: mode.grade.rawValue,
            windows: mode == .off ? nil : [])
    }

    /// Returns the learned opinions of archived texts, by post.
    ///
    /// - Returns: Nothing while too little was said, and while texts cannot be judged.
    /// - Throws: The store's error.
    package func opinions(on texts: [(id: PostID, text: String)]) async throws -> [PostID:
        TextOpinion]
    {
        guard !texts.isEmpty, let session = try await textTaste()?.session() else { return [:] }
        do {
            let opinions = try await session.opinions(on: texts)
            return Dictionary(opinions.map { ($0.id, $0) }) { first, _ in first }
        } catch is FavoritesError {
            // Redis is away: nothing comes after others until it is back, and health tells of it.
            return [:]
        }
    }
}
