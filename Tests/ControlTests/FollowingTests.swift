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
import X

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Lists show which originals are still there; what they lack is asked for by itself.
@Suite(.mirrors) struct FollowingTests {
    /// A mirror that published copies of a human's posts, one a minute apart, none of which was
    /// looked at since.
    private struct Copies {
        let paper: PaperMirror
        let parts: WorkerParts
        let human: PaperNetwork

        static func id(_ number: Int, on network: NetworkName) -> PostID {
            PostID(network: network, value: "\(number)")
        }

        /// - Parameters:
        ///   - count: The number of the human's posts; the bot copied each of them once.
        ///   - copied: The number of those that the bot copied, spread over all; nil for all.
        ///   - perDay: The copies that left on a day.
        init(
            _ count: Int, copied: Int? = nil, on network: NetworkName, perDay: Int = 50,
            pageSize: Int = 40,
            price: Money? = nil, _ variables: [String: String] = [:]
        ) async throws {
            let paper = try await PaperMirror(bot: .mastodon, human: network, variables: variables)
            let human = try #require(paper.human)
            self.paper = paper
            self.human = human
            let posts = (0..<count).map { number in
                Post(
                    id: Self.id(number, on: network),
                    author: AccountID(network: network, value: "human"),
                    text: "thought number \(number) of many",
                    createdAt: PaperMirror.now - Double(count - number) * 600,
                    address: "address-\(number)")
            }
            // As many as an archive holds.
            for part in posts.suffix(10_000).portions(of: 1_000) { try await paper.archive(part) }
            let shown = posts.map { post in
                paperPost(post.id.value, by: "human", on: network, post.text, at: post.createdAt)
            }
            human.add(shown, to: .ownPosts)
            human.with { state in
                state.pageSize = pageSize
                state.price = price
                state.known = Dictionary(uniqueKeysWithValues: shown.map { ($0.post.id, $0) })
                state.now = { [clock = paper.clock] in clock.now }
                state.book = price == nil ? nil : paper.mirror.spending
            }
            parts = try await paper.parts()
            let step = count / (copied ?? count)
            let numbers = Array(stride(from: 0, to: count, by: step))
            try await paper.mirror.storage.transaction { connection in
                for (place, number) in numbers.enumerated() {
                    let sent =
                        (PaperMirror.now - Double(numbers.count - place) * 86_400 / Double(perDay))
                        .milliseconds
                    try connection.execute(
                        """
                        INSERT INTO actions (mirror, id, kind, subject, state, due_ms, expires_ms, pinned,
                            source_network, source_post_id, visibility, text, sending_ms, remote_id, remote_address,
                            attempts, created_ms, updated_ms)
                        VALUES ('test', \("copy-\(number)"), 'post', \("2020-01-01#\(number)"), 'done', \(sent),
                            \(sent + 900_000), FALSE, \(network.rawValue), \("\(number)"), 'unlisted',
                            \("thought number \(number) of many"), \(sent), \("copy-\(number)"), \("copy-\(number)"),
                            1, \(sent), \(sent))
                        """)
                }
            }
        }

        /// Deletes posts at the network.
        func delete(_ numbers: Set<Int>) {
            let addresses = Set(numbers.map { "address-\($0)" })
            human.with { state in
                state.feeds[.ownPosts]?.removeAll { addresses.contains($0.address) }
                for number in numbers { state.known?[Self.id(number, on: human.name)] = nil }
            }
        }

        var undone: Set<Int> {
            get async throws {
                let rows = try await paper.mirror.storage.query(
                    """
                    SELECT id FROM actions WHERE undo_asked_ms IS NOT NULL OR undo_proposed IS NOT NULL
                    """)
                return Set(try rows.compactMap { Int(try $0.text("id").dropFirst("copy-".count)) })
            }
        }

        func unchecked() async throws -> Int {
            try await parts.store.following(on: human.name, now: paper.clock.now).unchecked
        }

        /// The calls about the human's posts.
        var requests: Int {
            human.with { state in state.calls.count { $0 == .readPost || $0 == .readOwnPosts } }
        }

