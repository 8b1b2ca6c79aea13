package import Foundation
import Localization
package import Networks
package import Posts
import Storage

/// A state of the human's account other than active, as the network reports it.
package struct HumanStanding: Equatable, Sendable {
    /// Seconds after which a second report by the network confirms the first one.
    package static let confirmation: TimeInterval = 86_400

    /// The reported state, which is never `active`.
    package let state: AccountStanding
    /// When the network first reported it.
    package let since: Date
    /// When the network reported it again, at least a day later.
    package var confirmed: Date?
    /// When a person was asked whether to take back the copies of a deleted account.
    package var asked: Date?
    /// When a person decided that the mirror goes on regardless.
    package var goesOn: Date?

    package init(_ state: AccountStanding, since: Date) {
        self.state = state
        self.since = Date(milliseconds: since.milliseconds)
    }

    /// Whether nothing is sent until a person or the network ends the hold.
    package var isHold: Bool { goesOn == nil && state.holdsMirror }

    /// Whether a person has to be asked about the copies: the network has reported twice that the
    /// account is gone, and no person wants the mirror to go on.
    package var isToBeFollowed: Bool {
        isHold && state == .deleted && confirmed != nil && asked == nil
    }

    /// The state in a stable word, for programs.
    package var name: String { state.stored.state ?? "active" }

    /// The name of the new account of a human who has moved; nil in other states.
    package var successor: String? { state.stored.to }

    /// The state as a part of a sentence.
    package var words: String {
        switch state {
        case .active: localized("the human's account is active")
        case .memorial: localized("the human's account is a memorial")
        case .suspended: localized("the network has suspended the human's account")
        case .moved(let to): localized("the human has moved to @\(to)")
        case .deactivated: localized("the human's account is switched off")
        case .deleted: localized("the human's account is gone")
        }
    }

    /// The digest of the state as a person or a look has seen it; nil for an active account.
    package static func seen(_ standing: HumanStanding?) -> Seen {
        Seen(
            of: "standing", standing?.state.stored.state, standing?.state.stored.to,
            standing?.since.milliseconds.description, standing?.confirmed?.milliseconds.description,
            standing?.goesOn?.milliseconds.description)
    }

    /// The state after the account was looked up.
    ///
    /// - Parameters:
    ///   - found: The state that the network reports now.
    ///   - earlier: The state before; nil for an active account.
    static func after(
        _ found: AccountStanding, following earlier: HumanStanding?, at now: Date
    ) -> HumanStanding? {
        if let earlier, found == earlier.state {
            guard earlier.confirmed == nil, now.timeIntervalSince(earlier.since) >= confirmation
            else {
                return earlier
            }
            var confirmed = earlier
            confirmed.confirmed = Date(milliseconds: now.milliseconds)
            return confirmed
        }
        if let earlier, !found.holdsMirror, earlier.waitsForPerson { return earlier }
        return found == .active ? nil : HumanStanding(found, since: now)
    }

    /// Whether only a person can end the hold; a report of the network that the account is active
    /// does not.
    ///
    /// A deletion that the next report contradicts was a mistake, because a deleted account does
    /// not come back.
    private var waitsForPerson: Bool {
        guard isHold else { return false }
        return switch state {
        case .memorial, .deactivated: true
        case .deleted: confirmed != nil
        case .active, .suspended, .moved: false
        }
    }
}

extension AccountStanding {
    /// Whether the mirror of a human with such an account sends nothing.
    fileprivate var holdsMirror: Bool {
        switch self {
        case .active, .moved: false
        case .memorial, .suspended, .deactivated, .deleted: true
        }
    }

    /// The columns `standing` and `standing_to`.
    fileprivate var stored: (state: String?, to: String?) {
        switch self {
        case .active: (nil, nil)
        case .memorial: ("memorial", nil)
        case .suspended: ("suspended", nil)
        case .moved(let to): ("moved", to)
        case .deactivated: ("deactivated", nil)
        case .deleted: ("deleted", nil)
        }
    }

    fileprivate init(stored: String, to: String?) {
        switch stored {
        case "memorial": self = .memorial
        case "moved": self = .moved(to: to ?? "")
        case "deactivated": self = .deactivated
        case "deleted": self = .deleted
        // A state that only a newer version knows also holds the mirror.
        default: self = .suspended
        }
    }
}

