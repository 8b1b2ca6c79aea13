import Control
import Favorites
import Foundation
import Mirroring
import NetworkNames
import Outbox
import Posts
import Sandbox
import Storage

/// The end of a run: a last worker that nothing disturbs, and the comparison of what everybody
/// says.
struct Settlement: Sendable {
    let stage: Stage

    /// How long the last worker works at least, so that it sees everything that happened, in
    /// minutes of its clock.
    ///
    /// For twenty minutes it asks again for a page that is refused, and then reads what lies behind
    /// it.
    private static let leastMinutes = 35.0
    /// After how many minutes of its clock something is wrong if there is still something to do;
    /// those in which the machine lets it starve do not count.
    private static let mostMinutes = 300.0

    /// Lets a worker run until nothing is left to do, and ends it.
    ///
    /// - Returns: Complaints, if it does not come to that.
    func settle() async throws -> [String] {
        let worker = try stage.worker("worker-last")
        defer { stage.timeline.note(isWorking: false) }
        let start = stage.clock.now
        var open: [Action] = []
        var unheard = 0
        var changed = start
        while stage.clock.now < start + Self.mostMinutes * 60
            + stage.timeline.starvation(since: start)
        {
            let state = await worker.wait(seconds: 0.3) { state in
                stage.timeline.note(isWorking: state == .running && worker.beginnings > 0)
                return state.hasEnded
            }
            guard !state.hasEnded else { return ["the last worker ended by itself: \(state)"] }
            let left: Int
            (open, left) = try await unsettled()
            let now = stage.clock.now
            if left != unheard {
                unheard = left
                changed = now
            }
            if open.isEmpty, now > changed + Self.leastMinutes * 60 { break }
        }
        worker.send(SIGTERM)
        let state = await worker.wait(seconds: 10) { $0.hasEnded }
        var complaints = open.map {
            "not settled in the end: \($0.kind.rawValue) \($0.subject), \($0.state.rawValue)"
        }
        if state != .exited(0) {
            complaints.append("the last worker did not end in order: \(state)")
        }
        return complaints
    }

    /// Compares the counts in Redis with what the examples say.
    ///
    /// - Returns: How many there are, and complaints if they are not the same.
    /// - Throws: The store's error, or the one of Redis.
    func compareCounts() async throws -> (counts: Int, complaints: [String]) {
        guard let found = try await stage.servers.counts() else { return (0, []) }
        try await stage.servers.loseCounts()
        // Whoever finds no counts makes them anew.
        let unseen = Example(
            id: PostID(network: .mastodon, value: "unseen"), author: nil, text: "unseen")
        _ = try await stage.withMirror { try await $0.favorites().classify([unseen]) }
        let expected = try await stage.servers.counts() ?? []
        guard found != expected else { return (found.count, []) }
        let wrong = Set(found).symmetricDifference(expected).sorted()
        return (
            found.count,
            [
                "the counts in Redis are not what the examples say: \(wrong.prefix(6).joined(separator: "; "))"
            ]
        )
    }

    /// The stretches in which a page of what people say was refused.
    private static func deafness(_ ledger: SandboxLedger) -> [Disturbance] {
        ledger.refusedObjects.filter { $0.object == .mentions || $0.object == .home }.compactMap {
            refused in
            refused.until.map {
                Disturbance(cause: .noFeed, interval: DateInterval(start: refused.since, end: $0))
            }
        }
    }

    /// The actions that a worker would do something about at once, and how many mentions have no
    /// row, as some never will.
    private func unsettled() async throws -> (actions: [Action], mentions: Int) {
        let now = stage.clock.now
        let all = try await withStorage { _, outbox in try await outbox.recent(1_000_000) }
        let open = all.filter { action in
            switch action.state {
            case .claimed, .sending: true
            case .done: action.undo?.next != nil
            case .planned: max(action.due, action.nextAttempt ?? .distantPast) < now - 60
            default: false
            }
        }
        let decided = Set(all.filter { $0.kind == .reply }.map(\.subject))
        // What is said while somebody waits is nothing left over.
        let mentions = await stage.sandbox.ledger.mentions.filter { $0.date < now - patience }
        return (open, mentions.count { !decided.contains($0.identity) })
    }

    /// Gathers the three ledgers, and what happened to the run.
    func ledgers(_ ledger: SandboxLedger, _ report: TortureReport) async throws -> AuditInput {
        let now = stage.clock.now
        let feeds = try Hearing.feeds(in: try await stage.status())
        var rules = AuditRules(stage.settings.network, stage.settings.software)
        rules.repliesPerPerson = Stage.repliesAtMost
        rules.repliesPerThread = Stage.repliesAtMost
        return try await withStorage { [rules, patience] storage, _ in
            var input = try await AuditInput.read(
                Stage.mirror, in: storage, since: Stage.origin, zone: Stage.zone, feeds: feeds,
                rules: rules,
                ledger: ledger, now: now, patience: patience)
            input.kills = report.kills
            input.disturbances = stage.timeline.disturbances + Self.deafness(ledger)
            input.stoppedWorkers = report.stopped
            input.wrongClocks = report.wrongClocks
            input.skew = EpisodeSchedule.longestSkew
            return input
        }
    }

    /// What a worker that nothing disturbs needs for one thing: a round of its loops, and a slow
    /// machine.
    private var patience: TimeInterval { 60 + stage.settings.factor }

    private func withStorage<Value>(
        _ body: (any StorageEngine, OutboxStore) async throws -> Value
    ) async throws -> Value {
        let storage = try await Storage.open(stage.servers.location)
        do {
            let value = try await body(
                storage, OutboxStore(storage: storage, mirror: Stage.mirror, lease: nil))
            await storage.close()
            return value
        } catch {
            await storage.close()
            throw error
        }
    }
}
