/// How the workers of a crew are started.
enum CrewMode: String, CaseIterable, Codable, Sendable {
    /// One process a worker, `run --all`, for the mirrors that were imported.
    case all
    /// A process for each mirror and worker, `run` with the mirror's settings in its environment.
    case single
}

/// Why a worker of a crew cannot do its share.
enum CrewDisability: String, CaseIterable, Codable, Sendable {
    /// Its `SECRET_KEY` opens none of the logins: it ends at once.
    case wrongKey = "wrong-key"
    /// No server of a network answers it: it hands its mirrors back.
    case noNetwork = "no-network"
}

/// What a run of a crew is told.
struct CrewSettings: Sendable {
    var mode = CrewMode.all
    var mirrors = 200
    /// The workers that there are in the beginning.
    var workers = 3
    /// How many workers die by `SIGKILL` before the run ends.
    var kills = 300
    /// How many of them die one at a time, with leases as long as in earnest.
    var killsInEarnest = 6
    var seed: UInt64 = 1
    /// The executable of mirror-bot.
    var program = ""
    /// The executable with which a run of upgrades begins; nil for a run without upgrades.
    var oldProgram: String?
    /// How many upgrades there are, each with mirrors and a database of its own.
    var upgrades = 20
    /// How often the bot of each mirror is mentioned in a day of the networks' clock.
    var mentionsPerDay = 60.0
    /// How many times as fast the clocks of the networks and the workers run.
    var factor = 12.0
    /// For how many real seconds a worker must not beat before another one takes its mirrors, in
    /// most of the run.
    var leaseSeconds = 5.0
    /// What alone happens besides kills; empty for everything.
    var only: Set<CrewEvent.Kind> = []
    /// Whether workers that cannot do their share live beside the crew.
    var hasUnableWorkers = true
    var isVerbose = false
    var keepsFolder = false

    /// The unable workers of the run.
    ///
    /// A process of one mirror keeps it, able or not, and its logins are in its environment; an
    /// older program may know no such rule.
    var disabilities: [CrewDisability] {
        guard hasUnableWorkers, mode == .all, oldProgram == nil, only.isEmpty else { return [] }
        return CrewDisability.allCases
    }

    /// The number of the mirror to which nobody agreed.
    ///
    /// - Returns: Nil if there are few mirrors, and where an older program may ask nobody.
    func unagreed(of numbers: ClosedRange<Int>) -> Int? {
        mode == .all && oldProgram == nil && numbers.count > 2 ? numbers.upperBound : nil
    }

    /// The executable with which the run begins.
    var firstProgram: String { oldProgram ?? program }

    /// The length of a lease in earnest, in seconds.
    static let usualLease = 30.0
    /// After how many seconds beyond the length of a lease every mirror has a worker again.
    static let grace = 5.0

    /// The clock for so many mirrors: two processors answer some eighty requests a second.
    static func factor(for mirrors: Int) -> Double { max(1, min(60, 2_400 / Double(mirrors))) }
}
