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

/// Somebody's posts in the order of their keys, kept so while new ones come.
struct OrderedPosts: Sendable {
    private(set) var items: [(key: String, id: Int64)] = []
    private var deletions = 0

    /// Takes in what is new.
    ///
    /// - Parameters:
    ///   - ids: All posts of the person in the order of their coming.
    ///   - deletions: How many posts were ever deleted; with another number everything is put in order anew.
    ///   - key: The key of a post.
    mutating func update(to ids: [Int64], deletions: Int, key: (Int64) -> String) {
        if deletions != self.deletions {
            self.deletions = deletions
            items = []
        }
        guard items.count < ids.count else { return }
        let new = ids[items.count...].map { (key: key($0), id: $0) }.sorted { $0.key < $1.key }
        guard let first = new.first else { return }
        // Nearly always everything new belongs at the end.
        let place = items.index(below: first.key, by: \.key, orEqual: true)
        let tail = items[place...] + new
        items.replaceSubrange(place..., with: tail.sorted { $0.key < $1.key })
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
        guard written[person] != nil else {
            return bounds.page(of: state.postsByAuthor[person], by: { key(of: $0) }, read: { entry(of: $0, in: state) })
        }
        // Keys that clients chose need not follow the order of arrival; all others do.
        var ordered = orderedPosts.removeValue(forKey: person) ?? OrderedPosts()
        ordered.update(to: state.postsByAuthor[person], deletions: state.deleted.count) { key(of: $0) }
        orderedPosts[person] = ordered
        return bounds.page(of: ordered.items, by: \.key, read: { entry(of: $0.id, in: state) })
    }

    private mutating func listLikes(of person: Int, _ bounds: RecordBounds, in state: SandboxState) -> [Entry] {
        var entries = (likes[person] ?? [:]).values.map(\.entry)
        for favorite in state.favorites[person] ?? [] where !hasLike(of: favorite.post, by: person) {
            if let entry = like(for: favorite, of: person, in: state) { entries.append(entry) }
        }
        return bounds.page(of: entries.sorted { $0.key < $1.key }, by: \.key) { $0 }
    }
}
