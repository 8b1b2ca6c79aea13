import Foundation
import Outbox
import Posts
import Sandbox

/// The three ledgers of a run, and what happened to the run.
///
/// The plan's ledger is `plans` and `slots`, the network's is `ledger`, the mirror's own is
/// `actions`. Everything is read after the last worker has ended, and every instant is one of the
/// mirror's clock.
struct AuditInput: Sendable {
    var rules: AuditRules
    /// Whose days the plans and the caps are.
    var zone: TimeZone
    /// When the mirror first started; nothing older is answered.
    var activated: Date
    /// When the last worker ended.
    var now: Date
    var plans: [StoredPlan]
    /// How many slots each plan said that its day has.
    var slots: [LocalDay: Int]
    var actions: [Action]
    var ledger: SandboxLedger
    /// How many times a worker was killed.
    var kills: Int
    /// How many requests acted, or act later, without their answer arriving whole.
    var cutAnswers: Int
    /// The stretches in which a worker could not do its work, in any order; they may overlap.
    var disturbances: [Disturbance] = []
    /// What the mirror says about how it hears.
    var hearing = Hearing()
    var stoppedWorkers: [StoppedWorker] = []
    var wrongClocks: [WrongClock] = []
    /// What a person did meanwhile.
    var person = PersonLedger()
    /// The reads that were told that a post is gone, which it was not, by path and query.
    var deniedChecks: [String] = []
    /// Path and query of the reads that were refused for a moment; whatever waits for them may wait
    /// for hours.
    var postponedChecks: [String] = []
    /// How long a worker that nothing disturbs may take for one thing, from noticing it to the
    /// request.
    ///
    /// What had no longer stretch than this counts as hindered: it is not held against the worker.
    var patience: TimeInterval
    /// How far a worker's clock may be from the network's.
    var skew: TimeInterval = 0
}

/// A stretch in which a worker could not do its work.
struct Disturbance: Equatable, Sendable {
    enum Cause: String, CaseIterable, Codable, Sendable {
        /// None ran, or the one that ran was stopped, did not have the lease yet, or had not
        /// started.
        case noWorker = "no-worker"
        case noServer = "no-server"
        case noDatabase = "no-database"
        /// The counts of the classifier could not be read; nothing but favorites waits for them.
        case noCounts = "no-counts"
        /// The same of a Redis Cluster. A worker waits five seconds of its monotonic clock for a
        /// new master, which are minutes of a mirror whose clock runs faster, and whatever asks the
        /// bot's network waits behind it.
        case noCluster = "no-cluster"
        /// Requests were refused, or not answered, on purpose.
        case faults
        /// What people say could not be read; nothing waits for it but answers and favorites.
        case noFeed = "no-feed"
        /// The worker's clock was set, and what was to be done had been, or was not to be done yet,
        /// for all it knew.
        case wrongClock = "wrong-clock"
        /// The machine had no processor for a worker, for the network or for a store, or its disk
        /// kept one waiting. Explains what is late or missing, and nothing else.
        case starvation
    }

    var cause: Cause
    var interval: DateInterval

    /// Whether an action of this kind has to wait for the end of it.
    func hinders(_ kind: ActionKind) -> Bool {
        switch cause {
        case .noCounts: kind == .favorite
        case .noFeed: kind != .post
        default: true
        }
    }

    /// Whether what a worker tried meanwhile may have failed.
    ///
    /// One that did not run did not try. One that starved is late with everything; its requests
    /// take longer, and have much more time than that. And what cannot be read is no action yet.
    var letsFail: Bool { ![.noWorker, .starvation, .noFeed].contains(cause) }

    /// How much longer than itself it can be felt, in seconds.
    ///
    /// Whoever tried while it lasted waits before the next attempt. Each wait is twice the one
    /// before, so it is at most as long as all of them together, plus the first: a minute, spread
    /// by a quarter. No wait is longer than a quarter of an hour, spread likewise. A worker that
    /// did not run did not try. One that starved has as much to do again as piled up meanwhile;
    /// after a long time it may have lost its lease, and needs about that minute too.
    var aftermath: TimeInterval {
        switch cause {
        case .noWorker: 0
        case .starvation: interval.duration + (interval.duration < Self.beat ? 0 : Self.firstWait)
        case .noServer, .noDatabase, .noCounts, .noCluster, .faults, .noFeed, .wrongClock:
            min(interval.duration + Self.firstWait, Self.longestWait)
        }
    }

    private static let firstWait: TimeInterval = 75
    private static let longestWait: TimeInterval = 900 * 1.25
    /// A worker that pauses for less than this keeps its lease, in seconds.
    private static let beat: TimeInterval = 24
}

/// A worker that was held with SIGSTOP and went on later.
struct StoppedWorker: Equatable, Sendable {
    /// The fault point at which it was stopped.
    var point: String
    var stopped: Date
    var woken: Date
}
