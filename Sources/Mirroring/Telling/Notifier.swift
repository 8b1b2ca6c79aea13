package import Foundation
import Logging
import Networks
import Outbox
import Posts
import Storage

/// The live status of a worker: written by the worker, read by the notifier of the same process.
package final class WorkerPulse: @unchecked Sendable {
    // Sendable because every property is only touched under `lock`.
    /// A worker whose passes did not end for so long does nothing, in seconds.
    private static let patience: TimeInterval = 600

    private let lock = NSLock()
    private var holds = false
    private var lastWork: TimeInterval?
    private var failing: [WorkTrouble] = []
    private var hasReadTroubles = false
    private var lead: TimeInterval?

    package init() {}

    /// Whether the process does the mirror's work now; one that waits for another says nothing of it.
    package var holdsMirror: Bool {
        get { lock.withLock { holds } }
        set { lock.withLock { holds = newValue } }
    }

    /// Whether it has done something since it began.
    var hasWorked: Bool { lock.withLock { lastWork != nil } }

    /// The parts whose last try failed, the oldest trouble first.
    var troubles: [WorkTrouble] { lock.withLock { failing } }

    /// Whether ``troubles`` includes those that earlier processes stored; before that, an empty list means nothing.
    var knowsEarlierTroubles: Bool { lock.withLock { hasReadTroubles } }

    /// Replaces the troubles.
    ///
    /// - Parameters:
    ///   - troubles: The parts whose last try failed.
    ///   - isComplete: Whether the troubles that earlier processes stored have been read.
    func fails(_ troubles: [WorkTrouble], isComplete: Bool) {
        lock.withLock { (failing, hasReadTroubles) = (troubles, isComplete) }
    }

    /// How far this machine's clock is ahead of that of the bot's network, in seconds; nil while that is not known.
    var clockLead: TimeInterval? { lock.withLock { lead } }

    /// Notes that what is due was sent, or that a person wants nothing to be sent.
    package func works(uptime: TimeInterval) { lock.withLock { lastWork = uptime } }

    /// Notes how far the clock is ahead.
    package func compares(clockLead: TimeInterval?) { lock.withLock { lead = clockLead ?? lead } }

    /// Whether it has sent what was due lately.
    func isLively(uptime: TimeInterval) -> Bool {
        lock.withLock { lastWork.map { uptime - $0 < Self.patience } ?? false }
    }
}

