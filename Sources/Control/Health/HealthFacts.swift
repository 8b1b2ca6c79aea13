package import Foundation
package import Mirroring
package import Networks
package import Posts
package import Settings

/// The facts that decide on the health of a mirror, as they were read at one time.
///
/// Facts that cost more than a few statements are optional: a fact that was not read is nil, and
/// leads to no obstacle.
package struct HealthFacts: Equatable, Sendable {
    package var now: Date
    /// The flags without which a proposed command would mean another mirror.
    package var flags: [String] = []
    /// Why a stored setting of the mirror cannot be used; nil if all can.
    package var settingProblem: String?
    /// The mirror's clock, on which causes name times; UTC until it is known.
    package var zone: TimeZone?
    /// The zone that an archive named, to be proposed where none is set.
    package var proposedZone: String?
    /// A sentence that `TIME_ZONE` is not yet the zone in which minutes are recorded; nil if it is.
    package var zoneToCome: String?
    /// The zone that the mirror adopted and its source, as a sentence; nil if a person named the
    /// zone.
    package var adoptedZone: String?
    /// The mark of a move to or from another database; nil if there is none.
    package var move: MoveMark?
    /// The pause in force; nil if there is none.
    package var pause: Pause?
    /// The planned or finished end of the mirror; nil if there is none.
    package var retirement: Retirement?
    /// The setup steps left before the mirror works for the first time; empty once it has worked.
    package var setup: [SetupStep] = []

    package var accounts: [AccountRole: AccountFact] = [:]
    /// Whether the credentials of both roles certainly open one account.
    package var areAccountsSame = false
    /// Since when, and how, a network refuses the credentials of an account.
    package var refusals: [AccountRole: WorkFault] = [:]
    /// The calls that a network puts off, or that fail, by account.
    package var waits: [AccountRole: [AccountWait]] = [:]

    /// Why the database takes no changes; nil if it takes them, as far as is known.
    package var store: StoreFault?
    package var worker = WorkerFact.absent
    /// The parts of the work that fail, the oldest first.
    package var faults: [WorkFault] = []
    /// False for a process that has not yet read the faults from before its start.
    package var knowsFaults = true
    /// Seconds by which this machine's clock is ahead of the clock of the bot's network; nil while
    /// that is unknown.
    package var clockLead: TimeInterval?
    package var feeds: [FeedHealth] = []

    /// The month's budget; nil if no account is on X.
    package var money: MoneyFact?
    /// Whether the settings acknowledge the policy that the bot's network has for bots.
    package var mayPublish = true
    package var consent = ConsentFact.given
    /// The state of the human's account; nil if the account is in use as usual.
    package var standing: HumanStanding?
    /// Sentences about bots that the bot's server added or removed since the operator was shown its
    /// rules.
    package var changedRules = 0
    package var deliberateLimits = DeliberateLimits()

    /// Whether the archive has posts.
    package var hasPosts = true
    /// Whether the human's past was read.
    package var knowsPast = true
    /// Archived posts of networks on which the human has no account here, so that the bot cannot
    /// check whether they still exist; nil if there are none, or if the operator trusts the
    /// archive.
    package var unverified: UnverifiedPosts?
    /// Whether it is known that no text of the archive may be posted by itself at any time.
    package var isWithoutText = false
    /// Whether today's stored plan has no slots.
    package var isSilentDay = false

    /// The posts that the classifier has learned.
    package var learned = LearnedFact()
    /// The part of the classifier that this process lacks; nil if it has all, or did not check.
    package var classifierLack: ClassifierLack?
    /// Favorites that were given or planned today.
    package var favoritesToday = 0

    /// Actions that wait for a person.
    package var suggestions = 0
    /// Posts of the bot that outlived their originals.
    package var proposedUndos = 0
    /// Actions of the last day that may or may not have arrived, each as `post ID`, the newest
    /// first.
    package var unconfirmed: [String] = []
    /// Rows of actions that this version does not understand, a sentence each.
    package var setAside: [String] = []
    /// Probes and changes of the profile that are not over, the oldest first.
    package var effects: [Effect] = []

    package init(now: Date) { self.now = now }
}

/// The state of the human's consent to the mirror.
package enum ConsentFact: Equatable, Sendable {
    /// The consent is recorded, or the first start will record it.
    case given
    /// The mirror is older than the record of consent, and the operator has not stated one.
    case unstated
    case missing
    /// The human withdrew the consent at that time.
    case stopped(Date)
}

/// One of a mirror's accounts, according to the settings and the stored logins.
package struct AccountFact: Equatable, Sendable {
    package var network: NetworkName
    /// Why there is no account; nil if there is one.
    package var problem: String?
    /// Whether the account is there, but its login cannot be used.
    package var isUnusable = false
    /// Why the home timeline is not read; nil if it is.
    package var homeProblem: String?
    /// Whether a setting leaves the home timeline out.
    package var isHomeLeftOut = false

    package init(network: NetworkName) { self.network = network }
}

/// Why the database takes no changes.
package struct StoreFault: Equatable, Sendable {
    package enum Kind: Sendable { case full, readOnly, unreachable }

    package var kind: Kind
    package var text: String
    package var since: Date?

    package init(_ kind: Kind, _ text: String, since: Date? = nil) {
        self.kind = kind
        self.text = text
        self.since = since
    }
}

