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
    /// The command-line flags that a proposed command needs to apply to this mirror.
    package var flags: [String] = []
    /// Why a stored setting of the mirror cannot be used; nil if all can.
    package var settingProblem: String?
    /// The mirror's time zone, in which obstacles name times; nil while unknown, so that UTC is
    /// used.
    package var zone: TimeZone?
    /// The time zone that an archive named; it is proposed to a person if no zone is set.
    package var proposedZone: String?
    /// A sentence which says that minutes are not recorded in the zone `TIME_ZONE` yet; nil if they
    /// are.
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
    /// The refusals of credentials by a network, with their beginnings and errors, by account.
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
    /// The number of sentences about bots that the bot's server added or removed since the operator
    /// was shown its rules.
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
    /// Whether it is known that no text of the archive may ever be posted, other than as a reply.
    package var isWithoutText = false
    /// Whether today's stored plan has no slots.
    package var isSilentDay = false

    /// The posts that the classifier has learned.
    package var learned = LearnedFact()
    /// The part of the classifier that this process lacks; nil if it has all, or did not check.
    package var classifierLack: ClassifierLack?
    /// The number of favorites that were given or planned today.
    package var favoritesToday = 0

    /// The number of actions that wait for a person's decision.
    package var suggestions = 0
    /// The number of the bot's posts whose undo is proposed to a person, because they outlived
    /// their originals.
    package var proposedUndos = 0
    /// Actions of the last day that may or may not have arrived, each as `post ID`, the newest
    /// first.
    package var unconfirmed: [String] = []
    /// One sentence about each stored action that this version does not understand.
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
    /// A worker has not released the mirror, but its last heartbeat was `silence` seconds ago,
    /// longer than `limit` seconds.
    case late(silence: TimeInterval, limit: TimeInterval)
    /// `run --once` is called regularly, and last ended at that time.
    case passes(last: Date)
    /// `run --once` was called regularly, but its next call is overdue.
    case passLate(last: Date, every: TimeInterval)
    case absent

    /// The multiple of the usual interval after which the next call of `run --once` is overdue.
    private static let overdueFactor = 2.5
    /// The shortest time, in seconds, after which the next call of `run --once` is overdue: a call
    /// may wait that long for a slot.
    private static let shortestPassLimit: TimeInterval = 900
    /// The longest interval, in seconds, between calls that count as regular.
    private static let longestInterval: TimeInterval = 2 * 86_400

    /// - Parameters:
    ///   - silence: Seconds since the last heartbeat of a worker that has not released its lease;
    ///     nil if there is no such lease.
    ///   - limit: The age in seconds from which on a heartbeat is too old.
    ///   - lastPass: When `run --once` last ended; nil if a permanent worker has held the mirror
    ///     since.
    ///   - interval: Seconds between the last two ends of `run --once`; nil before there were two.
    ///   - now: The present.
    ///   - isLimitGiven: Whether a person chose the limit; it then applies to calls of `run --once`
    ///     too.
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
    /// A sentence which says that `HOLD_WHILE_ACTIVE` has no effect, and why; nil if the setting
    /// has an effect or is not used.
    package var uselessHold: String?
    /// The favorite rate above which a post is a favorite (`FAVORITE_RATE_THRESHOLD`).
    package var threshold = Setting.favoriteRateThreshold.fallback

    package init() {}
}

/// A part of the classifier that a process cannot use, and why.
///
/// This concerns the process that reads the facts. A worker without that part stores a fault
/// instead.
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
    /// Whether a decision about a favorite is stored; old decisions are deleted.
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
    /// Whether these are all posts of the archive; false if the archive also has posts of the
    /// human's network.
    package var isAll: Bool
    /// Whether the operator decided that these posts are not to be published.
    package var isDecided: Bool

    package init(isAll: Bool, isDecided: Bool) {
        self.isAll = isAll
        self.isDecided = isDecided
    }
}