/// Tells a person what they should know while nobody looks, and a dead man's switch that all is well.
///
/// Never throws, and changes nothing but its own table: a mirror whose operator cannot be told works on.
package actor Notifier {
    /// Between two heartbeats, in seconds of a clock that nobody sets.
    private static let heartbeat: TimeInterval = 240
    /// How long the last word of a process may take.
    private static let lastWordLimit: Duration = .seconds(4)

    private let mirror: HumanMirror
    private let configuration: NoticeConfiguration
    private let sender: NoticeSender
    private var lastBeat: TimeInterval?
    /// What was remembered last, for when the database is away.
    private var memory: [NoticeRow] = []
    /// The causes about which the memory knows better than the database.
    private var unsaved: Set<NoticeCause> = []
    private var databaseAwaySince: Date?

    /// - Parameter mirror: The mirror, open. Nil if nobody wants to be told anything.
    package init?(of mirror: HumanMirror) {
        guard !mirror.configuration.notices.isIdle else { return nil }
        self.mirror = mirror
        configuration = mirror.configuration.notices
        sender = NoticeSender(configuration)
    }

    /// Ends what was opened for it.
    package nonisolated func shutdown() { sender.shutdown() }

    /// Looks at the mirror, tells what is to be told, and gives a sign of life if all is well.
    ///
    /// - Parameter pulse: What the process knows of its worker; without the mirror nothing is looked at.
    package func look(_ pulse: WorkerPulse) async {
        guard pulse.holdsMirror else { return }
        let now = mirror.clock.now
        do {
            let mirror = try await currentMirror()
            let findings = try await mirror.noticeFindings(pulse, now: now)
            if configuration.tells { try await tell(findings, now: now) }
            if mirror.doesItsWork(pulse, findings) { await beat() }
        } catch is CancellationError {
            return
        } catch is StorageError {
            await tellOfDatabase(now: now)
        } catch {
            mirror.logger.warning("Nobody told", metadata: [LogKeys.error: "\(error)"])
        }
    }

    /// Tells that the worker ends for a reason that a person has to mend; a process that told so today is silent.
    ///
    /// - Parameters:
    ///   - cause: Why it ends.
    ///   - detail: What there is to say of it, in our own words.
    package func tellEnd(_ cause: NoticeCause, _ detail: String?) async {
        guard configuration.tells else { return }
        let now = mirror.clock.now
        // Only the database knows what was told before, and a process that begins again and again would tell each time.
        try? await tell([cause: .holds(since: now, detail: detail, isCertain: true)], now: now, isLast: true)
    }

    /// Whether what a network refuses is the human's account and not the bot's, without which there is enough to do.
    package var isHumanRefusedAlone: Bool {
        get async {
            guard let refused = try? await mirror.refusals.all() else { return false }
            return refused[.human] != nil && refused[.bot] == nil
        }
    }

    /// The mirror with what is set for it now, such as a budget.
    private func currentMirror() async throws -> HumanMirror {
        do {
            return try await mirror.withCurrentSettings()
        } catch is ConfigurationError {
            return mirror
        }
    }

    private func tell(
        _ findings: [NoticeCause: NoticeFinding], now: Date, isLast: Bool = false
    ) async throws {
        let known = memory.filter { unsaved.contains($0.cause) }
        let (notices, rows) = try await mirror.notices.take(findings, knowing: known, now: now)
        (memory, unsaved, databaseAwaySince) = (rows, [], nil)
        for notice in notices {
            guard let index = memory.firstIndex(where: { $0.cause == notice.cause }), await send(notice, isLast) else {
                continue
            }
            memory[index].heard(notice)
            do {
                try await mirror.notices.store(memory[index])
            } catch {
                unsaved.insert(memory[index].cause)
            }
        }
    }

    /// What can be told while nothing can be looked up: that.
    private func tellOfDatabase(now: Date) async {
        guard configuration.tells else { return }
        let since = databaseAwaySince ?? now
        databaseAwaySince = since
        let index = memory.firstIndex { $0.cause == .database } ?? memory.endIndex
        if index == memory.endIndex { memory.append(NoticeRow(.database)) }
        unsaved.insert(.database)
        let notice = memory[index].take(.holds(since: since), mirror: mirror.name, now: now)
        if let notice, await send(notice, false) { memory[index].heard(notice) }
    }

    /// Whether anybody heard it.
    private func send(_ notice: Notice, _ isLast: Bool) async -> Bool {
        let receipts = await sender.send(notice, limit: isLast ? Self.lastWordLimit : NoticeSender.usualLimit)
        let cause = Logger.MetadataValue.string(notice.cause?.rawValue ?? "-")
        // Who is told to end has not heard an answer, and there is nothing to be said of that.
        for receipt in receipts where !Task.isCancelled {
            guard let problem = receipt.problem else { continue }
            mirror.logger.warning(
                "Notice not delivered",
                metadata: [LogKeys.reason: cause, LogKeys.error: "\(receipt.way): \(problem)"])
        }
        guard receipts.contains(where: { $0.problem == nil }) else { return false }
        mirror.logger.info(
            "Notice sent", metadata: [LogKeys.reason: cause, LogKeys.state: "\(notice.state.rawValue)"])
        return true
    }

    private func beat() async {
        let uptime = mirror.clock.uptime
        guard lastBeat.map({ uptime - $0 >= Self.heartbeat }) ?? true else { return }
        lastBeat = uptime
        guard let problem = await sender.beat() else { return }
        mirror.logger.warning("Heartbeat not delivered", metadata: [LogKeys.error: "HEARTBEAT_URL: \(problem)"])
    }
}

extension HumanMirror {
    /// A clock that is wrong by more is worth a word, in seconds.
    private static let clockTolerance: TimeInterval = 60

