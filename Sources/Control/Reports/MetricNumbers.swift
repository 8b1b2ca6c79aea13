import Foundation
import Mirroring
import Networks
import Outbox
import Posts
import Settings

/// The numbers for the metrics of a mirror, or of all mirrors together.
///
/// First call ``add(_:_:)`` for every mirror. Then add the counts that were read from the database,
/// of that mirror or of all of them together.
struct MetricNumbers {
    /// The labels of a mirror's ended actions, which depend on its settings.
    struct ActionLabels {
        /// The bot's network.
        let network: String
        /// The present `FAVORITE_MODE`.
        let mode: String

        init(_ configuration: MirrorSettings) {
            network = configuration.botNetwork.rawValue
            mode = configuration.favoriteMode.rawValue
        }
    }

    /// The outcome of an ended action.
    private enum Outcome: String, CaseIterable {
        case done, undone, skipped, expired, failed

        /// The outcomes under which a state is counted: an undone action was done before.
        static func all(of state: ActionState) -> [Outcome] {
            switch state {
            case .done: [.done]
            case .undone: [.done, .undone]
            case .skipped: [.skipped]
            case .expired: [.expired]
            case .failed: [.failed]
            case .planned, .claimed, .sending, .suggested: []
            }
        }
    }

    private typealias Outcomes = [Outcome: Int]

    private var health = HealthTally()
    /// The ended posts, by ``ActionLabels/network``.
    private var posts: [String: Outcomes] = [:]
    /// The ended replies, by outcome and reason; the reason of a done reply is empty.
    private var replies: [Outcome: [String: Int]] = [:]
    /// The ended favorites, by ``ActionLabels/mode``.
    private var favorites: [String: Outcomes] = [:]
    /// The slots of the present day by state; nil while no mirror has a known time zone, which
    /// determines the present day.
    private var slots: [ActionState: Int]?
    private var archivedPosts = 0
    /// The numbers of the bot's favorites that the human gave too (right), and that the human did
    /// not give (wrong).
    private var judged = (right: 0, wrong: 0)
    /// The money spent, by network; empty without an account on a paid network.
    private var spent: [String: Money] = [:]
    private var budget = Money.zero
    private var budgetLeft = Money.zero
    private var feedTimes: [String: Date] = [:]
    private var doneTimes: [ActionKind: Date] = [:]
    private var lastBeat: Date?
    private var lastPass: Date?
    private var durations: [String: RequestTable.Histogram] = [:]
    private var limits: [(network: String, window: String, remaining: Int)] = []

    // MARK: Adding

    /// Adds a mirror's health and spending.
    ///
    /// - Parameters:
    ///   - reading: The mirror.
    ///   - health: The health that follows from the reading.
    mutating func add(_ reading: HealthReading, _ health: Health) {
        self.health.add(health)
        // The empty entries make the metrics show 0 for a kind of action without any action.
        let labels = ActionLabels(reading.mirror.configuration)
        posts[labels.network] = posts[labels.network] ?? [:]
        favorites[labels.mode] = favorites[labels.mode] ?? [:]
        if reading.facts.zone != nil { slots = slots ?? [:] }
        let paid = Set(reading.accounts.networks.filter { $0.descriptor.prices != nil })
        guard !paid.isEmpty, let spending = reading.spending else { return }
        for network in paid.map(\.rawValue) {
            spent[network] = (spent[network] ?? .zero) + reading.totalSpent
        }
        budget = budget + spending.budget
        budgetLeft = budgetLeft + spending.left
    }

    /// Adds the times of feeds and worker; for several mirrors the oldest times are kept.
    mutating func addTimes(_ reading: HealthReading) {
        for feed in reading.facts.feeds {
            feedTimes[feed.feed] = Self.older(feedTimes[feed.feed], feed.lastSuccess)
        }
        lastBeat = Self.older(
            lastBeat, reading.lease.map { Date(milliseconds: $0.updatedMilliseconds) })
        lastPass = Self.older(lastPass, reading.lease?.lastPass)
    }

    /// Adds ended actions of a mirror.
    mutating func add(_ tally: ActionTally, _ labels: ActionLabels) {
        for outcome in Outcome.all(of: tally.state) {
            switch tally.kind {
            case .post:
                posts[labels.network, default: [:]][outcome, default: 0] += tally.count
            case .reply:
                let reason = outcome == .done ? "" : tally.reason?.rawValue ?? ""
                replies[outcome, default: [:]][reason, default: 0] += tally.count
            case .favorite:
                favorites[labels.mode, default: [:]][outcome, default: 0] += tally.count
            }
        }
    }

