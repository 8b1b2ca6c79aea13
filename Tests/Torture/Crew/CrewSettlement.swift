import Favorites
import Foundation
import Mirroring
import NetworkNames
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport

/// The end of a run: workers that nothing disturbs, and the comparison of what everybody says about
/// each mirror.
struct CrewSettlement {
    let stage: CrewStage
    let crew: Crew

    /// How long the last workers work at least, so that they see everything that happened, in
    /// minutes of the clock.
    private static let leastMinutes = 20.0
    /// After how many minutes of the clock something is wrong if there is still something to do;
    /// those in which the machine lets somebody wait do not count.
    private static let mostMinutes = 300.0
    /// How many mirrors are asked at a time.
    private static let width = 4

    /// Lets the workers run until nothing is left to do.
    ///
    /// - Returns: Complaints, if it does not come to that.
    func settle() async throws -> [String] {
        let start = stage.clock.now
        var open = 0
        // The least that was left of each mirror, and when it became so little: with so many,
        // somebody is always being answered.
        var least: [String: (mentions: Int, since: Date)] = [:]
        while stage.clock.now < start + Self.mostMinutes * 60
            + stage.timeline.starvation(since: start)
        {
            try await crew.pass(seconds: 3)
            let unheard: [String: Int]
            (open, unheard) = try await unsettled()
            let now = stage.clock.now
            for (mirror, mentions) in unheard where mentions < least[mirror]?.mentions ?? .max {
                least[mirror] = (mentions, now)
            }
            let changed = least.values.map(\.since).max() ?? start
            if open == 0, now > changed + Self.leastMinutes * 60 { return [] }
        }
        return ["\(open) actions are not settled in the end"]
    }

    /// The actions about which a worker would have done something long ago, and how many mentions
    /// of each mirror have no row, as some never will.
    private func unsettled() async throws -> (actions: Int, mentions: [String: Int]) {
        let now = stage.clock.now
        let late = (now - 60).milliseconds
        let heard = (now - stage.patience).milliseconds
        let refused = Array(crew.refused.keys) + [""]
        let (open, decided) = try await stage.servers.withStorage { storage in
            let open = try await storage.query(
                """
                SELECT COUNT(*) AS open FROM actions WHERE mirror NOT IN \(list: refused) AND (
                    state IN ('claimed', 'sending') AND updated_ms < \(late)
                    OR state = 'planned' AND due_ms < \(late) AND COALESCE(next_attempt_ms, 0) < \(late))
                """)
            let decided = try await storage.query(
                """
                SELECT mirror, COUNT(*) AS decided FROM actions
                WHERE kind = 'reply' AND mirror NOT IN \(list: refused) AND created_ms < \(heard) GROUP BY mirror
                """)
            let counts = try decided.map { (try $0.text("mirror"), try $0.int("decided")) }
            return (try open[0].int("open"), Dictionary(uniqueKeysWithValues: counts))
        }
        var mentions: [String: Int] = [:]
        for mirror in stage.mirrors where crew.refused[mirror.name] == nil {
            // What is said while somebody waits is nothing left over.
            let said = await mirror.sandbox.ledger.mentions.count { $0.date < now - stage.patience }
            mentions[mirror.name] = said - (decided[mirror.name] ?? 0)
        }
        return (open, mentions)
    }

    /// Compares the counts of every mirror in Redis with what its examples say.
    ///
    /// - Returns: How many there are, and complaints if they are not the same.
    /// - Throws: The store's error, or the one of Redis.
    func compareCounts() async throws -> (counts: Int, complaints: [String]) {
        var counts = 0
        var complaints = [String]()
        for mirror in stage.mirrors {
            let stored = StoredCounts(mirror: mirror.name)
            let cluster = stage.servers.cluster
            let left = try await stored.read(from: try await cluster.master(of: stored.slot))
            // A mirror that never needed its counts has none.
            guard !left.isEmpty else { continue }
            counts += left.count
            // A worker that ended between the examples and their counts leaves counts that name an
            // older batch; whoever reads them sees that, and makes them anew.
            try await readCounts(of: mirror)
            let found = try await stored.read(from: try await cluster.master(of: stored.slot))
            try await stored.delete(on: try await cluster.master(of: stored.slot))
            try await readCounts(of: mirror)
            let expected = try await stored.read(from: try await cluster.master(of: stored.slot))
            guard found != expected else { continue }
            let wrong = Set(found).symmetricDifference(expected).sorted().prefix(6)
            complaints.append(
                "\(mirror.name): the counts in Redis are not what the examples say: "
                    + wrong.joined(separator: "; "))
        }
        return (counts, complaints)
    }

    /// Judges a post as a worker does, which needs counts that are current.
    private func readCounts(of mirror: CrewMirror) async throws {
        let unseen = Example(
            id: PostID(network: .mastodon, value: "unseen"), author: nil, text: "unseen")
        _ = try await stage.withMirror(mirror) { try await $0.favorites().classify([unseen]) }
    }

