package import Foundation
package import Mirroring
package import Networks
package import Posts
package import Settings

/// Everything that decides how well a mirror is, as it was read at one time.
///
/// The parts that cost more than a few statements are optional: what was not asked is nil, and no
/// obstacle follows.
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
    /// That `TIME_ZONE` is not yet the zone in which minutes are recorded; nil if it is.
    package var zoneToCome: String?
    /// The zone that the mirror adopted and its source, as a sentence; nil if a person named the
    /// zone.
    package var adoptedZone: String?
    /// Where the mirror lives, or is to live; nil for here.
    package var move: MoveMark?
    /// A pause that holds; nil if none does.
    package var pause: Pause?
    /// That the mirror is to end, or has; nil if it goes on.
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

    /// Why the database takes no changes; nil if it does as far as is known.
    package var store: StoreFault?
    package var worker = WorkerFact.absent
    /// The parts of the work that fail, the oldest first.
    package var faults: [WorkFault] = []
    /// False for a process that does not know yet what failed before it began.
    package var knowsFaults = true
    /// Seconds by which this machine's clock is ahead of that of the bot's network; nil while that
    /// is not known.
    package var clockLead: TimeInterval?
    package var feeds: [FeedHealth] = []

    /// The month's money; nil where no account is on X.
    package var money: MoneyFact?
    /// Whether the bot's network lets it publish as the settings are.
    package var mayPublish = true
    package var consent = ConsentFact.given
    /// The state of the human's account where that is not the usual one.
    package var standing: HumanStanding?
    /// Sentences about bots that the bot's server added or removed since the operator was shown its
    /// rules.
    package var changedRules = 0
    package var deliberateLimits = DeliberateLimits()

    /// Whether the archive has posts.
    package var hasPosts = true
    /// Whether the human's past was read.
    package var knowsPast = true
    /// The archived posts of which nobody can be asked whether the human still shows them; nil if
    /// the human's network can be asked about all, or if the operator lets the archive decide.
    package var unverified: UnverifiedPosts?
    /// Whether it is known that no text of the archive may be posted by itself at any time.
    package var isWithoutText = false
    /// Whether today's stored plan has no slots.
    package var isSilentDay = false

    /// What the classifier has learned.
    package var learned = LearnedFact()
    /// What this process itself lacks for the classifier; nil for nothing, or if it did not look.
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
    /// It is recorded, or will be with the first start.
    case given
    /// The mirror was there before anybody was asked.
    case unstated
    case missing
    /// The human took it back at that time.
    case stopped(Date)
}

/// One of a mirror's accounts, as far as settings and stored logins tell.
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
    package enum Kind: Sendable { case full, readOnly, away }

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
    /// A worker that has not given the mirror back, and was last heard of so many seconds ago.
    case late(silence: TimeInterval, limit: TimeInterval)
    /// `run --once` is called again and again, last at that time.
    case passes(last: Date)
    /// `run --once` was called again and again, and has not been for longer than usual.
    case passLate(last: Date, every: TimeInterval)
    case absent

    /// How much later than usual the next call of `run --once` may come, as a multiple of the usual
    /// interval.
    private static let slack = 2.5
    /// The next call of `run --once` may always come so late, in seconds: a slot is waited for as
    /// long.
    private static let leastPatience: TimeInterval = 900
    /// Calls that are further apart are no schedule, in seconds.
    private static let longestInterval: TimeInterval = 2 * 86_400

    /// - Parameters:
    ///   - silence: Seconds since the last beat of a lease that was not given back; nil for none.
    ///   - limit: From how many seconds on a beat is too old.
    ///   - lastPass: When `run --once` last ended; nil if a worker that goes on has held the mirror
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
            let usual = max(Self.leastPatience, interval * Self.slack)
            let isLate = now.timeIntervalSince(lastPass) > (isLimitGiven ? limit : usual)
            self = isLate ? .passLate(last: lastPass, every: interval) : .passes(last: lastPass)
        } else if let silence {
            self = .late(silence: silence, limit: limit)
        } else {
            self = .absent
        }
    }

    /// Whether the work is done: by a worker that goes on, or by one pass after the other.
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
    /// Whether not even a post can be paid.
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
    /// The setting that leaves no reply; nil if none does.
    package var noAnswers: String?
    /// Whether `QUIET_HOURS` leave no minute of a day.
    package var isAlwaysQuiet = false
    /// When the quiet hours end that it is in now, as `HH:MM`; nil outside of them.
    package var quietUntil: String?
    /// That `HOLD_WHILE_ACTIVE` has no effect, and why; nil if it has one.
    package var uselessHold: String?
    /// The favorite rate above which a post is a favorite (`FAVORITE_RATE_THRESHOLD`).
    package var threshold = Setting.favoriteRateThreshold.fallback

    package init() {}
}

/// A part of the classifier that a process cannot use, and why.
///
/// A worker that lacks it stores a fault of its own; this is about the process that looks.
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
    /// How many favorites and how many normals are needed before anything is favorited.
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
        case "store-unavailable", "store-busy", "store-authentication", "store-closed": .away
        default: nil
        }
    }
}

/// The extent of the archived posts of which nobody can be asked whether the human still shows
/// them.
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
