import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

/// The search for broken items, against a feed on paper.
@Suite struct BrokenItemSearchTests {
    /// How the ids of a feed are given.
    enum Order: String, CaseIterable, Sendable {
        /// Numbers that follow each other.
        case dense
        /// Numbers with a time, seconds or hours apart.
        case sparse
        /// ULIDs, some in the same millisecond.
        case ulids
        /// Ids of Pleroma and its descendants.
        case flakes
    }

    // MARK: Every distance

    /// Two broken items: adjacent, one apart, and so on, up to the first and the last of the feed.
    @Test(arguments: Order.allCases, [PaperFeed.Habit.lowestFirst, .newestFirst])
    func twoBrokenItemsHideNothingBetweenThem(order: Order, habit: PaperFeed.Habit) async throws {
        for (count, first, second) in Self.pairs {
            var feed = PaperFeed(order, habit: habit, count: count + 1, seed: UInt64(first))
            feed.broken = [first, second]
            let found = try await feed.walkDown(from: count)
            #expect(
                found.heard == Set(0..<count).subtracting(feed.broken),
                "\(count) \(first) \(second)")
            #expect(found.noted == feed.broken)
        }
    }

    /// Where a server ignores the lower bound, some searches end with an error, so that the stretch
    /// is named; none passes over an item.
    @Test(arguments: Order.allCases) func aServerWithoutLowerBoundHidesNothingInSilence(
        order: Order
    ) async throws {
        for (count, first, second) in Self.pairs {
            var feed = PaperFeed(
                order, habit: .withoutMinimum, count: count + 1, seed: UInt64(first))
            feed.broken = [first, second]
            guard let found = try? await feed.walkDown(from: count) else { continue }
            #expect(
                found.heard == Set(0..<count).subtracting(feed.broken),
                "\(count) \(first) \(second)")
            #expect(found.noted == feed.broken)
        }
    }

    /// Lengths of feeds, with the numbers of two items.
    ///
    /// They stand everywhere in short feeds, at every distance in a longer one, and about a page
    /// apart in the longest.
    private static let pairs: [(count: Int, first: Int, second: Int)] = [2, 3, 7, 24, 60].flatMap {
        count in
        (1..<count).filter { count < 60 || (38...42).contains($0) || $0 > 57 }.flatMap { distance in
            let last = count - 1 - distance
            let starts = count > 7 ? [[0, last / 2, last][distance % 3]] : Array(0...last)
            return starts.map { (count, $0, $0 + distance) }
        }
    }

    /// The same above a position, also where the newest item is broken.
    @Test(arguments: Order.allCases, [PaperFeed.Habit.lowestFirst, .newestFirst])
    func twoBrokenItemsAboveThePositionHideNothing(order: Order, habit: PaperFeed.Habit)
        async throws
    {
        for (count, first, second) in Self.pairs {
            var feed = PaperFeed(order, habit: habit, count: count + 1, seed: UInt64(first))
            // The item 0 is the position.
            feed.broken = [first + 1, second + 1]
            var reader = PaperReader(at: feed.ids[0])
            try await reader.readArrivals(&feed)
            #expect(
                reader.heard == Set(1...count).subtracting(feed.broken),
                "\(count) \(first) \(second)")
            #expect(feed.noted(reader.digests) == feed.broken)
            // As long as nothing arrives, a request tells it, and one more for each broken item
            // above all others.
            let requests = feed.requests
            try await reader.readArrivals(&feed)
            let above = (1...count).reversed().prefix { feed.broken.contains($0) }.count
            #expect(feed.requests == requests + 1 + above)
            feed.grow(by: 3)
            try await reader.readArrivals(&feed)
            #expect(reader.heard == Set(1...count + 3).subtracting(feed.broken))
            #expect(reader.position == feed.ids[count + 3])
        }
    }

    /// An item costs about as many requests as the stretch has bits.
    @Test(arguments: Order.allCases)
    func anItemCostsAsManyRequestsAsTheStretchHasBits(order: Order) async throws {
        for seed in 0..<10 as Range<UInt64> {
            var feed = PaperFeed(order, habit: .lowestFirst, count: 400, seed: seed)
            feed.broken = [398, 396, 199]
            let found = try await feed.walkDown(from: 399)
            #expect(found.noted == feed.broken)
            let bits = 128 - found.width.leadingZeroBitCount
            // Each item: steps down, halves, its confirmation. Each good item alone is a request of
            // the walk, and pages of 40 items are those of the searches.
            #expect(feed.requests <= 3 * (MastodonPlace.stepCount + bits + 6) + 400 + 40)
        }
    }

    // MARK: Walks of chance

    /// Broken items anywhere, interruptions after every step, arrivals between them, requests that
    /// fail by chance: in the end every good item was read, and every broken one is noted.
    @Test(arguments: 0..<500 as Range<UInt64>)
    func nothingIsPassedOverInSilence(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let order = Order.allCases[Int(seed) % 4]
        let habit = [PaperFeed.Habit.lowestFirst, .newestFirst][Int(seed / 4) % 2]
        var feed = PaperFeed(
            order, habit: habit, count: Int.random(in: 2...90, using: &random), seed: seed)
        feed.pageSize = Int.random(in: 3...40, using: &random)
        feed.faultShare = seed % 3 == 0 ? Double.random(in: 0...0.4, using: &random) : 0
        var reader = PaperReader(at: feed.ids[0])
        for _ in 0..<4 {
            let first = feed.ids.count
            feed.grow(by: Int.random(in: 0...30, using: &random))
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                guard let item = (first..<feed.ids.count).randomElement(using: &random) else {
                    continue
                }
                feed.broken.insert(item)
                if Bool.random(using: &random), item + 1 < feed.ids.count {
                    feed.broken.insert(item + 1)
                }
            }
            try await reader.readArrivals(&feed, steps: Int.random(in: 1...200, using: &random))
        }
        feed.faultShare = 0
        feed.grow(by: 1)
        for _ in 0..<40 where reader.position != feed.ids.last {
            try await reader.readArrivals(&feed, steps: 500)
        }
        #expect(reader.position == feed.ids.last)
        let items = Set(1..<feed.ids.count)
        let noted = feed.noted(reader.digests)
        #expect(items.subtracting(reader.heard).subtracting(noted).isEmpty)
        #expect(noted.isSuperset(of: feed.broken))
        // Only a request that failed by chance calls a good item broken.
        if seed % 3 != 0 { #expect(noted == feed.broken) }
    }

    /// A server that is down is no broken item, and moves nothing.
    @Test(arguments: Order.allCases) func aServerThatIsDownMovesNothing(order: Order) async throws {
        var feed = PaperFeed(order, habit: .lowestFirst, count: 50, seed: 1)
        feed.broken = [30]
        feed.isDown = true
        do {
            _ = try await feed.walkDown(from: 31)
            Issue.record("a server that is down has a broken item")
        } catch let error as NetworkError {
            #expect(error.code == .unavailable)
        }
        #expect(feed.requests <= MastodonPlace.stepCount + 1)
        var reader = PaperReader(at: feed.ids[0])
        try await reader.readArrivals(&feed)
        #expect(reader.position == feed.ids[0])
        #expect(reader.digests == [])
        // Nor does one that goes down in the middle of a search.
        feed.isDown = false
        try await reader.readArrivals(&feed, steps: 5)
        feed.isDown = true
        for _ in 0..<300 { try await reader.readArrivals(&feed, steps: 3) }
        #expect(reader.digests == [])
        feed.isDown = false
        for _ in 0..<3 { try await reader.readArrivals(&feed) }
        #expect(reader.heard == Set(1..<50).subtracting([30]))
        #expect(feed.noted(reader.digests) == [30])
    }

    // MARK: Cursors

    @Test(arguments: [
        FeedPosition.newest, .older("5"), .newer(than: "5"), .newer(than: "9 5 7"), .older("9 5"),
        .older("9 5:6"),
        .older("9 x:6:4"), .older("9 5:x:4"), .older("9 5:6:"), .older("9 5:6:4:3"),
        .newer(than: "5 x"),
        .newer(than: "5 6:x:"), .newer(than: "5 6:7:x"), .newer(than: " 5"), .newer(than: "5 "),
        .older(" : : "),
        .newer(than: "5 6 7:8:9"), .newer(than: "5 6,x"), .newer(than: "5 6,7:"),
        .older("9 5,6:7:4"),
        .older("d41d8cd98f00b204 5:6:4"),
    ])
    func takesNoOtherCursorForASearch(position: FeedPosition) {
        #expect(BrokenItemSearch(position) == nil)
    }

    /// An earlier program reads on from the number that such a cursor begins with, and passes over
    /// nothing.
    @Test(arguments: [
        FeedPosition.older("90 40::39"), .older("90 40:60:39"), .newer(than: "40 50"),
        .newer(than: "40 50:55:60"),
        .newer(than: "40 40"), .newer(than: "40 41,42,50"), .newer(than: "40 41,50:55:60"),
        .newer(than: "40 90:"), .newer(than: "40 90:60"),
    ])
    func aCursorIsThatOfItsSearch(position: FeedPosition) throws {
        let search = try #require(BrokenItemSearch(position))
        switch position {
        case .older(let text), .newer(let text): #expect(search.text == text)
        case .newest: break
        }
    }
}

