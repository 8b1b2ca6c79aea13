import Archive
import Favorites
package import Foundation
package import Mirroring
import Networks
import Outbox
import Posts
import Settings
import Storage

/// The metrics of all mirrors of a database, for a monitoring system.
///
/// No label holds anything that a person or a server wrote but the names of mirrors and workers.
package struct MetricsReport: Sendable {
    /// Names the program.
    package struct Build: Sendable {
        package let version: String
        package let commit: String

        package init(version: String, commit: String) {
            self.version = version
            self.commit = commit
        }

        fileprivate var family: Exposition.Family {
            var family = Exposition.Family(.buildInfo, .gauge, "The program, as a constant 1.")
            family.add(1, ["version": version, "commit": commit])
            return family
        }
    }

    /// The metrics, in the order of the report.
    ///
    /// Alerts and dashboards of `deploy/` go by these names.
    package enum Metric: String, CaseIterable, Sendable {
        case buildInfo = "build_info"
        case up
        case mirrorsOwned = "mirrors_owned"
        case mirrorsUnowned = "mirrors_unowned"
        case passesLate = "passes_late_seconds"
        case well, state, stopped, obstacle
        case posts = "posts_total"
        case replies = "replies_total"
        case favorites = "favourites_total"
        case planSlots = "plan_slots"
        case archiveRows = "archive_rows"
        case precision = "classifier_precision"
        case spend = "spend_dollars_total"
        case budget = "budget_dollars"
        case budgetLeft = "budget_left_dollars"
        case lastSuccess = "last_success_timestamp_seconds"
        case requestDuration = "api_request_duration_seconds"
        case limitRemaining = "rate_limit_remaining"

        package var name: String { "mirrorbot_\(rawValue)" }
    }

    package let exposition: Exposition

    /// The metrics for a database that cannot be read.
    package static func down(_ build: Build) -> Exposition {
        var exposition = Exposition()
        exposition.add([build.family, up(false)])
        return exposition
    }

    private static func up(_ isUp: Bool) -> Exposition.Family {
        var family = Exposition.Family(.up, .gauge, "Whether the database could be read.")
        family.add(isUp ? 1 : 0, [:])
        return family
    }

    /// Reads the metrics of all mirrors of a database; asks no network and no Redis.
    ///
    /// The number of statements grows by some for each 200 mirrors.
    ///
    /// - Throws: The store's error.
    package init(of installation: Installation, build: Build, now: Date) async throws {
        var exposition = Exposition()
        exposition.add([build.family, Self.up(true)])
        let mirrors = try await MirrorTable.all(in: installation.storage)
        exposition.add(
            try await MirrorOwnership(of: mirrors, in: installation.storage, now: now).families)
        for part in mirrors.portions(of: Self.mirrorsAtOnce) {
            let readings = try await HealthReader(installation).readings(of: part, now: now)
            exposition.add(
                try await Self.families(of: readings, in: installation.storage, now: now))
        }
        self.exposition = exposition
    }

    /// Reads the metrics of one mirror, without what is about all mirrors of its database.
    ///
    /// - Throws: The store's error.
    package init(of mirror: HumanMirror, build: Build, now: Date) async throws {
        var exposition = Exposition()
        exposition.add([build.family, Self.up(true)])
        let reading = try await HealthReader(mirror.installation).reading(of: mirror, now: now)
        exposition.add(try await Self.families(of: [reading], in: mirror.storage, now: now))
        self.exposition = exposition
    }

    private static func families(
        of readings: [HealthReading], in storage: any StorageEngine, now: Date
    ) async throws -> [Exposition.Family] {
        let rows = try await MetricsRows(of: readings, in: storage, now: now)
        return readings.flatMap { MirrorMetrics($0, rows, now: now).families }
    }

    /// Mirrors that share a statement: each of them may have tens of thousands of rows that are
    /// counted.
    private static let mirrorsAtOnce = 200
}

extension Exposition.Family {
    fileprivate init(_ metric: MetricsReport.Metric, _ kind: Kind, _ help: String) {
        self.init(metric.name, kind, help)
    }
}

extension MirrorOwnership {
    /// Which workers hold the mirrors, as metrics.
    fileprivate var families: [Exposition.Family] {
        var held = Exposition.Family(
            .mirrorsOwned, .gauge, "Mirrors of the database that a living worker holds.")
        for (worker, count) in owned.sorted(by: { $0.key < $1.key }) {
            held.add(Double(count), ["worker": worker])
        }
        var free = Exposition.Family(
            .mirrorsUnowned, .gauge, "Mirrors of the database that neither pause nor have a worker."
        )
        free.add(Double(unowned), [:])
        var late = Exposition.Family(
            .passesLate, .gauge,
            "By how much one of a worker's passes began late, at most, within the last minute.")
        for (worker, seconds) in lateness.sorted(by: { $0.key < $1.key }) {
            late.add(seconds, ["worker": worker])
        }
        return [held, free, late]
    }
}

