import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// The metrics of all mirrors of a database, read with few statements.
@Suite(.countedMirrors, .timeLimit(.minutes(30))) struct MetricsReportTests {
    private typealias Town = MirrorsStatusTests.Town

    private static let now = BareMirror.now
    private static let build = MetricsReport.Build(version: "1", commit: "1")
    /// About no single mirror.
    private static let shared: Set<MetricsReport.Metric> = [
        .buildInfo, .up, .mirrorsOwned, .mirrorsUnowned, .passesLate,
    ]

    /// - Parameter isAlone: Whether the other mirrors of the database are left out.
    private func metrics(of mirror: HumanMirror, isAlone: Bool) async throws -> Exposition {
        try await isAlone
            ? MetricsReport(of: mirror, build: Self.build, now: Self.now).exposition
            : MetricsReport(of: mirror.installation, build: Self.build, now: Self.now).exposition
    }

    private func samples(_ exposition: Exposition, _ metric: MetricsReport.Metric) -> [Exposition
        .Sample]
    {
        exposition.families.filter { $0.name == metric.name }.flatMap(\.samples)
    }

    /// A scrape makes as many statements of 30 mirrors as of 3, and some more for each 200.
    @Test(arguments: Engine.allCases) func aScrapeMakesFewStatements(_ engine: Engine) async throws
    {
        let town = try await Town(engine)
        var counts: [Int: Int] = [:]
        var names: [String] = []
        for number in [3, 30, 201] {
            let added = (names.count..<number).map { "m\($0)" }
            names += added
            try await town.add(added)
            for name in added { try await town.hold(name, by: "worker") }
            let found = try await town.engine.counting {
                let exposition = try await metrics(of: town.mirror, isAlone: false)
                #expect(samples(exposition, .well).count == number)
            }
            #expect(found.changes == 0)
            counts[number] = found.statements
        }
        let few = try #require(counts[3])
        #expect(few <= 22, "\(few)")
        #expect(counts[30] == few)
        let more = try #require(counts[201]) - few
        #expect((1...16).contains(more), "\(more)")
    }

    /// Whatever the mirrors have, the metrics of all are those of each alone, and those of the
    /// other reports.
    @Test(arguments: Engine.allCases, [UInt64(1), 2]) func noMirrorHasTheNumbersOfAnother(
        _ engine: Engine, _ seed: UInt64
    ) async throws {
        let town = try await Town(engine)
        let names = (0..<9).map { "m\($0)" }
        try await town.add(names)
        var dice = SeededGenerator(seed: seed)
        var filled = Filling(Self.now)
        for name in names { try await filled.fill(name, of: town.mirror.storage, &dice) }

        let all = try await metrics(of: town.mirror, isAlone: false)
        var alone: [Exposition] = []
        for name in names {
            alone.append(try await metrics(of: town.mirror.other(name), isAlone: true))
        }
        for metric in MetricsReport.Metric.allCases where !Self.shared.contains(metric) {
            let each = alone.flatMap { samples($0, metric) }
            #expect(samples(all, metric) == each, "\(metric)")
        }
        for name in names {
            let mirror = try await town.mirror.other(name)
            let reading = try await HealthReader(mirror.installation).reading(
                of: mirror, now: Self.now)
            for family in Health.families(of: name, Health(reading.facts)) {
                let found = all.families.filter { $0.name == family.name }.flatMap(\.samples)
                    .filter { $0.labels.contains { $0.value == name } }
                #expect(found == family.samples, "\(name): \(family.name)")
            }
            func value(_ metric: MetricsReport.Metric, _ labels: [String: String]) -> Double? {
                let wanted = labels.merging(["mirror": name]) { $1 }
                return samples(all, metric).first { sample in
                    let labels = Dictionary(
                        uniqueKeysWithValues: sample.labels.map { ($0.name, $0.value) })
                    return labels.merging(wanted) { $1 } == labels
                }?.value
            }
            let posts = try await mirror.archive.count()
            #expect(value(.archiveRows, [:]) == Double(posts))
            let facts = try #require(filled.facts[name])
            let outcomes: [(String, Set<ActionState>)] = [
                ("done", [.done, .undone]), ("failed", [.failed]),
            ]
            for (label, states) in outcomes {
                let posts = facts.ended.count { $0.kind == .post && states.contains($0.state) }
                #expect(value(.posts, ["outcome": label]) == Double(posts), "\(name) \(label)")
            }
            for state in ActionState.allCases {
                let slots = facts.ended.count {
                    $0.kind == .post && $0.isToday && $0.state == state
                }
                #expect(
                    value(.planSlots, ["state": state.rawValue]) == Double(slots),
                    "\(name) \(state)")
            }
            for kind in ActionKind.allCases {
                let done = facts.ended.filter {
                    $0.kind == kind && [.done, .undone].contains($0.state)
                }
                let last = done.map(\.due).max()
                #expect(
                    value(.lastSuccess, ["task": kind.rawValue]) == last?.timeIntervalSince1970,
                    "\(name) \(kind)")
            }
            let (right, wrong) = facts.judged
            let precision = right + wrong > 0 ? Double(right) / Double(right + wrong) : nil
            #expect(value(.precision, [:]) == precision, "\(name)")
            #expect(value(.limitRemaining, ["window": "day"]) == Double(facts.remaining))
            let spent = try await SpendingTable.totals(
                of: [name], in: mirror.storage, now: Self.now)[name]
            try await expect(
                mirror.spending.spending(at: Self.now).total, equals: spent?.month ?? .zero)
            #expect(spent?.all.microdollars ?? 0 == facts.microdollars, "\(name)")
        }
    }

    /// A mirror with a setting that cannot be used fails alone, and hides no other one.
    @Test func aSettingThatCannotBeUsedFailsOneMirror() async throws {
        let town = try await Town(.sqlite)
        try await town.add(["good", "odd"])
        for name in ["good", "odd"] { try await town.hold(name, by: "worker") }
        try await town.execute(
            "UPDATE settings SET value = 'many' WHERE mirror = 'odd' AND name = 'MAX_PER_DAY'")
        let text = try await metrics(of: town.mirror, isAlone: false).text
        for line in [
            "mirrorbot_up 1", #"mirrorbot_well{mirror="good"} 1"#,
            #"mirrorbot_well{mirror="odd"} 0"#,
            #"mirrorbot_state{mirror="odd",state="failing"} 1"#,
            #"mirrorbot_stopped{mirror="odd",work="sending"} 1"#,
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
    }
}