        /// Lives as a worker does until `isOver`.
        ///
        /// - Returns: The seconds that passed; nil if `limit` passed before.
        func live(atMost limit: TimeInterval, until isOver: () async throws -> Bool) async throws
            -> TimeInterval?
        {
            let start = paper.clock.now
            while paper.clock.now.timeIntervalSince(start) < limit {
                var next = try await parts.originals.look().next
                if await parts.originals.hasDoubts {
                    try await parts.originals.askAgain()
                    // As often as the publisher looks while there are doubts.
                    next = min(next, paper.clock.now + 900)
                }
                if try await isOver() { return paper.clock.now.timeIntervalSince(start) }
                try await paper.clock.sleep(until: max(next, paper.clock.now + 1))
            }
            return nil
        }
    }

    private static let price = Money(microdollars: 5_000)

    // MARK: Lists

    @Test func aListShowsAHundredForOneRequest() async throws {
        let copies = try await Copies(
            250, copied: 250, on: .x, price: Self.price, ["X_BUDGET_USD_PER_MONTH": "1000"])
        let look = try await copies.parts.originals.look()
        #expect(look.count == 250)
        #expect(copies.human.with { $0.listed.map(\.count) } == [100, 100, 50])
        #expect(copies.human.with { $0.lookedUp } == [])
        try await expect(copies.unchecked(), equals: 0)
        // Those whose copies are the newest come first.
        #expect(copies.human.with { $0.listed.first?.first } == "address-249")
        // All are looked at again before a day has passed.
        try await copies.paper.wait(23 * 3_600 + 1)
        _ = try await copies.parts.originals.look()
        #expect(copies.human.with { $0.listed.joined().count } == 500)
    }

    /// What is missing in a list is asked for by itself, and that answer decides.
    @Test func aListAloneDeletesNothing() async throws {
        let copies = try await Copies(30, on: .x, price: Self.price)
        copies.human.with { $0.leftOut = ["address-7"] }
        _ = try await copies.live(atMost: 2 * 86_400) { try await copies.unchecked() == 0 }
        try await expect(copies.unchecked(), equals: 0)
        #expect(copies.human.with { Set($0.lookedUp) } == ["address-7"])
        try await expect(copies.undone, equals: [])
        try await expect(copies.paper.mirror.archive.denials(on: .x, limit: 100).count, equals: 0)
        copies.delete([7])
        _ = try await copies.live(atMost: 6 * 86_400) { try await copies.undone == [7] }
        try await expect(copies.undone, equals: [7])
        // What the human deletes teaches what they would not say, without a word of it.
        let labels = try await copies.paper.mirror.storage.query(
            "SELECT post_id, label, features FROM text_labels")
        let kept = try labels.map {
            "\(try $0.text("label")) \(try $0.text("post_id")) \(try $0.text("features"))"
        }
        #expect(kept.count == 1)
        expect(kept) {
            $0.allSatisfy {
                $0.hasPrefix("deleted ") && !$0.contains("thought") && !$0.contains(" 7 ")
            }
        }
    }

    /// A network whose lists are empty, but which shows each post that is asked for.
    @Test func anEmptyListDeletesNothing() async throws {
        let copies = try await Copies(30, on: .x, price: Self.price)
        let all = copies.human.with { $0.feeds[.ownPosts] ?? [] }
        copies.human.with { $0.feeds = [.mentions: all] }
        _ = try await copies.live(atMost: 5 * 86_400) { try await copies.unchecked() == 0 }
        try await expect(copies.unchecked(), equals: 0)
        try await expect(copies.undone, equals: [])
        try await expect(copies.paper.mirror.archive.denials(on: .x, limit: 100).count, equals: 0)
    }

