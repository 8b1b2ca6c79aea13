import Foundation
import Posts

/// Items of a feed as X sent them, perhaps in several answers.
struct XList {
    private(set) var entries: [LenientElement<XPost>] = []
    private(set) var users: [XUser] = []
    private(set) var rateLimit: RateLimit?
    /// Names the page that follows in the direction of the past; nil at the end of what was asked for.
    private(set) var nextToken: String?
    /// The server named more pages, but nothing came of them.
    private(set) var isCutShort = false
    /// Posts that X says it left out.
    private(set) var missing = 0
    /// X says that something is missing, be it a post or what belongs to one.
    private(set) var hasProblems = false
    /// How many items X sent, those included that were taken out.
    private(set) var received = 0

    init(_ answer: XAnswer<XPost>, rateLimit: RateLimit?) {
        entries = answer.items
        users = answer.users.compactMap(\.value)
        nextToken = answer.nextToken
        missing = answer.problems.count(where: \.isAboutPost)
        hasProblems = !answer.problems.isEmpty
        received = answer.items.count
        self.rateLimit = rateLimit
    }

    var ids: [String] { entries.compactMap(\.id).filter(XID.isUsable) }

    /// Takes out what lies outside of two ids, which a server sent although it was not asked for.
    ///
    /// - Parameters:
    ///   - since: An id that is not wanted itself; only newer ones are.
    ///   - until: An id that is not wanted itself; only older ones are.
    /// - Returns: Whether there was something at or below `since`, so that the list reaches down to it.
    mutating func keep(since: String?, until: String?) -> Bool {
        let isTooOld = { (id: String) in since.map { !XID.isNewer(id, than: $0) } ?? false }
        let isTooNew = { (id: String) in until.map { !XID.isNewer($0, than: id) } ?? false }
        let reachesSince = ids.contains(where: isTooOld)
        entries.removeAll { entry in entry.id.map { isTooOld($0) || isTooNew($0) } ?? false }
        return reachesSince
    }

    /// Keeps the first `count` items.
    mutating func keep(first count: Int) {
        entries.removeLast(max(0, entries.count - count))
    }

    /// Takes out items by their ids.
    mutating func remove(_ ids: Set<String>) {
        entries.removeAll { $0.id.map(ids.contains) ?? false }
    }

    /// Takes this for the end, whatever the server says.
    mutating func end() {
        nextToken = nil
        isCutShort = true
    }

    /// Adds the page that follows.
    mutating func append(_ next: XList) {
        entries += next.entries
        users += next.users
        nextToken = next.nextToken
        missing += next.missing
        hasProblems = hasProblems || next.hasProblems
        received += next.received
        rateLimit = next.rateLimit ?? rateLimit
    }

    /// The page in our own terms, without cursors.
    func page(of feed: Feed, with translator: XTranslator) -> FeedPage {
        var items: [ObservedPost] = []
        var keys: Set<String> = []
        var skipped = missing
        for entry in entries {
            guard let post = entry.value.flatMap({ translator.post($0, in: feed) }) else {
                skipped += 1
                continue
            }
            if keys.insert(post.repetitionKey).inserted { items.append(post) }
        }
        return FeedPage(items: items, received: received, skipped: skipped, rateLimit: rateLimit)
    }
}
