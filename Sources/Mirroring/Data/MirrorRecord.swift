package import Foundation
import Localization
package import Posts
import Schedule
package import Settings

/// The stored state of a mirror itself.
package struct MirrorRecord: Equatable, Sendable {
    package var human: AccountID?
    package var bot: AccountID?
    package var humanHandle: String?
    package var botHandle: String?
    package var timeZone: String?
    /// The zone in which minutes are recorded; nil also if this machine does not know it.
    package var zone: TimeZone? { timeZone.flatMap(TimeZone.init(identifier:)) }
    /// The source of a zone that no person set; nil if a person set it.
    package var timeZoneSource: TimeZoneSource?
    /// The zone that the last archive named, which is only a proposal.
    package var archiveTimeZone: String?
    /// When the bot first ran; older posts are never answered or favorited.
    package var activated: Date?
    /// Fingerprints of the credentials that were verified last, by role.
    var verified: [AccountRole: String] = [:]
    /// How much of the human's past is known; nil before a training or import.
    package var past: KnownPast?
    /// When the bot's profile was written, or a person chose to leave it; nil before that.
    package var profileSettled: Date?
    /// The consent to mirror the human; `nil` if there is none, and then nothing is sent.
    package var consent: HumanConsent?
    /// When the human stopped the mirror; nil if somebody has consented since.
    package var stopped: Date?
    /// The state of the human's account; nil if it is active.
    package var standing: HumanStanding?
    /// When the network was last asked for that state; nil for never.
    package var standingLook: Date?
    /// The planned or completed end of the mirror; nil if it goes on.
    package var retirement: Retirement?
    /// The mark of a move to or from another database; `nil` if there was none.
    package var move: MoveMark?
    /// The stored pause, also if its end has passed; `nil` if there is none.
    package var pause: Pause?

    /// The pause that applies now; nil if none does.
    package func pause(at now: Date) -> Pause? {
        guard let storedPause: Pause = pause, storedPause.holds(at: now) else { return nil }
        return storedPause
    }
}

/// The source of a time zone that no person set.
package enum TimeZoneSource: String, Codable, Sendable {
    /// The human's archive names it.
    case archive
    /// It fits the hours in which the human never posts.
    case guess

    /// The rest of a sentence about the zone.
    package var words: String {
        switch self {
        case .archive: localized("as the archive says")
        case .guess:
            localized(
                "guessed from the hours in which the human never posts, give or take \(TimeZoneGuess.uncertaintyHours) hours"
            )
        }
    }
}

/// How much of the human's posts from before the mirror began is known.
///
/// A worker's first looks archive only the newest posts, and a reader should not see these again at
/// once. So nothing is planned or answered before the past was read, and young posts may be used
/// for lack of older ones only if all of it is known.
package enum KnownPast: String, Codable, Sendable {
    /// The part that the network or the budget allowed to read.
    case part = "some"
    /// Everything that the network shows, or an archive.
    case whole
}

/// A temporary stop of the mirror: at a person's wish, or its own until a person has looked.
package struct Pause: Equatable, Sendable {
    /// Why a mirror pauses by itself.
    package enum Code: String, Sendable {
        /// The bot's first post is not shown to the public.
        case firstPostHidden = "first-post-hidden"
        /// An older state of the mirror was restored, and a person has to check it first.
        case restored
        /// The mirror is being removed; see `RemoveMirror`.
        case removing
    }

    package let since: Date
    /// When the mirror resumes by itself; nil if only a person resumes it.
    package let until: Date?
    package let reason: String?
    /// The mirror's own reason; nil if a person paused it.
    package let code: Code?

    package init(since: Date, until: Date? = nil, reason: String? = nil, code: Code? = nil) {
        self.since = since
        self.until = until
        self.reason = reason
        self.code = code
    }

    /// The end of the pause, for people; in a zone if it is known.
    package func ending(in zone: TimeZone?) -> String {
        until.map { localized("until \(Self.timeText($0, in: zone))") }
            ?? localized("until mirror-bot resume")
    }

    /// The beginning of the pause, in the same form.
    package func beginning(in zone: TimeZone?) -> String { Self.timeText(since, in: zone) }

    private static func timeText(_ date: Date, in zone: TimeZone?) -> String {
        zone.map { LocalTime(date, in: $0).description } ?? date.rfc3339
    }

    /// The digest of a mirror's pause as it was shown to a person.
    ///
    /// - Parameter pause: Nil if there is no pause.
    package static func seen(_ pause: Pause?) -> Seen {
        Seen(
            of: "pause", pause?.since.milliseconds.description,
            pause?.until?.milliseconds.description, pause?.reason,
            pause?.code?.rawValue)
    }

    /// Whether the pause applies at that time.
    package func holds(at now: Date) -> Bool {
        // Without an end it applies until a person resumes the mirror.
        guard let until else { return true }
        return now < until
    }
}

/// The mark that links the copies of a mirror in two databases.
package struct MoveMark: Equatable, Sendable {
    /// The reason why this copy is not to be used.
    package enum State: String, Sendable {
        /// The copy is not complete yet.
        case arriving
        /// The mirror has moved to another database.
        case left
    }

    /// The move's id, the same in both databases.
    package let id: String
    /// The reason why this copy is not to be used; nil for the copy in use.
    package let state: State?
    /// The other database of the move, without a password.
    package let place: String
    /// When the state began.
    package let since: Date?

    /// The columns of `mirrors` that are about a copy, not about the mirror.
    package static let columns: Set = ["move_id", "move_state", "move_place", "move_ms"]

    /// The reason why this copy cannot be used, and what to do; nil if it can.
    package var problem: String? {
        let database = Setting.databaseURL.name
        let home = Setting.home.name
        switch state {
        case .left:
            guard let since else {
                return localized(
                    """
                    lives at \(place); give \(database) or \(home) of that place, or, if that is lost, let it live \
                    here again: mirror-bot move --stay
                    """)
            }
            return localized(
                """
                lives at \(place) since \(since.rfc3339); give \(database) or \(home) of that place, or, if that is lost, \
                let it live here again: mirror-bot move --stay
                """)
        case .arriving:
            return localized(
                "is not all here yet; go on with moving it from \(place) to this database: mirror-bot move --to DATABASE"
            )
        case nil: return nil
        }
    }
}
