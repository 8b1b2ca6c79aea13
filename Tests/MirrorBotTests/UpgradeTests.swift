import Archive
import Control
import Expectations
import Favorites
import Foundation
import Mirroring
import Networks
import Outbox
import Posts
import Sandbox
import Settings
import Storage
import TestSupport
import Testing

/// Today's program on a database that 0.1.0 itself wrote, and that the last program with the steps
/// of that time has brought up to date.
@Suite(.timeLimit(.minutes(30))) struct UpgradeTests {
    /// What a step has dropped since, because nothing asked for it.
    private static let dropped = [
        "posts": ["has_link", "observed_ms", "source", "weekday"], "actions": ["fence"],
        "leases": ["beat"],
    ]
    /// What a migration changes, as `expectRevoked` says.
    private static let revoked = ["leases": ["fence", "released"]]
    private static let renamed = ["leases": ["owner": "worker"]]
    private static let mirrors = ["default", "sky", "x"]

    private let old: OldDatabase

    init() throws { old = try OldDatabase() }

    // MARK: The data

    @Test(arguments: [StorageKind.sqlite, .postgres])
    func nothingOfTheOldDatabaseIsLost(on kind: StorageKind) async throws {
        let machine = try await updated(kind)
        let engine = try await Storage.open(machine.location)
        for table in old.tables.keys.sorted() where table != "cursors" {
            let dropped = (Self.dropped[table] ?? []) + (Self.revoked[table] ?? [])
            let expected =
                old.rows(table).filter { !isMoved($0, from: table) }
                .map { row in renaming(row.filter { !dropped.contains($0.key) }, in: table) }
                + added(to: table)
            let columns = expected.first?.keys.sorted() ?? []
            let found = try await old.contents(of: table, in: engine, columns: columns).filter {
                !isRemembered($0)
            }
            let lost = Set(expected).subtracting(found)
            let new = Set(found).subtracting(expected)
            #expect(lost.isEmpty, "\(table)")
            // Only the list of steps has grown.
            #expect(new.isEmpty || table == "schema_migrations", "\(table)")
            #expect(expected.count == Set(expected).count)
        }
        try await expectMoved(in: engine)
        try await expectRevoked(in: engine)
        await engine.close()
    }

    /// A worker of 0.1.0 that still runs has an older fence than every lease, and no lease waits
    /// for its silence.
    ///
    /// The earlier program has raised each fence, and so has today's, for its own steps.
    private func expectRevoked(in engine: any StorageEngine) async throws {
        let rows = try await engine.query(
            "SELECT mirror, fence, released FROM leases ORDER BY mirror")
        let leases = old.rows("leases").sorted { $0.words("mirror") < $1.words("mirror") }
        #expect(!leases.isEmpty)
        try expect(rows.map { try $0.text("mirror") }, equals: leases.map { $0.words("mirror") })
        try expect(
            rows.map { try $0.integer("fence") }, equals: leases.map { $0.number("fence") + 2 })
        try expect(rows.map { try $0.boolean("released") }) { $0.allSatisfy(\.self) }
    }

    /// A row under the names that its columns have now.
    private func renaming(_ row: OldDatabase.Row, in table: String) -> OldDatabase.Row {
        let names = Self.renamed[table] ?? [:]
        return OldDatabase.Row(
            uniqueKeysWithValues: row.map { (names[$0.key] ?? $0.key, $0.value) })
    }

    /// What is kept in another table since.
    private func isMoved(_ row: OldDatabase.Row, from table: String) -> Bool {
        switch table {
        case "counters": row.words("name").hasPrefix("x-spent-")
        default: false
        }
    }

    /// What commands note by themselves, for themselves.
    private func isRemembered(_ row: OldDatabase.Row) -> Bool {
        row["name"] == .text("archive.days")
    }

    /// What is counted since.
    private func added(to table: String) -> [OldDatabase.Row] {
        guard table == "counters" else { return [] }
        return Self.mirrors.flatMap { mirror -> [OldDatabase.Row] in
            let states = Dictionary(grouping: old.rows("examples", of: mirror)) {
                $0.words("state")
            }
            return states.map { state, rows in
                [
                    "mirror": .text(mirror), "name": .text("examples." + state),
                    "value": .integer(Int64(rows.count)),
                ]
            }
        }
    }

    private func expectMoved(in engine: any StorageEngine) async throws {
        for mirror in Self.mirrors {
            let row = try #require(
                try await engine.query(
                    "SELECT human_verified, bot_verified FROM mirrors WHERE mirror = \(mirror)"
                )
                .first)
            for role in ["human", "bot"] {
                try expect(
                    row.value("\(role)_verified"),
                    equals: cursor("verified-\(role)", of: mirror) ?? .null)
            }
            // They worked before anybody was asked who agreed, and go on.
            let consent = try await engine.query(
                "SELECT consent FROM mirrors WHERE mirror = \(mirror) AND consent_ms = activated_ms"
            )
            try expect(consent.map { try $0.text("consent") }, equals: ["earlier"])
        }
        let positions = old.rows("cursors").filter {
            !$0.words("feed").contains(/^(verified|refused)-/)
        }
        for row in positions {
            let found = try await engine.query(
                "SELECT position FROM feeds WHERE mirror = \(row.words("mirror")) AND feed = \(row.words("feed"))"
            )
            try expect(found.map { try $0.value("position") }, equals: [row["value"] ?? .null])
        }
        try await expect(engine.query("SELECT feed FROM feeds").count, equals: positions.count)
        try await expect(engine.query("SELECT feed FROM feed_stretches")) { $0.isEmpty }
        // A refusal is noted anew when the network refuses again.
        expect(old.rows("cursors")) { $0.contains { $0.words("feed").hasPrefix("refused-") } }
        try await expect(engine.query("SELECT role FROM refusals")) { $0.isEmpty }

        let spent = try await engine.query(
            "SELECT mirror, period, purpose, microdollars FROM spending")
        let found = try spent.map { row in
            [
                try row.text("mirror"), try row.text("period"), try row.text("purpose"),
                "\(try row.integer("microdollars"))",
            ]
        }
        #expect(Set(found) == Set(spending()))
        #expect(found.count > 2)
    }

    /// What 0.1.0 had spent: mirror, period, purpose, microdollars.
    private func spending() -> [[String]] {
        old.rows("counters").compactMap { row in
            let name = row.words("name")
            let parts = name.replacing("x-spent-on-", with: "x-spent-").split(separator: "/").map(
                String.init)
            guard name.hasPrefix("x-spent-"), parts.count == 2 else { return nil }
            return [
                row.words("mirror"), String(parts[0].dropFirst("x-spent-".count)), parts[1],
                "\(row.number("value"))",
            ]
        }
    }

    private func cursor(_ feed: String, of mirror: String) -> SQLValue? {
        old.rows("cursors", of: mirror).first { $0["feed"] == .text(feed) }?["value"]
    }

    /// No command changes a database that only the program before the joined steps can bring up to
    /// date.
    @Test(arguments: [StorageKind.sqlite, .postgres])
    func aDatabaseBetweenTheEarlierStepsIsRefused(on kind: StorageKind) async throws {
        let machine = try await restored(kind)
        let commands = [
            ["status"], ["plan"], ["people", "list"], ["suggestions"], ["score"],
            ["run", "--once"], ["run"], ["migrate"],
            ["train", "classifier"], ["people", "deny", "x:1"], ["logout", "--as", "bot"],
        ]
        for words in commands {
            let ending = try await machine.stage.run(words: words)
            #expect(ending.status == 78, "\(words)")
            #expect(
                ending.error.hasSuffix(
                    "at step 0003_server_time; bring them up to date with that program first, as "
                        + "docs/deploy.md says under Upgrade\n"), "\(words): \(ending.error)")
        }
        let engine = try await Storage.open(machine.location)
        for table in old.tables.keys {
            try await expect(
                Set(old.contents(of: table, in: engine)), equals: Set(old.rows(table)), "\(table)")
        }
        await engine.close()
        try await old.update(at: machine.location)
        let ending = try await machine.stage.run("migrate")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output.hasPrefix("applied 0057_telling\n"))
        try await expect(machine.stage.run("status").status, equals: 0)
    }

    // MARK: The commands

    @Test(arguments: [StorageKind.sqlite, .postgres])
    func commandsTellWhatTheyToldBefore(on kind: StorageKind) async throws {
        let machine = try await updated(kind)
        let status = try await machine.stage.status()
        let mirror = try #require(old.rows("mirrors", of: "default").first)
        #expect(status.human == mirror.words("human_handle"))
        #expect(status.bot == mirror.words("bot_handle"))
        #expect(status.archive.posts == old.rows("posts", of: "default").count)
        #expect(status.accounts.map(\.credentials) == [.login, .login])
        let examples = old.rows("examples", of: "default")
        let favorites = examples.count { $0.words("state").hasSuffix("favorite") }
        #expect(status.classifier?.favorites == favorites)
        #expect(status.classifier?.normals == examples.count - favorites)
        #expect(status.classifier?.counts == old.rows("feature_counts", of: "default").count)
        #expect(status.suggestions == suggested(in: "default").count)
        // What still waits is none of the last actions.
        let ended = old.rows("actions", of: "default").filter {
            !["planned", "suggested", "claimed"].contains($0.words("state"))
        }
        let changed = ended.map { $0.number("updated_ms") }.max() ?? 0
        #expect(status.recent.first.map { Int64($0.at.timeIntervalSince1970) } == changed / 1_000)

        for plan in old.rows("plans", of: "default") {
            try await expectPlan(plan, on: machine.stage)
        }
        for mirror in Self.mirrors {
            let listed = try await machine.stage.run(
                "suggestions", "--mirror", mirror, "--limit", "1000")
            let ids = listed.output.split(separator: "\n").map { $0.prefix(12) }
                .filter { $0.allSatisfy(\.isHexDigit) }.map(String.init)
            #expect(Set(ids) == suggested(in: mirror))
        }
        let people = try await machine.stage.run("people", "list")
        let stances = old.rows("people", of: "default").filter { !$0.words("stance").isEmpty }
        #expect(Set(stances.map { $0.words("stance") }) == ["allow", "deny"])
        for row in stances {
            let line = people.output.split(separator: "\n").first {
                $0.hasPrefix(row.words("account_id") + " ")
            }
            expect(line, "\(row)") { $0?.contains(row.words("stance")) == true }
        }
        #expect(people.output.contains("same as x:123456789"))
        try await expect(machine.stage.run("score").status, equals: 0)

        let spent = try await machine.stage.status(
            ["MIRROR": "x", "NETWORK": "x"].merging(Self.xKeys) { $1 }
        ).spending
        let total = old.rows("counters", of: "x").first { $0["name"] == .text("x-spent-2026-06") }
        expect(spent?.spent, equals: Double(try #require(total).number("value")) / 1_000_000)
    }

    private static let xKeys = Dictionary(
        uniqueKeysWithValues: [
            "CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET",
        ].map {
            ("BOT_\($0)", "planted-\($0)")
        }
    ).merging(["BOT_API_BASE_URL": "http://127.0.0.1:1"]) { $1 }

    private func suggested(in mirror: String) -> Set<String> {
        Set(
            old.rows("actions", of: mirror).filter { $0["state"] == .text("suggested") }
                .map { $0.words("id") })
    }

    private func expectPlan(_ plan: OldDatabase.Row, on stage: Stage) async throws {
        let day = plan.words("local_day")
        let report = try await stage.plan("--date", day)
        #expect(report.isStored)
        let slots = old.rows("actions", of: "default")
            .filter { $0["kind"] == .text("post") && $0.words("subject").hasPrefix(day) }
            .sorted { $0.number("due_ms") < $1.number("due_ms") }
        #expect(report.slots.map(\.subject) == slots.map { $0.words("subject") })
        #expect(report.slots.map(\.state) == slots.map { $0.words("state") })
        #expect(report.slots.map { $0.text ?? "" } == slots.map { $0.words("text") })
        #expect(
            report.slots.map { $0.due.timeIntervalSince1970 }
                == slots.map { Double($0.number("due_ms") / 1_000) })
    }

    @Test(arguments: [StorageKind.sqlite, .postgres])
    func whatWasLearnedAndSealedIsStillUnderstood(on kind: StorageKind) async throws {
        let machine = try await updated(kind)
        for name in Self.mirrors {
            try await machine.stage.withMirror(["MIRROR": name]) { mirror in
                try await expectCounts(mirror)
                // Each row is one that this program writes.
                try await expect(
                    mirror.outbox(lease: nil).recent(100_000).count,
                    equals: old.rows("actions", of: name).count)
            }
        }
        try await machine.stage.withMirror { mirror in
            for role in AccountRole.allCases {
                let login = try #require(try await mirror.vault.login(of: role))
                #expect(login.network == .mastodon)
                #expect(login.credentials.text(.server) == "https://sandbox.example")
                #expect(!login.credentials.text(.accessToken).isEmpty)
            }
        }
    }

    /// The counts are what the examples say, and nobody has to count again to know.
    private func expectCounts(_ mirror: HumanMirror) async throws {
        let before = try await mirror.favorites().status().counts
        try await mirror.storage.execute("DELETE FROM feature_counts WHERE mirror = \(mirror.name)")
        try await mirror.storage.execute(
            "DELETE FROM counters WHERE mirror = \(mirror.name) AND name LIKE 'counts.%'")
        // Whoever finds no counts makes them anew.
        let unseen = Example(
            id: PostID(network: .mastodon, value: "unseen"), author: nil, text: "unseen")
        _ = try await mirror.favorites().classify([unseen])
        func rows(_ table: String) async throws -> Set<OldDatabase.Row> {
            let rows = try await old.contents(of: table, in: mirror.storage)
            return Set(rows.filter { $0["mirror"] == .text(mirror.name) && !isRemembered($0) })
        }
        let features = try await rows("feature_counts")
        let counters = try await rows("counters")
        // Another dictionary finds other words: then they must be counted again.
        let dictionary = old.rows("counters", of: mirror.name).first {
            $0["name"] == .text("counts.extraction")
        }
        if let dictionary, !counters.contains(dictionary) { return #expect(before == .outdated) }
        #expect(before == .current)
        #expect(features == Set(old.rows("feature_counts", of: mirror.name)))
        let expected = old.rows("counters") + added(to: "counters")
        #expect(
            counters
                == Set(
                    expected.filter {
                        $0["mirror"] == .text(mirror.name) && !isMoved($0, from: "counters")
                    }))
    }

    // MARK: The worker

    /// The network tells of every mention again, and knows of each request of 0.1.0 whether it
    /// arrived.
    @Test(arguments: [StorageKind.sqlite, .postgres])
    func theWorkerGoesOnAndRepeatsNothing(on kind: StorageKind) async throws {
        let machine = try await updated(kind)
        // The unconfirmed post had arrived; of the reply that was on its way no request had left.
        let past = try await OldNetwork(old, mirror: "default", on: .mastodon, arrived: ["failed"])
        let slots = old.rows("actions", of: "default").filter {
            $0["kind"] == .text("post") && $0["state"] == .text("planned")
        }
        let end = old.end(of: "default")
        #expect(!slots.isEmpty)
        expect(slots) { $0.allSatisfy { $0.date("due_ms") > end } }
        try await pass(machine, past, at: end)
        for due in slots.map({ $0.date("due_ms") }).sorted() {
            try await pass(machine, past, at: due + 30)
        }

        // The next day gets a plan.
        let morning = end + 24 * 3_600
        _ = past.settings(at: morning - 60)
        let silenced = try #require(repliedPeople().subtracting(answerable()).min())
        let answered = try #require(answerable().min())
        let mentions = await past.sandbox.say(
            [silenced, answered].map { SandboxUtterance($0, "good morning!") })
        try await pass(machine, past, at: morning)
        let plan = try await machine.stage.plan(environment: past.settings(at: morning))
        #expect(plan.isStored)
        #expect(plan.slots.count { $0.state == "planned" } > 0)
        for slot in plan.slots.filter({ $0.due > morning }).prefix(2) {
            try await pass(machine, past, at: slot.due + 30)
        }
        // Whoever got all that the human once said to them gets none of it again.
        let replies = await past.sandbox.ledger.deliveries.compactMap(\.replyTo)
        #expect(mentions.map { mention in replies.count { $0 == mention.id } } == [0, 1])
        try await expectKept(machine, past)
        await past.sandbox.stop()
    }

    /// X knows no keys: a request whose answer was lost is only looked for.
    @Test func whatArrivedOnXIsFoundAndNotSentAgain() async throws {
        let machine = try await updated(.sqlite)
        let past = try await OldNetwork(old, mirror: "x", on: .x, arrived: ["sending"])
        try await pass(machine, past, at: old.end(of: "x"))
        try await expectKept(machine, past)
        await past.sandbox.stop()
    }

    /// It was claimed when its worker died, and it is still time.
    @Test func whatWasTakenAndNotSentIsSentOnce() async throws {
        let machine = try await updated(.sqlite)
        let past = try await OldNetwork(
            old, mirror: "sky", on: .bluesky, arrived: [], roles: [.bot])
        let claimed = try #require(
            old.rows("actions", of: "sky").first { $0["state"] == .text("claimed") })
        for _ in 0..<2 { try await pass(machine, past, at: old.end(of: "sky")) }
        let ledger = await past.sandbox.ledger
        #expect(ledger.deliveries.map(\.text) == [claimed.words("text")])
        await past.sandbox.stop()
    }

    /// Whom the human once answered, and who may be answered.
    private func repliedPeople() -> Set<String> {
        let silent = old.rows("actions", of: "default").filter {
            $0["state"] == .text("skipped") && $0["reason"] != .text("no-past-reply")
        }
        return Set(
            old.rows("posts", of: "default").map { $0.words("reply_to_author") }.filter {
                !$0.isEmpty
            }
        )
        .subtracting(silent.map { $0.words("target_author") })
    }

    /// Those of them to whom not all of that was said again.
    private func answerable() -> Set<String> {
        let said = Set(old.rows("actions", of: "default").map { $0.words("source_post_id") })
        let unsaid = old.rows("posts", of: "default").filter { !said.contains($0.words("post_id")) }
        return repliedPeople().intersection(unsaid.map { $0.words("reply_to_author") })
    }

    private func pass(_ machine: Machine, _ past: OldNetwork, at date: Date) async throws {
        let ending = try await machine.stage.run(
            "run", "--once", "--mirror", past.mirror, environment: past.settings(at: date))
        #expect(ending.status == 0, "\(ending.error)")
    }

    private func expectKept(_ machine: Machine, _ past: OldNetwork) async throws {
        let ledger = await past.sandbox.ledger
        #expect(ledger.duplicates.isEmpty)
        #expect(ledger.summary.errors == 0, "\(ledger.rejections)")
        let engine = try await Storage.open(machine.location)
        let columns = try #require(old.rows("actions").first).keys.filter { $0 != "fence" }.sorted()
        let now = try await old.contents(of: "actions", in: engine, columns: columns)
            .filter { $0["mirror"] == .text(past.mirror) }
        let rows = Dictionary(uniqueKeysWithValues: now.map { ($0.words("id"), $0) })
        for row in old.rows("actions", of: past.mirror) {
            let after = rows[row.words("id")]
            switch row.words("state") {
            // What is over stays as it was, to the letter.
            case "done", "skipped", "expired":
                #expect(after == row.filter { $0.key != "fence" })
            case "failed", "sending", "planned", "claimed":
                #expect(after?["state"] == .text("done"), "\(row) \(after ?? [:])")
            default: break
            }
        }
        // Texts that were used are known as such to whoever makes the next plan.
        let used = try await engine.query(
            "SELECT post_id FROM posts WHERE mirror = \(past.mirror) AND last_used_ms IS NOT NULL")
        let sources = old.rows("actions", of: past.mirror).filter {
            $0["kind"] == .text("post") && ["done", "failed"].contains($0.words("state"))
        }
        #expect(
            Set(try used.map { try $0.text("post_id") }).isSuperset(
                of: sources.map { $0.words("source_post_id") }))
        // Whatever the network has is one row, and the other way round.
        let sent = now.filter { $0["kind"] != .text("favorite") && $0["state"] == .text("done") }
            .compactMap { $0.words("remote_id").split(separator: "/").last.map(String.init) }
        #expect(sent.count == Set(sent).count)
        #expect(Set(ledger.deliveries.map(\.id)) == Set(sent))
        #expect(Set(sent).isSuperset(of: past.published))
        #expect(sent.count >= past.published.count)
        await engine.close()
    }

    // MARK: The machine

    private struct Machine {
        let stage: Stage
        let location: StorageLocation
    }

    /// A machine with the old database and today's program.
    private func restored(_ kind: StorageKind) async throws -> Machine {
        var variables = [
            "TIME_ZONE": OldDatabase.timeZone, "SECRET_KEY": OldDatabase.secretKey,
            "MIN_AGE_DAYS": "0",
            "X_HOME_POSTS_PER_DAY": "20", "X_BUDGET_USD_PER_MONTH": "50",
        ].merging(StageClock().start(at: old.end(of: "default")).variables) { $1 }
        let location: StorageLocation
        let stage: Stage
        switch kind {
        case .sqlite:
            stage = try Stage(variables)
            try FileManager.default.createDirectory(
                atPath: stage.home, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            location = .sqlite(path: stage.home + "/mirror-bot.sqlite")
        case .postgres:
            let url = try await PostgresServer.shared().makeDatabase()
            variables["DATABASE_URL"] = url
            stage = try Stage(variables)
            location = .postgres(url: url)
        }
        try await old.restore(at: location)
        return Machine(stage: stage, location: location)
    }

    /// The same after the update by the earlier program.
    private func updated(_ kind: StorageKind) async throws -> Machine {
        let machine = try await restored(kind)
        try await old.update(at: machine.location)
        let ending = try await machine.stage.run(kind == .sqlite ? "status" : "migrate")
        try #require(ending.status == 0, "\(ending.error)")
        return machine
    }
}