/// Rows of mirrors, drawn at random, and what they amount to.
private struct Filling {
    struct Facts {
        var ended: [(kind: ActionKind, state: ActionState, due: Date, isToday: Bool)] = []
        var judged = (right: 0, wrong: 0)
        var microdollars = 0
        var remaining = 0
    }

    private let now: Date
    private(set) var facts: [String: Facts] = [:]

    init(_ now: Date) { self.now = now }

    mutating func fill(
        _ name: String, of storage: any StorageEngine, _ dice: inout SeededGenerator
    ) async throws {
        var facts = Facts()
        var statements = [SQL]()
        try addActions(name, &dice, &facts, &statements)
        for (period, share) in [
            ("2026-10", 1), (Spending(at: now, budget: .zero, total: .zero).month, 2),
        ] {
            let amount = Int.random(in: 0...1_000, using: &dice) * share
            facts.microdollars += amount
            statements.append(
                """
                INSERT INTO spending (mirror, period, purpose, microdollars)
                VALUES (\(name), \(period), 'a', \(amount))
                """)
        }
        // A day, which its month counts already.
        statements.append(
            """
            INSERT INTO spending (mirror, period, purpose, microdollars) VALUES (\(name), '2026-10-02', 'a', 7)
            """)
        facts.remaining = Int.random(in: 0...300, using: &dice)
        statements.append(
            """
            INSERT INTO counters (mirror, name, value) VALUES (\(name), 'api.remaining/mastodon/day', \(facts.remaining)),
                (\(name), 'api.duration/mastodon/2', \(Int.random(in: 1...9, using: &dice))),
                (\(name), 'api.duration/mastodon/ms', \(Int.random(in: 1...9_000, using: &dice)))
            """)
        addFeeds(name, &dice, &statements)
        addPeople(name, &dice, &statements)
        if Bool.random(using: &dice) {
            statements.append(
                "UPDATE mirrors SET activated_ms = NULL, past = NULL WHERE mirror = \(name)")
        }
        if Bool.random(using: &dice) {
            statements.append("UPDATE posts SET unfit = 'short' WHERE mirror = \(name)")
        }
        if Bool.random(using: &dice) {
            statements.append(
                """
                INSERT INTO refusals (mirror, role, error, code, since_ms, noted_ms)
                VALUES (\(name), 'bot', 'no', 'unauthorized', 1, \(now.milliseconds))
                """)
        }
        if Bool.random(using: &dice) {
            statements.append(
                "UPDATE settings SET value = 'suggest' WHERE mirror = \(name) AND name = 'FAVORITE_MODE'"
            )
        }
        try await storage.transaction { [statements] connection in
            for statement in statements { try connection.execute(statement) }
        }
        if Bool.random(using: &dice) {
            _ = try await LeaseTable(storage: storage, mirror: name)
                .take(owner: "worker-\(name)", after: nil, now: now.milliseconds)
        }
        self.facts[name] = facts
    }

