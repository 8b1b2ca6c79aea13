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

        package init(version: String, commit: String) { (self.version, self.commit) = (version, commit) }

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

    /// Reads the metrics of a mirror, or of all mirrors of its database; asks no network and no Redis.
    ///
    /// - Parameters:
    ///   - mirror: An open mirror.
    ///   - isAlone: Whether the other mirrors of the database are left out, and what is about all of them.
    /// - Throws: The store's error; `ConfigurationError` for a stored setting of another mirror that cannot be used.
    package init(of mirror: HumanMirror, isAlone: Bool, build: Build, now: Date) async throws {
        var exposition = Exposition()
        exposition.add([build.family, Self.up(true)])
        var mirrors = [mirror]
        if !isAlone {
            let all = try await MirrorTable.all(in: mirror.storage)
            exposition.add(try await MirrorOwnership(of: all, in: mirror.storage, now: now).families)
            let names = all.map(\.name)
            let others = names.filter { $0 != mirror.name }
            // A database without a mirror of the usual name has none of it.
            if others.count == names.count, !others.isEmpty { mirrors = [] }
            for name in others { mirrors.append(try await mirror.other(name)) }
        }
        for mirror in mirrors {
            exposition.add(try await MirrorMetrics(mirror, now: now).families())
        }
        self.exposition = exposition
    }
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
        for (worker, count) in owned.sorted(by: { $0.key < $1.key }) { held.add(Double(count), ["worker": worker]) }
        var free = Exposition.Family(
            .mirrorsUnowned, .gauge, "Mirrors of the database that neither pause nor have a worker.")
        free.add(Double(unowned), [:])
        var late = Exposition.Family(
            .passesLate, .gauge,
            "By how much one of a worker's passes began late, at most, within the last minute.")
        for (worker, seconds) in lateness.sorted(by: { $0.key < $1.key }) { late.add(seconds, ["worker": worker]) }
        return [held, free, late]
    }
}

/// The metrics of one mirror.
private struct MirrorMetrics {
    private typealias Family = Exposition.Family

    private let mirror: HumanMirror
    private let now: Date
    private let network: String

    private var name: String { mirror.name }
    private var storage: any StorageEngine { mirror.storage }

    init(_ mirror: HumanMirror, now: Date) {
        (self.mirror, self.now) = (mirror, now)
        network = mirror.configuration.botNetwork.rawValue
    }

    func families() async throws -> [Exposition.Family] {
        let reading = try await HealthReader(mirror).reading(now: now)
        var families = Health(reading.facts).families(of: name)
        families += try await actions()
        families += [try await slots(reading.facts.zone), archive(reading), try await precision()].compactMap(\.self)
        families += try await spending(reading)
        families += [try await successes(reading)].compactMap(\.self)
        return families + (try await requests())
    }

    // MARK: Actions

    /// How actions end, with the states that count as each end: what was taken back was done before.
    private static let outcomes: [(name: String, states: Set<ActionState>)] = [
        ("done", [.done, .undone]), ("undone", [.undone]), ("skipped", [.skipped]), ("expired", [.expired]),
        ("failed", [.failed]),
    ]

