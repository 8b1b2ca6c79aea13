import Foundation
import Posts

/// Some of the households of a town, with one lock.
///
/// A request locks the shard of its account and reads that one household; nothing iterates over all
/// people.
final class TownShard: @unchecked Sendable {
    // Sendable because every stored variable is only touched under `lock`.
    private let plan: TownPlan
    private let lock = NSLock()
    private var households: [TownHousehold]
    private var ledger = TownLedger()
    private var figures = TownFigures()
    private var countingSince = Date.distantPast
    private var recorded: [TownRequest] = []
    private var recordsAtMost = 0

    /// - Parameter numbers: The numbers of the households, with equal distances.
    init(plan: TownPlan, numbers: StrideTo<Int>) {
        self.plan = plan
        households = numbers.map { TownHousehold($0, plan: plan) }
    }

    /// Executes a request that concerns one household.
    ///
    /// `place` is the index of the household in the shard.
    func answer(_ call: TownCall, place: Int, at now: Date) -> WireAnswer {
        lock.withLock {
            figures.requests += 1
            figures.kinds[call.kind, default: 0] += 1
            if recorded.count < recordsAtMost, call.request.method == "GET",
                let token = call.request.bearerToken
            {
                recorded.append(
                    TownRequest(host: call.host, target: call.request.target, token: token))
            }
            households[place].advance(to: now, plan: plan, ledger: &ledger)
            var work = TownWork(
                call: call, plan: plan, now: now, household: households[place], ledger: TownLedger()
            )
            // The household is moved, not copied: nothing else may hold its arrays while they
            // change.
            households[place] = TownHousehold.placeholder
            let answer = work.answer()
            households[place] = work.household
            add(work.ledger, polledBefore: work.polledBefore, isPoll: work.isPoll, at: now)
            return answer
        }
    }

    private func add(_ additions: TownLedger, polledBefore: Date?, isPoll: Bool, at now: Date) {
        ledger.deliveries += additions.deliveries
        ledger.incidents += additions.incidents
        ledger.favorites += additions.favorites
        for delivery in additions.deliveries {
            guard let parent = delivery.replyTo,
                let index = ledger.mentions.lastIndex(where: {
                    $0.id == parent && $0.answered == nil
                })
            else { continue }
            ledger.mentions[index].answered = delivery.date
        }
        guard isPoll else { return }
        if let last = polledBefore, last >= countingSince {
            figures.longestPollGap = max(figures.longestPollGap, now.timeIntervalSince(last))
        } else {
            figures.polled += 1
        }
    }

    /// Sets the counts to zero.
    func resetFigures(at now: Date) {
        lock.withLock {
            figures = TownFigures()
            countingSince = now
        }
    }

    var currentFigures: TownFigures { lock.withLock { figures } }

    /// Lets all events up to an instant happen and returns the ledger.
    func ledger(at now: Date) -> TownLedger {
        lock.withLock {
            for place in households.indices {
                households[place].advance(to: now, plan: plan, ledger: &ledger)
            }
            return ledger
        }
    }

    /// Records requests from now on, up to a limit.
    func record(atMost limit: Int) {
        lock.withLock {
            recorded = []
            recordsAtMost = limit
        }
    }

    func takeRecorded() -> [TownRequest] {
        lock.withLock {
            defer {
                recorded = []
                recordsAtMost = 0
            }
            return recorded
        }
    }
}
