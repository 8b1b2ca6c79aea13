package import Foundation
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
    /// The zone in which minutes are recorded; nil too for one that this machine does not know.
    package var zone: TimeZone? { timeZone.flatMap(TimeZone.init(identifier:)) }
    /// Why the mirror has that zone though no person named it; nil for a person's.
    package var timeZoneSource: TimeZoneSource?
    /// The zone that the last archive named, which is only a proposal.
    package var archiveTimeZone: String?
    /// When the bot first ran; nothing older is ever answered or favorited.
    package var activated: Date?
    /// Fingerprints of the credentials that were verified last, by role.
    var verified: [AccountRole: String] = [:]
    /// How much of the human's past is known; nil before any of it was read on purpose.
    package var past: KnownPast?
    /// When the bot's profile was written, or a person chose to leave it; nil before.
    package var profileSettled: Date?
    /// The consent to mirror the human; `nil` if nobody gave it, and then nothing leaves.
    package var consent: HumanConsent?
    /// When the human said that the mirror is to stop, as long as nobody has agreed anew.
    package var stopped: Date?
    /// The state of the human's account where that is not the usual one.
    package var standing: HumanStanding?
    /// When the network was last asked for that state; nil if it never was.
    package var standingLook: Date?
    /// That the mirror is to end, or has; nil if it goes on.
    package var retirement: Retirement?
    /// The mark of a move to or from another database; `nil` if there was none.
    package var move: MoveMark?
    /// The stored pause, also if its end has passed; `nil` if there is none.
    package var pause: Pause?

    /// The pause that holds; nil if none does.
    package func pause(at now: Date) -> Pause? { pause.flatMap { $0.holds(at: now) ? $0 : nil } }
}

/// Where a time zone comes from that no person named.
package enum TimeZoneSource: String, Codable, Sendable {
    /// The human's archive names it.
    case archive
    /// It fits the hours in which the human never posts.
    case guess

    /// The rest of a sentence about the zone.
    package var words: String {
        switch self {
        case .archive: "as the archive says"
        case .guess:
            "guessed from the hours in which the human never posts, give or take \(TimeZoneGuess.uncertaintyHours) hours"
        }
    }
}

/// How much of what the human posted before the mirror began is known.
///
/// Of a worker's first looks the archive has only the newest posts, which nobody should see again
/// at once. So nothing is planned or answered before the past was read, and only what is known
/// whole may be used for want of older posts.
package enum KnownPast: String, Codable, Sendable {
    /// The part that the network or the budget allowed to be read.
    case some
    /// All that the network shows, or an archive.
    case whole
}

/// A wish that the mirror does nothing for a while: a person's, or its own until a person has
/// looked.
package struct Pause: Equatable, Sendable {
    /// Why a mirror pauses by itself.
    package enum Code: String, Sendable {
        /// The bot's first post is not shown to the public.
        case firstPostHidden = "first-post-hidden"
        /// An older state of the mirror was put back, and a person is to look at it first.
        case restored
        /// The mirror is being removed; see `RemoveMirror`.
        case removing
    }

    package let since: Date
    /// Nil until somebody resumes it.
    package let until: Date?
    package let reason: String?
    /// Nil for a person's wish.
    package let code: Code?

    package init(since: Date, until: Date? = nil, reason: String? = nil, code: Code? = nil) {
        self.since = since
        self.until = until
        self.reason = reason
        self.code = code
    }

    /// When it ends, for people; on the clock of a zone where it is known.
    package func ending(in zone: TimeZone?) -> String {
        until.map { "until \(Self.words($0, in: zone))" } ?? "until mirror-bot resume"
    }

    /// When it began, in the same words.
    package func beginning(in zone: TimeZone?) -> String { Self.words(since, in: zone) }

    private static func words(_ date: Date, in zone: TimeZone?) -> String {
        zone.map { LocalTime(date, in: $0).description } ?? date.rfc3339
    }

    /// The digest of whether and how a mirror pauses, as a person is shown it.
    ///
    /// - Parameter pause: Nil where none holds.
    package static func seen(_ pause: Pause?) -> Seen {
        Seen(
            of: "pause", pause?.since.milliseconds.description,
            pause?.until?.milliseconds.description, pause?.reason,
            pause?.code?.rawValue)
    }

    /// Whether it holds at that time.
    package func holds(at now: Date) -> Bool { until.map { now < $0 } ?? true }
}

/// The mark that links the copies of a mirror in two databases.
package struct MoveMark: Equatable, Sendable {
    /// Why this copy is not the one to be used.
    package enum State: String, Sendable {
        /// It is not all here yet.
        case arriving
        /// It lives elsewhere now.
        case left
    }

    /// The same in both databases.
    let id: String
    /// Nil for the copy that is used.
    package let state: State?
    /// Where it comes from or went, without a password.
    package let place: String
    /// Since when it is in this state.
    package let since: Date?

    /// The columns of `mirrors` that are about a copy, not about the mirror.
    static let columns: Set = ["move_id", "move_state", "move_place", "move_ms"]

    /// Why this copy cannot be used, and what to do; nil if it can.
    package var problem: String? {
        let day = since.map { " since \($0.rfc3339)" } ?? ""
        return switch state {
        case .left:
            """
            lives at \(place)\(day); give DATABASE_URL or MIRROR_BOT_HOME of that place, or, if that is lost, let it live \
            here again: mirror-bot move --stay
            """
        case .arriving:
            "is not all here yet; go on with moving it from \(place) to this database: mirror-bot move --to DATABASE"
        case nil: nil
        }
    }
}
