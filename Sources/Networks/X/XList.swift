import Foundation
import Posts

/// Items of a feed as X sent them, perhaps in several answers.
struct XList {
    /// One item.
    struct Entry {
        let id: String?
        /// Nil for what cannot be read.
        let post: XPost?
        /// Which of the answers it came with, and its place there.
        fileprivate let source: (body: Int, place: Int)
    }

    private(set) var entries: [Entry] = []
    private(set) var users: [XUser] = []
    private(set) var rateLimit: RateLimit?
    /// Names the page that follows in the direction of the past; nil at the end of what was asked for.
    private(set) var nextToken: String?
    /// The server named more pages, but nothing came of them.
    private(set) var isCutShort = false
    /// Posts that X says it left out.
    private var missing: [UnreadableItem] = []
    /// The answers as they came, for what cannot be read.
    private var bodies: [[UInt8]] = []
    /// X says that something is missing, be it a post or what belongs to one.
    private(set) var hasProblems = false
    /// How many items X sent, those included that were taken out.
    private(set) var received = 0

    init(_ answer: XAnswer<XPost>, body: [UInt8], rateLimit: RateLimit?) {
        entries = answer.items.enumerated().map { Entry(id: $1.id, post: $1.value, source: (0, $0)) }
        bodies = [body]
        users = answer.users.compactMap(\.value)
        nextToken = answer.nextToken
        missing = answer.problems.filter(\.isAboutItem).map { problem in
            let said = [problem.kind, problem.resourceID, problem.detail].map { $0 ?? "" }.joined(separator: " ")
            return UnreadableItem(
                address: problem.resourceID, digest: JSONBody.digest(said.utf8), cause: "X withholds it")
        }
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
        let count = bodies.count
        entries += next.entries.map {
            Entry(id: $0.id, post: $0.post, source: ($0.source.body + count, $0.source.place))
        }
        bodies += next.bodies
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
        var unreadable = missing
        var digests: [Int: [String]] = [:]
        for entry in entries {
            guard let post = entry.post.flatMap({ translator.post($0, in: feed) }) else {
                let (body, place) = entry.source
                let known = digests[body] ?? JSONBody.digests(of: bodies[body], under: "data")
                digests[body] = known
                unreadable.append(
                    UnreadableItem(
                        address: entry.id.flatMap { XID.isUsable($0) ? $0 : nil },
                        digest: known.indices.contains(place) ? known[place] : "",
                        cause: entry.post == nil ? "it is not as posts are" : "it has no text or no author"))
                continue
            }
            if keys.insert(post.repetitionKey).inserted { items.append(post) }
        }
        return FeedPage(items: items, received: received, unreadable: unreadable, rateLimit: rateLimit)
    }
}