/// The numbers of some mirrors that only the metrics show, by the mirror's name; one statement
/// reads each property.
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
            reading.facts.zone.map { (reading.mirror.name, LocalTime(now, in: $0).day) }
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

    /// Of the favorites that the bot gave or suggested: how many the human gave too, and how many
    /// the human saw and did not give, or a person dismissed.
    private static func favoritesJudged(
        of mirrors: [String], in storage: any StorageEngine
    ) async throws -> [String: (right: Int, wrong: Int)] {
        let seen: SQL = """
            SELECT 1 FROM examples WHERE examples.mirror = actions.mirror AND examples.network = actions.target_network
                AND examples.post_id = actions.subject AND examples.state
            """
        let rows = try await storage.query(
            """
            SELECT mirror,
                CAST(SUM(CASE WHEN EXISTS (\(seen) IN ('favorite', 'seen-favorite')) THEN 1 ELSE 0 END) AS BIGINT)
                    AS liked,
                CAST(SUM(CASE WHEN state = 'skipped' OR EXISTS (\(seen) = 'seen') THEN 1 ELSE 0 END) AS BIGINT)
                    AS passed
            FROM actions WHERE mirror IN \(list: mirrors) AND kind = 'favorite'
                AND (state IN ('done', 'undone') OR state = 'skipped' AND reason = \(Action.Reason.dismissed))
            GROUP BY mirror
            """)
        return try rows.reduce(into: [:]) { judged, row in
            judged[try row.text("mirror")] = (try row.int("liked"), try row.int("passed"))
        }
    }
}

/// The metrics of one mirror.
private struct MirrorMetrics {
    private typealias Family = Exposition.Family

    private let reading: HealthReading
    private let rows: MetricsRows
    private let now: Date

    private var mirror: HumanMirror { reading.mirror }
    private var name: String { mirror.name }

    init(_ reading: HealthReading, _ rows: MetricsRows, now: Date) {
        self.reading = reading
        self.rows = rows
        self.now = now
    }

    var families: [Exposition.Family] {
        var families = Health.families(of: name, Health(reading.facts)) + actions
        if let slots { families.append(slots) }
        families.append(archive)
        if let precision { families.append(precision) }
        return families + spending + [successes] + requests
    }

    // MARK: Actions

    /// How actions end, with the states that count as each end: what was taken back was done
    /// before.
    private static let outcomes: [(name: String, states: Set<ActionState>)] = [
        ("done", [.done, .undone]), ("undone", [.undone]), ("skipped", [.skipped]),
        ("expired", [.expired]),
        ("failed", [.failed]),
    ]

    private var actions: [Family] {
        let counted = rows.endings[name] ?? []
        func count(_ kind: ActionKind, _ states: Set<ActionState>, reason: String? = nil) -> Double
        {
            Double(
                counted.filter { ending in
                    ending.kind == kind && states.contains(ending.state)
                        && (reason == nil || ending.reason ?? "" == reason)
                }.reduce(0) { $0 + $1.count })
        }
        let kept = "as long as they are kept (HISTORY_DAYS)"
        var posts = Family(.posts, .counter, "Posts by how they ended, \(kept).")
        var replies = Family(
            .replies, .counter,
            "Mentions by how they ended and why, \(kept); a silence is skipped.")
        var favorites = Family(
            .favorites, .counter,
            "Favorites by how they ended, with FAVORITE_MODE as it is now, \(kept).")
        let network = mirror.configuration.botNetwork.rawValue
        for outcome in Self.outcomes {
            posts.add(
                count(.post, outcome.states),
                ["mirror": name, "network": network, "outcome": outcome.name])
            favorites.add(
                count(.favorite, outcome.states),
                [
                    "mirror": name, "mode": mirror.configuration.favoriteMode.rawValue,
                    "outcome": outcome.name,
                ])
            let replied = counted.filter { $0.kind == .reply && outcome.states.contains($0.state) }
            let reasons = outcome.name == "done" ? [""] : Set(replied.map { $0.reason ?? "" })
            for reason in reasons.sorted() {
                let number =
                    outcome.name == "done"
                    ? count(.reply, outcome.states) : count(.reply, outcome.states, reason: reason)
                replies.add(number, ["mirror": name, "outcome": outcome.name, "reason": reason])
            }
        }
        return [posts, replies, favorites]
    }

    private var slots: Family? {
        guard reading.facts.zone != nil else { return nil }
        var family = Family(.planSlots, .gauge, "Slots of the human's present day by their state.")
        for state in ActionState.allCases {
            family.add(
                Double(rows.slots[name]?[state] ?? 0), ["mirror": name, "state": state.rawValue])
        }
        return family
    }

