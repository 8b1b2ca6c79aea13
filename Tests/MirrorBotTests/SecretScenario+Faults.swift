import Control
import Foundation
import MeCab
import Mirroring
import NetworkNames
import Posts
import Sandbox
import TestSupport
import Testing

/// A worker in the middle of its work: the server, the clock, the dictionary and other workers do
/// what they do.
extension SecretScenario {
    static let faults =
        NetworkName.allCases.map { network in
            SecretScenario("\(network.rawValue): everything that a server does wrong") { stage in
                let life = try await SecretLife(on: network, in: stage)
                let watch = try await life.begin()
                for trouble in SecretTrouble.all {
                    for isWrite in [false, true] { life.troubles.plan(trouble, writes: isWrite) }
                }
                watch.forget()
                try await watch.line("Pass failed, trying again")
                try await watch.until("every trouble to happen") { life.troubles.areOver }
                #expect(life.troubles.names.count == 2 * SecretTrouble.all.count)
                try await life.hasDelivered(watch)
                await life.end(watch)
                try await life.close()
            }
        }
        + NetworkName.allCases.map { network in
            SecretScenario("\(network.rawValue): the clock jumps forward a day and back an hour") {
                stage in
                try await setClocks(stage, on: network)
            }
        }
        + NetworkName.allCases.map { network in
            SecretScenario("\(network.rawValue): a worker that wakes after its lease was taken") {
                stage in
                let life = try await SecretLife(on: network, in: stage)
                // Long enough that a busy machine does not make the first one look gone.
                let lease = 10.0
                let first = try life.start(
                    fault: "stop@delivery.sending-stored#2", leaseSeconds: lease)
                try await first.line("Worker started")
                // Its clock is minutes ahead.
                let second = try life.start(skew: 300, leaseSeconds: lease)
                try await second.line("Another worker holds this mirror, waiting")
                try await first.until("a stop while it sends") { first.program.isStopped }
                try await hasTakenOver(second, from: first)
                try await life.hasDelivered(second)
                #expect(first.program.isStopped)
                first.program.send(SIGCONT)
                try await first.line("Lease lost to another worker")
                await life.end(first)
                try await life.hasDelivered(second)
                await life.end(second)
                try await life.close()
            }
        }
        + NetworkName.allCases.enumerated().map { number, network in
            SecretScenario("\(network.rawValue): killed, and ended by SIGTERM, at named points") {
                stage in
                let life = try await SecretLife(on: network, in: stage)
                for (index, point) in points.enumerated()
                where index % NetworkName.allCases.count == number {
                    let killed = try life.start(fault: "kill@\(point)#1")
                    await life.ended(killed, status: 128 + SIGKILL)
                    // A point of the first day's plan is not passed a second time.
                    guard !point.hasPrefix("plan.") else { continue }
                    let held = try life.start(fault: "stop@\(point)#1")
                    try await held.until("a stop at \(point)") { held.program.isStopped }
                    held.program.send(SIGTERM)
                    await life.end(held, with: SIGCONT)
                }
                let last = try await life.begin()
                await life.end(last, with: SIGINT)
                try await life.close()
            }
        }
        + [
            SecretScenario("a dictionary that disappears") { stage in
                let path = stage.stage.folder.path("dictionary")
                let real = try DictionaryProfile.locate(DictionaryProfile.ipadic.name).folders[0]
                let files = FileManager.default
                try files.createSymbolicLink(atPath: path, withDestinationPath: real)
                let life = try await SecretLife(
                    on: .mastodon, in: stage, stores: ["MECAB_DICTIONARY": path + "/"])
                let watch = try await life.begin()
                try files.removeItem(atPath: path)
                try await life.hasDelivered(watch)
                await life.end(watch)
                let next = try life.start()
                try await next.line(
                    "Favorites and learning pause until the dictionary can be opened")
                try await life.hasDelivered(next)
                try files.createSymbolicLink(atPath: path, withDestinationPath: real)
                try await next.line("Favorites and learning go on")
                await life.end(next)
                try await life.close()
            }
        ]

    /// Where a worker is killed, and where it is told to end.
    private static let points = [
        "lease.taken", "plan.drawn", "plan.stored", "mention.decided", "favorite.decided",
        "cursor.stored",
        "delivery.claimed", "delivery.prepared", "delivery.sending-stored", "delivery.answered",
        "delivery.outcome-stored", "learning.examples-stored",
    ]

    /// Waits until a worker works because the other one is stopped.
    ///
    /// One that was stopped in the middle of a transaction holds the file, and nobody can work: it
    /// goes on for a moment.
    private static func hasTakenOver(_ second: SecretWatch, from first: SecretWatch) async throws {
        let isOver = { @Sendable (line: String) in
            line.contains("Worker started")
                || line.contains("Mirrors could not be claimed, trying again")
        }
        while try await !second.line("the lease", where: isOver).contains("Worker started") {
            first.forget()
            first.program.send(SIGCONT)
            try await first.line("Action changed")
            first.program.send(SIGSTOP)
        }
    }

    /// Sets the clock of a worker whose server refuses, which says when it will try again, and of
    /// one that works.
    private static func setClocks(_ stage: SecretStage, on network: NetworkName) async throws {
        let life = try await SecretLife(on: network, in: stage)
        // X refuses what was signed at another time; this comes last.
        life.sandbox.faults.x.timestampWindow = 10 * 86_400
        let path = stage.stage.folder.path("clock")
        let watch = try await life.begin(clockFile: path)
        life.troubles.plan(.unavailable, count: .max)
        watch.forget()
        try await watch.line("a try by the right clock", where: shows(0, life))
        // Forward a day, then back an hour.
        for seconds in [86_400.0, 82_800] {
            try ClockSetting(path: path).set(to: seconds)
            try await watch.line(
                "a try by a clock that is \(seconds) s ahead", where: shows(seconds, life))
        }
        life.troubles.clear()
        try await life.hasDelivered(watch)
        // Forward again, while it works: another day is planned.
        watch.forget()
        try ClockSetting(path: path).set(to: 2 * 86_400)
        try await watch.line("Plan made")
        if network == .x {
            // The worker has learned X's time meanwhile, and signs by that.
            life.sandbox.faults.x.timestampWindow = 3_600
            watch.forget()
            try await watch.line("Decision made")
        }
        await life.end(watch)
        try await life.close()
    }

    /// Whether a line tells of a try soon, by a clock that was set by so many seconds.
    private static func shows(_ seconds: TimeInterval, _ life: SecretLife)
        -> @Sendable (String) -> Bool
    {
        { line in
            guard let next = retry(in: line) else { return false }
            return abs(next.timeIntervalSince(life.clock.now + seconds)) < 1_500
        }
    }

    /// When a failed pass is repeated, by the clock of its worker.
    static func retry(in line: String) -> Date? {
        guard line.contains("Pass failed, trying again"),
            let match = line.firstMatch(of: /until="([0-9-]+) ([0-9:]+) \+0000"/)
        else { return nil }
        return try? Date("\(match.1)T\(match.2)Z", strategy: .iso8601)
    }
}
