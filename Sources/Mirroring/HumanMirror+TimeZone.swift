import Archive
import Foundation
import Posts
import Schedule

/// A time zone that the human probably lives in.
package struct ProposedTimeZone: Equatable, Sendable {
    /// The IANA name, such as `Asia/Tokyo`.
    package let name: String
    /// What speaks for it, as a clause.
    package let reason: String
}

extension HumanMirror {
    /// What to set `TIME_ZONE` to, as far as the archive tells: a sentence for an error message.
    package func timeZoneProposal() async throws -> String {
        try await archivedTimeZone()?.reason ?? "set it to the human's IANA zone, such as Europe/Berlin"
    }

    /// The zone that an archive or the hours of the posts tell, else the one of this computer.
    ///
    /// - Returns: Nil if nothing tells one; a computer in UTC is probably a server.
    /// - Throws: The store's error.
    package func proposedTimeZone() async throws -> ProposedTimeZone? {
        if let proposal = try await archivedTimeZone() { return proposal }
        let here = TimeZone.current
        guard here.identifier.contains("/"), !here.identifier.hasPrefix("Etc/") else { return nil }
        return ProposedTimeZone(name: here.identifier, reason: "this computer is set to \(here.identifier)")
    }

    private func archivedTimeZone() async throws -> ProposedTimeZone? {
        if let named = try await table.record().archiveTimeZone {
            return ProposedTimeZone(name: named, reason: "the archive says \(named)")
        }
        guard let guess = TimeZoneGuess(minuteCounts: try await archive.quietHoursGuess()),
            let best = guess.candidates.first
        else { return nil }
        return ProposedTimeZone(
            name: best.example,
            reason: """
                the hours in which the human never posts suggest \(best.name), give or take \
                \(TimeZoneGuess.uncertaintyHours) hours, for example \(best.example)
                """)
    }
}
