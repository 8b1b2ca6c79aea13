import Archive
import Schedule

/// What to set `TIME_ZONE` to, as far as the archive tells.
struct TimeZoneProposal: Sendable {
    let archive: Archive

    /// A sentence for an error message.
    var text: String {
        get async throws {
            guard let guess = TimeZoneGuess(minuteCounts: try await archive.quietHoursGuess()),
                let best = guess.candidates.first
            else { return "set it to the human's IANA zone, such as Europe/Berlin" }
            return """
                the hours in which the human never posts suggest \(best.name), give or take \
                \(TimeZoneGuess.uncertaintyHours) hours, for example \(best.example)
                """
        }
    }
}
