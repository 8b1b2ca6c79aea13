import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Web

/// Pages are made once for a second and a state of the database, and are never older than the last
/// commit.
@Suite(.timeLimit(.minutes(30))) struct PageCacheTests {
    private static let pages = [
        "", "/waiting", "/actions", "/hours", "/favorites", "/texts", "/people", "/health",
        "/settings",
    ].map { "/m/mika" + $0 }

    /// Changes of tables that pages show, and a page that shows each; every row is one of the
    /// mirror `mika`.
    private static let changes: [(page: String, shown: String?, statement: SQL)] = [
        ("/m/mika", "@somebody.else", "UPDATE mirrors SET human_handle = \("somebody.else")"),
        (
            "/m/mika", nil,
            "UPDATE mirrors SET paused_ms = \(WebStand.now.milliseconds), pause_reason = \("a test")"
        ),
        ("/m/mika", nil, "UPDATE mirrors SET paused_ms = NULL, pause_reason = NULL"),
        (
            "/m/mika/health", "The finding of a test",
            """
            INSERT INTO findings (mirror, position, subject, verdict, text, noted_ms)
            VALUES (\("mika"), 1, \("dictionary"), \("warn"), \("the finding of a test"), \(WebStand.now.milliseconds))
            """
        ),
        (
            "/m/mika/health", "The finding of another",
            "UPDATE findings SET text = \("the finding of another test")"
        ),
        (
            "/m/mika/health", "the notice of a test",
            """
            INSERT INTO told (mirror, told_ms, cause, state, text, since_ms)
            VALUES (\("mika"), \(WebStand.now.milliseconds), \("stopped"), \("began"), \("the notice of a test"),
                \(WebStand.now.milliseconds))
            """
        ),
        (
            "/m/mika/health", "the error of a feed",
            """
            INSERT INTO feeds (mirror, feed, error, error_ms)
            VALUES (\("mika"), \("bot-mentions"), \("the error of a feed"), \(WebStand.now.milliseconds))
            """
        ),
        (
            "/m/mika/people", "tom@social.example",
            """
            INSERT INTO people (mirror, network, account_id, handle, stance, stance_ms)
            VALUES (\("mika"), \("mastodon"), \("tom@social.example"), \("tom@social.example"), \("deny"),
                \(WebStand.now.milliseconds))
            """
        ),
        ("/m/mika/hours", nil, "DELETE FROM posting_days WHERE local_day < \("2025-12-01")"),
        (
            "/m/mika/texts", nil,
            "DELETE FROM posts WHERE created_ms < \((WebStand.now - 86_400 * 150).milliseconds)"
        ),
        (
            "/m/mika/settings", nil,
            """
            INSERT INTO settings (mirror, name, value, updated_ms)
            VALUES (\("mika"), \("MAX_PER_DAY"), \("7"), \(WebStand.now.milliseconds))
            """
        ),
        ("/m/mika/settings", nil, "UPDATE settings SET value = \("8")"),
        ("/m/mika/settings", nil, "DELETE FROM settings"),
        (
            "/m/mika/health", nil,
            """
            INSERT INTO leases (mirror, worker, fence, released, updated_ms)
            VALUES (\("mika"), \("w"), 1, FALSE, \(WebStand.now.milliseconds))
            """
        ),
    ]

    /// The clock stands still, and nothing but the statement of another connection happens in
    /// between.
    @Test func aChangeByAnotherConnectionIsOnTheNextPage() async throws {
        try await WebStand.with { stand in
            let other = try await Storage.open(stand.installation.process.storage)
            for (page, shown, statement) in Self.changes {
                let before = try await stand.client.send(page).body
                try await expect(stand.client.send(page).body, equals: before)
                try await other.execute(statement)
                let after = try await stand.client.send(page).body
                #expect(after != before, "\(statement.text)")
                if let shown { #expect(after.contains(shown), "\(statement.text)") }
            }
            await other.close()
        }
    }

    /// The state of the database covers every table, also one that comes with a later migration.
    @Test func everyTableCounts() async throws {
        try await WebStand.with { stand in
            let asked = stand.installation.storage
            let other = try await Storage.open(stand.installation.process.storage)
            let tables = try await other.query(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            ).map { try $0.text("name") }
            #expect(tables.count > 30)
            for table in tables {
                let columns = try await other.query(
                    "SELECT name, type FROM pragma_table_info(\(table)) WHERE \"notnull\" = 1")
                let names = try columns.map { try $0.text("name") }
                let values = try columns.map { try $0.text("type") == "TEXT" ? "'x'" : "1" }
                let before = try await asked.state()
                try await other.execute(
                    """
                    INSERT INTO \(unsafe: table) (\(unsafe: names.joined(separator: ", ")))
                    VALUES (\(unsafe: values.joined(separator: ", ")))
                    """)
                try await expect(asked.state()) { $0 != before }
            }
            await other.close()
        }
    }

    @Test func aPageIsMadeOnceForASecondAndAState() async throws {
        try await WebStand.with { stand in
            let site = try await WebSite(
                stand.installation, stand.installation.process.web, isReadOnly: false,
                build: MetricsReport.Build(version: "1", commit: "abc"))
            var made = 0
            func ask(_ key: String = "a") async throws {
                _ = try await site.page(for: .new(), key: key) {
                    made += 1
                    return .page(CachedPage("page", tokenAt: $0))
                }
            }
            for _ in 0..<3 { try await ask() }
            #expect(made == 1)
            try await ask("b")
            #expect(made == 2)
            try await stand.mirror().table.setTimeZone("Asia/Tokyo", now: WebStand.now)
            for _ in 0..<3 { try await ask() }
            #expect(made == 3)
            stand.clock.jump(by: 1)
            for _ in 0..<3 { try await ask() }
            #expect(made == 4)
        }
    }

    /// What was made from a state that has passed since is not given to whoever asks now.
    @Test func aPageThatTookLongIsNotKeptForLater() async throws {
        let cache = PageCache()
        var made = 0
        func ask(_ state: String, _ key: String = "key") async throws {
            _ = try await cache.answer(key, at: PageCache.Moment(second: 1, state: state)) {
                made += 1
                return .page(CachedPage("page", tokenAt: "T"))
            }
        }
        for (state, expected) in [("a", 1), ("a", 1), ("b", 2), ("b", 2), ("a", 3)] {
            try await ask(state)
            #expect(made == expected)
        }
        for _ in 0..<2 {
            for number in 0..<(2 * PageCache.mostPages) { try await ask("c", "\(number)") }
        }
        #expect(made == 3 + 3 * PageCache.mostPages)
    }

    /// Many browsers load a page at once after a change; one that fails leaves the others nothing
    /// to wait for.
    @Test func aPageIsMadeByOneOfThoseWhoAskAtOnce() async throws {
        let cache = PageCache()
        let moment = PageCache.Moment(second: 1, state: "a")
        let (made, making) = AsyncStream.makeStream(of: Int.self)
        let (open, opening) = AsyncStream.makeStream(of: Void.self)
        struct Failure: Error {}
        let first = Task {
            try await cache.answer("key", at: moment) {
                making.yield(0)
                for await _ in open { break }
                throw Failure()
            }
        }
        // Until the first one is at it.
        for await _ in made { break }
        let others = (1...20).map { number in
            Task {
                _ = try await cache.answer("key", at: moment) {
                    making.yield(number)
                    return .page(CachedPage("page", tokenAt: "T"))
                }
            }
        }
        opening.yield()
        await #expect(throws: Failure.self) { try await first.value }
        for other in others { try await other.value }
        making.finish()
        var later = 0
        for await _ in made { later += 1 }
        #expect(later == 1)
    }

    /// Two people see the same page with forms of their own, and each form works.
    @Test func eachSessionHasItsOwnToken() async throws {
        try await WebStand.with { stand in
            var tokens: Set<String> = []
            for client in [stand.client, WebClient(port: stand.client.port)] {
                for page in Self.pages {
                    let answer = try await client.send(page)
                    let found = answer.body.matches(of: #/name="csrf" value="([^"]*)"/#).map {
                        String($0.output.1)
                    }
                    #expect(Set(found).count <= 1, "\(page)")
                    tokens.formUnion(found)
                }
            }
            #expect(tokens.count == 2)
            for token in tokens {
                let answer = try await stand.client.send(
                    "/m/mika/pause", form: [("csrf", token), ("until", "3h")])
                #expect(answer.status == 303 || answer.status == 403)
            }
            try await expect(stand.mirror().table.pause(at: WebStand.now)) { $0 != nil }
        }
    }

    /// The sentence about what was done is said once, to whoever did it.
    @Test func aSentenceIsNotKept() async throws {
        try await WebStand.with { stand in
            let token = try #require(try await stand.client.send("/m/mika").field("csrf"))
            let answer = try await stand.client.send(
                "/m/mika/pause", form: [("csrf", token), ("until", "3h")])
            #expect(answer.status == 303)
            let said = try await stand.client.send("/m/mika").body
            let later = try await stand.client.send("/m/mika").body
            #expect(said != later)
            try await expect(WebClient(port: stand.client.port).send("/m/mika").body.utf8.count) {
                $0 == later.utf8.count
            }
        }
    }

    @Test func aThemeHasItsOwnPage() async throws {
        try await WebStand.with { stand in
            let plain = try await stand.client.send("/m/mika/hours")
            let token = try #require(try await stand.client.send("/m/mika").field("csrf"))
            _ = try await stand.client.send(
                "/look", form: [("csrf", token), ("theme", "dark"), ("back", "/m/mika")])
            try await expect(stand.client.send("/m/mika/hours").body) {
                $0.contains("data-theme=\"dark\"")
            }
            try await expect(
                WebClient(port: stand.client.port).send("/m/mika/hours").body.utf8.count
            ) {
                $0 == plain.body.utf8.count
            }
        }
    }
}
