/// One page of a list that is kept in ascending order of its ids, cut as Mastodon cuts it.
struct WirePage: Sendable {
    /// The asked-for part of a list.
    struct Bounds: Sendable {
        var older: Int64?
        var since: Int64?
        var newer: Int64?
        var limit: Int

        static let parameters: Set<String> = ["max_id", "since_id", "min_id", "limit"]

        /// - Throws: 400 for a limit or an id that is none.
        init(_ call: MastodonCall, of list: MastodonHabits.List) throws(WireRefusal) {
            let habits = call.habits
            older = try Self.id("max_id", call)
            since = try Self.id("since_id", call)
            newer = try Self.id("min_id", call)
            if habits.ignoresSinceID.contains(list) { since = nil }
            if habits.ignoresMinID.contains(list) { newer = nil }
            if habits.takesMinIDForSinceID.contains(list), let bound = newer {
                since = max(since ?? bound, bound)
                newer = nil
            }
            let size = habits.pageSizes[list] ?? Self.usual(list)
            let asked = try Self.limit(call)
            limit = habits.fixedPageSize ?? min(asked ?? size.standard, size.maximum)
        }

        private static func usual(_ list: MastodonHabits.List) -> MastodonHabits.PageSize {
            list == .notifications ? .init(standard: 40, maximum: 80) : .init(standard: 20, maximum: 40)
        }

        private static func id(_ name: String, _ call: MastodonCall) throws(WireRefusal) -> Int64? {
            guard let text = call.parameter(name) else { return nil }
            guard let number = call.habits.ids.number(of: text) else {
                throw WireRefusal(status: 400, message: "Bad Request: \(name) must be an id")
            }
            return number
        }

        private static func limit(_ call: MastodonCall) throws(WireRefusal) -> Int? {
            guard let text = call.parameter("limit") else { return nil }
            guard let number = Int(text), number > 0 else {
                throw WireRefusal(status: 400, message: "Bad Request: limit must be a positive number")
            }
            return number
        }
    }

    /// The ids on the page, newest first.
    var ids: [Int64]
    /// Whether as many were found as were asked for.
    var isFull: Bool

    /// - Parameters:
    ///   - ascending: All ids of the list.
    ///   - bounds: `max_id` and `since_id` give the newest ones between them; `min_id` gives those right above it.
    ///   - isVisible: Leaves ids out as if they were not in the list.
    init(_ ascending: [Int64], bounds: Bounds, isVisible: (Int64) -> Bool = { _ in true }) {
        self.init(ascending, by: \.self, bounds: bounds, isVisible: isVisible)
    }

    /// The same for a list of things that have ids.
    init<Item>(
        _ ascending: [Item], by id: (Item) -> Int64, bounds: Bounds, isVisible: (Item) -> Bool = { _ in true }
    ) {
        let first = ascending.firstIndex(above: max(bounds.since ?? 0, bounds.newer ?? 0), by: id)
        let last = bounds.older.map { ascending.firstIndex(above: $0 - 1, by: id) } ?? ascending.count
        let range = first < last ? ascending[first..<last] : []
        if bounds.newer != nil {
            ids = Self.take(range, bounds.limit, isVisible).reversed().map(id)
        } else {
            ids = Self.take(range.reversed(), bounds.limit, isVisible).map(id)
        }
        isFull = ids.count >= bounds.limit
    }

    private static func take<Item>(
        _ items: some Sequence<Item>, _ limit: Int, _ isVisible: (Item) -> Bool
    ) -> [Item] {
        var taken: [Item] = []
        for item in items {
            guard taken.count < limit else { break }
            if isVisible(item) { taken.append(item) }
        }
        return taken
    }
}

extension Array {
    /// The index of the first element whose id is greater than `bound`; the ids ascend.
    func firstIndex(above bound: Int64, by id: (Element) -> Int64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if id(self[middle]) > bound { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The element with the id; the ids ascend.
    func element(withID wanted: Int64, by id: (Element) -> Int64) -> Element? {
        let index = firstIndex(above: wanted, by: id) - 1
        return index >= 0 && id(self[index]) == wanted ? self[index] : nil
    }
}
