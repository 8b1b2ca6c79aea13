import Foundation
import Logging
package import Mirroring
import Posts
import Settings
import Storage

/// Tells a person what they should know of the mirrors of a process, as ``Notifier`` does of one, and a dead man's switch
/// that the process works.
///
/// One look reads the health of all mirrors with a fixed number of statements (`HealthSurvey`), and asks what was told
/// before only of those with something to tell. Never throws, and changes nothing but the table of notices.
package actor FleetNotifier {
    /// Seconds between two heartbeats.
    private static let heartbeat: TimeInterval = 240

    private let installation: Installation
    private let clock: any WallClock
    private let configuration: NoticeConfiguration
    private let sender: NoticeSender
    /// The mirrors about which a person may have been told something that is not over; nil before the first look.
    private var open: Set<String>?
    private var lastBeat: TimeInterval?

    /// - Parameter installation: Where the mirrors are. Nil if nobody wants to be told anything.
    package init?(_ installation: Installation, clock: any WallClock) {
        guard !installation.process.notices.isIdle else { return nil }
        (self.installation, self.clock) = (installation, clock)
        configuration = installation.process.notices
        sender = NoticeSender(configuration)
    }

    /// Ends what was opened for it.
    package nonisolated func shutdown() { sender.shutdown() }

    /// Looks at mirrors, tells what is to be told, and gives a sign of life.
    ///
    /// - Parameters:
    ///   - mirrors: Those that this process holds; others are told of by the processes that hold them.
    ///   - isLively: Whether the process does its work in time.
    package func look(at mirrors: Set<String>, isLively: Bool) async {
        do {
            if configuration.tells { try await tell(of: mirrors, now: clock.now) }
        } catch is CancellationError {
            return
        } catch {
            installation.logger.warning("Nobody told", metadata: [LogKeys.error: "\(error)"])
        }
        let uptime = clock.uptime
        guard isLively, lastBeat.map({ uptime - $0 >= Self.heartbeat }) ?? true else { return }
        lastBeat = uptime
        guard let problem = await sender.beat() else { return }
        installation.logger.warning("Heartbeat not delivered", metadata: [LogKeys.error: "HEARTBEAT_URL: \(problem)"])
    }

    private func tell(of mirrors: Set<String>, now: Date) async throws {
        guard let first = mirrors.min() else { return }
        let known = if let open { open } else { try await NoticeTable.mirrors(in: installation.storage) }
        var open: Set<String> = []
        let base = try await installation.mirror(named: first)
        for standing in try await HealthSurvey(base).standings(nil, now: now) where mirrors.contains(standing.name) {
            var findings = standing.health.notices(knowsFaults: true, knowsClock: true, now: now)
            // What ended a mirror is noted as its fault until somebody has mended it.
            let end = standing.health.obstacles.first { $0.code == .workerEnded }
            let isStopped = end != nil || standing.settingError != nil
            findings[.stopped] =
                isStopped
                ? .holds(since: end?.since ?? now, detail: "a setting or a login has to be mended", isCertain: true)
                : .isOver
            let holds = findings.values.contains { if case .holds = $0 { true } else { false } }
            guard holds || known.contains(standing.name) else { continue }
            if try await tell(findings, of: standing.name, now: now) { open.insert(standing.name) }
        }
        self.open = open
    }

    /// - Returns: Whether something holds, or a person is still to be told that it is over.
    private func tell(
        _ findings: [NoticeCause: NoticeFinding], of mirror: String, now: Date
    ) async throws -> Bool {
        let table = NoticeTable(storage: installation.storage, mirror: mirror)
        var (notices, rows) = try await table.take(findings, now: now)
        for notice in notices {
            guard let index = rows.firstIndex(where: { $0.cause == notice.cause }),
                await sender.send(notice, isLast: false, logger: installation.logger(of: mirror))
            else { continue }
            rows[index].heard(notice)
            try await table.store(rows[index], told: notice)
        }
        return rows.contains { $0.since != nil || $0.toldSince != nil }
    }
}
