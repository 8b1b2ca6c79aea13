import Foundation

/// A process of a worker, and what is known of its life.
final class CrewProcess {
    let launch: CrewLaunch
    let process: WorkerProcess
    /// The executable that it runs.
    let program: String
    let started = Date()
    /// Whether it may end or stop by itself, at a fault point.
    let hasFault: Bool
    /// When it ended, as far as that was seen.
    private(set) var ended: Date?
    private(set) var pauses: [DateInterval] = []
    private var stopped: Date?
    /// When it is to go on, if it is held.
    private(set) var wakes: Date?
    /// Whether it was asked to end.
    var isAsked = false

    init(_ launch: CrewLaunch, _ process: WorkerProcess, of program: String, hasFault: Bool) {
        self.launch = launch
        self.process = process
        self.program = program
        self.hasFault = hasFault
    }

    var isHeld: Bool { stopped != nil }

    /// It is held from now on until some instant.
    func noteStop(until date: Date) {
        stopped = Date()
        wakes = date
    }

    /// It goes on; returns for how long it was held.
    func goOn() -> DateInterval? {
        process.send(SIGCONT)
        guard let stopped else { return nil }
        let pause = DateInterval(start: stopped, end: max(stopped, Date()))
        pauses.append(pause)
        self.stopped = nil
        wakes = nil
        return pause
    }

    func noteEnd() {
        ended = ended ?? Date()
        if let stopped { pauses.append(DateInterval(start: stopped, end: max(stopped, Date()))) }
        stopped = nil
        wakes = nil
    }

    /// Its life up to now.
    var life: CrewAudit.Life {
        let end = max(started, ended ?? Date())
        let held = stopped.map { [DateInterval(start: $0, end: max($0, end))] } ?? []
        return CrewAudit.Life(
            mirror: launch.mirror, interval: DateInterval(start: started, end: end),
            pauses: pauses + held,
            process: process.name)
    }
}

/// A worker: one process for all mirrors, or one for each.
final class CrewWorker {
    let number: Int
    var processes: [CrewProcess] = []
    /// What is to be started, and when.
    var due: [(launch: CrewLaunch, date: Date)] = []

    init(_ number: Int) { self.number = number }

    var isHeld: Bool { processes.contains(where: \.isHeld) }
}
