import Foundation
import Mirroring
import Outbox
import Posts
import Settings

/// The state of a process's work for one mirror and the decisions about it, without a clock, a
/// network or a store.
///
/// `MirrorLife` carries out the decisions. A start asks ``retry(at:)``, and reports the settings
/// that it uses to ``began(with:)``, its success to ``works(with:)`` or its failure to
/// ``failed(_:at:)``. When no pass runs any more, ``passesEnded(with:verified:)`` returns what
/// follows:
///
/// ```
/// starting ── works(with:) ──▶ working
///
/// any ── passesEnded: settings changed, or a pause began ──▶ starting
/// any ── passesEnded: an error that needs a person, waits(with:) ──▶ waiting
/// any ── passesEnded: otherwise, and after end() always ──▶ over
/// ```
struct LifeState: Sendable {
    /// The phase of the work, which determines the mirror's passes.
    enum Phase: Sendable {
        /// The only pass is the start.
        case starting
        /// The passes are those of a working mirror.
        case working
        /// After an error that needs a person, the only pass checks for that person's changes.
        case waiting
    }

    /// What follows when no pass runs any more.
    enum Sequel {
        /// A start, because a pause began while something was about to be sent.
        case startAfterPause
        /// A start with the present settings, because logins, accounts, settings or a pause
        /// changed.
        case startAnew
        /// The wait for a person, because of this error.
        case waitForPerson(any Error)
        /// The end, with the error that caused it.
        case end((any Error)?)
    }

    /// A pause of the mirror, as a start finds it.
    enum PauseStep {
        /// The mirror is not paused. `isOver` is true if a pause was announced before.
        case none(isOver: Bool)
        /// The mirror is paused. `isNew` is false if the pause was announced before.
        case holds(Pause, isNew: Bool)
    }

    /// The next step of a mirror's retirement.
    enum RetirementStep {
        /// No step is due.
        case none
        case carryOut
        /// The retirement is completed. The process has other mirrors, and checks this one again at
        /// the given time.
        case rest(until: Date)
        /// The retirement is completed, and the process is for this mirror alone.
        case end
    }

    /// The roles whose accounts the networks had verified, with their credentials.
    private struct Verified {
        let roles: Set<AccountRole>
        let credentials: [AccountRole: String]
    }

    /// Seconds between two checks for changed logins, settings or pauses.
    static let changeCheckInterval: TimeInterval = 50

    private let waitsForPerson: Bool
    private(set) var phase = Phase.starting
    private(set) var isOver = false
    /// The settings and logins that the mirror uses; nil before a start has read them.
    private(set) var knownStamp: MirrorStamp?
    /// Whether the settings must be read again before the next start.
    private(set) var isOutdated = true
    /// The number of starts that failed in a row.
    private(set) var failures = 0
    /// When a failed start is retried.
    private var retryTime: Date?
    /// The accounts that were verified before the last change.
    private var verified: Verified?
    private var isPauseAnnounced = false
    /// The `MirrorVersion` that was read last.
    private var version: Int64
    /// Whether the version has changed since the last check for changes.
    private var hasNewVersion = false

    /// - Parameters:
    ///   - waitsForPerson: Whether the mirror waits for a person's changes after an error that
    ///     needs a person; otherwise its work ends.
    ///   - version: The last known `MirrorVersion`.
    init(waitsForPerson: Bool, version: Int64) {
        self.waitsForPerson = waitsForPerson
        self.version = version
    }

    // MARK: The end of passes

    /// Prevents all further starts.
    mutating func end() { isOver = true }

    /// Decides what follows when no pass runs any more.
    ///
    /// - Parameters:
    ///   - error: The error that ended the passes; nil for none.
    ///   - roles: The roles whose accounts were verified while the passes ran; a start with the
    ///     same credentials need not verify them again.
    mutating func passesEnded(
        with error: (any Error)?, verified roles: Set<AccountRole>
    ) -> Sequel {
        verified = nil
        if error is MirrorChanged, let knownStamp {
            verified = Verified(roles: roles, credentials: knownStamp.credentials)
        }
        failures = 0
        retryTime = nil
        isPauseAnnounced = false
        phase = .starting
        switch error {
        case let error as OutboxError where error.code == .paused && !isOver:
            knownStamp = nil
            return .startAfterPause
        case is MirrorChanged where !isOver:
            knownStamp = nil
            isOutdated = true
            return .startAnew
        default:
            guard waitsForPerson, let error, !isOver, !error.isLostLease else {
                return .end(error)
            }
            return .waitForPerson(error)
        }
    }

    /// Notes that the mirror waits for a person.
    ///
    /// - Parameter stamp: The settings that led to the error; nil if they cannot be read, so that
    ///   the next check starts the mirror again.
    mutating func waits(with stamp: MirrorStamp?) {
        knownStamp = stamp
        phase = .waiting
    }