/// The state of the worker of a mirror.
package enum WorkerFact: Equatable, Sendable {
    case running
    /// A worker has not released the mirror, but its last beat was `silence` seconds ago.
    case late(silence: TimeInterval, limit: TimeInterval)
    /// `run --once` is called regularly, and last ended at that time.
    case passes(last: Date)
    /// `run --once` was called regularly, but its next call is overdue.
    case passLate(last: Date, every: TimeInterval)
    case absent

    /// The multiple of the usual interval after which the next call of `run --once` is overdue.
    private static let overdueFactor = 2.5
    /// The shortest time, in seconds, after which the next call of `run --once` is overdue: a call
    /// may wait as long for a slot.
    private static let shortestPassLimit: TimeInterval = 900
    /// The longest interval, in seconds, between calls that count as regular.
    private static let longestInterval: TimeInterval = 2 * 86_400

    /// - Parameters:
    ///   - silence: Seconds since the last beat of a lease that was not given back; nil for none.
    ///   - limit: The age in seconds from which on a beat is too old.
    ///   - lastPass: When `run --once` last ended; nil if a permanent worker has held the mirror
    ///     since.
    ///   - interval: Seconds between the last two ends; nil before there were two.
    ///   - now: The present.
    ///   - isLimitGiven: Whether a person chose the limit, so that it counts for passes too.
    package init(
        silence: TimeInterval?, limit: TimeInterval, lastPass: Date?, interval: TimeInterval?,
        now: Date,
        isLimitGiven: Bool = false
    ) {
        if let silence, silence < limit {
            self = .running
        } else if let lastPass, let interval, interval <= Self.longestInterval {
            let passLimit = max(Self.shortestPassLimit, interval * Self.overdueFactor)
            let isLate = now.timeIntervalSince(lastPass) > (isLimitGiven ? limit : passLimit)
            self = isLate ? .passLate(last: lastPass, every: interval) : .passes(last: lastPass)
        } else if let silence {
            self = .late(silence: silence, limit: limit)
        } else {
            self = .absent
        }
    }

    /// Whether a permanent worker, or regular calls of `run --once`, do the work.
    package var isAtWork: Bool {
        switch self {
        case .running, .passes: true
        case .late, .passLate, .absent: false
        }
    }
}

/// The budget for calls on X this month.
package struct MoneyFact: Equatable, Sendable {
    package var left: String
    package var budget: String
    package var renews: Date
    /// Whether the rest of the budget does not even pay for a post.
    package var isSpent: Bool
    /// Whether the smallest page of the bot's mentions cannot be paid; false where the bot is not
    /// on X.
    package var lacksMentions: Bool
    /// Whether the smallest page of the human's posts cannot be paid; false where the human is not
    /// on X.
    package var lacksOwnPosts: Bool

    package init(
        left: String, budget: String, renews: Date, isSpent: Bool = false,
        lacksMentions: Bool = false,
        lacksOwnPosts: Bool = false
    ) {
        self.left = left
        self.budget = budget
        self.renews = renews
        self.isSpent = isSpent
        self.lacksMentions = lacksMentions
        self.lacksOwnPosts = lacksOwnPosts
    }
}

/// What the settings switch off or limit on purpose, so that the status does not report it as a
/// fault.
package struct DeliberateLimits: Equatable, Sendable {
    /// Whether `FAVORITE_MODE` is not `off`.
    package var wantsFavorites = true
    package var favoritesPerDay = Setting.favoritesPerDay.fallback
    /// Whether `MAX_PER_DAY` is 0.
    package var onlyAnswers = false
    /// The setting that forbids all replies; nil if none does.
    package var noAnswers: String?
    /// Whether `QUIET_HOURS` leave no minute of a day.
    package var isAlwaysQuiet = false
    /// The end of the present quiet hours, as `HH:MM`; nil outside of quiet hours.
    package var quietUntil: String?
    /// A sentence that `HOLD_WHILE_ACTIVE` has no effect, and why; nil if it has an effect.
    package var uselessHold: String?
    /// The favorite rate above which a post is a favorite (`FAVORITE_RATE_THRESHOLD`).
    package var threshold = Setting.favoriteRateThreshold.fallback

    package init() {}
}

/// A part of the classifier that a process cannot use, and why.
///
/// A worker that lacks it stores a fault of its own; this is about the process that reads facts.
package enum ClassifierLack: Equatable, Sendable {
    /// The dictionary cannot be opened.
    case dictionary(String)
    /// The counts cannot be read.
    case counts(String)
}

/// The posts that the classifier of a mirror has learned.
package struct LearnedFact: Equatable, Sendable {
    package var favorites = 0
    package var normals = 0
    /// Posts that were seen on a home timeline.
    package var seen = 0
    /// The number of favorites, and of normals, that are needed before the bot favorites a post.
    package var needed = 0
    /// Whether a favorite was ever decided on, as far as they are kept.
    package var hasDecided = false

    var isEnough: Bool { favorites >= needed && normals >= needed }
}

extension WorkFault {
    /// How the database refused the work; nil for another cause.
    var storeKind: StoreFault.Kind? {
        switch code {
        case "store-full": .full
        case "store-read-only": .readOnly
        case "store-unavailable", "store-busy", "store-authentication", "store-closed": .unreachable
        default: nil
        }
    }
}

/// The extent of the archived posts that the bot cannot check, because the human has no account on
/// their networks here.
package struct UnverifiedPosts: Equatable, Sendable {
    /// Whether these are all posts of the archive, rather than only those of another network than
    /// the human's.
    package var isAll: Bool
    /// Whether the operator decided that these posts are not to be published.
    package var isDecided: Bool

    package init(isAll: Bool, isDecided: Bool) {
        self.isAll = isAll
        self.isDecided = isDecided
    }
}
