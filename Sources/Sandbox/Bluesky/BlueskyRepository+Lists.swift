import Foundation
import Posts

/// Which part of a collection is asked for.
struct RecordBounds: Sendable {
    var limit: Int
    /// The key of the last record of the page before.
    var cursor: String?
    /// The smallest key first.
    var isReversed: Bool

    /// The first records beyond the cursor, in the order asked for.
    ///
    /// - Parameters:
    ///   - items: In the order of their keys.
    ///   - key: The key of an item.
    ///   - read: Gives the record; nil leaves the item out.
    /// - Returns: As many records as the limit allows.
    func page<Item>(
        of items: [Item], by key: (Item) -> String, read: (Item) -> BlueskyRepository.Entry?
    ) -> [BlueskyRepository.Entry] {
        var page: [BlueskyRepository.Entry] = []
        if isReversed {
            var index = cursor.map { items.index(below: $0, by: key, orEqual: true) } ?? 0
            while index < items.count, page.count < limit {
                if let entry = read(items[index]) { page.append(entry) }
                index += 1
            }
        } else {
            var index = cursor.map { items.index(below: $0, by: key, orEqual: false) } ?? items.count
            while index > 0, page.count < limit {
                index -= 1
                if let entry = read(items[index]) { page.append(entry) }
            }
        }
        return page
    }
}

extension Array {
    /// The number of elements whose key is smaller than `bound`, or not greater; the keys ascend.
    fileprivate func index(below bound: String, by key: (Element) -> String, orEqual: Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            let candidate = key(self[middle])
            if candidate < bound || (orEqual && candidate == bound) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Collections in the order of their keys.
extension BlueskyRepository {
    /// The records of a collection; none where the collection is not kept.
    mutating func list(
        _ collection: String, of person: Int, _ bounds: RecordBounds, in state: SandboxState
    ) -> [Entry] {
        switch collection {
        case RecordAddress.posts: return listPosts(of: person, bounds, in: state)
        case RecordAddress.likes: return listLikes(of: person, bounds, in: state)
        case RecordAddress.profiles:
            return bounds.page(of: [profile(of: person, in: state).entry], by: \.key) { $0 }
        default: return []
        }
    }

    private mutating func listPosts(of person: Int, _ bounds: RecordBounds, in state: SandboxState) -> [Entry] {
        var ids = state.postsByAuthor[person]
        if written[person] != nil {
            // Keys that clients chose need not follow the order of arrival; all others do.
            ids = ids.map { (key: key(of: $0), id: $0) }.sorted { $0.key < $1.key }.map(\.id)
        }
        return bounds.page(of: ids, by: { key(of: $0) }, read: { entry(of: $0, in: state) })
    }

    private mutating func listLikes(of person: Int, _ bounds: RecordBounds, in state: SandboxState) -> [Entry] {
        var entries = (likes[person] ?? [:]).values.map(\.entry)
        let own = Set((likes[person] ?? [:]).values.map(\.post))
        for favorite in state.favorites[person] ?? [] where !own.contains(favorite.post) {
            if let entry = like(for: favorite, of: person, in: state) { entries.append(entry) }
        }
        return bounds.page(of: entries.sorted { $0.key < $1.key }, by: \.key) { $0 }
    }
}