/// A feed whose requests for a part of it fail where the answer would hold a broken item.
struct PaperFeed {
    enum Habit: Sendable {
        /// As Mastodon does: of what is above `min_id`, the lowest items come first.
        case lowestFirst
        /// The newest items come first, and the caller asks for what is left below a few of them.
        case newestFirst
        /// `min_id` is ignored; the caller notices where it shows.
        case withoutMinimum
    }

    static let failure = NetworkError(
        code: .unavailable, network: .mastodon, host: "paper.example", operation: .readMentions,
        outcome: .notSent)

    private(set) var ids: [String] = []
    private var places: [MastodonPlace] = []
    private var numbers: [String: Int] = [:]
    var broken: Set<Int> = []
    var pageSize = 40
    /// The share of requests that fail without a reason.
    var faultShare = 0.0
    var isDown = false
    private(set) var requests = 0
    private let order: BrokenItemSearchTests.Order
    private let habit: Habit
    private var random: SeededGenerator
    private var last: UInt128

    init(_ order: BrokenItemSearchTests.Order, habit: Habit, count: Int, seed: UInt64) {
        self.order = order
        self.habit = habit
        random = SeededGenerator(seed: seed)
        last =
            switch order {
            case .dense: 5_000
            case .sparse: 115_000_000_000_000_000
            case .ulids: 0x01_9A_00_00_00_00 << 80
            case .flakes: 0x01_9A_00_00_00_00 << 64
            }
        grow(by: count)
    }

