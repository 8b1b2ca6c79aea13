import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct WirePageTests {
    private static let all: [Int64] = [10, 20, 30, 40, 50]

    private func page(
        older: Int64? = nil, since: Int64? = nil, newer: Int64? = nil, limit: Int,
        of ids: [Int64] = all
    ) throws -> WirePage {
        let query = [
            ("max_id", older), ("since_id", since), ("min_id", newer), ("limit", Int64(limit)),
        ]
        let request = WireRequest(method: "GET", target: "/", headers: [], body: [])
        let call = MastodonCall(
            request: request, segments: [],
            query: query.compactMap { name, value in value.map { (name, String($0)) } },
            fields: try WireFields(request, allowed: []), caller: nil, scopes: [],
            now: .distantPast,
            habits: MastodonHabits())
        return WirePage(ids, bounds: try WirePage.Bounds(call, of: .home))
    }

    @Test func givesTheNewestFirst() throws {
        try expect(page(limit: 2).ids, equals: [50, 40])
        try expect(page(limit: 9).ids, equals: [50, 40, 30, 20, 10])
        try expect(page(limit: 9, of: []).ids, equals: [])
    }

    @Test func excludesTheBoundsThemselves() throws {
        try expect(page(older: 30, limit: 9).ids, equals: [20, 10])
        try expect(page(since: 30, limit: 9).ids, equals: [50, 40])
        try expect(page(newer: 30, limit: 9).ids, equals: [50, 40])
        try expect(page(older: 35, limit: 1).ids, equals: [30])
        try expect(page(older: 10, limit: 9).ids, equals: [])
        try expect(page(newer: 50, limit: 9).ids, equals: [])
    }

    @Test func differsBetweenSinceAndMin() throws {
        try expect(page(since: 10, limit: 2).ids, equals: [50, 40])
        try expect(page(newer: 10, limit: 2).ids, equals: [30, 20])
    }

    @Test func combinesBounds() throws {
        try expect(page(older: 50, newer: 10, limit: 2).ids, equals: [30, 20])
        try expect(page(older: 50, since: 10, limit: 2).ids, equals: [40, 30])
        try expect(page(older: 20, newer: 40, limit: 2).ids, equals: [])
    }

    @Test func tellsWhetherThereMayBeMore() throws {
        try expect(page(limit: 5)) { $0.isFull }
        try expect(page(limit: 6)) { !$0.isFull }
    }

    @Test func keepsToTheMaximum() throws {
        try expect(page(limit: 500, of: Array(1...100)).ids.count, equals: 40)
    }
}