    // MARK: Changes

    /// Notes the present `MirrorVersion`.
    ///
    /// - Returns: Whether it differs from the last one, so that the passes which depend on a
    ///   person's changes are due.
    mutating func notes(version: Int64) -> Bool {
        guard self.version != version, !isOver else { return false }
        self.version = version
        hasNewVersion = true
        return true
    }

    /// Returns whether the `MirrorVersion` has changed since the last call.
    mutating func takeNews() -> Bool {
        defer { hasNewVersion = false }
        return hasNewVersion
    }

    /// Whether the settings or logins that are read now differ from those that this mirror read
    /// when it started, or when its last run ended.
    func isChanged(by stamp: MirrorStamp) -> Bool {
        // Without a stamp, a waiting mirror starts again at each check.
        guard let knownStamp else { return phase == .waiting }
        // A start binds the accounts itself, so `isSame` ignores them.
        return phase == .starting ? !stamp.isSame(as: knownStamp) : stamp != knownStamp
    }

    // MARK: The start

    /// The time of the retry for which a failed start still waits; nil if it may start now.
    mutating func retry(at now: Date) -> Date? {
        if let retryTime, now < retryTime { return retryTime }
        retryTime = nil
        return nil
    }

    /// The time of the next check while a start waits for its retry.
    func nextCheck(before retry: Date, at now: Date) -> Date {
        // Without a stamp, every retry reads the settings itself.
        knownStamp == nil ? retry : min(retry, now + Self.changeCheckInterval)
    }

    /// Notes that the mirror was opened with its present settings.
    mutating func opened() { isOutdated = false }

    /// Notes that a start uses these settings.
    ///
    /// - Returns: The roles that need not be verified again.
    mutating func began(with stamp: MirrorStamp) -> Set<AccountRole> {
        knownStamp = stamp
        defer { verified = nil }
        guard let verified, verified.credentials == stamp.credentials else { return [] }
        return verified.roles
    }

    /// Notes that a start has succeeded, after which the settings are as in `stamp`.
    ///
    /// - Returns: False if the start used other settings, so that the mirror must start anew.
    mutating func works(with stamp: MirrorStamp) -> Bool {
        // The accounts may differ, because a first start binds them itself.
        guard let knownStamp, stamp.isSame(as: knownStamp) else { return false }
        self.knownStamp = stamp
        phase = .working
        return true
    }

    /// Notes that a start has failed.
    ///
    /// - Returns: The time of the retry.
    mutating func failed(_ error: any Error, at now: Date) -> Date {
        failures += 1
        let next = RetryRule.work.next(after: failures, of: "start", error, now: now)
        retryTime = next
        return next
    }

    // MARK: Pauses and retirement

    /// Decides about the stored pause, and remembers it, so that it is announced once.
    mutating func step(in pause: Pause?) -> PauseStep {
        let wasAnnounced = isPauseAnnounced
        isPauseAnnounced = pause != nil
        guard let pause else { return .none(isOver: wasAnnounced) }
        return .holds(pause, isNew: !wasAnnounced)
    }

    /// The time of the next check during a pause.
    ///
    /// - Parameter undo: The time of the next request to undo.
    func nextCheck(in pause: Pause, undo: Date, at now: Date) -> Date {
        min(nextCheck(before: undo, at: now, atLeast: 1), pause.until ?? .distantFuture)
    }

    /// Returns the next step of the stored retirement, which is nil if there is none.
    func step(in retirement: Retirement?, at now: Date) -> RetirementStep {
        guard let retirement, retirement.isDue(at: now) else { return .none }
        return retirement.isOver ? afterRetirement(at: now) : .carryOut
    }

    /// The step after a retirement is completed.
    func afterRetirement(at now: Date) -> RetirementStep {
        // A process of several mirrors releases the mirror with its next heartbeat.
        waitsForPerson ? .rest(until: now + Self.changeCheckInterval) : .end
    }

    /// The time of the next check while a retirement waits.
    func nextCheck(inRetirement next: Date, at now: Date) -> Date {
        nextCheck(before: next, at: now, atLeast: 1)
    }

    private func nextCheck(before next: Date, at now: Date, atLeast wait: TimeInterval) -> Date {
        min(max(next, now + wait), now + Self.changeCheckInterval)
    }
}

extension MirrorStamp {
    /// Whether a start that used `other` may continue; the accounts are ignored, because a start
    /// binds them itself.
    fileprivate func isSame(as other: MirrorStamp) -> Bool {
        credentials == other.credentials && settings == other.settings && findings == other.findings
            && !isPaused
    }
}
