import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// The metrics of the mirrors of a database, of each and of all together, read with few statements.
@Suite(.countedMirrors, .timeLimit(.minutes(30))) struct MetricsReportTests {
    private typealias Town = MirrorsStatusTests.Town

    private static let now = BareMirror.now
    private static let build = MetricsReport.Build(version: "1", commit: "1")
    /// About no single mirror.
    private static let shared: Set<MetricsReport.Metric> = [
        .buildInfo, .up, .mirrorsOwned, .mirrorsUnowned, .passesLate, .mirrors,
    ]

    private func metrics(of town: Town, _ scope: MetricsReport.Scope) async throws -> Exposition {
        try await MetricsReport(
            of: town.mirror.installation, scope, build: Self.build, now: Self.now
        )
        .exposition
    }

    /// The metrics of an open mirror, without those of the other mirrors of its database.
    private func metrics(ofOpen mirror: HumanMirror) async throws -> Exposition {
        try await MetricsReport(of: mirror, build: Self.build, now: Self.now).exposition
    }

    private func samples(_ exposition: Exposition, _ metric: MetricsReport.Metric) -> [Exposition
        .Sample]
    {
        exposition.families.filter { $0.name == metric.name }.flatMap(\.samples)
    }

    /// A scrape of each mirror makes as many statements of 30 mirrors as of 3, and some more for
    /// each 200.
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
                let exposition = try await metrics(of: town, .each)
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

        let all = try await metrics(of: town, .each)
        var alone: [Exposition] = []
        for name in names {
            alone.append(try await metrics(ofOpen: town.mirror.other(name)))
        }
        for metric in MetricsReport.Metric.allCases where !Self.shared.contains(metric) {
            let each = alone.flatMap { samples($0, metric) }
            #expect(samples(all, metric) == each, "\(metric)")
        }
        for name in names {
            let mirror = try await town.mirror.other(name)
            let reading = try await HealthReader(mirror.installation).reading(
                of: mirror, now: Self.now)
            var tally = HealthTally()
            tally.add(Health(reading.facts))
            for family in tally.families(of: name) {
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

    // MARK: All together

    /// The number of lines is fixed, and that of statements but for some verdicts for each 500
    /// mirrors.
    @Test(arguments: Engine.allCases) func totalsDoNotGrowWithTheMirrors(_ engine: Engine)
        async throws
    {
        let town = try await Town(engine)
        var counts: [Int: Int] = [:]
        var lines: [Int: Int] = [:]
        var names: [String] = []
        for number in [3, 30, 500, 501] {
            let added = (names.count..<number).map { "m\($0)" }
            names += added
            try await town.add(added)
            let found = try await town.engine.counting {
                let exposition = try await metrics(of: town, .together)
                #expect(samples(exposition, .archiveRows).map(\.value) == [Double(number)])
                lines[number] = exposition.text.split(separator: "\n").count
            }
            #expect(found.changes == 0)
            counts[number] = found.statements
        }
        let few = try #require(counts[3])
        #expect(few <= 22, "\(few)")
        #expect(counts[30] == few)
        #expect(counts[500] == few)
        let more = try #require(counts[501]) - few
        #expect((1...14).contains(more), "\(more)")
        #expect(Set(lines.values).count == 1, "\(lines)")
    }

    /// Whatever the mirrors have, the totals are what their metrics add up to: sums, or of what has
    /// none the worst of those that do not pause.
    @Test(arguments: Engine.allCases, [UInt64(1), 2, 3]) func totalsAreWhatTheMirrorsAddUpTo(
        _ engine: Engine, _ seed: UInt64
    ) async throws {
        let town = try await Town(engine)
        let natives = (0..<9).map { "m\($0)" }
        try await town.add(natives)
        let names = natives + (try await Self.addAbroad(to: town))
        var dice = SeededGenerator(seed: seed)
        var filled = Filling(Self.now)
        for (place, name) in names.enumerated() {
            try await filled.fill(name, of: town.mirror.storage, &dice)
            guard place == 0 || Int.random(in: 0..<3, using: &dice) == 0 else { continue }
            try await town.execute(
                "UPDATE mirrors SET paused_ms = \(Self.now.milliseconds) WHERE mirror = \(name)")
        }

        let each = try await metrics(of: town, .each)
        let total = try await metrics(of: town, .together)
        let labels = Set(total.families.flatMap(\.samples).flatMap(\.labels).map(\.name))
        #expect(!labels.contains("mirror"))
        let networks = samples(total, .posts).flatMap(\.labels).filter { $0.name == "network" }
        #expect(Set(networks.map(\.value)) == ["bluesky", "mastodon", "x"])
        #expect(samples(total, .budget).map(\.value) == [10])
        let records = try await MirrorTable.records(of: names, in: town.mirror.storage)
        let verdicts = try await HealthReader(town.mirror.installation).readings(
            of: records, now: Self.now
        )
        .map { (name: $0.mirror.name, verdict: Health($0.facts).verdict) }
        let working = Set(verdicts.filter { $0.verdict.state != .paused }.map(\.name))
        #expect((1..<names.count).contains(working.count), "\(working)")

        for metric in MetricsReport.Metric.allCases
        where !Self.shared.contains(metric) && metric != .precision {
            let expected: [[String]: Double] =
                switch metric {
                case .well: values(each, metric).compactMapValues { $0.min() }
                case .lastSuccess, .limitRemaining:
                    values(each, metric, of: working).compactMapValues { $0.min() }
                default: values(each, metric).mapValues { $0.reduce(0, +) }
                }
            let found = values(total, metric)
            #expect(Set(found.keys) == Set(expected.keys), "\(metric)")
            for (labels, value) in expected {
                let sum = try #require(found[labels], "\(metric) \(labels)")
                #expect(sum.count == 1, "\(metric) \(labels)")
                let difference = abs(value - sum[0])
                // Sums of seconds and dollars are rounded at another place.
                #expect(difference <= abs(value) * 1e-9, "\(metric) \(labels): \(value), \(sum)")
            }
        }
        var decisive: [[String]: [Double]] = [:]
        for (_, verdict) in verdicts {
            let labels = [
                "", "state", verdict.state.rawValue, "code", verdict.code?.rawValue ?? "",
            ]
            decisive[labels] = [(decisive[labels]?.first ?? 0) + 1]
        }
        #expect(values(total, .mirrors) == decisive)
        let right = filled.facts.values.reduce(0) { $0 + $1.judged.right }
        let wrong = filled.facts.values.reduce(0) { $0 + $1.judged.wrong }
        let precision = right + wrong > 0 ? [Double(right) / Double(right + wrong)] : []
        #expect(samples(total, .precision).map(\.value) == precision)
        for metric in [MetricsReport.Metric.mirrorsOwned, .mirrorsUnowned, .passesLate] {
            #expect(samples(total, metric) == samples(each, metric), "\(metric)")
        }
    }

    /// Adds mirrors whose bots are on other networks than those of the town, and whose day is
    /// another one.
    ///
    /// - Returns: Their names.
    private static func addAbroad(to town: Town) async throws -> [String] {
        func x(_ token: String) -> String {
            #"{"network":"x","consumer_key":"a","consumer_secret":"b","access_token":"\#(token)","#
                + #""access_token_secret":"d"}"#
        }
        let bots = [
            ("sky", #"{"network":"bluesky","handle":"sky.example","app_password":"planted"}"#),
            ("x1", x("planted-1")), ("x2", x("planted-2")),
        ]
        let lines = bots.map { name, bot in
            #"{"name":"\#(name)","settings":{"TIME_ZONE":"Asia/Tokyo","X_BUDGET_USD_PER_MONTH":"5"},"#
                + #""credentials":{"bot":\#(bot)}}"#
        }
        let report = try await MirrorRegister(town.mirror.installation).importMirrors(
            Data(lines.joined(separator: "\n").utf8))
        try #require(report.problems.isEmpty)
        return bots.map(\.0)
    }

    /// The values of a metric by the suffix and the labels of its samples, but for the mirror.
    ///
    /// - Parameter mirrors: The mirrors whose samples are taken; nil for all.
    private func values(
        _ exposition: Exposition, _ metric: MetricsReport.Metric, of mirrors: Set<String>? = nil
    ) -> [[String]: [Double]] {
        var values: [[String]: [Double]] = [:]
        for sample in samples(exposition, metric) {
            let mirror = sample.labels.first { $0.name == "mirror" }?.value ?? ""
            guard mirrors?.contains(mirror) ?? true else { continue }
            let others = sample.labels.filter { $0.name != "mirror" }
            values[[sample.suffix] + others.flatMap { [$0.name, $0.value] }, default: []].append(
                sample.value)
        }
        return values
    }

    /// Where there is one mirror nothing is a total, and of several each can be asked for alone.
    @Test func aSingleMirrorIsToldOfByItsName() async throws {
        let town = try await Town(.sqlite)
        try await town.add(["one"])
        try await town.hold("one", by: "worker")
        let single = try await metrics(of: town, .together)
        try await expect(metrics(of: town, .each), equals: single)
        #expect(samples(single, .well).first?.labels.map(\.value) == ["one"])
        #expect(samples(single, .mirrors).isEmpty)
        try await town.add(["two"])
        for name in ["one", "two"] {
            let opened = try await metrics(ofOpen: town.mirror.other(name))
            try await expect(metrics(of: town, .one(name)), equals: opened, "\(name)")
        }
        await #expect(throws: ConfigurationError.self) {
            try await metrics(of: town, .one("three"))
        }
    }

    /// One mirror that is not well makes the total say so, and the obstacle that decides is named.
    @Test func totalsTellThatOneMirrorIsNotWell() async throws {
        let town = try await Town(.sqlite)
        try await town.addEach()
        let text = try await metrics(of: town, .together).text
        let lines = Set(text.split(separator: "\n").map(String.init))
        for line in [
            "mirrorbot_well 0", #"mirrorbot_state{state="failing"} 8"#,
            #"mirrorbot_state{state="healthy"} 3"#,
            #"mirrorbot_mirrors{state="failing",code="setting-unusable"} 1"#,
            #"mirrorbot_mirrors{state="healthy",code=""} 3"#,
            "# HELP mirrorbot_well Total of all mirrors: whether each of them does its work, or pauses as a person wants.",
        ] { #expect(lines.contains(line), "\(line)") }
        // Whatever has no help of a total is about no single mirror.
        let totals = text.split(separator: "\n").filter {
            $0.hasPrefix("# HELP ") && !$0.contains(" Total of all mirrors: ")
        }
        let names = Set(totals.compactMap { $0.split(separator: " ").dropFirst(2).first })
        #expect(names.isSubset(of: Set(Self.shared.map { Substring($0.name) })), "\(names)")
    }

    // MARK: Broken mirrors

    /// A mirror with a setting that cannot be used fails alone, and hides no other one.
    @Test func aSettingThatCannotBeUsedFailsOneMirror() async throws {
        let town = try await Town(.sqlite)
        try await town.add(["good", "odd"])
        for name in ["good", "odd"] { try await town.hold(name, by: "worker") }
        try await town.execute(
            "UPDATE settings SET value = 'many' WHERE mirror = 'odd' AND name = 'MAX_PER_DAY'")
        let text = try await metrics(of: town, .each).text
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
            let reason: ReasonCode = isDismissed ? .outbox(.dismissed) : "old"
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