    /// Adds the time of a mirror's last action of a kind; for several mirrors the oldest time is
    /// kept.
    mutating func add(lastDone: Date, _ kind: ActionKind) {
        doneTimes[kind] = Self.older(doneTimes[kind], lastDone)
    }

    /// Adds slots of the present day.
    mutating func add(slots states: [ActionState: Int]) {
        slots = (slots ?? [:]).merging(states, uniquingKeysWith: +)
    }

    /// Adds the archived posts of a mirror.
    mutating func add(archivedPosts number: Int) { archivedPosts += number }

    /// Adds favorites of the bot that the human gave too, and that the human did not give.
    mutating func add(right: Int, wrong: Int) {
        judged.right += right
        judged.wrong += wrong
    }

    /// Sets the durations of calls, for all added mirrors.
    mutating func set(durations: [String: RequestTable.Histogram]) { self.durations = durations }

    /// Adds the requests that networks still allow a mirror; for several mirrors the smallest
    /// number is kept.
    mutating func add(limits newLimits: [(network: String, window: String, remaining: Int)]) {
        for limit in newLimits {
            let index = limits.firstIndex {
                $0.network == limit.network && $0.window == limit.window
            }
            if let index {
                limits[index].remaining = min(limits[index].remaining, limit.remaining)
            } else {
                limits.append(limit)
            }
        }
    }

    private static func older(_ first: Date?, _ second: Date?) -> Date? {
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }

    // MARK: Families

    /// The numbers as metrics.
    ///
    /// - Parameter mirror: The name of the mirror, for a label; nil for totals of all mirrors.
    func families(of mirror: String?) -> [Exposition.Family] {
        [
            health.families(of: mirror), actions(of: mirror), stock(of: mirror),
            spending(of: mirror), [successes(of: mirror)], requests(of: mirror),
        ].flatMap(\.self)
    }

    private func actions(of mirror: String?) -> [Exposition.Family] {
        var posts = Exposition.Family(.posts, of: mirror)
        var replies = Exposition.Family(.replies, of: mirror)
        var favorites = Exposition.Family(.favorites, of: mirror)
        for outcome in Outcome.allCases {
            for (network, numbers) in self.posts.sorted(by: { $0.key < $1.key }) {
                posts.add(
                    Double(numbers[outcome] ?? 0),
                    ["network": network, "outcome": outcome.rawValue]
                )
            }
            for (mode, numbers) in self.favorites.sorted(by: { $0.key < $1.key }) {
                favorites.add(
                    Double(numbers[outcome] ?? 0), ["mode": mode, "outcome": outcome.rawValue])
            }
            let reasons = self.replies[outcome] ?? (outcome == .done ? ["": 0] : [:])
            for (reason, number) in reasons.sorted(by: { $0.key < $1.key }) {
                replies.add(Double(number), ["outcome": outcome.rawValue, "reason": reason])
            }
        }
        return [posts, replies, favorites]
    }

    /// The stored items: slots, archived posts and learned favorites.
    private func stock(of mirror: String?) -> [Exposition.Family] {
        var families: [Exposition.Family] = []
        if let slots {
            var family = Exposition.Family(.planSlots, of: mirror)
            for state in ActionState.allCases {
                family.add(Double(slots[state] ?? 0), ["state": state.rawValue])
            }
            families.append(family)
        }
        var archive = Exposition.Family(.archiveRows, of: mirror)
        archive.add(Double(archivedPosts))
        families.append(archive)
        let judgedCount = judged.right + judged.wrong
        if judgedCount > 0 {
            var precision = Exposition.Family(.precision, of: mirror)
            precision.add(Double(judged.right) / Double(judgedCount))
            families.append(precision)
        }
        return families
    }

    private func spending(of mirror: String?) -> [Exposition.Family] {
        guard !spent.isEmpty else { return [] }
        var costs = Exposition.Family(.spend, of: mirror)
        for (network, amount) in spent.sorted(by: { $0.key < $1.key }) {
            costs.add(amount.dollars, ["network": network])
        }
        var budget = Exposition.Family(.budget, of: mirror)
        budget.add(self.budget.dollars)
        var budgetLeft = Exposition.Family(.budgetLeft, of: mirror)
        budgetLeft.add(self.budgetLeft.dollars)
        return [costs, budget, budgetLeft]
    }