extension HumanStanding {
    static let columns: SQL = """
        standing, standing_to, standing_ms, standing_again_ms, standing_asked_ms, standing_goes_on_ms, standing_look_ms
        """

    /// The prefix of its columns in `mirrors`.
    package static let prefix = "standing"

    /// The state in a row of `mirrors`; nil for an active account.
    init?(row: SQLRow) throws {
        guard let stored = try row.optionalText("standing"),
            let since = try row.optionalDate("standing_ms")
        else {
            return nil
        }
        self.init(
            AccountStanding(stored: stored, to: try row.optionalText("standing_to")), since: since)
        confirmed = try row.optionalDate("standing_again_ms")
        asked = try row.optionalDate("standing_asked_ms")
        goesOn = try row.optionalDate("standing_goes_on_ms")
    }
}

extension MirrorRecord {
    /// The digest of what `resume` ends: the current pause, and a hold because of the human's
    /// account.
    package func pauseSeen(at now: Date) -> Seen {
        let pauseSeen = Pause.seen(pause(at: now))
        guard let standing, standing.isHold else { return pauseSeen }
        return Seen(ofAll: [pauseSeen, HumanStanding.seen(standing)])
    }
}

extension MirrorTable {
    /// Stores the result of looking up the human's account.
    ///
    /// - Parameters:
    ///   - found: The state that the network reported; nil if its report was unclear.
    ///   - seen: ``HumanStanding/seen(_:)`` of the state before.
    ///   - now: When the network was asked.
    /// - Returns: The new state; nil for an active account.
    /// - Throws: `SeenChanged`, without any change, if the stored state is another one; the store's
    ///   error.
    package func noteStanding(_ found: AccountStanding?, seen: Seen, now: Date) async throws
        -> HumanStanding?
    {
        let mirror = mirror
        return try await storage.transaction { connection in
            guard let record = try Self.record(mirror, connection) else { return nil }
            try Seen?(seen).require(HumanStanding.seen(record.standing))
            let earlier = record.standing
            let next = found.map { HumanStanding.after($0, following: earlier, at: now) } ?? earlier
            if next == earlier {
                try connection.execute(
                    "UPDATE mirrors SET standing_look_ms = \(now.milliseconds) WHERE mirror = \(mirror)"
                )
            } else {
                try connection.execute(
                    """
                    UPDATE mirrors SET standing = \(next?.state.stored.state), standing_to = \(next?.state.stored.to),
                        standing_ms = \(next?.since.milliseconds), standing_again_ms = \(next?.confirmed?.milliseconds),
                        standing_asked_ms = \(next?.asked?.milliseconds),
                        standing_goes_on_ms = \(next?.goesOn?.milliseconds),
                        standing_look_ms = \(now.milliseconds), version = version + 1
                    WHERE mirror = \(mirror)
                    """)
            }
            return next
        }
    }

    /// Stores that a person was asked about the copies of a deleted account.
    ///
    /// - Throws: The store's error.
    package func noteAsked(about standing: HumanStanding, now: Date) async throws {
        try await storage.execute(
            """
            UPDATE mirrors SET standing_asked_ms = \(now.milliseconds)
            WHERE mirror = \(mirror) AND standing = 'deleted' AND standing_ms = \(standing.since.milliseconds)
                AND standing_asked_ms IS NULL
            """)
    }

    /// Stores that a person wants the mirror to go on although the human's account is not active.
    static func goOn(_ mirror: String, on connection: any StorageConnection, now: Date) throws {
        try connection.execute(
            """
            UPDATE mirrors SET standing_goes_on_ms = \(now.milliseconds), version = version + 1
            WHERE mirror = \(mirror) AND standing IS NOT NULL AND standing_goes_on_ms IS NULL
            """)
    }

    /// Removes the state, because the account is no longer the human's.
    static func forgetStanding(_ mirror: String, on connection: any StorageConnection) throws {
        try connection.execute(
            """
            UPDATE mirrors SET standing = NULL, standing_to = NULL, standing_ms = NULL, standing_again_ms = NULL,
                standing_asked_ms = NULL, standing_goes_on_ms = NULL, standing_look_ms = NULL
            WHERE mirror = \(mirror)
            """)
    }
}
