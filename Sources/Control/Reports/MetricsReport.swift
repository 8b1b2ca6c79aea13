package import Foundation
import Localization
package import Mirroring
import Outbox
import Posts
import Settings
import Storage

/// The metrics of a database's mirrors, for a monitoring system.
///
/// The metrics are those of each mirror by name, or the totals of all mirrors.
///
/// Labels contain nothing that a person or a server wrote, except the names of mirrors and workers.
package struct MetricsReport: Sendable {
    /// The version and the commit of the program.
    package struct Build: Sendable {
        package let version: String
        package let commit: String

        package init(version: String, commit: String) {
            self.version = version
            self.commit = commit
        }

        fileprivate var family: Exposition.Family {
            var family = Exposition.Family(.buildInfo)
            family.add(1, ["version": version, "commit": commit])
            return family
        }
    }

    /// The mirrors to include.
    package enum Scope: Equatable, Sendable {
        /// Totals of all mirrors, without a label for the mirror; if there is only one, its metrics
        /// by name.
        case together
        /// Each mirror by name.
        case each
        /// The metrics of the mirror with that name, without those about all mirrors of its
        /// database.
        case one(String)
    }

    package let exposition: Exposition

    /// The metrics for a database that cannot be read.
    package static func down(_ build: Build) -> Exposition {
        var exposition = Exposition()
        exposition.add([build.family, up(false)])
        return exposition
    }

    private static func up(_ isUp: Bool) -> Exposition.Family {
        var family = Exposition.Family(.up)
        family.add(isUp ? 1 : 0)
        return family
    }

    /// Reads the metrics of mirrors; contacts no network and no Redis.
    ///
    /// ``Scope/together`` runs a fixed number of statements, and a few more for the verdicts of
    /// each 500 mirrors; ``Scope/each`` runs a few for each 200 mirrors.
    ///
    /// - Throws: `ConfigurationError` of the part `.mirror` for an unknown mirror; the store's
    ///   error.
    package init(
        of installation: Installation, _ scope: Scope, build: Build, now: Date
    ) async throws {
        var exposition = Exposition()
        exposition.add([build.family, Self.up(true)])
        let storage = installation.storage
        if case .one(let name) = scope {
            guard try await MirrorTable.isKnown(name, in: storage) else {
                throw ConfigurationError(
                    localized("the mirror"), localized("is not in the database"), part: .mirror)
            }
            let mirrors = try await MirrorTable.records(of: [name], in: storage)
            try await exposition.addEach(of: mirrors, in: installation, now: now)
        } else {
            let mirrors = try await MirrorTable.all(in: storage)
            exposition.add(try await MirrorOwnership(of: mirrors, in: storage, now: now).families)
            if scope == .together, mirrors.count > 1 {
                let numbers = try await Self.total(of: mirrors, in: installation, now: now)
                exposition.add(numbers.families(of: nil))
            } else {
                try await exposition.addEach(of: mirrors, in: installation, now: now)
            }
        }
        self.exposition = exposition
    }

    /// Reads the metrics of one open mirror, without metrics about all mirrors of its database.
    ///
    /// - Throws: The store's error.
    package init(of mirror: HumanMirror, build: Build, now: Date) async throws {
        var exposition = Exposition()
        exposition.add([build.family, Self.up(true)])
        let reading = try await HealthReader(mirror.installation).reading(of: mirror, now: now)
        try await exposition.addEach(of: [reading], in: mirror.storage, now: now)
        self.exposition = exposition
    }

    private static func total(
        of mirrors: [(name: String, record: MirrorRecord)], in installation: Installation, now: Date
    ) async throws -> MetricNumbers {
        var total = MetricNumbers()
        var counted = CountedMirrors()
        for part in mirrors.portions(of: HealthReader.mirrorsAtOnce) {
            for reading in try await HealthReader(installation).readings(of: part, now: now) {
                let health = Health(reading.facts)
                total.add(reading, health)
                // The times of a paused mirror are left out, because they would only grow older.
                let isPaused = health.verdict.state == .paused
                if !isPaused { total.addTimes(reading) }
                counted.add(reading, isPaused: isPaused, now: now)
            }
        }
        try await counted.addRows(to: &total, in: installation.storage)
        return total
    }
}

