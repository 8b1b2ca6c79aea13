import Foundation
import Logging
package import Mirroring
import Networks
import Outbox
import Posts
import Settings
import Storage

/// Tells a person what they should know while nobody looks, and a dead man's switch that all is well.
///
/// Never throws, and changes nothing but its own table: a mirror whose operator cannot be told works on.
package actor Notifier {
    /// Between two heartbeats, in seconds of a clock that nobody sets.
    private static let heartbeat: TimeInterval = 240

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
        guard !mirror.process.notices.isIdle else { return nil }
        self.mirror = mirror
        configuration = mirror.process.notices
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
            let facts = try await HealthReader(mirror).reading(now: now, pulse: pulse).facts
            let health = Health(facts)
            // It is told of from memory in case that nothing can be written.
            databaseAwaySince = facts.store.map { $0.since ?? databaseAwaySince ?? now }
            if configuration.tells {
                var findings = health.notices(
                    knowsFaults: facts.knowsFaults, knowsClock: facts.clockLead != nil, now: now)
                if pulse.hasWorked { findings[.stopped] = .isOver }
                try await tell(findings, now: now)
            }
            if health.verdict.isWell, pulse.isLively(uptime: mirror.clock.uptime) { await beat() }
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
            guard let refused = try? await mirror.refusals.rows().refusals else { return false }
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
        (memory, unsaved) = (rows, [])
        for notice in notices {
            guard let index = memory.firstIndex(where: { $0.cause == notice.cause }),
                await sender.send(notice, isLast: isLast, logger: mirror.logger)
            else {
                continue
            }
            memory[index].heard(notice)
            do {
                try await mirror.notices.store(memory[index], told: notice)
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
        if let notice, await sender.send(notice, isLast: false, logger: mirror.logger) { memory[index].heard(notice) }
    }

    private func beat() async {
        let uptime = mirror.clock.uptime
        guard lastBeat.map({ uptime - $0 >= Self.heartbeat }) ?? true else { return }
        lastBeat = uptime
        guard let problem = await sender.beat() else { return }
        mirror.logger.warning("Heartbeat not delivered", metadata: [LogKeys.error: "HEARTBEAT_URL: \(problem)"])
    }
}
