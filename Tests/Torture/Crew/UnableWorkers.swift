import Foundation
import Sandbox

/// The workers beside a crew that cannot do their share: one of each ``CrewDisability``, started
/// again and again.
///
/// One with another key ends by itself. One without network is ended once it had time to take
/// mirrors, to hand them back, to rest and to ask a server.
///
/// Not to be used by two tasks at once.
final class UnableWorkers {
    /// How long a worker without network rests before it asks a server, and all else that it does,
    /// in seconds of the networks' clock.
    private static let rest = 300.0
    private static let work = 60.0
    /// The most real seconds for both: a slow clock leaves no time for the rest, and a run is to
    /// have several of them.
    private static let longest = 45.0
    /// How long a worker with another key may take to end, in real seconds.
    private static let ending = 60.0
    /// How long one that is asked to end may take, and how much longer where the machine lets it
    /// wait.
    private static let graceful = 10.0
    private static let graceStarving = 60.0
    /// Real seconds between the end of one and the start of the next, and before the first.
    private static let pause = 4.0...20.0
    private static let glance = 0.05

    /// A process that runs.
    private struct Running {
        let process: WorkerProcess
        let start: Date
        /// When it is asked to end, or killed if it was to end by itself.
        let due: Date
        /// The connections that were refused before it.
        let refusals: Int
        var asked: Date?
    }

    private let stage: CrewStage
    private var generator: SampleGenerator
    private var running: [CrewDisability: Running] = [:]
    /// When the next one of each kind is started; nil while none is wanted.
    private var next: [CrewDisability: Date]?
    private var starts = 0

    private(set) var lives: [CrewAudit.UnableLife] = []
    /// What should not have happened, a line each.
    private(set) var findings: [String] = []

    init(on stage: CrewStage) {
        self.stage = stage
        generator = SampleGenerator(seed: stage.settings.seed ^ 0x756E_6162)
    }

    /// The names of all processes so far.
    var names: Set<String> { Set(lives.map(\.process) + running.values.map(\.process.name)) }

    /// Lets them live from now on.
    func begin() {
        var times: [CrewDisability: Date] = [:]
        for disability in stage.settings.disabilities { times[disability] = nextStart() }
        next = times
    }

    /// Ends them, and lets none be started.
    func end() async {
        next = nil
        for disability in running.keys { ask(disability) }
        while !running.isEmpty {
            for disability in CrewDisability.allCases { watch(disability) }
            await Pause.wait(seconds: Self.glance)
        }
    }

    /// Ends them at once, whatever comes of it.
    func abandon() {
        next = nil
        for process in running.values.map(\.process) { process.send(SIGKILL) }
    }

    /// Starts those whose time has come, and ends those whose time is over.
    ///
    /// - Parameter leaseSeconds: How long leases last; nil for as long as in earnest.
    func lookAfter(leaseSeconds: Double?) throws {
        for disability in stage.settings.disabilities {
            watch(disability)
            guard running[disability] == nil, let time = next?[disability], time <= Date() else {
                continue
            }
            try start(disability, leaseSeconds)
        }
    }

    private func nextStart() -> Date { Date() + generator.number(in: Self.pause) }

    private func start(_ disability: CrewDisability, _ leaseSeconds: Double?) throws {
        starts += 1
        let process = try stage.start(
            stage.launch(of: disability), name: "\(disability.rawValue)-\(starts)",
            leaseSeconds: leaseSeconds, fault: nil, program: stage.settings.program)
        let clockSeconds = Self.rest + Self.work
        let lifetime: Double =
            switch disability {
            case .wrongKey: Self.ending
            case .noNetwork:
                min(clockSeconds / stage.settings.factor, Self.longest)
                    + (leaseSeconds ?? CrewSettings.usualLease)
            }
        // Before its first request, which comes after its first statements.
        if disability == .noNetwork { stage.cut.cut(process.process) }
        let now = Date()
        running[disability] = Running(
            process: process, start: now, due: now + lifetime, refusals: stage.cut.refusals)
    }

    private func ask(_ disability: CrewDisability) {
        guard running[disability]?.asked == nil else { return }
        running[disability]?.asked = Date()
        running[disability]?.process.send(SIGTERM)
    }

    private func watch(_ disability: CrewDisability) {
        guard let worker = running[disability] else { return }
        let now = Date()
        let state = worker.process.state
        if state.hasEnded { return bury(worker, disability, state) }
        if let asked = worker.asked {
            guard now > asked + patience(since: asked) else { return }
        } else {
            guard now > worker.due else { return }
            // One with another key had its time.
            if disability == .noNetwork { return ask(disability) }
        }
        worker.process.send(SIGKILL)
        bury(worker, disability, nil)
    }

    private func patience(since asked: Date) -> Double {
        let starved =
            stage.timeline.starvation(since: stage.instant(at: asked)) / stage.settings.factor
        return starved > Self.graceful / 4 ? Self.graceful + Self.graceStarving : Self.graceful
    }

    /// - Parameter state: How it ended; nil if it had to be killed.
    private func bury(
        _ worker: Running, _ disability: CrewDisability, _ state: WorkerProcess.State?
    ) {
        let process = worker.process
        running[disability] = nil
        next?[disability] = nextStart()
        if disability == .noNetwork { stage.cut.cut(nil) }
        var ending = CrewAudit.UnableLife.Ending.killed
        switch state {
        case .exited(let code): ending = .exited(code)
        // It had not begun to listen to signals.
        case .killed(SIGTERM) where worker.asked != nil && process.output.isEmpty:
            ending = .exited(0)
        default: break
        }
        lives.append(
            CrewAudit.UnableLife(
                disability: disability, process: process.name,
                interval: DateInterval(start: worker.start, end: max(worker.start, Date())),
                isAsked: worker.asked != nil, ending: ending,
                refusals: stage.cut.refusals - worker.refusals))
        if disability == .wrongKey, ending == .exited(78), !process.output.contains("SECRET_KEY") {
            findings.append("\(process.name) ended with 78, and not because of its key")
        }
    }
}