    /// Compares the ledgers of every mirror.
    ///
    /// - Parameters:
    ///   - history: Who held which mirror when.
    ///   - silence: How long a worker that lives is silent at most, in seconds.
    /// - Returns: The sum of all mirrors, each finding with its mirror.
    func compareLedgers(_ history: LeaseHistory, silence: Double) async throws -> AuditReport {
        let feeds = try await Self.feeds(of: stage)
        try await stage.takeBackHosts()
        let end = crew.phases.map(\.interval.end).max() ?? Date()
        var sum = AuditReport()
        for mirror in stage.mirrors {
            guard mirror.isAgreed else {
                sum.add(try await report(ofUnagreed: mirror))
                continue
            }
            let input = try await ledgers(
                of: mirror, feeds[mirror.name] ?? [], history, silence, end)
            var report = audit(input)
            if !report.findings.isEmpty {
                _ = try stage.folder.write(Transcript(input).text, to: "ledgers-\(mirror.name).txt")
            }
            report.findings = report.findings.map { "\(mirror.name): \($0)" }
            // Its actions wait, as it does, until a person has helped it.
            if crew.refused[mirror.name] != nil { report.pending = 0 }
            if report.pending > 0 {
                report.findings.append("\(mirror.name): \(report.pending) actions are open")
            }
            sum.add(report)
        }
        return sum
    }

    /// What a mirror said though nobody agreed to it; or that it had nothing to say, and shows
    /// nothing.
    private func report(ofUnagreed mirror: CrewMirror) async throws -> AuditReport {
        var report = AuditReport()
        report.unexplained = await mirror.sandbox.ledger.writes.count { $0.effect == .created }
        if report.unexplained > 0 {
            report.findings.append(
                "\(mirror.name): \(report.unexplained) things were said though nobody agreed")
        }
        let rows = try await stage.servers.withStorage { storage in
            try await storage.query(
                "SELECT COUNT(*) AS number FROM actions WHERE mirror = \(mirror.name)")
        }
        if try rows[0].int("number") == 0 {
            report.findings.append(
                "\(mirror.name): it planned nothing, so that nothing shows that it is silent")
        }
        return report
    }

    /// What `status` says about the feeds of each mirror.
    private static func feeds(of stage: CrewStage) async throws -> [String: [Hearing.Feed]] {
        try await withThrowingTaskGroup(of: (String, [Hearing.Feed]).self) { group in
            var feeds: [String: [Hearing.Feed]] = [:]
            for (place, mirror) in stage.mirrors.enumerated() {
                if place >= width, let (name, found) = try await group.next() {
                    feeds[name] = found
                }
                group.addTask {
                    (mirror.name, try Hearing.feeds(in: try await stage.status(of: mirror)))
                }
            }
            for try await (name, found) in group { feeds[name] = found }
            return feeds
        }
    }

    private func ledgers(
        of mirror: CrewMirror, _ feeds: [Hearing.Feed], _ history: LeaseHistory, _ silence: Double,
        _ end: Date
    ) async throws -> AuditInput {
        var rules = AuditRules(.mastodon)
        rules.repliesPerPerson = Stage.repliesAtMost
        rules.repliesPerThread = Stage.repliesAtMost
        let ledger = await mirror.sandbox.ledger
        var input = try await stage.servers.withStorage { storage in
            try await AuditInput.read(
                mirror.name, in: storage, since: Stage.origin, zone: Stage.zone, feeds: feeds,
                rules: rules,
                ledger: ledger, now: stage.instant(at: end), patience: stage.patience)
        }
        input.kills = crew.kills
        input.stoppedWorkers = crew.stopped
        let whole = DateInterval(start: min(stage.started, end), end: end)
        // A worker without network works for nobody.
        let owned = history.owned(
            mirror.name, beatingEvery: silence, until: end, except: crew.unable.names)
        let alone = CrewAudit.gaps(in: owned, within: whole).map { gap in
            Disturbance(
                cause: .noWorker,
                interval: DateInterval(
                    start: stage.instant(at: gap.start), end: stage.instant(at: gap.end)))
        }
        input.disturbances = stage.timeline.disturbances + alone
        if let since = crew.refused[mirror.name] {
            input.disturbances.append(
                Disturbance(
                    cause: .faults, interval: DateInterval(start: since, end: max(since, input.now))
                ))
        }
        return input
    }
}

extension AuditReport {
    /// Adds the figures and findings of another mirror.
    mutating func add(_ other: AuditReport) {
        for figure in Self.figures { self[keyPath: figure] += other[keyPath: figure] }
        findings += other.findings
    }

    private static var figures: [WritableKeyPath<AuditReport, Int>] {
        [
            \.actions, \.delivered, \.unconfirmed, \.expired, \.skipped, \.pending, \.unhindered,
            \.mentions,
            \.unreached, \.duplicates, \.lost, \.unheard, \.unexplained, \.overwritten,
        ]
    }
}
