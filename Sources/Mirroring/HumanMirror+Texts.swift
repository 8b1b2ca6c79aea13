package import Archive
import Conduct
import Foundation
import Networks
import Posts
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

    /// What the bot may post by itself, whatever the time.
    ///
    /// - Parameter mode: How fit a text has to be; nil for what is set.
    package func textFilter(_ mode: FitnessMode? = nil) -> Archive.TextFilter {
        let (mode, limits) = (mode ?? configuration.fitness, PublishingLimits.usual(of: configuration.botNetwork))
        return Archive.TextFilter(
            longest: limits.maximumCharacters, grade: mode.grade.rawValue, windows: mode == .off ? nil : [])
    }
}