    mutating func grow(by count: Int) {
        for _ in 0..<count {
            let isLater = Int.random(in: 0...4, using: &random) > 0
            let milliseconds = UInt128(
                isLater ? UInt64.random(in: 1...9_000_000, using: &random) : 0)
            let low = UInt128(UInt64.random(in: 1...1_000, using: &random))
            switch order {
            case .dense: last += 1
            case .sparse: last += milliseconds << 16 + low
            case .ulids: last += milliseconds << 80 + low << 50
            case .flakes: last += milliseconds << 64 + low
            }
            let id = text(last)
            guard let place = MastodonPlace(id) else { continue }
            numbers[id] = ids.count
            ids.append(id)
            places.append(place)
        }
    }

    private func text(_ number: UInt128) -> String {
        let alphabet: [Character] =
            switch order {
            case .dense, .sparse: Array("0123456789")
            case .ulids: Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
            case .flakes: Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
            }
        let length =
            switch order {
            case .dense, .sparse: 1
            case .ulids: 26
            case .flakes: 18
            }
        var text = ""
        var rest = number
        while rest > 0 || text.count < length {
            text.insert(alphabet[Int(rest % UInt128(alphabet.count))], at: text.startIndex)
            rest /= UInt128(alphabet.count)
        }
        return text
    }

