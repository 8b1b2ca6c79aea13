import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Networks
@testable import X

/// Favorites have no order that can be asked for: what is new is found from the top.
@Suite struct XFavoriteTests {
    /// A list of favorites, newest first, paged by tokens.
    private final class Favorites: Sendable {
        private let lock = NSLock()
        // Sendable: every access holds the lock.
        nonisolated(unsafe) private var ids: [Int]
        nonisolated(unsafe) private var staleTokens = false

        init(_ ids: [Int]) {
            self.ids = ids
        }

        func set(_ ids: [Int]) { lock.withLock { self.ids = ids } }

        /// Makes every token given so far unknown.
        func forgetTokens() { lock.withLock { staleTokens = true } }

        func answer(_ request: LoopbackServer.Request) -> Answer? {
            guard request.path == "/2/users/42/liked_tweets" else { return nil }
            let (ids, isStale) = lock.withLock { (self.ids, staleTokens) }
            let query = request.query
            if query["pagination_token"] != nil, isStale {
                lock.withLock { staleTokens = false }
                return XWire.refusal(400, "invalid-request")
            }
            let offset = query["pagination_token"].flatMap { Int($0.dropFirst()) } ?? 0
            let page = ids.dropFirst(offset).prefix(Int(query["max_results"] ?? "") ?? 10)
            let end = offset + page.count
            return .json(
                XWire.list(
                    page.map { XWire.post(String($0)) }, next: end < ids.count ? "t\(end)" : nil))
        }
    }

    /// What a walk from a cursor finds, and the cursor after it.
    private func read(_ network: XNetwork, from cursor: String) async throws -> (
        found: [Int], cursor: String
    ) {
        var walk = FeedWalk(of: network, .favorites, from: .newer(than: cursor))
        var found: [Int] = []
        while let page = try await walk.next() {
            found += page.items.compactMap { Int($0.address) }
        }
        return (found, walk.newer ?? cursor)
    }

    @Test func remembersTheNewest() async throws {
        let favorites = Favorites(Array((1...20).reversed()))
        let loopback = try XLoopback { favorites.answer($0) }
        let page = try await loopback.network.page(.favorites, .newest)
        #expect(page.items.count == 20)
        expect(page.items.map(\.isFavorited)) { $0.allSatisfy { $0 } }
        #expect(page.newer == "20,19,18,17,16,15,14,13,12,11")
        #expect(page.older == nil)
    }

    @Test(arguments: [0, 1, 19, 20, 21, 120, 121, 330])
    func readsThemToTheirEnd(count: Int) async throws {
        let favorites = Favorites(Array((1...331).prefix(count).reversed()))
        let loopback = try XLoopback { favorites.answer($0) }
        var walk = FeedWalk(of: loopback.network, .favorites, from: .newest)
        var found: [String] = []
        while let page = try await walk.next() { found += page.items.map(\.address) }
        #expect(found == descending(1..<count + 1))
        #expect(walk.isComplete)
    }

    @Test(arguments: [0, 1, 8, 9, 10, 11, 29, 30, 31, 75])
    func findsWhatIsNew(arrived: Int) async throws {
        let favorites = Favorites(Array((1...30).reversed()))
        let loopback = try XLoopback { favorites.answer($0) }
        let cursor = try #require(try await loopback.network.page(.favorites, .newest).newer)
        favorites.set(Array((1...(30 + arrived)).reversed()))
        let (found, next) = try await read(loopback.network, from: cursor)
        #expect(found == Array((31...131).prefix(arrived).reversed()))
        #expect(next == descending(arrived + 21..<arrived + 31).joined(separator: ","))
        let (again, same) = try await read(loopback.network, from: next)
        #expect(again.isEmpty)
        #expect(same == next)
    }

    /// Nobody tells when favorites are taken back.
    @Test func findsWhatIsNewThoughOthersAreGone() async throws {
        let favorites = Favorites([10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        let loopback = try XLoopback { favorites.answer($0) }
        let cursor = try #require(try await loopback.network.page(.favorites, .newest).newer)
        favorites.set([12, 11, 7, 6, 5, 4, 3, 2, 1])
        try await expect(read(loopback.network, from: cursor).found, equals: [12, 11])
    }

    /// A favorite that was taken back and given again stands above others that are new.
    @Test func aKnownFavoriteAtTheTopHidesNothing() async throws {
        let favorites = Favorites([10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        let loopback = try XLoopback { favorites.answer($0) }
        let cursor = try #require(try await loopback.network.page(.favorites, .newest).newer)
        favorites.set([9] + Array((11...40).reversed()) + [10, 8, 7, 6, 5, 4, 3, 2, 1])
        try await expect(
            read(loopback.network, from: cursor).found, equals: Array((11...40).reversed()))
    }

    @Test func aSingleFavoriteIsEnough() async throws {
        let favorites = Favorites([1])
        let loopback = try XLoopback { favorites.answer($0) }
        let cursor = try #require(try await loopback.network.page(.favorites, .newest).newer)
        favorites.set([3, 2, 1])
        let (found, next) = try await read(loopback.network, from: cursor)
        #expect(found == [3, 2])
        #expect(next == "3,2,1")
        favorites.set([])
        let (gone, same) = try await read(loopback.network, from: next)
        #expect(gone.isEmpty)
        #expect(same == next)
    }

    /// The reader stops in the middle, and X has forgotten the page that was to follow.
    @Test(arguments: [false, true])
    func goesOnWhereItStopped(isForgotten: Bool) async throws {
        let favorites = Favorites(Array((1...10).reversed()))
        let loopback = try XLoopback { favorites.answer($0) }
        let cursor = try #require(try await loopback.network.page(.favorites, .newest).newer)
        favorites.set(Array((1...60).reversed()))
        let first = try await loopback.network.page(.favorites, .newer(than: cursor))
        #expect(first.items.map(\.address) == descending(51...60))
        let middle = try #require(first.newer)
        #expect(middle == cursor + ";60,59,58,57,56,55,54,53,52,51;t10")
        if isForgotten { favorites.forgetTokens() }
        let (found, next) = try await read(loopback.network, from: middle)
        #expect(Set(found).isSuperset(of: 11...50))
        #expect(Set(found).isDisjoint(with: 1...10))
        #expect(next == "60,59,58,57,56,55,54,53,52,51")
    }

    @Test(arguments: ["", ",", "a", "1;2", "1;;t", "1;2;", "1;x;t", "1;2;t;u", ";1;t"])
    func positionsOfOtherKindsAreRefused(cursor: String) async throws {
        let loopback = try XLoopback { _ in nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.favorites, .newer(than: cursor))
        }
        #expect(error.code == .rejected)
        #expect(loopback.requests.isEmpty)
    }

    @Test func aTokenIsKeptAsItIs() throws {
        let cursor = XFavoriteCursor(
            known: ["2", "1"], scan: .init(newKnown: ["4", "3"], nextPage: "a;b,c%/=☃"))
        #expect(XFavoriteCursor(cursor.text) == cursor)
    }
}
