import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

@Suite struct FeedWalkTests {
    @Test(arguments: PagingServer.Habit.allCases, [0, 1, 39, 40, 41, 130])
    func readsAFeedToItsEnd(habit: PagingServer.Habit, count: Int) async throws {
        let paging = PagingServer(habit, count: count)
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? paging.answer($0) : nil
        }
        var walk = FeedWalk(of: loopback.network, .home, from: .newest)
        var addresses: [String] = []
        while let page = try await walk.next() { addresses += page.items.map(\.address) }
        #expect(addresses == paging.addresses((1...131).prefix(count).reversed()))
        #expect(walk.isComplete)
        #expect(walk.newer == (count == 0 ? nil : paging.address(count)))
    }

    /// What arrived while nobody looked is found, however much it is and however the server pages.
    @Test(arguments: PagingServer.Habit.allCases, [0, 1, 39, 40, 41, 130])
    func missesNothingThatArrived(habit: PagingServer.Habit, arrived: Int) async throws {
        let paging = PagingServer(habit, count: 50)
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? paging.answer($0) : nil
        }
        let first = try await loopback.network.page(.home, .newest)
        let cursor = try #require(first.newer)
        paging.grow(by: arrived)

        var walk = FeedWalk(of: loopback.network, .home, from: .newer(than: cursor))
        var found: [String] = []
        while let page = try await walk.next() { found += page.items.map(\.address) }
        #expect(Set(found) == Set(paging.addresses(51..<(51 + arrived))))
        #expect(found.count == arrived)
        #expect(walk.newer ?? cursor == paging.address(50 + arrived))
        expect(loopback.requests) { $0.allSatisfy { $0.query["since_id"] == nil } }
    }

    /// Items that make pages fail are all that is missing, wherever they are and however far apart
    /// ids are.
    @Test(arguments: [
        (PagingServer.Habit.documented, 1, [70]), (.documented, 1, [70, 69]), (.documented, 1, [1]),
        (.documented, 1, [70, 60, 58, 3]), (.documented, 1, [100, 60, 20]),
        (.documented, 1_000, [70, 69]),
        (.documented, 1, [129, 2]), (.documented, 700_001, [101, 55]),
        (.documented, 115_000_000_000_000, [80, 79, 40]),
        (.nextOnLastPage, 37, [70, 2, 1]), (.withoutLink, 1, [80, 79, 78, 30]),
        (.repeatsItems, 5, [40, 30]),
        (.minIDAsSinceID, 9, [90, 70, 69]), (.smallPages, 1_000, [40, 31]),
        (.ulids, 1, [70, 69, 66]),
        (.ulids, 1_000_000_007, [70, 60]), (.flakes, 1, [70, 68]),
        (.flakes, 1_000_000_007, [100, 60]),
    ])
    func aCarefulWalkMissesOnlyWhatBreaksPages(
        habit: PagingServer.Habit, spacing: Int, broken: [Int]
    ) async throws {
        let paging = PagingServer(habit, count: 130, spacing: spacing, broken: Set(broken))
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? paging.answer($0) : nil
        }
        var walk = FeedWalk(
            of: loopback.network, .home, from: .newest, maximumPages: 2_000, isCareful: true)
        var found: Set<String> = []
        var unreadable: [UnreadableItem] = []
        while let page = try await walk.next() {
            found.formUnion(page.items.map(\.address))
            unreadable += page.unreadable
        }
        #expect(found == Set(paging.addresses((1...130).filter { !broken.contains($0) })))
        #expect(walk.isComplete)
        #expect(Set(unreadable.compactMap(\.address)) == Set(paging.addresses(broken)))
        #expect(unreadable.count == broken.count)
    }

    /// A server that refuses the places where pages would begin hides nothing that lies below them.
    @Test(arguments: [
        (PagingServer.Habit.documented, 1, [91, 51], 400), (.documented, 1, [91, 90, 89, 51], 403),
        (.documented, 1_000, Array(1...130), 404), (.nextOnLastPage, 37, [91, 51, 11], 410),
        (.withoutLink, 1, [91], 422), (.ulids, 1_000_000_007, Array(1...130), 400),
        (.flakes, 1, [91, 51], 403),
    ])
    func aCarefulWalkPassesRefusedPlaces(
        habit: PagingServer.Habit, spacing: Int, places: [Int], status: Int
    ) async throws {
        let paging = PagingServer(
            habit, count: 130, spacing: spacing, refusing: (Set(places), status))
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? paging.answer($0) : nil
        }
        var walk = FeedWalk(
            of: loopback.network, .home, from: .newest, maximumPages: 2_000, isCareful: true)
        var found: Set<String> = []
        while let page = try await walk.next() {
            found.formUnion(page.items.map(\.address))
            #expect(page.unreadable == [])
        }
        #expect(found == Set(paging.addresses(1...130)))
        #expect(walk.isComplete)
    }

    /// Nor does one that refuses everything have an item that breaks pages.
    @Test(arguments: [400, 403, 404]) func aServerThatRefusesEverythingHasNoBrokenItem(status: Int)
        async throws
    {
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? Answer(status: status) : nil
        }
        var walk = FeedWalk(of: loopback.network, .home, from: .older("700"), isCareful: true)
        await #expect(throws: NetworkError.self) { try await walk.next() }
    }

    /// A walk that goes on with a search finds what is broken behind it, too.
    @Test func aWalkThatGoesOnWithASearchIsCareful() async throws {
        let paging = PagingServer(.documented, count: 130, broken: [70, 69, 20])
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? paging.answer($0) : nil
        }
        var first = FeedWalk(
            of: loopback.network, .home, from: .newest, maximumPages: 2_000, isCareful: true)
        var found: Set<String> = []
        var cursor: String?
        while cursor == nil, let page = try await first.next() {
            found.formUnion(page.items.map(\.address))
            if page.isFromBelow { cursor = page.older }
        }
        var walk = FeedWalk(
            of: loopback.network, .home, from: .older(try #require(cursor)), maximumPages: 2_000)
        var unreadable: Set<String> = []
        while let page = try await walk.next() {
            found.formUnion(page.items.map(\.address))
            unreadable.formUnion(page.unreadable.compactMap(\.address))
        }
        #expect(walk.isComplete)
        #expect(found == Set(paging.addresses((1...130).filter { ![70, 69, 20].contains($0) })))
        #expect(unreadable == Set(paging.addresses([70, 69, 20])))
    }

    /// The same above a position, also where the newest item is broken; and a look with few pages
    /// goes on with the next.
    @Test(arguments: [
        (PagingServer.Habit.documented, 1, [70]), (.documented, 1, [130, 129]),
        (.documented, 1, [51, 53, 130]),
        (.documented, 115_000_000_000_000, [60, 80, 130]), (.minIDAsSinceID, 9, [90, 70, 69]),
        (.withoutLink, 3, [52, 53, 100]), (.ulids, 1_000_000_007, [70, 60]),
        (.flakes, 1, [70, 130]),
    ])
    func whatArrivesAroundBrokenItemsIsHeard(habit: PagingServer.Habit, spacing: Int, broken: [Int])
        async throws
    {
        let paging = PagingServer(habit, count: 130, spacing: spacing, broken: Set(broken))
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? paging.answer($0) : nil
        }
        var position = paging.address(50)
        var found: Set<String> = []
        var unreadable: Set<String> = []
        var isComplete = false
        for _ in 0..<200 where !isComplete {
            var walk = FeedWalk(
                of: loopback.network, .home, from: .newer(than: position), maximumPages: 7,
                isCareful: true)
            while let page = try await walk.next() {
                found.formUnion(page.items.map(\.address))
                unreadable.formUnion(page.unreadable.compactMap(\.address))
                position = page.newer ?? position
            }
            isComplete = walk.isComplete
        }
        #expect(isComplete)
        #expect(found == Set(paging.addresses((51...130).filter { !broken.contains($0) })))
        #expect(unreadable == Set(paging.addresses(broken)))
        // What arrives then is heard, and the position is an item's again.
        paging.grow(by: 2)
        var walk = FeedWalk(
            of: loopback.network, .home, from: .newer(than: position), isCareful: true)
        while let page = try await walk.next() {
            found.formUnion(page.items.map(\.address))
            position = page.newer ?? position
        }
        #expect(found.isSuperset(of: paging.addresses([131, 132])))
        #expect(position == paging.address(132))
    }

    /// Where ids tell no order, nothing can be made up: the walk says so, and passes over nothing.
    @Test func aBrokenItemAmongHashesEndsTheWalkWithAnError() async throws {
        let paging = PagingServer(.hashes, count: 130, broken: [90, 70])
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? paging.answer($0) : nil
        }
        var walk = FeedWalk(of: loopback.network, .home, from: .newest, isCareful: true)
        var found: [String] = []
        let error = try await #require(throws: NetworkError.self) {
            while let page = try await walk.next() { found += page.items.map(\.address) }
        }
        #expect(error.code == .unavailable)
        #expect(found == paging.addresses((91...130).reversed()))
        #expect(!walk.isComplete)
    }

    /// The order of ids that contradicts the order of the feed leads nowhere.
    @Test func nothingIsSearchedForByIdsThatDoNotSort() async throws {
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            guard let cursor = request.query["max_id"] else {
                return .json(Wire.list([Wire.status("50"), Wire.status("90"), Wire.status("70")]))
            }
            return cursor == "70" ? Answer(status: 502) : .json("[]")
        }
        var walk = FeedWalk(of: loopback.network, .home, from: .newest, isCareful: true)
        _ = try await walk.next()
        let error = try await #require(throws: NetworkError.self) { try await walk.next() }
        #expect(error.code == .unavailable)
        #expect(!walk.isComplete)
    }

    /// What a server answers to a search that asks for items between 40 and 51: ids, and cursors in
    /// the header.
    enum Unbounded: CaseIterable, Sendable {
        case itemsAbove, itemsBelow, itemAtTheBound, newerAbove, newerBelow, olderBelow,
            olderAboveItems

        fileprivate var answer: (ids: [String], newer: String?, older: String?) {
            switch self {
            case .itemsAbove: (["60"], nil, nil)
            case .itemsBelow: (["45", "30"], nil, nil)
            case .itemAtTheBound: (["45", "40"], nil, nil)
            case .newerAbove: (["45"], "70", nil)
            case .newerBelow: (["45"], "30", nil)
            case .olderBelow: (["45"], "45", "30")
            case .olderAboveItems: (["45"], "45", "48")
            }
        }
    }

    /// What cannot be asked for in parts has no part of which an item could be blamed.
    @Test(arguments: Unbounded.allCases) func aServerThatKeepsToNoBoundsIsNotSearched(
        kind: Unbounded
    ) async throws {
        let (ids, newer, older) = kind.answer
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            guard request.query["min_id"] == "40", request.query["max_id"] == "51" else {
                return Answer(status: 502)
            }
            let links = [
                newer.map { "<https://home.example/x?min_id=\($0)>; rel=\"prev\"" },
                older.map { "<https://home.example/x?max_id=\($0)>; rel=\"next\"" },
            ].compactMap(\.self)
            return .json(
                Wire.list(ids.map { Wire.status($0) }),
                headers: links.isEmpty ? [] : [("Link", links.joined(separator: ", "))])
        }
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.page(.home, .older("90 40:60:39"))
        }
        #expect(error.code == .rejected)
        #expect("\(error)".contains("does not keep to the part of the feed"))
        #expect(!error.mayBeOfOnePage)
    }

    /// A timeline that is being built anew holds nothing for now; that ends neither a gap nor a
    /// search.
    @Test func aTimelineThatIsBeingBuiltEndsNothing() async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/timelines/home" ? .json("[]", status: 206) : nil
        }
        for position in [
            FeedPosition.older("90"), .older("90 40:60:39"), .newer(than: "40 50:55:60"),
        ] {
            let error = try await #require(throws: NetworkError.self) {
                try await loopback.network.page(.home, position)
            }
            #expect(error.code == .unavailable)
            #expect(!error.mayBeOfOneItem)
        }
    }

    /// Where nothing can be had, the walk says so, after few requests.
    @Test func aServerThatIsDownIsNoBrokenItem() async throws {
        let loopback = try Loopback { _ in Answer(status: 502) }
        var walk = FeedWalk(
            of: loopback.network, .home, from: .older("115999999999999999"), isCareful: true)
        let error = try await #require(throws: NetworkError.self) { try await walk.next() }
        #expect(error.code == .unavailable)
        expect(loopback.requests.count) { $0 <= 25 }
    }

    /// Hashes tell no order: a page below one that is gone is as empty as the last one.
    @Test func anItemThatIsGoneIsNotTheEndOfAFeed() async throws {
        let paging = PagingServer(.hashes, count: 130)
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? paging.answer($0) : nil
        }
        try await expect(
            loopback.network.page(.home, .older(paging.address(1))).received, equals: 0)
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.page(.home, .older(paging.address(5_000)))
        }
        #expect(error.code == .rejected)
    }

    @Test func keepsToItsPageLimit() async throws {
        let paging = PagingServer(.documented, count: 500)
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? paging.answer($0) : nil
        }
        var walk = FeedWalk(of: loopback.network, .home, from: .newest, maximumPages: 3)
        var count = 0
        while let page = try await walk.next() { count += page.items.count }
        #expect(count == 120)
        #expect(!walk.isComplete)
        #expect(loopback.requests.count == 3)
    }

    @Test(arguments: [
        // The next page is the same page.
        #"<https://home.example/?max_id=100>; rel="next""#,
        // There is always another page.
        "",
    ])
    func endsWhereAServerGoesRoundInCircles(link: String) async throws {
        let counter = Counter()
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            let header =
                link.isEmpty
                ? "<https://home.example/?max_id=\(counter.next())>; rel=\"next\"" : link
            return .json(
                Wire.list([Wire.status("101"), Wire.status("100")]), headers: [("Link", header)])
        }
        var walk = FeedWalk(of: loopback.network, .home, from: .newest)
        var addresses: [String] = []
        while let page = try await walk.next() { addresses += page.items.map(\.address) }
        #expect(addresses == ["101", "100"])
        #expect(!walk.isComplete)
        #expect(loopback.requests.count == 2)
    }

    @Test func endsAfterEmptyPagesThatNameMore() async throws {
        let counter = Counter()
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            let header = "<https://home.example/?max_id=\(counter.next())>; rel=\"next\""
            return .json("[]", headers: [("Link", header)])
        }
        var walk = FeedWalk(of: loopback.network, .home, from: .newest)
        while try await walk.next() != nil {}
        #expect(loopback.requests.count == 2)
        #expect(walk.isComplete)
    }

    @Test func asksForTheSamePageAgainAfterAnError() async throws {
        let counter = Counter()
        let paging = PagingServer(.documented, count: 60)
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            return counter.next() == 2 ? .json("{}", status: 503) : paging.answer(request)
        }
        var walk = FeedWalk(of: loopback.network, .home, from: .newest)
        var addresses = try await walk.next()?.items.map(\.address) ?? []
        await #expect(throws: NetworkError.self) { _ = try await walk.next() }
        while let page = try await walk.next() { addresses += page.items.map(\.address) }
        #expect(addresses == descending(1...60))
    }
}

/// Counts from 1.
final class Counter: Sendable {
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var value = 0

    func next() -> Int {
        lock.withLock {
            value += 1
            return value
        }
    }
}