    private func addActions(
        _ name: String, _ dice: inout SeededGenerator, _ facts: inout Facts,
        _ statements: inout [SQL]
    ) throws {
        guard let zone = TimeZone(identifier: "Europe/Berlin") else {
            throw TestSupportError("no time zone")
        }
        let today = LocalTime(now, in: zone).day
        for number in 0..<Int.random(in: 0...40, using: &dice) {
            let kind = ActionKind.allCases.randomElement(using: &dice) ?? .post
            let state = ActionState.allCases.randomElement(using: &dice) ?? .done
            let isToday = Bool.random(using: &dice)
            let due = now + Double(Int.random(in: -5_000...5_000, using: &dice))
            let subject =
                kind == .post
                ? "\(isToday ? today : today.advanced(by: -1))#\(number)" : "status-\(number)"
            let isDismissed = Bool.random(using: &dice)
            let reason = isDismissed ? Action.Reason.dismissed : "old"
            statements.append(
                """
                INSERT INTO actions (mirror, id, kind, subject, state, due_ms, expires_ms, pinned, target_network, text,
                    attempts, reason, created_ms, updated_ms)
                VALUES (\(name), \(String(number, radix: 16)), \(kind.rawValue), \(subject), \(state.rawValue),
                    \(due.milliseconds), \((due + 900).milliseconds), FALSE, 'mastodon', 'text', 0, \(reason), 1,
                    \(now.milliseconds))
                """)
            facts.ended.append((kind, state, Date(milliseconds: due.milliseconds), isToday))
            let isLiked = Bool.random(using: &dice)
            guard kind == .favorite else { continue }
            statements.append(
                """
                INSERT INTO examples (mirror, network, post_id, text, state, decided_ms, sequence)
                VALUES (\(name), 'mastodon', \(subject), 't', \(isLiked ? "favorite" : "seen"), 1, \(number))
                """)
            guard [.done, .undone].contains(state) || state == .skipped && isDismissed else {
                continue
            }
            if isLiked { facts.judged.right += 1 }
            if !isLiked || state == .skipped { facts.judged.wrong += 1 }
        }
    }

    private func addFeeds(_ name: String, _ dice: inout SeededGenerator, _ statements: inout [SQL])
    {
        for feed in [FeedName.botMentions, FeedName.humanPosts] where Bool.random(using: &dice) {
            let error = Bool.random(using: &dice) ? "no answer" : nil
            let read = now.milliseconds - Int64.random(in: 0...90_000_000, using: &dice)
            statements.append(
                """
                INSERT INTO feeds (mirror, feed, read_ms, error, error_code, error_ms)
                VALUES (\(name), \(feed), \(read), CAST(\(error) AS TEXT),
                    CAST(\(error.map { _ in "unavailable" }) AS TEXT), CAST(\(error.map { _ in read }) AS BIGINT))
                """)
            for number in 0..<Int.random(in: 0...3, using: &dice) {
                statements.append(
                    """
                    INSERT INTO feed_items (mirror, feed, item, state, reason, version, attempts, noted_ms)
                    VALUES (\(name), \(feed), \("i\(number)"), 'unreadable', 'r', '1', 1, 1)
                    """)
            }
            for number in 0..<Int.random(in: 0...2, using: &dice) {
                statements.append(
                    """
                    INSERT INTO feed_gaps (mirror, feed, from_ms, to_ms, reason)
                    VALUES (\(name), \(feed), 1000, \(2_000 + number), 'r')
                    """)
            }
        }
    }

    private func addPeople(_ name: String, _ dice: inout SeededGenerator, _ statements: inout [SQL])
    {
        for number in 0..<Int.random(in: 0...2, using: &dice) {
            let stance = Bool.random(using: &dice) ? "deny" : nil
            statements.append(
                """
                INSERT INTO people (mirror, network, account_id, stance)
                VALUES (\(name), 'mastodon', \("pal\(number)@far.example"), CAST(\(stance) AS TEXT))
                """)
        }
    }
}
