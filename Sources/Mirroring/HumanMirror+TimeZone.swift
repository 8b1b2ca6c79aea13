import Archive
package import Foundation
import Localization
import Posts
import Schedule

/// A time zone that the human probably lives in.
package struct ProposedTimeZone: Equatable, Sendable {
    /// The IANA name, such as `Asia/Tokyo`.
    package let name: String
    /// The reason for the proposal, as a clause.
    package let reason: String
    /// The source of the zone; nil for the zone of this computer.
    let source: TimeZoneSource?
}

extension HumanMirror {
    /// Sets the zone of a mirror without one: the zone that its archive names, or else the one that
    /// fits the archived posts best.
    ///
    /// A wrong guess does little harm: posts leave at the times of day at which the human posted,
    /// whatever the zone is called, except for daylight saving time and the borders between days.
    ///
    /// - Parameter now: Recorded with the change.
    /// - Returns: The mirror's zone, also if it was set before; nil if there are too few posts to
    ///   guess from.
    /// - Throws: The store's error.
    @discardableResult
    package func adoptTimeZone(now: Date) async throws -> TimeZone? {
        if let zone = try await settleTimeZone(now: now) { return zone }
        guard let proposal = try await archivedTimeZone(),
            let zone = TimeZone(identifier: proposal.name)
        else {
            return nil
        }
        // First the times, then the zone: a stored zone states that the minutes are recorded in it.
        try await archive.rewriteTimes(in: zone)
        try await table.setTimeZone(proposal.name, from: proposal.source, now: now)
        return zone
    }

    /// Returns a proposal for `TIME_ZONE`, from the archive if possible: a sentence for an error
    /// message.
    package func timeZoneProposal() async throws -> String {
        try await archivedTimeZone()?.reason
            ?? localized("set it to the human's IANA zone, such as Europe/Berlin")
    }

    /// The zone that an archive names or that its posts' hours suggest, else the zone of this
    /// computer.
    ///
    /// - Returns: Nil if nothing suggests one; a computer in UTC is probably a server.
    /// - Throws: The store's error.
    package func proposedTimeZone() async throws -> ProposedTimeZone? {
        if let proposal = try await archivedTimeZone() { return proposal }
        let system = TimeZone.current
        guard system.identifier.contains("/"), !system.identifier.hasPrefix("Etc/") else {
            return nil
        }
        return ProposedTimeZone(
            name: system.identifier,
            reason: localized("this computer is set to \(system.identifier)"),
            source: nil
        )
    }

    private func archivedTimeZone() async throws -> ProposedTimeZone? {
        if let named = try await table.record().archiveTimeZone {
            return ProposedTimeZone(
                name: named, reason: localized("the archive says \(named)"), source: .archive)
        }
        guard let guess = TimeZoneGuess(minuteCounts: try await archive.quietHoursGuess()),
            let best = guess.candidates.first
        else { return nil }
        return ProposedTimeZone(
            name: best.example,
            reason: localized(
                """
                the hours in which the human never posts suggest \(best.name), give or take \
                \(TimeZoneGuess.uncertaintyHours) hours, for example \(best.example)
                """), source: .guess)
    }
}
