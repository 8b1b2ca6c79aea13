package import Foundation
import Mirroring
package import Posts

/// Stops the mirror for good: the wish of its human, who has shown whose account it is.
///
/// Nothing is sent once this is done, and nobody resumes it: somebody has to agree anew.
package struct StopMirroring: PersonOperation {
    package static let name = "stop-mirroring"
    /// The human's account as a person types it.
    package var account: String

    package init(account: String) { self.account = account }

    package func perform(at desk: Desk, seen: Seen?) async throws -> MirrorStop {
        let table = desk.mirror.table
        let id = try await PeopleBook(mirror: desk.mirror).account(account)
        guard try await table.isHuman(id) else {
            throw ChangeRefusal(.unusable, "\(account) is not the account that is mirrored")
        }
        try await table.stop(now: desk.now)
        let left = try await LastWord(mirror: desk.mirror).wait()
        return MirrorStop(
            mirror: desk.mirror.name, since: desk.now, left: left.map(LeftAction.init))
    }
}

/// That a mirror was stopped by its human.
package struct MirrorStop: PersonOutcome {
    package private(set) var schema = "mirror-bot/stop-mirroring/1"
    package let mirror: String
    package let since: Date
    /// The actions whose requests were under way.
    package let left: [LeftAction]

    init(mirror: String, since: Date, left: [LeftAction]) {
        self.mirror = mirror
        self.since = since
        self.left = left
    }
}