    private func actions() async throws -> [Family] {
        let counted = try await mirror.outbox(lease: nil).endings()
        func count(_ kind: ActionKind, _ states: Set<ActionState>, reason: String? = nil) -> Double {
            Double(
                counted.filter { ending in
                    ending.kind == kind && states.contains(ending.state) && (reason == nil || ending.reason == reason)
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
        for outcome in Self.outcomes {
            posts.add(
                count(.post, outcome.states), ["mirror": name, "network": network, "outcome": outcome.name])
            favorites.add(
                count(.favorite, outcome.states),
                ["mirror": name, "mode": mirror.configuration.favoriteMode.rawValue, "outcome": outcome.name])
            let reasons =
                outcome.name == "done"
                ? [""] : Set(counted.filter { $0.kind == .reply && outcome.states.contains($0.state) }.map(\.reason))
            for reason in reasons.sorted() {
                let number =
                    outcome.name == "done"
                    ? count(.reply, outcome.states) : count(.reply, outcome.states, reason: reason)
                replies.add(number, ["mirror": name, "outcome": outcome.name, "reason": reason])
            }
        }
        return [posts, replies, favorites]
    }

    private func slots(_ zone: TimeZone?) async throws -> Family? {
        guard let zone else { return nil }
        var family = Family(.planSlots, .gauge, "Slots of the human's present day by their state.")
        let slots = try await mirror.outbox(lease: nil).slots(of: LocalTime(now, in: zone).day)
        for state in ActionState.allCases {
            family.add(Double(slots.count { $0.state == state }), ["mirror": name, "state": state.rawValue])
        }
        return family
    }

    private func archive(_ reading: HealthReading) -> Family {
        var family = Family(.archiveRows, .gauge, "Archived posts of the human.")
        family.add(Double(reading.numbers.posts), ["mirror": name])
        return family
    }

    /// Of the posts that the bot favorited, or a person dismissed, and that the human saw: those that the human favorited.
    private func precision() async throws -> Family? {
        var family = Family(
            .precision, .gauge,
            "Share of the favorites that the bot gave which the human gave too, among those that are learned or dismissed."
        )
        let (right, wrong) = try await mirror.favoritesJudged()
        guard right + wrong > 0 else { return nil }
        family.add(Double(right) / Double(right + wrong), ["mirror": name])
        return family
    }

    // MARK: Money and times

    private func spending(_ reading: HealthReading) async throws -> [Family] {
        let paid = Set(reading.accounts.networks.filter { $0.descriptor.prices != nil })
        guard !paid.isEmpty, let spending = reading.spending else { return [] }
        var family = Family(
            .spend, .counter, "What calls have cost, of both accounts, in US dollars.")
        let total = try await mirror.spending.total()
        for network in paid { family.add(total.dollars, ["mirror": name, "network": network.rawValue]) }
        var budget = Family(.budget, .gauge, "What calls may cost in a month, of both accounts, in US dollars.")
        budget.add(spending.budget.dollars, ["mirror": name])
        var left = Family(.budgetLeft, .gauge, "What is left of that in the present month, in US dollars.")
        left.add(spending.left.dollars, ["mirror": name])
        return [family, budget, left]
    }

    private func successes(_ reading: HealthReading) async throws -> Family? {
        var family = Family(
            .lastSuccess, .gauge,
            "When a part of the work last succeeded: a feed was read to its end, something of a kind was sent, a worker lived."
        )
        func add(_ date: Date?, _ task: String) {
            guard let date else { return }
            family.add((date.timeIntervalSince1970 * 1_000).rounded() / 1_000, ["mirror": name, "task": task])
        }
        for feed in reading.facts.feeds { add(feed.lastSuccess, feed.feed) }
        let sent = try await mirror.outbox(lease: nil).lastDone()
        for kind in ActionKind.allCases { add(sent[kind], kind.rawValue) }
        add(reading.lease.map { Date(milliseconds: $0.updatedMilliseconds) }, "worker")
        add(reading.lease?.lastPass, "pass")
        return family
    }

    // MARK: Requests

    private func requests() async throws -> [Family] {
        let counted = try await RequestTable(storage: storage, mirror: name).counted()
        var durations = Family(
            .requestDuration, .histogram,
            "How long calls to a network took, with what they wait for; counted since the mirror began.")
        for (network, histogram) in counted.durations.sorted(by: { $0.key < $1.key }) {
            for (bound, count) in histogram.cumulative {
                durations.add(Double(count), ["mirror": name, "network": network, "le": bound], suffix: "_bucket")
            }
            durations.add(histogram.sum, ["mirror": name, "network": network], suffix: "_sum")
            durations.add(Double(histogram.count), ["mirror": name, "network": network], suffix: "_count")
        }
        var remaining = Family(
            .limitRemaining, .gauge,
            "Requests that a network still lets an account make in its period, as the last answer said.")
        for limit in counted.limits {
            remaining.add(
                Double(limit.remaining), ["mirror": name, "network": limit.network, "window": limit.window])
        }
        return [durations, remaining]
    }
}

extension HumanMirror {
    /// Of the favorites that the bot gave or suggested: how many the human gave too, and how many the human saw and did not
    /// give, or a person dismissed.
    fileprivate func favoritesJudged() async throws -> (right: Int, wrong: Int) {
        let seen: SQL = """
            SELECT 1 FROM examples WHERE examples.mirror = actions.mirror AND examples.network = actions.target_network
                AND examples.post_id = actions.subject AND examples.state
            """
        let rows = try await storage.query(
            """
            SELECT CAST(COALESCE(SUM(CASE WHEN EXISTS (\(seen) IN ('favorite', 'seen-favorite')) THEN 1 ELSE 0 END), 0)
                    AS BIGINT) AS liked,
                CAST(COALESCE(SUM(CASE WHEN state = 'skipped' OR EXISTS (\(seen) = 'seen') THEN 1 ELSE 0 END), 0)
                    AS BIGINT) AS passed
            FROM actions WHERE mirror = \(name) AND kind = 'favorite'
                AND (state IN ('done', 'undone') OR state = 'skipped' AND reason = \(Action.Reason.dismissed))
            """)
        guard let row = rows.first else { return (0, 0) }
        return (try row.int("liked"), try row.int("passed"))
    }
}

extension Health {
    /// The verdict and the obstacles as metrics.
    ///
    /// - Parameter name: The mirror's.
    func families(of name: String) -> [Exposition.Family] {
        var well = Exposition.Family(
            .well, .gauge, "Whether the mirror does its work, or pauses as a person wants.")
        well.add(verdict.isWell ? 1 : 0, ["mirror": name])
        var state = Exposition.Family(.state, .gauge, "The mirror's state: 1 for the one that holds.")
        for one in Health.Verdict.State.allCases {
            state.add(one == verdict.state ? 1 : 0, ["mirror": name, "state": one.rawValue])
        }
        var lost = Exposition.Family(
            .stopped, .gauge, "Whether a kind of work is lost as a whole, also by a setting.")
        for work in Obstacle.Work.allCases {
            lost.add(stopped.contains(work) ? 1 : 0, ["mirror": name, "work": work.rawValue])
        }
        var held = Exposition.Family(.obstacle, .gauge, "How many conditions of a kind hold.")
        for code in Obstacle.Code.allCases {
            for weight in Obstacle.Weight.allCases {
                let number = obstacles.count { $0.code == code && $0.weight == weight }
                guard number > 0 else { continue }
                held.add(Double(number), ["mirror": name, "code": code.rawValue, "weight": weight.rawValue])
            }
        }
        return [well, state, lost, held]
    }
}