extension Exposition {
    /// The most mirrors in one statement; each may have tens of thousands of counted rows.
    private static let mirrorsAtOnce = 200

    /// Adds the metrics of each mirror by its name.
    fileprivate mutating func addEach(
        of mirrors: [(name: String, record: MirrorRecord)], in installation: Installation, now: Date
    ) async throws {
        for part in mirrors.portions(of: Self.mirrorsAtOnce) {
            let readings = try await HealthReader(installation).readings(of: part, now: now)
            try await addEach(of: readings, in: installation.storage, now: now)
        }
    }

    fileprivate mutating func addEach(
        of readings: [HealthReading], in storage: any StorageEngine, now: Date
    ) async throws {
        let rows = try await MetricsRows(of: readings, in: storage, now: now)
        for reading in readings {
            add(rows.numbers(of: reading).families(of: reading.mirror.name))
        }
    }
}

extension MirrorOwnership {
    /// The workers that hold the mirrors, as metrics.
    fileprivate var families: [Exposition.Family] {
        var ownedFamily = Exposition.Family(.mirrorsOwned)
        for (worker, count) in owned.sorted(by: { $0.key < $1.key }) {
            ownedFamily.add(Double(count), ["worker": worker])
        }
        var unownedFamily = Exposition.Family(.mirrorsUnowned)
        unownedFamily.add(Double(unowned))
        var latenessFamily = Exposition.Family(.passesLate)
        for (worker, seconds) in lateness.sorted(by: { $0.key < $1.key }) {
            latenessFamily.add(seconds, ["worker": worker])
        }
        return [ownedFamily, unownedFamily, latenessFamily]
    }
}

/// The numbers of some mirrors that only the metrics use, by the mirror's name; one statement reads
/// each property.
private struct MetricsRows {
    let endings: [String: [ActionTally]]
    let slots: [String: [ActionState: Int]]
    let lastDone: [String: [ActionKind: Date]]
    let judged: [String: (right: Int, wrong: Int)]
    let requests: [String: RequestTable.Counted]
    let posts: [String: Int]

    init(of readings: [HealthReading], in storage: any StorageEngine, now: Date) async throws {
        let names = readings.map(\.mirror.name)
        endings = try await OutboxStore.endings(of: names, in: storage)
        let days = readings.compactMap { reading in
            reading.day(at: now).map { (reading.mirror.name, $0) }
        }
        slots = try await OutboxStore.slotStates(
            of: Dictionary(days, uniquingKeysWith: { first, _ in first }), in: storage)
        lastDone = try await OutboxStore.lastDone(of: names, in: storage)
        judged = try await Self.favoritesJudged(of: names, in: storage)
        requests = try await RequestTable.counted(of: names, in: storage)
        posts = try await storage.query(
            "SELECT mirror, COUNT(*) AS number FROM posts WHERE mirror IN \(list: names) GROUP BY mirror"
        ).reduce(into: [:]) { $0[try $1.text("mirror")] = try $1.int("number") }
    }

    func numbers(of reading: HealthReading) -> MetricNumbers {
        let name = reading.mirror.name
        var numbers = MetricNumbers()
        numbers.add(reading, Health(reading.facts))
        numbers.addTimes(reading)
        let labels = MetricNumbers.ActionLabels(reading.mirror.configuration)
        for tally in endings[name] ?? [] { numbers.add(tally, labels) }
        for (kind, time) in lastDone[name] ?? [:] { numbers.add(lastDone: time, kind) }
        if let states = slots[name] { numbers.add(slots: states) }
        numbers.add(archivedPosts: posts[name] ?? 0)
        if let judged = judged[name] { numbers.add(right: judged.right, wrong: judged.wrong) }
        let counted = requests[name] ?? RequestTable.Counted()
        numbers.set(durations: counted.durations)
        numbers.add(limits: counted.limits)
        return numbers
    }

