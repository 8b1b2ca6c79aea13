package import Foundation
package import Networks
package import Posts
import Storage

/// The state in which the network has named the human's account, where that is not the usual one.
package struct HumanStanding: Equatable, Sendable {
    /// Seconds after which the network's second word confirms the first one.
    package static let confirmation: TimeInterval = 86_400

    /// Never `active`.
    package let state: AccountStanding
    /// When the network named it first.
    package let since: Date
    /// When the network named it again, at least a day later.
    package var confirmed: Date?
    /// When a person was asked whether the copies of a deleted account are taken back.
    package var asked: Date?
    /// When a person said that the mirror goes on all the same.
    package var goesOn: Date?

    package init(_ state: AccountStanding, since: Date) {
        self.state = state
        self.since = Date(milliseconds: since.milliseconds)
    }

    /// Whether nothing is sent until a person, or the network, says otherwise.
    package var isHold: Bool { goesOn == nil && state.holdsMirror }

    /// Whether a person is to be asked about the copies: the network said twice that the account is
    /// gone, and nobody wants the mirror to go on.
    package var isToBeFollowed: Bool {
        isHold && state == .deleted && confirmed != nil && asked == nil
    }

    /// The state in a stable word, for programs.
    package var name: String { state.stored.state ?? "active" }

    /// The name of the new account of a human who has moved; nil for another state.
    package var successor: String? { state.stored.to }

    /// The state as a part of a sentence.
    package var words: String {
        switch state {
        case .active: "the human's account is active"
        case .memorial: "the human's account is a memorial"
        case .suspended: "the network has suspended the human's account"
        case .moved(let to): "the human has moved to @\(to)"
        case .deactivated: "the human's account is switched off"
        case .deleted: "the human's account is gone"
        }
    }

    /// The digest of the state as a person or a look has seen it; nil for the usual one.
    package static func seen(_ standing: HumanStanding?) -> Seen {
        Seen(
            of: "standing", standing?.state.stored.state, standing?.state.stored.to,
            standing?.since.milliseconds.description, standing?.confirmed?.milliseconds.description,
            standing?.goesOn?.milliseconds.description)
    }

    /// The state after a look.
    ///
    /// - Parameters:
    ///   - found: What the network names now.
    ///   - known: The state before the look; nil for the usual one.
    static func after(_ found: AccountStanding, _ known: HumanStanding?, at now: Date)
        -> HumanStanding?
    {
        if let known, found == known.state {
            guard known.confirmed == nil, now.timeIntervalSince(known.since) >= confirmation else {
                return known
            }
            var confirmed = known
            confirmed.confirmed = Date(milliseconds: now.milliseconds)
            return confirmed
        }
        if let known, !found.holdsMirror, known.waitsForPerson { return known }
        return found == .active ? nil : HumanStanding(found, since: now)
    }

    /// Whether only a person ends the hold, and not a network that calls the account active.
    ///
    /// A deletion that the next look contradicts was a mistake: an account that was deleted does
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
    /// Whether a mirror whose human has such an account sends nothing.
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
        // The gate also holds a mirror for a state that only a newer version knows.
        default: self = .suspended
        }
    }
}

extension HumanStanding {
    static let columns: SQL = """
        standing, standing_to, standing_ms, standing_again_ms, standing_asked_ms, standing_goes_on_ms, standing_look_ms
        """

    /// How the names of its columns in `mirrors` begin.
    static let prefix = "standing"

    /// The state in a row of `mirrors`; nil for the usual one.
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
    /// The digest of the pause that holds and of the state of the human's account, which `resume`
    /// ends.
    package func pauseSeen(at now: Date) -> Seen {
        let pauseSeen = Pause.seen(pause(at: now))
        guard let standing, standing.isHold else { return pauseSeen }
        return Seen(ofAll: [pauseSeen, HumanStanding.seen(standing)])
    }
}

extension MirrorTable {
    /// Stores what a look at the human's account found.
    ///
    /// - Parameters:
    ///   - found: The state that the network named; nil if it named none clearly.
    ///   - seen: ``HumanStanding/seen(_:)`` of the state before the look.
    ///   - now: When the network was asked.
    /// - Returns: The state afterwards; nil for the usual one.
    /// - Throws: `SeenChanged`, without any change, if the stored state is another one; the store's
    ///   error.
    package func noteStanding(_ found: AccountStanding?, seen: Seen, now: Date) async throws
        -> HumanStanding?
    {
        let mirror = mirror
        return try await storage.transaction { connection in
            guard let record = try Self.record(mirror, connection) else { return nil }
            try Seen?(seen).require(HumanStanding.seen(record.standing))
            let known = record.standing
            let next = found.map { HumanStanding.after($0, known, at: now) } ?? known
            if next == known {
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

    /// Notes that a person was asked about the copies of a deleted account.
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

    /// Notes that a person wants the mirror to go on though the human's account is not as it was.
    static func goOn(_ mirror: String, on connection: any StorageConnection, now: Date) throws {
        try connection.execute(
            """
            UPDATE mirrors SET standing_goes_on_ms = \(now.milliseconds), version = version + 1
            WHERE mirror = \(mirror) AND standing IS NOT NULL AND standing_goes_on_ms IS NULL
            """)
    }

    /// Forgets the state of an account that is the human's no more.
    static func forgetStanding(_ mirror: String, on connection: any StorageConnection) throws {
        try connection.execute(
            """
            UPDATE mirrors SET standing = NULL, standing_to = NULL, standing_ms = NULL, standing_again_ms = NULL,
                standing_asked_ms = NULL, standing_goes_on_ms = NULL, standing_look_ms = NULL
            WHERE mirror = \(mirror)
            """)
    }
}