    private func successes(of mirror: String?) -> Exposition.Family {
        var family = Exposition.Family(.lastSuccess, of: mirror)
        func add(_ date: Date?, _ task: String) {
            guard let date else { return }
            family.add((date.timeIntervalSince1970 * 1_000).rounded() / 1_000, ["task": task])
        }
        for (feed, time) in feedTimes.sorted(by: { $0.key < $1.key }) { add(time, feed) }
        for kind in ActionKind.allCases { add(doneTimes[kind], kind.rawValue) }
        add(lastBeat, "worker")
        add(lastPass, "pass")
        return family
    }

    private func requests(of mirror: String?) -> [Exposition.Family] {
        var durations = Exposition.Family(.requestDuration, of: mirror)
        for (network, histogram) in self.durations.sorted(by: { $0.key < $1.key }) {
            for (bound, count) in histogram.cumulative {
                durations.add(
                    Double(count), ["network": network, "le": bound], suffix: "_bucket")
            }
            durations.add(histogram.sum, ["network": network], suffix: "_sum")
            durations.add(Double(histogram.count), ["network": network], suffix: "_count")
        }
        var remaining = Exposition.Family(.limitRemaining, of: mirror)
        for limit in limits {
            remaining.add(
                Double(limit.remaining), ["network": limit.network, "window": limit.window])
        }
        return [durations, remaining]
    }
}

/// The numbers of mirrors by state and obstacle.
struct HealthTally {
    /// A state, and the obstacle that determines it.
    private struct Verdict: Hashable {
        let state: Health.Verdict.State
        let code: Obstacle.Code?
    }

    /// The kind of an obstacle.
    private struct Condition: Hashable {
        let code: Obstacle.Code
        let weight: Obstacle.Weight
    }

    private var verdicts: [Verdict: Int] = [:]
    private var stopped: [Obstacle.Work: Int] = [:]
    private var conditions: [Condition: Int] = [:]

    mutating func add(_ health: Health) {
        let verdict = Verdict(state: health.verdict.state, code: health.verdict.code)
        verdicts[verdict, default: 0] += 1
        for work in health.stopped { stopped[work, default: 0] += 1 }
        for obstacle in health.obstacles {
            let condition = Condition(code: obstacle.code, weight: obstacle.weight)
            conditions[condition, default: 0] += 1
        }
    }

    private func count(_ state: Health.Verdict.State) -> Int {
        verdicts.filter { $0.key.state == state }.values.reduce(0, +)
    }

    /// The verdicts and the obstacles as metrics.
    ///
    /// - Parameter mirror: The name of the mirror, for a label; nil for totals of all mirrors.
    func families(of mirror: String?) -> [Exposition.Family] {
        var well = Exposition.Family(.well, of: mirror)
        well.add(verdicts.keys.allSatisfy(\.state.isWell) ? 1 : 0)
        var state = Exposition.Family(.state, of: mirror)
        for verdictState in Health.Verdict.State.allCases {
            state.add(Double(count(verdictState)), ["state": verdictState.rawValue])
        }
        var stoppedFamily = Exposition.Family(.stopped, of: mirror)
        for work in Obstacle.Work.allCases {
            stoppedFamily.add(Double(stopped[work] ?? 0), ["work": work.rawValue])
        }
        var obstacleFamily = Exposition.Family(.obstacle, of: mirror)
        for code in Obstacle.Code.allCases {
            for weight in Obstacle.Weight.allCases {
                guard let number = conditions[Condition(code: code, weight: weight)] else {
                    continue
                }
                obstacleFamily.add(
                    Double(number), ["code": code.rawValue, "weight": weight.rawValue])
            }
        }
        let families = [well, state, stoppedFamily, obstacleFamily]
        return mirror == nil ? [decisiveObstacles] + families : families
    }

    /// The mirrors by decisive obstacle, which the totals by state do not show.
    private var decisiveObstacles: Exposition.Family {
        var family = Exposition.Family(.mirrors)
        for state in Health.Verdict.State.allCases {
            let ofState = verdicts.filter { $0.key.state == state }
            // Mirrors without an obstacle come first.
            let sorted = ofState.sorted { ($0.key.code?.rank ?? -1) < ($1.key.code?.rank ?? -1) }
            for (verdict, number) in sorted {
                family.add(
                    Double(number),
                    ["state": state.rawValue, "code": verdict.code?.rawValue ?? ""])
            }
        }
        return family
    }
}
