import Control
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport

/// A run of the crash harness: episodes until enough workers were killed, a calm end, and the
/// comparison.
struct TortureRun: Sendable {
    let settings: TortureSettings
    /// Told how far it has come, for people who wait.
    let say: @Sendable (String) -> Void

    /// After how many episodes people are told.
    private static let progressEvery = 20
    /// By how many kills the deliveries are kept ahead of what is too little: some turn out
    /// unconfirmed.
    private static let margin = 3

    /// Runs to the end.
    ///
    /// - Returns: What was found, complaints included.
    /// - Throws: ``TestSupportError`` if the stage cannot be set; the store's error.
    func run() async throws -> TortureReport {
        say("learning, and opening a small \(settings.network.displayName) …")
        let stage = try await Stage.set(settings)
        do {
            let report = try await run(on: stage)
            let isKept = settings.keepsFolder || !report.isPassed
            if isKept { say("seed \(settings.seed); what the workers said: \(stage.folder.path)") }
            await stage.strike(keepingFolder: isKept)
            return report
        } catch {
            say("seed \(settings.seed); what the workers said: \(stage.folder.path)")
            await stage.strike(keepingFolder: true)
            throw error
        }
    }

    private func run(on stage: Stage) async throws -> TortureReport {
        let director = FaultDirector(stage: stage)
        let person = Person(on: stage)
        let living = settings.hasPerson ? Task { await person.live() } : nil
        var report = TortureReport(settings)
        let start = ContinuousClock.now
        var schedule = EpisodeSchedule(
            network: settings.network, keepsKeys: settings.keepsKeys, store: settings.store,
            seed: settings.seed,
            hour: 3_600 / settings.factor, filter: settings.filter, hasPerson: settings.hasPerson)
        while report.kills < settings.kills {
            try Task.checkCancellation()
            let isBehind = await isBehind(report, stage)
            let plan = isBehind ? schedule.nextQuiet() : schedule.next()
            let outcome = try await Episode(plan, on: stage).play(director)
            report.add(outcome)
            report.seconds = start.duration(to: .now).timeInterval
            if settings.isVerbose {
                say("\(plan) -> \(outcome)")
            } else if plan.number % Self.progressEvery == 0 {
                say(await progress(report, stage))
            }
        }
        await director.mendAll()
        living?.cancel()
        await living?.value
        try await conclude(&report, director, await person.ledger, stage)
        report.seconds = start.duration(to: .now).timeInterval
        report.days = stage.clock.now.timeIntervalSince(Stage.origin) / 86_400
        if report.starvedSeconds > 0 {
            say(
                "for \(Int(report.starvedSeconds.rounded(.up))) of \(Int(report.seconds)) s the machine let somebody "
                    + "wait for a processor or its disk; what came late then counts for nothing")
        }
        return report
    }

    /// Lets a last worker settle what is open, and compares what everybody says.
    private func conclude(
        _ report: inout TortureReport, _ director: FaultDirector, _ person: PersonLedger,
        _ stage: Stage
    ) async throws {
        // Some objects stay refused for good, but what is said in the end must be heard.
        for page in [SandboxRefusals.Object.mentions, .home] {
            stage.sandbox.faults.refusals.rules[page]?.passing = []
        }
        say("letting a last worker settle what is open …")
        let end = Settlement(stage: stage)
        report.complaints += try await end.settle()
        report.faultKinds = director.befallen
        report.wrongClocks = await director.wrongClocks
        let ledger = await stage.sandbox.ledger
        if !ledger.refusedObjects.isEmpty {
            report.faultKinds[TortureReport.refusedObjects] = ledger.refusedObjects.count
        }
        var ledgers = try await end.ledgers(ledger, report)
        ledgers.person = person
        ledgers.deniedChecks = director.deniedChecks
        ledgers.postponedChecks = director.postponedChecks
        ledgers.disturbances += person.idle.map { Disturbance(cause: .noWorker, interval: $0) }
        report.interferences = person.done
        // Afterwards: it takes some minutes of the mirror's clock, in which something else may
        // become due.
        let compared = try await end.compareCounts()
        report.counts = compared.counts
        report.complaints += compared.complaints
        report.starvedSeconds = starvedSeconds(ledgers.disturbances)
        _ = try stage.folder.write(Transcript(ledgers).text, to: "ledgers.txt")
        report.add(audit(ledgers), unanswered: Self.unanswered(ledger))
    }

    /// Whether so little has been delivered so far that only a quiet time makes the kills say
    /// something.
    private func isBehind(_ report: TortureReport, _ stage: Stage) async -> Bool {
        let delivered = await stage.sandbox.ledger.writes.count {
            $0.effect == .created && $0.isAnswered
        }
        return TortureReport.isTooLittle(delivered: delivered, kills: report.kills + Self.margin)
    }

    /// For how many real seconds somebody waited for a processor or the disk.
    private func starvedSeconds(_ disturbances: [Disturbance]) -> Double {
        disturbances.filter { $0.cause == .starvation }.reduce(0) { $0 + $1.interval.duration }
            / settings.factor
    }

    /// How many requests got no whole answer, or none that tells whether the network acted on them.
    private static func unanswered(_ ledger: SandboxLedger) -> Int {
        ledger.cutAnswers
            + ledger.writes.count { $0.effect == .notActed && !$0.isAnswered || $0.leavesOpen }
    }

    private func progress(_ report: TortureReport, _ stage: Stage) async -> String {
        let ledger = await stage.sandbox.ledger
        let time = stage.clock.now.formatted(.iso8601)
        return
            "\(report.kills) of \(settings.kills) kills, \(Int(report.seconds)) s; the mirror's clock shows \(time), "
            + "the network has \(ledger.deliveries.count) posts and \(ledger.favorites.count) favorites of the bot"
    }
}
