import Foundation
import Mirroring
import Outbox
import Sandbox
import TestSupport

/// How one upgrade happens: when the database is migrated, and how the workers are replaced.
struct CrewUpgrade: Equatable, Sendable {
    enum Order: String, CaseIterable, Codable, Sendable {
        /// The database is migrated while the old workers run; then all of them end, and the new
        /// ones start.
        case together
        /// The database is migrated while the old workers run; new ones start, and the old end one
        /// after the other.
        case rolling
        /// The old workers end first.
        case ended
        /// The old workers are killed first.
        case killed
    }

    var order: Order
    /// How many processes migrate at once.
    var migrations: Int
    /// For how many seconds a process migrates that is killed before the others; nil for none.
    var killsMigrationAfter: Double?
    /// Real seconds for which the old workers go on after the migration.
    var linger: Double
    /// Whether one of them is killed meanwhile, and its platform starts the old program again.
    var killsOld: Bool
    /// Real seconds between the ends of two old workers.
    var pause: Double
    /// Real seconds for which the old workers work before anything happens.
    var work: Double
    /// Whether one of the new workers is killed afterwards.
    var killsNew: Bool

    /// - Parameters:
    ///   - number: Counted from 1; every order has its turn.
    ///   - seed: Decides everything else.
    init(number: Int, seed: UInt64) {
        var generator = SampleGenerator(seed: seed &+ UInt64(number) &* 0x9E6C_63D0_876A_68EF)
        order = Order.allCases[(number - 1) % Order.allCases.count]
        migrations = generator.number(in: 1...3)
        killsMigrationAfter = generator.uniform() < 0.3 ? generator.number(in: 0.02...0.6) : nil
        linger = generator.number(in: 0...12)
        killsOld = generator.uniform() < 0.4
        pause = generator.number(in: 0.2...3)
        work = generator.number(in: 2...8)
        killsNew = generator.uniform() < 0.5
    }
}

/// A run of upgrades under load: each with mirrors of its own, and with a database that an older
/// program has made.
struct UpgradeRun: Sendable {
    let settings: CrewSettings
    /// Told of each upgrade, for people who wait.
    let say: @Sendable (String) -> Void

    /// How long the workers may take until all mirrors have begun, in seconds.
    private static let patience = 120.0
    /// How long the new workers work before the end, and before and after a kill, in seconds.
    private static let aftermath = 6.0

    /// Runs to the end.
    ///
    /// - Returns: The sum of all upgrades, complaints included.
    /// - Throws: ``TestSupportError`` if the stage cannot be set; the store's error.
    func run() async throws -> CrewReport {
        let folder = try RunFolder()
        let servers: CrewServers
        do {
            servers = try await CrewStage.prepare(settings, folder, say: say)
        } catch {
            folder.remove()
            throw error
        }
        folder.remove()
        do {
            var report = CrewReport(settings)
            try await servers.keepLesson()
            for number in 1...settings.upgrades {
                if number > 1 { try await servers.renew() }
                report.add(try await upgrade(number, servers))
            }
            await servers.stop()
            report.complainOfEmptiness()
            return report
        } catch {
            await servers.stop()
            throw error
        }
    }

    private func upgrade(_ number: Int, _ servers: CrewServers) async throws -> CrewReport {
        let plan = CrewUpgrade(number: number, seed: settings.seed)
        let first = (number - 1) * settings.mirrors + 1
        let stage = try await CrewStage.set(
            settings, try RunFolder(), servers, numbers: first...first + settings.mirrors - 1)
        let crew = Crew(on: stage)
        do {
            let report = try await upgrade(plan, crew, stage)
            let isKept = settings.keepsFolder || !report.complaints.isEmpty || !report.audit.isClean
            tell(number, plan, report)
            if isKept { say("seed \(settings.seed); what the workers said: \(stage.folder.path)") }
            await stage.leave(keepingFolder: isKept)
            return report
        } catch {
            say("seed \(settings.seed); what the workers said: \(stage.folder.path)")
            await crew.abandon()
            await stage.leave(keepingFolder: true)
            throw error
        }
    }

    private func upgrade(_ plan: CrewUpgrade, _ crew: Crew, _ stage: CrewStage) async throws
        -> CrewReport
    {
        var report = CrewReport(settings)
        let start = ContinuousClock.now
        try await crew.begin(settings.workers, leaseSeconds: settings.leaseSeconds)
        try await waitForWork(crew, stage)
        try await crew.pass(seconds: plan.work)
        try await crew.upgrade(plan)
        try await crew.pass(seconds: Self.aftermath)
        if plan.killsNew {
            try await crew.happen(CrewEvent(kind: .kill, after: 0, place: 0, share: 0))
            try await crew.pass(seconds: Self.aftermath)
        }
        report.complaints += try await CrewSettlement(stage: stage, crew: crew).settle()
        try await crew.end()
        await crew.judgeEnds()
        try await CrewRun(settings: settings) { _ in }.conclude(&report, crew, stage)
        report.seconds = start.duration(to: .now).timeInterval
        report.days = stage.clock.now.timeIntervalSince(Stage.origin) / 86_400
        return report
    }

    /// Waits until every mirror works: only those go on after the upgrade without a word of their
    /// human's.
    private func waitForWork(_ crew: Crew, _ stage: CrewStage) async throws {
        let end = Date() + Self.patience
        while Date() < end {
            try await crew.pass(seconds: 1)
            let begun = try await stage.servers.run(
                "SELECT COUNT(*) FROM mirrors WHERE activated_ms IS NOT NULL")
            if begun.trimmingCharacters(in: .whitespacesAndNewlines) == "\(stage.mirrors.count)" {
                return
            }
        }
        throw TestSupportError("not every mirror began to work: \(crew.lastWords)")
    }

    private func tell(_ number: Int, _ plan: CrewUpgrade, _ report: CrewReport) {
        let audit = report.audit
        let extras = report.events.sorted { $0.key < $1.key }
        let unowned = report.longestOrphanage.values.max() ?? 0
        say(
            """
            upgrade \(number) of \(settings.upgrades), \(plan.order.rawValue): \(audit.delivered) delivered, \
            \(audit.duplicates) twice, \(audit.lost) lost, \(audit.unheard) unheard, \(audit.unexplained) unexplained, \
            \(report.complaints.count) complaints, \(report.kills) kills, unowned \(String(format: "%.1f", unowned)) s, \
            \(Int(report.seconds)) s; \(extras.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
            """)
    }
}