    /// Counts the right and the wrong favorites of each mirror's bot.
    ///
    /// A favorite that the bot gave, or a suggested one that a person dismissed, counts as right if
    /// the human gave it too. It counts as wrong if a person dismissed it, or if the human saw the
    /// post and did not favorite it.
    ///
    /// - Parameter mirrors: The names of the mirrors; nil for all of the database.
    static func favoritesJudged(
        of mirrors: [String]?, in storage: any StorageEngine
    ) async throws -> [String: (right: Int, wrong: Int)] {
        let exampleWithState: SQL = """
            SELECT 1 FROM examples WHERE examples.mirror = actions.mirror AND examples.network = actions.target_network
                AND examples.post_id = actions.subject AND examples.state
            """
        // The names are listed even for all mirrors, because the index of the favorites begins with
        // the mirror.
        let mirrorNames: SQL = mirrors.map { "\(list: $0)" } ?? "(SELECT mirror FROM mirrors)"
        let rows = try await storage.query(
            """
            SELECT mirror,
                CAST(SUM(CASE WHEN EXISTS (\(exampleWithState) IN ('favorite', 'seen-favorite')) THEN 1 ELSE 0 END) AS BIGINT)
                    AS right_count,
                CAST(SUM(CASE WHEN state = 'skipped' OR EXISTS (\(exampleWithState) = 'seen') THEN 1 ELSE 0 END) AS BIGINT)
                    AS wrong_count
            FROM actions WHERE mirror IN \(mirrorNames) AND kind = 'favorite'
                AND (state IN ('done', 'undone') OR (state = 'skipped' AND reason = \(Action.Reason.dismissed)))
            GROUP BY mirror
            """)
        return try rows.reduce(into: [:]) { judged, row in
            judged[try row.text("mirror")] = (
                right: try row.int("right_count"), wrong: try row.int("wrong_count")
            )
        }
    }
}

extension HealthReading {
    /// The present day of the human; nil while no time zone is known.
    fileprivate func day(at now: Date) -> LocalDay? {
        facts.zone.map { LocalTime(now, in: $0).day }
    }
}

/// The mirrors whose rows are counted together.
private struct CountedMirrors {
    private var labels: [String: MetricNumbers.ActionLabels] = [:]
    private var paused: Set<String> = []
    /// The human's present day.
    private var days: [String: LocalDay] = [:]

    mutating func add(_ reading: HealthReading, isPaused: Bool, now: Date) {
        let name = reading.mirror.name
        labels[name] = MetricNumbers.ActionLabels(reading.mirror.configuration)
        days[name] = reading.day(at: now)
        if isPaused { paused.insert(name) }
    }

    /// Adds the sums of the rows of all mirrors of a database, with one statement for each
    /// property.
    ///
    /// Numbers with a label that depends on a mirror's settings or clock are computed for each
    /// mirror first.
    func addRows(to total: inout MetricNumbers, in storage: any StorageEngine) async throws {
        var lastDone: [String: [ActionKind: Date]] = [:]
        for ending in try await OutboxStore.allEndings(in: storage) {
            guard let labels = labels[ending.mirror] else { continue }
            total.add(ending.tally, labels)
            guard ending.isDone, !paused.contains(ending.mirror) else { continue }
            let kind = ending.tally.kind
            let lastTime = lastDone[ending.mirror]?[kind] ?? ending.last
            lastDone[ending.mirror, default: [:]][kind] = max(lastTime, ending.last)
        }
        for (kind, time) in lastDone.values.joined() { total.add(lastDone: time, kind) }
        for states in try await OutboxStore.allSlotStates(on: days, in: storage).values {
            total.add(slots: states)
        }
        for judged in try await MetricsRows.favoritesJudged(of: nil, in: storage).values {
            total.add(right: judged.right, wrong: judged.wrong)
        }
        total.set(durations: try await RequestTable.allDurations(in: storage))
        for limit in try await RequestTable.allLimits(in: storage)
        where !paused.contains(limit.mirror) {
            total.add(limits: [(limit.network, limit.window, limit.remaining)])
        }
        let rows = try await storage.query("SELECT COUNT(*) AS number FROM posts")
        total.add(archivedPosts: try rows.first?.int("number") ?? 0)
    }
}
