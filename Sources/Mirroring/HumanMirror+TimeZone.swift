import Archive
import Foundation
import Posts
import Schedule

extension HumanMirror {
    /// What to set `TIME_ZONE` to, as far as the archive tells: a sentence for an error message.
    package func timeZoneProposal() async throws -> String {
        if let named = try await table.record().archiveTimeZone { return "the archive says \(named)" }
        guard let guess = TimeZoneGuess(minuteCounts: try await archive.quietHoursGuess()),
            let best = guess.candidates.first
        else { return "set it to the human's IANA zone, such as Europe/Berlin" }
        return """
            the hours in which the human never posts suggest \(best.name), give or take \
            \(TimeZoneGuess.uncertaintyHours) hours, for example \(best.example)
            """
    }
}
