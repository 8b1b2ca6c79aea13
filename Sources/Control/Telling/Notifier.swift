import Foundation
import Localization
import Logging
package import Mirroring
import Posts
import Settings
import Storage

/// Sends notices about the mirrors of a process to their operator, and heartbeats to a dead man's
/// switch while the process works.
///
/// Works for one mirror or several. It never throws, and changes only its own table: a mirror
/// continues to work if notices fail.
package actor Notifier {
    /// The mirrors that a process works for now.
    package struct Watch: Sendable {
        /// The state of the work for each mirror that the process holds, by its name.
        ///
        /// Notices about other mirrors are sent by the processes that hold them.
        package var pulses: [String: WorkerPulse]
        /// Whether the process does its work in time.
        package var isOnTime = true
        /// Whether a process without a mirror counts as working.
        package var mayBeIdle = false

        package init(_ pulses: [String: WorkerPulse]) { self.pulses = pulses }

        /// Watches one mirror, while the process holds it.
        package init(_ mirror: String, _ pulse: WorkerPulse) {
            self.init(pulse.holdsMirror ? [mirror: pulse] : [:])
        }
    }

    /// The interval between two heartbeats, in seconds of the monotonic clock.
    private static let heartbeatInterval: TimeInterval = 240

    private let installation: Installation
    private let clock: any WallClock
    private let configuration: NoticeConfiguration
    private let sender: NoticeSender
    private let buttons: NoticeButtons?
    /// The address of the web page for browsers; nil if unknown, and then nothing is pushed.
    private let page: String?
    /// The devices of each mirror at the last check, for use while the database is unreachable.
    private var devices: [String: [PushDevice]] = [:]
    private var lastBeat: TimeInterval?
    /// The mirrors of the last check with a notice that may still be open.
    private var openMirrors: Set<String> = []
    /// All mirrors of the last check.
    private var checkedMirrors: Set<String> = []
    /// The last known states of each mirror, for use while the database is unreachable.
    private var rememberedRows: [String: [NoticeRow]] = [:]
    /// The causes whose state in memory is newer than in the database.
    private var unsaved: [String: Set<NoticeCause>] = [:]
    private var databaseAwaySince: Date?

    /// - Parameters:
    ///   - installation: The database of the mirrors.
    ///   - clock: The clock.
    /// - Returns: Nil if neither notices nor a heartbeat are set, and no browser can add a device.
    package init?(_ installation: Installation, clock: any WallClock) {
        page = installation.process.web.address
        guard !installation.process.notices.isIdle || page != nil else { return nil }
        self.installation = installation
        self.clock = clock
        configuration = installation.process.notices
        sender = NoticeSender(configuration)
        buttons = NoticeButtons(installation)
    }

    /// Releases the resources of the sender.
    package nonisolated func shutdown() { sender.shutdown() }

    /// Checks the mirrors, sends due notices, and sends a heartbeat if the process can work.
    ///
    /// A mirror that cannot work is reported, and suppresses the heartbeats only if no other mirror
    /// of the process works.
    package func look(at watch: Watch) async {
        let now = clock.now
        let uptime = clock.uptime
        do {
            try await readDevices(of: watch.pulses.keys.sorted())
            guard !configuration.isIdle || !devices.isEmpty else { return }
            let readings = try await readings(of: watch.pulses, now: now)
            // The beginning is kept in memory, in case nothing can be written to the database.
            databaseAwaySince = readings.compactMap(\.facts.store).first.map {
                $0.since ?? databaseAwaySince ?? now
            }
            let anyMirrorWorks = readings.contains { reading in
                let isLively = watch.pulses[reading.mirror.name]?.isLively(uptime: uptime) ?? false
                return isLively && Health(reading.facts).verdict.isWell
            }
            let reported = readings.filter { notifies(about: $0.mirror.name) }
            if configuration.sendsNotices || !reported.isEmpty {
                try await tell(of: reported, watch, now: now)
            }
            let isWorking = readings.isEmpty ? watch.mayBeIdle : anyMirrorWorks
            if watch.isOnTime, isWorking { await beat() }
        } catch is CancellationError {
            return
        } catch is StorageError {
            await tellOfDatabase(watch, now: now)
        } catch {
            installation.logger.warning("Nobody told", metadata: [LogKeys.error: "\(error)"])
        }
    }

    private func readDevices(of mirrors: [String]) async throws {
        guard page != nil else { return }
        do {
            devices = try await PushDeviceTable.devices(of: mirrors, in: installation)
        } catch is ConfigurationError {
            // The key file is invalid; other channels can still report that.
            devices = [:]
        }
    }

    /// Whether anybody gets notices about a mirror.
    private func notifies(about mirror: String) -> Bool {
        configuration.sendsNotices || devices[mirror] != nil
    }

    private func readings(of pulses: [String: WorkerPulse], now: Date) async throws
        -> [HealthReading]
    {
        let mirrors = try await MirrorTable.records(
            of: pulses.keys.sorted(), in: installation.storage)
        return try await HealthReader(installation).readings(of: mirrors, pulses: pulses, now: now)
    }

    /// Reports that the work for a mirror ends for a reason that needs a person, at most once a
    /// day.
    ///
    /// - Parameters:
    ///   - cause: The reason.
    ///   - detail: Details, in our own words.
    ///   - mirror: The mirror, or any mirror of the process.
    package func tellEnd(_ cause: NoticeCause, _ detail: String?, of mirror: String) async {
        // Without the database, the devices of the last check get the notice.
        try? await readDevices(of: [mirror])
        guard notifies(about: mirror) else { return }
        let now = clock.now
        // Without the database it is unknown what was reported before, and a process that restarts
        // repeatedly would report each time.
        _ = try? await tell(
            [cause: .holds(since: now, detail: detail, isCertain: true)], of: mirror, now: now,
            isLast: true)
    }

    /// Whether a network refuses only the human's account and not the bot's, so that other work can
    /// continue.
    package func isHumanRefusedAlone(of mirror: String) async -> Bool {
        // If the store does not answer, no refusal is known.
        let faults = try? await FaultTable.all(of: [mirror], in: installation.storage)[mirror]
        guard let refused = faults?.refusals else { return false }
        return refused[.human] != nil && refused[.bot] == nil
    }

    private func tell(of readings: [HealthReading], _ watch: Watch, now: Date) async throws {
        let held = Set(readings.map(\.mirror.name))
        // For a mirror that was taken over, another process may have sent notices.
        let openBefore =
            try await held.isSubset(of: checkedMirrors)
            ? openMirrors : NoticeTable.mirrors(in: installation.storage)
        var openMirrors: Set<String> = []
        var isDatabaseReported = false
        for reading in readings {
            let name = reading.mirror.name
            var findings = findings(
                of: reading, hasWorked: watch.pulses[name]?.hasWorked ?? false, now: now)
            // Problems of the database are reported once for all mirrors of a process.
            if case .holds = findings[.database] {
                if isDatabaseReported { findings[.database] = nil }
                isDatabaseReported = true
            }
            let holds = findings.values.contains { if case .holds = $0 { true } else { false } }
            guard holds || openBefore.contains(name) || unsaved[name] != nil else { continue }
            if try await tell(findings, of: name, flags: reading.facts.flags, now: now) {
                openMirrors.insert(name)
            }
        }
        // Mirrors that other processes hold now are reported by those processes.
        rememberedRows = rememberedRows.filter { held.contains($0.key) }
        unsaved = unsaved.filter { held.contains($0.key) }
        self.openMirrors = openMirrors
        checkedMirrors = held
    }

    private func findings(
        of reading: HealthReading, hasWorked: Bool, now: Date
    ) -> [NoticeCause: NoticeFinding] {
        let facts = reading.facts
        let health = Health(reading.facts)
        var findings = health.notices(
            knowsFaults: facts.knowsFaults, knowsClock: facts.clockLead != nil, now: now)
        // The error that ended the work for a mirror is stored as its fault until a person has
        // fixed it.
        if let end = health.obstacles.first(where: {
            [.workerEnded, .settingUnusable].contains($0.code)
        }) {
            findings[.stopped] = .holds(
                since: end.since ?? now, detail: localized("a setting or a login has to be mended"),
                isCertain: true)
        } else if hasWorked {
            findings[.stopped] = .isOver
        }
        return findings
    }

    /// - Returns: Whether a condition holds, or its end is still to be reported.
    @discardableResult
    private func tell(
        _ findings: [NoticeCause: NoticeFinding], of mirror: String, flags: [String] = [],
        now: Date,
        isLast: Bool = false
    ) async throws -> Bool {
        let table = NoticeTable(storage: installation.storage, mirror: mirror)
        let known = (rememberedRows[mirror] ?? []).filter {
            unsaved[mirror]?.contains($0.cause) == true
        }
        var (notices, rows) = try await table.take(findings, knowing: known, now: now)
        unsaved[mirror] = nil
        for var notice in notices {
            notice.text = CommandWords.adding(flags, to: notice.text)
            guard let index = rows.firstIndex(where: { $0.cause == notice.cause }),
                await send(notice, isLast: isLast)
            else { continue }
            rows[index].recordDelivery(of: notice)
            do {
                try await table.store(rows[index], told: notice)
            } catch {
                unsaved[mirror, default: []].insert(rows[index].cause)
            }
        }
        rememberedRows[mirror] = rows
        return rows.contains { $0.since != nil || $0.unresolvedSince != nil }
            || unsaved[mirror] != nil
    }

    private func send(_ notice: Notice, isLast: Bool = false) async -> Bool {
        let mirror = notice.mirror
        let table = PushDeviceTable(of: mirror, in: installation)
        var targets: PushTargets?
        // An invalid key file opens no device either.
        if let page, let devices = devices[mirror], let identity = try? table.identity(page: page) {
            targets = PushTargets(devices: devices, identity: identity)
        }
        let receipts = await sender.send(
            notice, with: await buttons?.controls(of: notice), to: targets, isLast: isLast,
            logger: installation.logger(of: mirror))
        for id in receipts.compactMap(\.endedDevice) {
            devices[mirror]?.removeAll { $0.id == id }
            // If that fails, the next notice removes the device.
            _ = try? await table.remove(id)
        }
        return receipts.contains { $0.problem == nil }
    }

    /// Reports an unreachable database, once for all mirrors of the process.
    private func tellOfDatabase(_ watch: Watch, now: Date) async {
        let reported = watch.pulses.keys.filter { notifies(about: $0) }
        guard let mirror = reported.min() else { return }
        let since = databaseAwaySince ?? now
        databaseAwaySince = since
        var rows = rememberedRows[mirror] ?? []
        let index = rows.firstIndex { $0.cause == .database } ?? rows.endIndex
        if index == rows.endIndex { rows.append(NoticeRow(.database)) }
        unsaved[mirror, default: []].insert(.database)
        if let notice = rows[index].take(.holds(since: since), mirror: mirror, now: now),
            await send(notice)
        {
            rows[index].recordDelivery(of: notice)
        }
        rememberedRows[mirror] = rows
    }

    private func beat() async {
        let uptime = clock.uptime
        if let lastBeat, uptime - lastBeat < Self.heartbeatInterval { return }
        lastBeat = uptime
        guard let problem = await sender.beat() else { return }
        installation.logger.warning(
            "Heartbeat not delivered",
            metadata: [LogKeys.error: "\(Setting.heartbeatURL.name): \(problem)"])
    }
}
