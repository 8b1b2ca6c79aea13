import Foundation
import Mirroring
import Outbox
import Sandbox
import TestSupport

/// A run of the crash harness for a crew: workers that share many mirrors, until enough of them
/// were killed.
struct CrewRun: Sendable {
    let settings: CrewSettings
    /// Told how far it has come, for people who wait.
    let say: @Sendable (String) -> Void

    /// After how many kills people are told.
    private static let progressEvery = 20
    /// By how many kills the deliveries are kept ahead of what is too little.
    private static let margin = 3
    /// How long nothing is disturbed at a time, and in all, while too little has been delivered.
    private static let quietSeconds = 2.0
    private static let quietAtMost = 300.0
    /// How long the first mirrors may take until they have a worker, in seconds.
    private static let beginning = 15.0

    /// Runs to the end.
    ///
    /// - Returns: What was found, complaints included.
    /// - Throws: ``TestSupportError`` if the stage cannot be set; the store's error.
    func run() async throws -> CrewReport {
        let stage = try await CrewStage.set(settings, say: say)
        let crew = Crew(on: stage)
        do {
            let report = try await run(crew, on: stage)
            let isKept = settings.keepsFolder || !report.isPassed
            if isKept { say("seed \(settings.seed); what the workers said: \(stage.folder.path)") }
            await stage.strike(keepingFolder: isKept)
            return report
        } catch {
            say("seed \(settings.seed); what the workers said: \(stage.folder.path)")
            await crew.abandon()
            await stage.strike(keepingFolder: true)
            throw error
        }
    }

    private func run(_ crew: Crew, on stage: CrewStage) async throws -> CrewReport {
        var report = CrewReport(settings)
        let start = ContinuousClock.now
        try await crew.begin(settings.workers, leaseSeconds: settings.leaseSeconds)
        try await crew.pass(seconds: Self.beginning)
        guard try await !stage.servers.leaseEntries().isEmpty else {
            throw TestSupportError("no worker took a mirror: \(crew.lastWords)")
        }
        try await disturb(crew, stage)
        await crew.finishLanes()
        try await crew.end()
        say("\(crew.kills) kills; the others with leases of \(Int(CrewSettings.usualLease)) s …")
        try await crew.begin(settings.workers, leaseSeconds: nil)
        try await killInEarnest(crew)
        await crew.unable.end()
        say("letting the workers settle what is open …")
        report.complaints += try await CrewSettlement(stage: stage, crew: crew).settle()
        try await crew.end()
        await crew.finishLanes()
        await crew.judgeEnds()
        try await conclude(&report, crew, stage)
        report.seconds = start.duration(to: .now).timeInterval
        report.days = stage.clock.now.timeIntervalSince(Stage.origin) / 86_400
        report.complainOfEmptiness()
        return report
    }

    /// Lets events happen until as many workers were killed as are to be killed with short leases.
    private func disturb(_ crew: Crew, _ stage: CrewStage) async throws {
        var schedule = CrewSchedule(seed: settings.seed, mode: settings.mode, only: settings.only)
        var told = 0
        var quiet = 0.0
        while crew.kills < settings.kills - settings.killsInEarnest {
            let event = schedule.next()
            if settings.isVerbose { say("\(event)") }
            try await crew.happen(event)
            while quiet < Self.quietAtMost, await isBehind(crew, stage) {
                try await crew.pass(seconds: Self.quietSeconds)
                quiet += Self.quietSeconds
            }
            guard crew.kills >= told + Self.progressEvery else { continue }
            told = crew.kills
            say(
                "\(told) of \(settings.kills) kills; the mirrors' clock shows \(stage.clock.now.formatted(.iso8601))"
            )
        }
    }

    /// Lets workers die one at a time, each so long before the next that all its mirrors are taken
    /// meanwhile; slots move under those that live on.
    private func killInEarnest(_ crew: Crew) async throws {
        var generator = SampleGenerator(seed: settings.seed ^ 0x6561_726E)
        try await crew.pass(seconds: Self.beginning)
        for _ in 0..<settings.killsInEarnest {
            for kind in [CrewEvent.Kind.kill, .moveSlots] {
                try await crew.happen(
                    CrewEvent(
                        kind: kind, after: 1 + generator.uniform(),
                        place: generator.number(below: 1_000_000), share: 0)
                )
            }
            try await crew.pass(seconds: CrewSettings.usualLease + 2 * CrewSettings.grace)
        }
    }

    /// Whether so little has been delivered so far that only a quiet time makes the kills say
    /// something.
    private func isBehind(_ crew: Crew, _ stage: CrewStage) async -> Bool {
        var delivered = 0
        for mirror in stage.mirrors where mirror.isAgreed {
            delivered += await mirror.sandbox.ledger.writes.count {
                $0.effect == .created && $0.isAnswered
            }
            if !TortureReport.isTooLittle(delivered: delivered, kills: crew.kills + Self.margin) {
                return false
            }
        }
        return true
    }

    /// Compares what everybody says about the mirrors, once all workers have ended.
    ///
    /// - Throws: ``TestSupportError``; the store's error.
    func conclude(_ report: inout CrewReport, _ crew: Crew, _ stage: CrewStage) async throws {
        say("comparing the ledgers of \(stage.mirrors.count) mirrors …")
        let end = CrewSettlement(stage: stage, crew: crew)
        let history = LeaseHistory(try await stage.servers.leaseEntries())
        let starvation = stage.timeline.disturbances.filter { $0.cause == .starvation }
        let audit = CrewAudit(
            history: history, phases: crew.phases, lives: crew.lives,
            unableLives: crew.unable.lives, losses: crew.losses.sorted(),
            outages: await crew.databaseOutages,
            starvation: starvation.map { stage.systemInterval($0.interval) },
            looks: Dictionary(
                uniqueKeysWithValues: stage.mirrors.map { ($0.name, $0.relay.looks) }),
            excused: Set(crew.refused.keys), lookPeriod: stage.lookPeriod)
        report.complaints += await crew.complaints + crew.findings + crew.unable.findings
        report.complaints += audit.findings
        report.takeovers = audit.takeovers
        report.longestOrphanage = audit.longestOrphanage
        report.shares = audit.shares
        report.unable = audit.unableFigures
        report.longestUnseen = audit.longestUnseen
        report.longestOutage = audit.outages.map(\.duration).max() ?? 0
        let compared = try await end.compareCounts()
        report.counts = compared.counts
        report.complaints += compared.complaints
        report.audit = try await end.compareLedgers(history, silence: audit.silence)
        report.kills = crew.kills
        report.events = crew.counts
        report.starvedSeconds = starvation.reduce(0) { $0 + $1.interval.duration } / settings.factor
    }
}
