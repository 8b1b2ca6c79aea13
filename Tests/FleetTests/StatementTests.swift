import Archive
import Expectations
import Fixtures
import Foundation
import Logging
import Networks
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Every statement that a worker sends, as the server itself reports it.
@Suite(.countedMirrors, .timeLimit(.minutes(30))) struct StatementTests {
    /// Tables that grow for as long as a mirror lives.
    private static let tables = "(actions|posts|examples|people|feature_counts|posting_days)"
    /// What reads all that a mirror has, and may.
    private static let readers = [
        // How many texts each minute has: once a plan, from an index alone.
        "GROUP BY minute",
        // Which programs post by themselves, and which hashtags are usual: when texts are judged.
        "SELECT text, client, created_ms FROM posts",
        // What people are called: once for each page with a mention that somebody may answer.
        "SELECT handle AS name FROM people",
        // The first and the last of an index.
        "ORDER BY rules LIMIT 1) AS first",
        // A row a day: once a plan.
        "FROM posting_days",
        // What the counts are made of, when they are made anew.
        "SELECT network, post_id, author, author_id, text, state FROM examples WHERE mirror = $1",
        // The first that is found ends the search.
        "SELECT EXISTS (SELECT 1 FROM posts",
        // The end of an index.
        "SELECT MAX(updated_ms) AS newest_ms",
        // The few that ended unconfirmed: an index that holds nothing else.
        "AS sighting_ms",
        // What is to be taken back: an index that holds nothing else.
        "undo_next_ms IS NOT NULL AND state = 'done' AND (undo_next_ms",
        // The oldest that stays, when a post is new: as many entries of an index as stay.
        "ORDER BY created_ms DESC, post_id DESC, network DESC LIMIT 1 OFFSET",
        // Threads that go on: an index that holds nothing else.
        "AND rest IS NOT NULL",
        // Five hundred posts at once, when the clock that tells their time changed.
        "created_ms, utc_offset, minute, local_day FROM posts",
        // Five hundred posts at once, whose rules changed.
        "UPDATE posts SET text_key = prepared",
    ]

    /// Of a mirror that the server's statistics do not know any index looks as good to it.
    private static let mirrors = "('test'), ('other'), ('\(MirrorFixture.mirror)')"

    /// Fills the tables of mirrors, so that the server does not find it easier to read them as a
    /// whole.
    private static let history = [
        """
        INSERT INTO actions (mirror, id, kind, subject, state, due_ms, expires_ms, pinned, source_network,
            source_post_id, target_network, target_author, thread, remote_address, attempts, created_ms, updated_ms)
        SELECT m, 'h' || g, (ARRAY['post', 'reply', 'favorite'])[1 + g % 3],
            CASE WHEN g % 3 = 0 THEN '1999-01-01#' ELSE 'h' END || g,
            (ARRAY['done', 'skipped', 'failed'])[1 + g % 7 % 3], 1000 * g, 1000 * g, FALSE, 'mastodon', 'p' || g % 5000,
            'mastodon', 'u' || g % 900, 't' || g % 9000, 'r' || g, 1, 1000 * g, 1000 * g
        FROM generate_series(1, 60000) g, (VALUES \(mirrors)) AS v (m)
        """,
        """
        INSERT INTO posts (mirror, network, post_id, author, text, created_ms, minute, local_day, is_reply,
            reply_to_author, visibility, has_media, mentions, sensitive, time_trusted)
        SELECT m, 'mastodon', 'p' || g, 'me', 'Words number ' || g || ' on rivers', 1000 * g, g % 1440,
            '1999-01-' || 10 + g % 20, g % 2 = 0, CASE WHEN g % 2 = 0 THEN 'u' || g % 900 END, 'public', FALSE,
            '', FALSE, TRUE
        FROM generate_series(1, 5000) g, (VALUES ('test'), ('other')) AS v (m)
        """,
        """
        INSERT INTO examples SELECT m, 'mastodon', 'e' || g, 'u' || g % 900, 'words ' || g, 'seen', 1900000000000 + g, 1
        FROM generate_series(1, 20000) g, (VALUES \(mirrors)) AS v (m)
        """,
        """
        INSERT INTO people (mirror, network, account_id)
        SELECT m, 'mastodon', 'u' || g FROM generate_series(1, 20000) g, (VALUES \(mirrors)) AS v (m)
        """,
        """
        INSERT INTO feature_counts SELECT m, 'f' || g, 'normal', 1
        FROM generate_series(1, 20000) g, (VALUES ('test'), ('other')) AS v (m) ON CONFLICT DO NOTHING
        """,
        "ANALYZE",
    ]

    /// A statement and how the server carried it out.
    private struct Report {
        let statement: String
        let plan: [String]
    }

    @Test func noneReadsAWholeTable() async throws {
        let server = try await PostgresServer.start(settings: [
            "session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0",
            "log_min_messages": "log",
        ])
        let database = try await server.makeDatabase()
        let fixture = try await MirrorFixture.start(
            .postgres, from: 9, variables: ["DATABASE_URL": database])
        for statement in Self.history { try await server.run(statement, database: database) }
        let before = server.log.utf8.count
        try await fixture.live(until: 12)
        #expect(try await fixture.worker().runOnce())
        let lease = try await fixture.leases.take(
            owner: "test", after: fixture.leases.record(), now: 0)
        let outbox = OutboxStore(
            storage: fixture.mirror.storage, mirror: MirrorFixture.mirror, lease: lease)
        // What the worker asks for only now and then.
        _ = try await outbox.clean(before: Date(timeIntervalSince1970: 1))
        _ = try await outbox.newestChange()
        _ = try await outbox.dueUndos(now: fixture.clock.now)
        _ = try await outbox.nextRoom(
            [.post], within: Pace(count: 30, period: 1_800), now: fixture.clock.now)
        var question = OutboxStore.Question(
            midnight: fixture.clock.now, threadsSince: fixture.clock.now)
        question.subjects = ["h3"]
        question.parents = ["r3"]
        question.threads = ["t1"]
        question.accounts = [AccountID(network: .mastodon, value: "u1")]
        _ = try await outbox.write { [question] in try outbox.earlierReplies(question, on: $0) }
        _ = try await fixture.mirror.archive.networksOfReplies()
        let reports = Self.reports(
            String(decoding: server.log.utf8.dropFirst(before), as: UTF8.self))
        #expect(reports.count > 200)
        let complaints = Set(reports.flatMap(Self.complaints))
        #expect(complaints.isEmpty, "\(complaints.sorted().joined(separator: "\n\n"))")
        let embedded = try await Self.embeddedComplaints(Set(reports.map(\.statement)))
        #expect(embedded.isEmpty, "\(embedded.sorted().joined(separator: "\n\n"))")
    }

    /// A pooler in transaction mode: each transaction may come to another session.
    @Test func noneNeedsASessionOfItsOwn() async throws {
        let server = try await PostgresServer.start()
        let pooler = try await PoolerServer.start(before: server)
        let url = pooler.url(try await server.makeDatabase())
        let fixture = try await MirrorFixture.start(
            .postgres, from: 9, variables: ["DATABASE_URL": url])
        try await fixture.live(until: 20)
        try await expect(fixture.worker().dryRun { _ in }) { $0 != nil }
        #expect(try await fixture.worker().runOnce())
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.posted > 0)
        #expect(summary.replies > 0)
        #expect(summary.favorites > 0)
        #expect(summary.duplicateSends + summary.errors == 0)
        withExtendedLifetime(pooler) {}
    }

    /// Beats apart, which take place in real time.
    @Test func anIdleMirrorAsksLittle() async throws {
        let server = try await PostgresServer.start(settings: [
            "log_statement": "all", "log_min_messages": "log",
        ])
        let database = try await server.makeDatabase()
        // A day after all that happens in the world.
        let fixture = try await MirrorFixture.start(
            .postgres, from: 30,
            variables: ["DATABASE_URL": database, "QUIET_HOURS": "00:00-23:00"])
        var counts: [Int] = []
        var end = Sample.hour(30)
        for seconds: TimeInterval in [60, 60, 3_600] {
            let before = server.log.utf8.count
            let worker = Worker(mirror: fixture.mirror)
            end += seconds
            try await worker.run(until: end)
            let log = String(decoding: server.log.utf8.dropFirst(before), as: UTF8.self)
            let statements = log.split(separator: "\n").filter {
                $0.contains("LOG:  statement: ") || $0.contains("LOG:  execute ")
            }
            // How many connections there are, which ask for their cluster, is up to the machine.
            let apart = ["leases", "INTO workers", "UPDATE workers", "pg_control_system"]
            counts.append(statements.count { line in !apart.contains { line.contains($0) } })
        }
        // The first minute of a mirror's life reads every feed for the first time, and makes a
        // plan; then come the first minute of a worker that finds all that, and an hour with its
        // start.
        #expect(counts[0] <= 410 && counts[1] <= 70 && counts[2] <= 320, "\(counts)")
    }

    /// From a post on the home timeline to a favorite that the network knows: transactions, and
    /// statements on their own, with the counts in Redis.
    @Test func aFavoriteTakesFewCalls() async throws {
        let server = try await PostgresServer.start(settings: [
            "log_statement": "all", "log_min_messages": "log",
        ])
        let database = try await server.makeDatabase()
        let storage = try await Storage.open(.postgres(url: database))
        try await Migrations.apply(to: storage)
        await storage.close()
        let mirror = try await PaperMirror(
            bot: .mastodon, human: .mastodon,
            variables: ["DATABASE_URL": database, "REDIS_URL": try await RedisServer.shared().url])
        try await mirror.teachTea(on: .mastodon)
        let parts = try await mirror.parts()
        let passes = Passes(parts: parts)
        let home = try #require(parts.feeds.botHome)
        // What is read once in the life of a worker is known then.
        for name in ["first", "second"] {
            mirror.bot.add(
                [paperPost(name, on: .mastodon, "rain", at: mirror.clock.now)], to: .home)
            _ = try await passes.botHome(home)
            try await mirror.wait(5)
        }
        let before = server.log.utf8.count
        mirror.bot.add(
            [paperPost("tea", on: .mastodon, "green tea in my garden", at: mirror.clock.now)],
            to: .home)
        _ = try await passes.botHome(home)
        let log = String(decoding: server.log.utf8.dropFirst(before), as: UTF8.self)
        try await expect(mirror.actions(.favorite).map(\.state), equals: [.done])
        var calls: [String] = []
        var isInside = false
        for line in log.split(separator: "\n") {
            guard
                let statement = line.firstMatch(of: /LOG:  (?:statement|execute [^:]*): (.*)/)?
                    .output.1
            else {
                continue
            }
            if !isInside { calls.append(String(statement)) }
            if statement.hasPrefix("BEGIN") {
                isInside = true
            } else if isInside {
                calls[calls.count - 1] += "; " + statement
            }
            if statement.hasPrefix("COMMIT") || statement.hasPrefix("ROLLBACK") { isInside = false }
        }
        // One of them reads the weights, of which a session needs one answer, two ask whether a
        // person has said something since, and the last whether the author was forgotten meanwhile.
        #expect(calls.count <= 11, "\(calls.joined(separator: "\n"))")
    }

    /// The statements of a log with their plans.
    private static func reports(_ log: String) -> [Report] {
        var reports: [Report] = []
        var lines: [String]?
        func finish() {
            guard let entry = lines, let start = entry.first?.range(of: "Query Text: ") else {
                return
            }
            // The plan begins with the first line that has costs.
            let plan = entry.firstIndex { $0.contains("(cost=") } ?? entry.count
            let statement = [String(entry[0][start.upperBound...])] + entry[1..<max(plan, 1)]
            reports.append(
                Report(
                    statement: statement.joined(separator: " ").split(
                        whereSeparator: \.isWhitespace
                    )
                    .joined(separator: " "), plan: Array(entry[plan...])))
        }
        for line in log.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("\t") {
                lines?.append(String(line))
            } else {
                finish()
                lines = line.hasSuffix("plan:") ? [] : nil
            }
        }
        finish()
        return reports
    }

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        text.range(of: pattern, options: .regularExpression) != nil
    }

    private static func isReader(_ statement: String) -> Bool {
        readers.contains { statement.contains($0) }
    }

    /// Indexes of few rows, whatever the table holds: those of actions that have not ended.
    ///
    /// The newest answers to others are read in the order of their index; a mirror that has fewer
    /// than are wanted may have all of its own sorted.
    private static let small = "actions_(not_ended|in_flight)|posts_by_reply_age"

    /// A condition of an index that leaves all that a mirror has, or all of one kind.
    private static var whole: Regex<Substring> {
        #/Index Cond: (?:\(mirror = [^()]*\)|\(\(mirror = [^()]*\) AND \(kind = [^()]*\)\))$/#
    }

    /// Returns the statement and its plan if the plan reads a whole table, all rows of a mirror, or
    /// all rows of a mirror and kind.
    ///
    /// Rows in the order of an index are allowed if a limit ends the reading.
    private static func complaints(about report: Report) -> [String] {
        guard !isReader(report.statement), !report.statement.contains("generate_series") else {
            return []
        }
        let isLimited =
            report.plan.first?.contains("Limit") == true
            && !report.plan.contains { $0.contains("Sort") }
        let text = "\(report.statement)\n\(report.plan.joined(separator: "\n"))"
        for (index, line) in report.plan.enumerated() {
            if matches(line, "Seq Scan on \(tables)") { return [text] }
            guard
                matches(line, "Index (Only )?Scan .* on \(tables)|Bitmap Index Scan on \(tables)_")
            else {
                continue
            }
            let next = index + 1 < report.plan.count ? report.plan[index + 1] : ""
            if matches(line, small) { continue }
            let isWhole = !next.contains("Index Cond:") || next.contains(whole)
            if isWhole && !isLimited { return [text] }
        }
        return []
    }

    /// The same for the embedded database, which gets the same statements.
    private static func embeddedComplaints(_ statements: Set<String>) async throws -> [String] {
        let folder = try TemporaryDirectory()
        let engine = try await Storage.open(.sqlite(path: folder.path("empty.sqlite")))
        try await Migrations.apply(to: engine)
        var complaints: [String] = []
        for statement in statements
        where statement.contains(#/^(SELECT|UPDATE|DELETE)/#) && !isReader(statement) {
            guard !statement.contains(#/pg_|txid_|unnest|generate_series|set_config|to_regclass/#)
            else { continue }
            // SQLite has no row locks, and gets the statement without one.
            let plain = statement.replacing(#/\$[0-9]+/#, with: "1").replacing(
                " FOR SHARE", with: "")
            let steps = try await engine.query("EXPLAIN QUERY PLAN \(unsafe: plain)").map {
                try $0.text("detail")
            }
            let isSorted = steps.contains { $0.contains("TEMP B-TREE") }
            let isLimited = plain.contains("LIMIT") && !isSorted
            for step in steps {
                let isScan = matches(step, "^SCAN \(tables)")
                let isWhole = matches(
                    step, "^SEARCH \(tables) USING [^(]*\\(mirror=\\?( AND kind=\\?)?\\)$")
                if isScan || isWhole && !isLimited && !matches(step, small) {
                    complaints.append("\(statement)\n\(steps.joined(separator: "\n"))")
                }
            }
        }
        await engine.close()
        return complaints
    }
}
