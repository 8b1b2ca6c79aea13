import Foundation
import Posts

/// The state of one household: some kilobytes, most of them the human's past.
struct TownHousehold: Sendable {
    /// The number of newest posts that are kept; older ones are removed.
    static let postsAtMost = 600
    /// Seconds for which an idempotency key is known.
    private static let keyLifetime = 3_600.0

    /// A favorite; its id is the cursor of the pages of favorites.
    struct Favorite: Sendable {
        var id: Int64
        var post: Int64
    }

    let number: Int
    /// The posts, sorted by id.
    var posts: [TownPost]
    var humanFavorites: [Favorite] = []
    var botFavorites: [Favorite] = []
    /// The texts of the bot's posts, by the id of the post.
    var texts: [Int64: String] = [:]
    /// The post of each idempotency key.
    private var keys: [String: Int64] = [:]
    /// Hashes of the bot's texts, each with the id of the post that it answers.
    var sentTexts: Set<Int> = []
    /// The number of answers by person and local day, for the courtesy cap.
    var answers: [Int: Int] = [:]
    /// The times at which the bot's mentions were first and last read.
    var firstPoll: Date?
    var lastPoll: Date?
    /// The count of requests in the current window, of the human's and the bot's account.
    var windows: [(window: Int, used: Int)] = [(0, 0), (0, 0)]

    /// The day whose events are in `pending`.
    private var day: Int
    private var pending: [TownEvent]
    private var nextEvent = 0

    init(_ number: Int, plan: TownPlan) {
        self.number = number
        posts = plan.past(of: number)
        day = TownPlan.day(of: plan.origin)
        let begin = plan.origin.milliseconds
        pending = plan.events(of: number, onDay: day).filter { $0.milliseconds >= begin }
    }

    private init() {
        number = -1
        posts = []
        day = 0
        pending = []
    }

    /// Replaces a household while a request changes it.
    static let placeholder = TownHousehold()

    /// Lets all events up to and including an instant happen.
    mutating func advance(to now: Date, plan: TownPlan, ledger: inout TownLedger) {
        guard plan.pace == .lively else { return }
        let limit = now.milliseconds
        let today = TownPlan.day(of: now)
        while true {
            while nextEvent < pending.count, pending[nextEvent].milliseconds <= limit {
                apply(pending[nextEvent], ledger: &ledger)
                nextEvent += 1
            }
            guard day < today else { return }
            day += 1
            pending = plan.events(of: number, onDay: day)
            nextEvent = 0
        }
    }

    private mutating func apply(_ event: TownEvent, ledger: inout TownLedger) {
        let date = Date(milliseconds: event.milliseconds)
        switch event.action {
        case .post(let author):
            insert(TownPost(id: nextID(at: date), author: author, kind: .own, seed: event.seed))
        case .mention(let author):
            let post = TownPost(
                id: nextID(at: date), author: author, kind: .mention, mentioned: .bot,
                seed: event.seed)
            insert(post)
            // A bot that has not read its mentions yet does not notice them.
            let isHeard = firstPoll.map { $0 < date } == true
            ledger.mentions.append(
                .init(
                    household: number, id: post.id, date: post.date,
                    deservesReply: isHeard && author != .stranger))
        case .favorite(let friend):
            guard let index = posts.lastIndex(where: { $0.author == friend && $0.kind == .own }),
                !posts[index].isFavoritedByHuman
            else { return }
            posts[index].isFavoritedByHuman = true
            humanFavorites.append(
                Favorite(id: TownPlan.id(at: date, in: number), post: posts[index].id))
        }
    }

    /// An id for a new object, greater than all others.
    func nextID(at date: Date) -> Int64 {
        max(TownPlan.id(at: date, in: number), (posts.last?.id ?? 0) + 100_000)
    }

    mutating func insert(_ post: TownPost) {
        posts.append(post)
        guard posts.count > Self.postsAtMost + 100 else { return }
        for old in posts.prefix(100) { texts[old.id] = nil }
        posts.removeFirst(100)
    }

    /// The index of a post; `nil` if no post has the id.
    func index(of id: Int64) -> Int? {
        let index = posts.firstIndex(above: id, by: \.id) - 1
        return index >= 0 && posts[index].id == id ? index : nil
    }

    func post(_ id: Int64) -> TownPost? { index(of: id).map { posts[$0] } }

    /// The post that was published with a key within the hour.
    func post(ofKey key: String, at now: Date) -> TownPost? {
        keys[key].flatMap(post).flatMap {
            now.timeIntervalSince($0.date) < Self.keyLifetime ? $0 : nil
        }
    }

    mutating func remember(key: String, of id: Int64) {
        // An id is a number of milliseconds with five more digits; keys of the last hour are kept.
        if keys.count >= 200 { keys = keys.filter { id - $0.value < 3_600_000 * 100_000 } }
        keys[key] = id
    }

    /// Adds a favorite of the bot; `false` if it existed already.
    mutating func favorite(_ index: Int, at now: Date) -> Bool {
        guard !posts[index].isFavoritedByBot else { return false }
        posts[index].isFavoritedByBot = true
        botFavorites.append(Favorite(id: TownPlan.id(at: now, in: number), post: posts[index].id))
        return true
    }

    /// Counts a request of an account and returns its number in these five minutes.
    mutating func countRequest(by part: TownPart, window: Int) -> Int {
        let index = part == .bot ? 1 : 0
        if windows[index].window != window { windows[index] = (window, 0) }
        windows[index].used += 1
        return windows[index].used
    }
}
