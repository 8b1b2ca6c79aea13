package import Foundation
import Localization
import Mirroring
package import Posts

/// Stops the mirror permanently, at the request of its human, who has proven to own the account.
///
/// Nothing is sent once this returns, and it cannot be resumed without a new consent.
package struct StopMirroring: PersonOperation {
    package static let name = "stop-mirroring"
    /// The human's account in the form that people type.
    package var account: String

    package init(account: String) { self.account = account }

    package func perform(at desk: Desk, seen: Seen?) async throws -> MirrorStop {
        let table = desk.mirror.table
        let id = try await PeopleBook(mirror: desk.mirror).account(account)
        guard try await table.isHuman(id) else {
            throw ChangeRefusal(
                .unusable, localized("\(account) is not the account that is mirrored"))
        }
        try await table.stop(now: desk.now)
        let underWay = try await InFlightWait(mirror: desk.mirror).wait()
        return MirrorStop(
            mirror: desk.mirror.name, since: desk.now, left: underWay.map(LeftAction.init))
    }
}

/// The outcome of stopping a mirror.
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