    private var archive: Family {
        var family = Family(.archiveRows, .gauge, "Archived posts of the human.")
        family.add(Double(rows.posts[name] ?? 0), ["mirror": name])
        return family
    }

    /// Of the posts that the bot favorited, or a person dismissed, and that the human saw: those
    /// that the human favorited.
    private var precision: Family? {
        var family = Family(
            .precision, .gauge,
            "Share of the favorites that the bot gave which the human gave too, among those that are learned or dismissed."
        )
        guard let (right, wrong) = rows.judged[name], right + wrong > 0 else { return nil }
        family.add(Double(right) / Double(right + wrong), ["mirror": name])
        return family
    }

    // MARK: Money and times

    private var spending: [Family] {
        let paid = Set(reading.accounts.networks.filter { $0.descriptor.prices != nil })
        guard !paid.isEmpty, let spending = reading.spending else { return [] }
        var family = Family(
            .spend, .counter, "What calls have cost, of both accounts, in US dollars.")
        for network in paid {
            family.add(reading.spent.dollars, ["mirror": name, "network": network.rawValue])
        }
        var budget = Family(
            .budget, .gauge, "What calls may cost in a month, of both accounts, in US dollars.")
        budget.add(spending.budget.dollars, ["mirror": name])
        var left = Family(
            .budgetLeft, .gauge, "What is left of that in the present month, in US dollars.")
        left.add(spending.left.dollars, ["mirror": name])
        return [family, budget, left]
    }

    private var successes: Family {
        var family = Family(
            .lastSuccess, .gauge,
            "When a part of the work last succeeded: a feed was read to its end, something of a kind was sent, a worker lived."
        )
        func add(_ date: Date?, _ task: String) {
            guard let date else { return }
            family.add(
                (date.timeIntervalSince1970 * 1_000).rounded() / 1_000,
                ["mirror": name, "task": task])
        }
        for feed in reading.facts.feeds { add(feed.lastSuccess, feed.feed) }
        for kind in ActionKind.allCases { add(rows.lastDone[name]?[kind], kind.rawValue) }
        add(reading.lease.map { Date(milliseconds: $0.updatedMilliseconds) }, "worker")
        add(reading.lease?.lastPass, "pass")
        return family
    }

    // MARK: Requests

    private var requests: [Family] {
        let counted = rows.requests[name] ?? RequestTable.Counted()
        var durations = Family(
            .requestDuration, .histogram,
            "How long calls to a network took, with what they wait for; counted since the mirror began."
        )
        for (network, histogram) in counted.durations.sorted(by: { $0.key < $1.key }) {
            for (bound, count) in histogram.cumulative {
                durations.add(
                    Double(count), ["mirror": name, "network": network, "le": bound],
                    suffix: "_bucket")
            }
            durations.add(histogram.sum, ["mirror": name, "network": network], suffix: "_sum")
            durations.add(
                Double(histogram.count), ["mirror": name, "network": network], suffix: "_count")
        }
        var remaining = Family(
            .limitRemaining, .gauge,
            "Requests that a network still lets an account make in its period, as the last answer said."
        )
        for limit in counted.limits {
            remaining.add(
                Double(limit.remaining),
                ["mirror": name, "network": limit.network, "window": limit.window])
        }
        return [durations, remaining]
    }
}

extension Health {
    /// The verdict and the obstacles as metrics.
    ///
    /// - Parameters:
    ///   - name: The mirror's.
    ///   - health: Its health.
    static func families(of name: String, _ health: Health) -> [Exposition.Family] {
        var well = Exposition.Family(
            .well, .gauge, "Whether the mirror does its work, or pauses as a person wants.")
        well.add(health.verdict.isWell ? 1 : 0, ["mirror": name])
        var state = Exposition.Family(
            .state, .gauge, "The mirror's state: 1 for the one that holds.")
        for one in Health.Verdict.State.allCases {
            state.add(one == health.verdict.state ? 1 : 0, ["mirror": name, "state": one.rawValue])
        }
        var lost = Exposition.Family(
            .stopped, .gauge, "Whether a kind of work is lost as a whole, also by a setting.")
        for work in Obstacle.Work.allCases {
            lost.add(
                health.stopped.contains(work) ? 1 : 0, ["mirror": name, "work": work.rawValue])
        }
        var held = Exposition.Family(.obstacle, .gauge, "How many conditions of a kind hold.")
        for code in Obstacle.Code.allCases {
            for weight in Obstacle.Weight.allCases {
                let number = health.obstacles.count { $0.code == code && $0.weight == weight }
                guard number > 0 else { continue }
                held.add(
                    Double(number),
                    ["mirror": name, "code": code.rawValue, "weight": weight.rawValue])
            }
        }
        return [well, state, lost, held]
    }
}