    /// What there is to be told of the mirror now, cause by cause; what cannot be known is missing.
    ///
    /// - Parameters:
    ///   - pulse: What the process knows of its worker.
    ///   - now: The present.
    /// - Returns: What holds, and what does not.
    /// - Throws: The store's error.
    func noticeFindings(_ pulse: WorkerPulse, now: Date) async throws -> [NoticeCause: NoticeFinding] {
        var findings: [NoticeCause: NoticeFinding] = [:]
        if pulse.hasWorked { findings[.stopped] = .isOver }
        let refused = try await refusals.all()
        findings[.refused] = refused[.bot].map { .holds(since: $0.since) } ?? .isOver
        findings[.humanRefused] = refused[.human].map { .holds(since: $0.since) } ?? .isOver
        let lasting = pulse.troubles.filter(\.isLasting)
        let isDatabaseAway = lasting.contains(where: \.isOfDatabase)
        findings[.database] =
            try await databaseProblem() == nil && !isDatabaseAway ? .isOver : .holds(since: now)
        findings[.budget] = try await budgetFinding(now: now)
        let unread = try await feeds.health(now: now).filter { $0.error != nil }
        let failing = Self.failing(lasting.filter { !$0.isOfDatabase }, besides: unread.map(\.feed))
        // A process that has just begun does not know yet whether what failed before it began works again.
        findings[.failing] = failing == .isOver && !pulse.knowsEarlierTroubles ? nil : failing
        findings[.unreachable] = Self.unreachable(unread, isUnpaid: findings[.budget] != .isOver)
        if let lead = pulse.clockLead {
            findings[.clock] =
                abs(lead) > Self.clockTolerance ? .holds(since: now, detail: "\(Int(abs(lead))) s") : .isOver
        }
        findings[.review] = try await reviewFinding(now: now)
        return findings
    }

    private func reviewFinding(now: Date) async throws -> NoticeFinding {
        let outbox = outbox(lease: nil)
        let suggested = try await outbox.suggestionCount()
        let proposed = try await outbox.undoTally().proposed
        var parts: [String] = []
        if suggested > 0 {
            let subject = suggested == 1 ? "1 action waits" : "\(suggested) actions wait"
            parts.append("\(subject) for your decision: mirror-bot suggestions")
        }
        if proposed > 0 {
            parts.append("\(proposed) of the bot's posts outlived their originals: mirror-bot undo proposed")
        }
        return parts.isEmpty ? .isOver : .holds(since: now, detail: parts.joined(separator: "; "))
    }

    private func budgetFinding(now: Date) async throws -> NoticeFinding {
        guard try await FoundAccounts(in: self).networks.contains(.x) else { return .isOver }
        let spending = try await spending.spending(at: now)
        guard spending.left < XPrices.current.postCreate else { return .isOver }
        let detail = " until \(spending.renews.rfc3339.prefix(10)), \(spending.left) of \(spending.budget) being left"
        return .holds(since: now, detail: detail)
    }

    /// What fails each time, for another reason than that a feed cannot be read: that is told of the network.
    private static func failing(_ troubles: [WorkTrouble], besides unread: [String]) -> NoticeFinding {
        let troubles = troubles.filter { !unread.contains($0.part) }
        guard let since = troubles.map(\.since).min() else { return .isOver }
        return .holds(since: since, detail: troubles.map(\.subject).joined(separator: "; "))
    }

    private static func unreachable(_ unread: [FeedHealth], isUnpaid: Bool) -> NoticeFinding {
        // What is not paid for is not read either, and told of with the budget.
        guard !isUnpaid else { return .isOver }
        let unread = unread.filter { !$0.isUnpaid }
        guard let since = unread.compactMap(\.errorSince).min() else { return .isOver }
        return .holds(since: since, detail: unread.map(\.feed).joined(separator: ", "))
    }

    /// Whether the bot sends and hears, as far as that is up to it: a dead man's switch asks nothing else.
    ///
    /// A human's account that cannot be read keeps it from nothing, nor does a feed that waits for its share or for money.
    func doesItsWork(_ pulse: WorkerPulse, _ findings: [NoticeCause: NoticeFinding]) -> Bool {
        guard pulse.isLively(uptime: clock.uptime),
            !pulse.troubles.contains(where: { $0.isLasting && ($0.stopsWork || $0.isOfDatabase) })
        else { return false }
        let causes: [NoticeCause] = [.refused, .database] + (configuration.botNetwork == .x ? [.budget] : [])
        return causes.allSatisfy { findings[$0] == .isOver }
    }
}
