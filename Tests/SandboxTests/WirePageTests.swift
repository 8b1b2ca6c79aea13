import Foundation
import Testing

@testable import Sandbox

@Suite struct WirePageTests {
    private static let all: [Int64] = [10, 20, 30, 40, 50]

    private func page(
        older: Int64? = nil, since: Int64? = nil, newer: Int64? = nil, limit: Int, of ids: [Int64] = all
    ) throws -> WirePage {
        let query = [("max_id", older), ("since_id", since), ("min_id", newer), ("limit", Int64(limit))]
        let request = WireRequest(method: "GET", target: "/", headers: [], body: [])
        let call = MastodonCall(
            request: request, segments: [],
            query: query.compactMap { name, value in value.map { (name, String($0)) } },
            fields: try WireFields(request, allowed: []), caller: nil, scopes: [], now: .distantPast,
            habits: MastodonHabits())
        return WirePage(ids, bounds: try WirePage.Bounds(call, of: .home))
    }

    @Test func givesTheNewestFirst() throws {
        #expect(try page(limit: 2).ids == [50, 40])
        #expect(try page(limit: 9).ids == [50, 40, 30, 20, 10])
        #expect(try page(limit: 9, of: []).ids == [])
    }

    @Test func excludesTheBoundsThemselves() throws {
        #expect(try page(older: 30, limit: 9).ids == [20, 10])
        #expect(try page(since: 30, limit: 9).ids == [50, 40])
        #expect(try page(newer: 30, limit: 9).ids == [50, 40])
        #expect(try page(older: 35, limit: 1).ids == [30])
        #expect(try page(older: 10, limit: 9).ids == [])
        #expect(try page(newer: 50, limit: 9).ids == [])
    }

    @Test func differsBetweenSinceAndMin() throws {
        #expect(try page(since: 10, limit: 2).ids == [50, 40])
        #expect(try page(newer: 10, limit: 2).ids == [30, 20])
    }

    @Test func combinesBounds() throws {
        #expect(try page(older: 50, newer: 10, limit: 2).ids == [30, 20])
        #expect(try page(older: 50, since: 10, limit: 2).ids == [40, 30])
        #expect(try page(older: 20, newer: 40, limit: 2).ids == [])
    }

    @Test func tellsWhetherThereMayBeMore() throws {
        #expect(try page(limit: 5).isFull)
        #expect(try !page(limit: 6).isFull)
    }

    @Test func keepsToTheMaximum() throws {
        #expect(try page(limit: 500, of: Array(1...100)).ids.count == 40)
    }
}