    /// One post that makes each list fail which names it keeps no other from being looked at.
    @Test func aListThatFailsIsMadeSmaller() async throws {
        let copies = try await Copies(
            40, on: .x, price: Self.price, ["X_BUDGET_USD_PER_MONTH": "1000"])
        copies.human.fail(.readPost, .unavailable)
        let failed = try await copies.parts.originals.look()
        #expect(failed.count == 0)
        #expect(failed.next == copies.paper.clock.now + Originals.interval)
        copies.human.fail(nil)
        copies.human.with { $0.listed = [] }
        _ = try await copies.live(atMost: 86_400) { try await copies.unchecked() == 0 }
        try await expect(copies.unchecked(), equals: 0)
        #expect(copies.human.with { $0.listed.map(\.count) } == [40])
    }

    @Test func theMoneyOfADayEndsAList() async throws {
        let copies = try await Copies(120, copied: 120, on: .x, price: Self.price)
        let look = try await copies.parts.originals.look()
        // A day of a quarter of five dollars, and at most half of them.
        #expect((8...16).contains(look.count))
        let plan = try await copies.paper.mirror.spending.plan(at: copies.paper.clock.now)
        #expect(plan.left(for: .originals) < Self.price * 8)
        #expect(look.next <= copies.paper.clock.now + 12_600)
        // What else the day needs is there.
        #expect(plan.left(for: .publish) > Money(microdollars: 2_500_000))
        let state = try #require(
            StatusReport.FollowingState(
                try await copies.parts.store.following(on: .x, now: copies.paper.clock.now), plan,
                each: Self.price,
                list: (120, Self.price * 120)))
        #expect(state.originals == 120)
        #expect(state.perDay == 16)
        #expect(state.missing > 15)
    }

    // MARK: The human's own list

    /// Forty posts on each page cost fewer requests than as many questions.
    @Test func theOwnListIsReadWhereMuchIsDue() async throws {
        let copies = try await Copies(400, on: .mastodon)
        let look = try await copies.parts.originals.look()
        #expect(look.count == 400)
        #expect(copies.human.looks.count == 10)
        #expect(copies.human.with { $0.lookedUp } == [])
        try await expect(copies.unchecked(), equals: 0)
    }

    /// A few originals among many posts are asked for by themselves.
    @Test func fewAreAskedForByThemselves() async throws {
        let copies = try await Copies(4_000, copied: 80, on: .mastodon)
        _ = try await copies.parts.originals.look()
        #expect(copies.human.looks.isEmpty)
        #expect(copies.human.with { $0.lookedUp.count } == Originals.requestsAtOnce)
    }

    @Test func whatTheOwnListLacksIsAskedForByItself() async throws {
        let copies = try await Copies(400, on: .mastodon)
        copies.delete([5, 205])
        _ = try await copies.parts.originals.look()
        #expect(copies.human.with { Set($0.lookedUp) } == ["address-5", "address-205"])
        try await expect(copies.undone, equals: [])
        _ = try await copies.live(atMost: 3_600) { try await copies.undone.count == 2 }
        try await expect(copies.undone, equals: [5, 205])
    }

    @Test func whatTheOwnListShowsOtherwiseIsAskedForByItself() async throws {
        let copies = try await Copies(400, on: .mastodon)
        copies.human.with { state in
            for place in state.feeds[.ownPosts, default: []].indices where [3, 7].contains(place) {
                if place == 3 { state.feeds[.ownPosts]?[place].post.visibility = .private }
                if place == 7 {
                    state.feeds[.ownPosts]?[place].post.text = "thought number seven, said better"
                }
            }
        }
        _ = try await copies.parts.originals.look()
        #expect(copies.human.with { Set($0.lookedUp) } == ["address-3", "address-7"])
    }

    // MARK: After how long a deletion is followed

    /// The hours in which requests are counted while nothing is deleted.
    private static let quietHours = 6
    /// Limits of a network's row of the table in docs/promises.md, by the number of copies.
    private struct Limits {
        let name: String
        let network: NetworkName
        let pageSize: Int
        let cells: [(copies: Int, hours: Int, requests: Int)]

        static let all = [
            Limits(
                name: "Mastodon and its relatives", network: .mastodon, pageSize: 40,
                cells: [(300, 2, 300), (3_000, 22, 1_200), (30_000, 24, 2_000)]),
            Limits(
                name: "Bluesky", network: .bluesky, pageSize: 100,
                cells: [(300, 2, 100), (3_000, 22, 500), (30_000, 24, 1_000)]),
        ]
    }

    @Test(arguments: [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)])
    func aDeletionIsFollowedWithinADay(row: Int, cell: Int) async throws {
        let limits = Limits.all[row]
        let (count, hours, requests) = limits.cells[cell]
        let copies = try await Copies(count, on: limits.network, pageSize: limits.pageSize)
        _ = try await copies.live(atMost: 86_400) { try await copies.unchecked() == 0 }
        try await expect(copies.unchecked(), equals: 0)
        let before = copies.requests
        _ = try await copies.live(atMost: Double(Self.quietHours) * 3_600) { false }
        #expect((copies.requests - before) * 24 / Self.quietHours <= requests)
        var generator = SeededGenerator(seed: UInt64(count))
        // Fewer than the mirror takes back in an hour.
        let deleted = Set((0..<8).map { _ in Int.random(in: 0..<count, using: &generator) })
        copies.delete(deleted)
        let time = try await copies.live(atMost: 3 * 86_400) { try await copies.undone == deleted }
        #expect(try #require(time) <= Double(hours) * 3_600)
    }

    @Test func theTableHasTheLimits() throws {
        for limits in Limits.all {
            let cells = limits.cells.map {
                "\($0.hours) hours, \(Self.number($0.requests)) requests a day"
            }
            let row = "| \(limits.name) | \(cells.joined(separator: " | ")) |"
            try expect(Self.promises()) { $0.contains(row) }
        }
    }

    /// The money decides: what a worker did is what `status` says.
    @Test(arguments: [(300, 5), (3_000, 100)]) func onXTheMoneyDecides(count: Int, budget: Int)
        async throws
    {
        let copies = try await Copies(
            count, on: .x, pageSize: 100, price: Self.price, ["X_BUDGET_USD_PER_MONTH": "\(budget)"]
        )
        let said = try #require(Self.state(count, budget: budget, isOwned: false).days)
        let time = try await copies.live(atMost: 60 * 86_400) { try await copies.unchecked() == 0 }
        let days = try #require(time) / 86_400
        #expect(days > Double(said) - 2)
        #expect(days < Double(said) + 1)
        #expect(copies.human.with { $0.lookedUp } == [])
    }

    @Test func theTableOfX() throws {
        for (isOwned, name) in [(false, "X"), (true, "X with `X_APP_OWNER=human`")] {
            let states = [300, 3_000, 30_000].map { Self.state($0, budget: 5, isOwned: isOwned) }
            let cells = states.map { state in
                let needed =
                    Money(microdollars: Int((state.missing * 1_000_000).rounded()))
                    + Self.half(of: 5)
                return "\(Self.number(state.days ?? 0)) days with 5 dollars a month; one day takes "
                    + "\(Self.number(needed.microdollars / 1_000_000)) dollars a month"
            }
            let row = "| \(name) | \(cells.joined(separator: " | ")) |"
            try expect(Self.promises()) { $0.contains(row) }
        }
    }

    /// What `status` says of so many originals of a human with 10,000 posts, where the bot does
    /// nothing else.
    private static func state(_ count: Int, budget: Int, isOwned: Bool)
        -> StatusReport.FollowingState
    {
        let plan = MonthPlan.ofThirtyDays(
            budget: Money(microdollars: budget * 1_000_000), lifePerDay: .zero)
        let list = XPrices.current.price(ofReading: 3_200, from: .ownPosts, ownsApp: isOwned)
        let state = StatusReport.FollowingState(
            OutboxStore.FollowingCount(all: count), plan, each: price, list: (3_200, list))
        guard let state else { preconditionFailure("there are originals") }
        return state
    }

    private static func half(of budget: Int) -> Money { Money(microdollars: budget * 500_000) }

    private static func number(_ value: Int) -> String {
        value.formatted(.number.locale(Locale(identifier: "en_US")))
    }

    private static func promises() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(
            contentsOf: root.appendingPathComponent("docs/promises.md"), encoding: .utf8)
    }
}
