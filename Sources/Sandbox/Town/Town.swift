package import Foundation
import Posts

/// A town of many mirrors on the loopback interface: thousands of humans and as many bots, for
/// measuring a fleet.
///
/// One server in this process listens on one port under many host addresses and speaks Mastodon's
/// client interface. Each human has a past, friends and a bot; their actions follow from the seed
/// and the clock. Unlike a `Sandbox`, whose people are objects with a script, a household of the
/// town takes some kilobytes, names and texts are computed on demand, and a request concerns one
/// household only.
package final class Town: Sendable {
    /// The number of shards, each with some of the households and one lock.
    private static let shardCount = 16

    package let plan: TownPlan
    package let port: Int
    private let shards: [TownShard]
    private let listener: TownListener
    private let connections: TownConnections
    private let now: @Sendable () -> Date

    /// Opens the town on a free port.
    ///
    /// - Parameter now: The clock of the servers and the people; it must not go back.
    /// - Throws: ``SandboxError`` when no port is free on all addresses.
    package static func start(plan: TownPlan, now: @escaping @Sendable () -> Date) async throws
        -> Town
    {
        let shards = shards(of: plan)
        let connections = TownConnections()
        let listener = try await TownListener.open(
            addresses: (0..<plan.hosts).map(plan.address(ofHost:)), connections: connections
        ) { request, host in
            Self.answer(request, host: host, plan: plan, shards: shards, at: now())
        }
        return Town(
            plan: plan, shards: shards, listener: listener, connections: connections, now: now)
    }

    private init(
        plan: TownPlan, shards: [TownShard], listener: TownListener, connections: TownConnections,
        now: @escaping @Sendable () -> Date
    ) {
        self.plan = plan
        self.shards = shards
        self.listener = listener
        self.connections = connections
        self.now = now
        port = listener.port
    }

    /// The address of the household's server: `http://`, a loopback address and the port.
    package func url(of household: Int) -> String { url(ofHost: plan.host(of: household)) }

    /// The address of a server.
    package func url(ofHost host: Int) -> String { "http://\(plan.address(ofHost: host)):\(port)" }

    /// Sets the counts of ``figures`` to zero.
    package func resetFigures() {
        let now = now()
        for shard in shards { shard.resetFigures(at: now) }
    }

    /// The counts since ``resetFigures()``.
    package var figures: TownFigures {
        var total = TownFigures()
        for figures in shards.map(\.currentFigures) {
            total.requests += figures.requests
            total.polled += figures.polled
            total.longestPollGap = max(total.longestPollGap, figures.longestPollGap)
            total.kinds.merge(figures.kinds, uniquingKeysWith: +)
        }
        total.connections = connections.count
        return total
    }

    /// The record of everything that the bots did so far.
    package var ledger: TownLedger {
        let now = now()
        var total = TownLedger()
        for shard in shards { total.merge(shard.ledger(at: now)) }
        return total
    }

    /// Records read requests from now on, up to a limit.
    package func record(atMost limit: Int) {
        for shard in shards { shard.record(atMost: limit / shards.count + 1) }
    }

    /// Ends recording and returns the recorded requests, in no order.
    package func takeRecorded() -> [TownRequest] { shards.flatMap { $0.takeRecorded() } }

    /// Closes the port and all connections.
    package func stop() async { await listener.stop(connections) }

    /// All households of a town.
    static func shards(of plan: TownPlan) -> [TownShard] {
        let count = min(shardCount, plan.mirrors)
        return (0..<count).map {
            TownShard(plan: plan, numbers: stride(from: $0, to: plan.mirrors, by: count))
        }
    }

    /// Answers a request that came to a server.
    static func answer(
        _ request: WireRequest, host: Int, plan: TownPlan, shards: [TownShard], at now: Date
    ) -> WireAnswer {
        let token = request.bearerToken
        let caller = token.flatMap(plan.person(token:))
        var answer: WireAnswer
        if token != nil, caller == nil {
            answer = .json(["error": "The access token is invalid"], status: 401)
        } else {
            let call = TownCall(request, host: host, caller: caller)
            // Without a token only the path identifies the household; without an id in it, the
            // host's first household answers.
            let household = caller?.household ?? call.household(in: plan) ?? host
            answer = shards[household % shards.count].answer(
                call, place: household / shards.count, at: now)
        }
        answer.headers.append(("date", now.httpDate))
        return answer
    }
}

extension TownCall {
    /// The household of the id in the path; `nil` for a path without one.
    fileprivate func household(in plan: TownPlan) -> Int? {
        let household = path.count > 3 ? Int64(path[3]).map(TownPlan.household(ofID:)) : nil
        return household.flatMap { $0 < plan.mirrors ? $0 : nil }
    }
}