    /// The number of the first item that is not below a place.
    private func index(_ place: MastodonPlace) -> Int {
        var range = places.indices
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range =
                places[middle].isBelow(place)
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    mutating func answer(
        _ request: BrokenItemSearch.Request
    ) throws -> BrokenItemSearch.Answer {
        let since = request.since
        let until = request.until
        requests += 1
        if isDown || Double.random(in: 0..<1, using: &random) < faultShare { throw Self.failure }
        let end = until.map(index) ?? ids.count
        let start = since.map { place in index(place.advanced(by: 1)) } ?? 0
        let size = request.isSingle ? 1 : pageSize
        let (sent, shown): (Range<Int>, Range<Int>)
        switch since == nil ? .newestFirst : habit {
        case .lowestFirst:
            sent = start..<max(start, min(start + size, end))
            shown = sent
        case .newestFirst:
            sent = max(start, end - size)..<max(start, end)
            shown = sent
        case .withoutMinimum:
            sent = max(0, end - size)..<end
            shown = max(start, sent.lowerBound)..<max(start, end)
        }
        guard broken.isDisjoint(with: sent) else { throw Self.failure }
        if since != nil, sent.lowerBound < start, !sent.isEmpty {
            throw NetworkError(
                code: .rejected, network: .mastodon, host: "paper.example",
                operation: .readMentions,
                outcome: .notSent)
        }
        let list = MastodonList(
            entries: shown.reversed().map { MastodonList.Entry(id: ids[$0]) }, link: nil,
            feed: .mentions,
            memory: MastodonMemory(), rateLimit: nil)
        let isCut =
            since != nil && habit != .lowestFirst && shown.lowerBound > start && !shown.isEmpty
        return BrokenItemSearch.Answer(
            list: list, newest: shown.last.map { places[$0] },
            incompleteBelow: isCut ? places[shown.lowerBound] : nil)
    }

    /// The numbers of the items that were read.
    func heard(in list: MastodonList) -> [Int] {
        list.entries.compactMap { entry in entry.id.flatMap { numbers[$0] } }
    }

    /// The numbers of the items with these digests.
    func noted(_ digests: Set<String>) -> Set<Int> {
        Set(
            ids.indices.filter {
                digests.contains(JSONBody.digest("\(Feed.mentions.rawValue) \(ids[$0])".utf8))
            })
    }

    /// Reads from below an item down to the end, item by item, and begins anew from the cursor
    /// before each step of a search.
    ///
    /// - Returns: What was read and noted, and how far the longest search reached.
    mutating func walkDown(
        from item: Int
    ) async throws -> (heard: Set<Int>, noted: Set<Int>, width: UInt128) {
        var cursor = ids[item]
        var heard: Set<Int> = []
        var digests: Set<String> = []
        var width: UInt128 = 0
        for _ in 0..<50_000 {
            if let last = BrokenItemSearch(.older(cursor)) {
                var search = last
                let list = try await search.step(.mentions) { try answer($0) }
                heard.formUnion(self.heard(in: list))
                digests.formUnion(list.entries.compactMap(\.unreadable?.digest))
                cursor = search.cursor(after: last)
                continue
            }
            guard let ceiling = MastodonPlace(cursor) else { break }
            do {
                let list = try answer(.init(until: ceiling, isSingle: true)).list
                heard.formUnion(self.heard(in: list))
                guard let next = list.olderCursor else { return (heard, noted(digests), width) }
                cursor = next
            } catch {
                guard
                    let search = try await BrokenItemSearch.below(
                        ceiling, { try answer($0) }),
                    case .past(_, let below) = search.range
                else { throw error }
                width = max(width, MastodonPlace(below)?.distance(to: ceiling) ?? 0)
                cursor = search.text
            }
        }
        Issue.record("the walk comes to no end at \(cursor)")
        return (heard, noted(digests), width)
    }
}

/// A reader of arrivals, which keeps nothing but its position from one request to the next.
struct PaperReader {
    private(set) var position: String
    private(set) var heard: Set<Int> = []
    private(set) var digests: Set<String> = []

    init(at position: String) { self.position = position }

    /// Reads until nothing more arrives, or as many steps as are allowed; an error ends it.
    mutating func readArrivals(_ feed: inout PaperFeed, steps: Int = 5_000) async throws {
        for _ in 0..<steps {
            do {
                guard try await step(&feed) else { return }
            } catch is NetworkError {
                guard let search = try await begun(&feed) else { return }
                position = search.text
            }
        }
    }

    /// Whether the feed may hold more.
    private mutating func step(_ feed: inout PaperFeed) async throws -> Bool {
        guard let last = BrokenItemSearch(.newer(than: position)) else {
            guard let place = MastodonPlace(position) else { throw PaperFeed.failure }
            let answer = try feed.answer(.init(since: place, isSingle: true))
            take(answer.list, in: feed)
            guard let newest = answer.newest else { return false }
            // What is left below a page that does not reach down to the position is asked for next.
            position =
                newest.text + (answer.incompleteBelow.map { " \(place.text) \($0.text)" } ?? "")
            return true
        }
        var search = last
        take(try await search.step(.mentions) { try feed.answer($0) }, in: feed)
        let next = search.cursor(after: last)
        defer { position = next }
        return next != position
    }

    private mutating func take(_ list: MastodonList, in feed: PaperFeed) {
        heard.formUnion(feed.heard(in: list))
        digests.formUnion(list.entries.compactMap(\.unreadable?.digest))
    }

    private func begun(_ feed: inout PaperFeed) async throws -> BrokenItemSearch? {
        do {
            return try await BrokenItemSearch.above(position) { try feed.answer($0) }
        } catch is NetworkError {
            return nil
        }
    }
}
