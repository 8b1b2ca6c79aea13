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
        let (mode, limits) = (mode ?? configuration.fitness, PublishingLimits.usual(of: configuration.botNetwork))
        return try await archive.unsent(
            Archive.TextFilter(
                longest: limits.maximumCharacters, grade: mode.grade.rawValue, windows: mode == .off ? nil : []))
    }
}
