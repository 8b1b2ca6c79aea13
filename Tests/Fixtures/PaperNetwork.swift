package import Foundation
import NetworkNames
package import Networks
package import Posts
import X

/// A network on paper, for capabilities, prices and failures that no server here can be made to
/// have on demand.
///
/// Feeds grow at their newest end; cursors are positions in them. Everything else is what the test
/// writes down.
package final class PaperNetwork: SocialNetwork, @unchecked Sendable {
    // Sendable because every access to a variable of `state` holds the lock.
    package struct State {
        package var account: Account
        package var capabilities: Capabilities
        /// Oldest first.
        package var feeds: [Feed: [ObservedPost]] = [:]
        package var pageSize = 20
        /// Answers with posts whose texts are together longer than this do not fit.
        package var largestAnswer = Int.max
        /// The addresses of posts that cannot be read.
        package var unreadable: Set<String> = []
        /// What a page leads to that has a certain post, by the post's address.
        package var breaking: [String: NetworkError.Code] = [:]
        /// What asking for the thread of a post leads to, by its address.
        package var threads: [String: NetworkError.Code] = [:]
        /// Replies that the network does not notify of, by the address of what they answer.
        package var replies: [String: [ObservedPost]] = [:]
        /// Sends everything again whatever the cursor says.
        package var ignoresCursors = false
        /// Cursors that older pages are read below in place of others.
        package var repeated: [String: String] = [:]
        package var rateLimit: RateLimit?
        /// The names of the server's own emoji.
        package var emoji: Set<String> = []
        /// What the server says to those who use it.
        package var statements: [String] = []
        /// The state of the account; nil for a network that does not tell.
        package var standing: AccountStanding?
        /// Posts that can be asked for by their identity; nil: no post can.
        package var known: [PostID: ObservedPost]?
        /// How far the local clock is ahead of its own.
        package var clockLead: TimeInterval?
        /// Whether posts are shown to who has no login; nil: nobody can ask.
        package var isShownToAnybody: Bool?
        package var showsDeleted = false
        /// What a look at what is new shows again of the account's own posts.
        package var shownAgain: [ObservedPost] = []
        /// What one item costs.
        package var price: Money?
        /// Thrown instead of answering; asked before each call.
        package var failure: @Sendable (NetworkError.Operation, FeedPosition?) -> NetworkError? = {
            _, _ in nil
        }
        /// Cuts every call off although nobody cancelled anything.
        package var cutsCallsOff = false
        package var onPage: @Sendable (Int) -> Void = { _ in }
        /// What happens while a change is prepared, and after its request has left.
        package var onPrepare: @Sendable () async throws -> Void = {}
        package var onSend: @Sendable () async throws -> Void = {}
        /// What happens while a thread is asked for.
        package var onThread: @Sendable () async throws -> Void = {}
        /// How many prepared changes were withdrawn.
        package var withdrawn = 0

        package var looks: [Look] = []
        package var calls: [NetworkError.Operation] = []
        package var published: [Draft] = []
        package var favorited: [FavoriteDraft] = []
        package var lookedUp: [String] = []
        /// The addresses of posts that lists leave out, but no question for one of them.
        package var leftOut: Set<String> = []
        /// The lists of addresses that were asked for.
        package var listed: [[String]] = []
        /// Pays for lists; nil where the money has no end.
        package var book: (any SpendingBook)?
        package var now: @Sendable () -> Date = { PaperMirror.now }
        package var deleted: Set<String> = []
        package var edited: [(address: String, draft: Draft)] = []
    }

    package struct Look: Equatable {
        package var feed: Feed
        package var position: FeedPosition

        package init(feed: Feed, position: FeedPosition) {
            self.feed = feed
            self.position = position
        }
    }

    package let name: NetworkName
    package let host = "paper.example"
    private let lock = NSLock()
    private var state: State

    package init(_ name: NetworkName, account: String = "bot", capabilities: Capabilities? = nil) {
        self.name = name
        state = State(
            account: Account(
                id: AccountID(network: name, value: account), handle: account, isBot: true,
                address: account),
            capabilities: capabilities ?? .paper(name))
    }

    /// Reads or changes what is written down.
    package func with<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        try lock.withLock { try body(&state) }
    }

    package var capabilities: Capabilities { with { $0.capabilities } }

    package var clockLead: TimeInterval? { with { $0.clockLead } }

    package var looks: [Look] { with { $0.looks } }

    /// Answers every call of one kind with an error, and no other; nil for none.
    package func fail(
        _ failing: NetworkError.Operation?, _ code: NetworkError.Code = .unavailable,
        outcome: NetworkError.Outcome = .notSent
    ) {
        with { state in
            state.failure = { [unowned self] operation, _ in
                operation == failing ? error(code, operation, outcome: outcome) : nil
            }
        }
    }

    /// Adds posts at the newest end of a feed.
    package func add(_ posts: [ObservedPost], to feed: Feed) {
        with { $0.feeds[feed, default: []] += posts }
    }

    package func verifyAccount() async throws -> Account {
        try check(.verifyAccount)
        return with { $0.account }
    }

    package func limits() async throws -> PublishingLimits { .usual(of: name) }

    package func emoji() async throws -> Set<String> {
        try check(.readEmoji)
        return with { $0.emoji }
    }

    package func serverStatements() async throws -> [String] {
        try check(.readRules)
        return with { $0.statements }
    }

    package func standing(of account: AccountID) async throws -> AccountStanding? {
        try check(.readProfile)
        return with { $0.standing }
    }

    package func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage {
        try check(Self.operations[feed] ?? .readHome, position)
        return try with { state in
            state.looks.append(Look(feed: feed, position: position))
            var position = position
            if case .older(let cursor) = position, let other = state.repeated[cursor] {
                position = .older(other)
            }
            let all = state.feeds[feed] ?? []
            let end = all.count
            let size = min(size ?? state.pageSize, state.pageSize)
            let hidden = max(0, end - (state.capabilities.depths[feed] ?? end))
            let (range, isBackwards) = Self.range(
                position, hidden..<end, size, all: state.ignoresCursors)
            var items = Array(all[range].reversed())
            if let code = items.compactMap({ state.breaking[$0.address] }).first {
                throw error(code)
            }
            var unreadable = items.filter { state.unreadable.contains($0.address) }.map {
                UnreadableItem(address: $0.address, digest: "digest", cause: "not a post")
            }
            items.removeAll { state.unreadable.contains($0.address) }
            if items.map({ $0.post.text.utf8.count }).reduce(0, +) > state.largestAnswer {
                guard items.count == 1 else { throw error(.tooLarge) }
                unreadable += items.map {
                    UnreadableItem(address: $0.address, digest: "large", cause: "too large")
                }
                items = []
            }
            state.onPage(items.count)
            let newer: String? =
                if isBackwards {
                    "\(end)"
                } else if range.isEmpty {
                    nil
                } else {
                    "\(range.upperBound)"
                }
            var page = FeedPage(
                items: items,
                older: isBackwards && range.lowerBound > hidden ? "\(range.lowerBound)" : nil,
                newer: newer,
                received: range.count,
                unreadable: unreadable, rateLimit: state.rateLimit)
            if feed == .ownPosts, case .newer = position { page.repeated = state.shownAgain }
            return page
        }
    }

    private static func range(
        _ position: FeedPosition, _ shown: Range<Int>, _ size: Int, all: Bool
    ) -> (Range<Int>, isBackwards: Bool) {
        let start = shown.lowerBound
        let end = shown.upperBound
        switch position {
        case .newest: return (max(start, end - size)..<end, true)
        case .older(let cursor):
            let before = max(start, min(Int(cursor) ?? 0, end))
            return (max(start, before - size)..<before, true)
        case .newer(let cursor):
            let after = all ? start : max(start, min(Int(cursor) ?? 0, end))
            return (after..<(all ? end : min(after + size, end)), false)
        }
    }

    package func isShownToAnybody(_ address: String) async throws -> Bool? {
        with { $0.isShownToAnybody }
    }

    package func showsDeleted(_ address: String) async throws -> Bool { with { $0.showsDeleted } }

    package func prepare(_ draft: Draft) async throws -> Departure<PublishedPost> {
        try await with { $0.onPrepare }()
        return Departure { [self] in
            with { $0.published.append(draft) }
            try await with { $0.onSend }()
            try check(.publish)
            let number = with { $0.published.count }
            return PublishedPost(
                id: PostID(network: name, value: "published-\(number)"),
                address: "published-\(number)",
                createdAt: draft.createdAt)
        } withdrawal: { [self] in
            with { $0.withdrawn += 1 }
        }
    }

    package func prepare(_ favorite: FavoriteDraft) async throws -> Departure<Void> {
        Departure { [self] in
            with { $0.favorited.append(favorite) }
            try check(.favorite)
        }
    }

    @discardableResult
    package func delete(_ address: String, if isOurs: @Sendable (ObservedPost) -> Bool) async throws
        -> Removal
    {
        try check(.delete)
        return with { $0.deleted.insert(address).inserted ? .removed : .gone }
    }

    @discardableResult
    package func unfavorite(_ favorite: FavoriteDraft) async throws -> Removal {
        try check(.unfavorite)
        return with { state in
            let before = state.favorited.count
            state.favorited.removeAll { $0.address == favorite.address }
            return state.favorited.count < before ? .removed : .gone
        }
    }

    package func prepareEdit(_ address: String, _ draft: Draft) async throws -> Departure<Void> {
        try await with { $0.onPrepare }()
        return Departure { [self] in
            try check(.edit)
            with { $0.edited.append((address, draft)) }
        }
    }

    package func labelAsBot() async throws {
        try check(.labelAccount)
        with { $0.account.isBot = true }
    }

    package func ownPosts(since: Date) async throws -> [ObservedPost] {
        try check(.readOwnPosts)
        return with { ($0.feeds[.ownPosts] ?? []).reversed().filter { $0.post.createdAt >= since } }
    }

    package func isFavorited(_ address: String) async throws -> Bool? {
        try check(.readPost)
        return with { state in state.favorited.contains { $0.address == address } }
    }

    package func lookUp(_ address: String) async throws -> ObservedPost? {
        with { $0.lookedUp.append(address) }
        try check(.readPost)
        if with({ $0.unreadable.contains(address) }) {
            throw error(.malformedResponse, .readPost, outcome: .refused)
        }
        return with { state in state.feeds.values.joined().first { $0.address == address } }
    }

    package var priceOfOwnPost: Money? { with { $0.price } }

    package func surveyOwnPosts(_ position: FeedPosition) async throws -> FeedPage {
        try await page(.ownPosts, position, size: nil)
    }

    package func ownPosts(at addresses: [String]) async throws -> (
        asked: [String], shown: [ObservedPost]
    ) {
        try check(.readPost)
        let (price, book, now) = with { ($0.price ?? .zero, $0.book, $0.now()) }
        for count in XNetwork.halves(of: addresses.count, downTo: 1) {
            let later = try await book?.reserve(price * count, for: .originals, at: now)
            if let later {
                guard count == 1 else { continue }
                throw error(.overBudget, .readPost, retryAfter: later)
            }
            let asked = Array(addresses.prefix(count))
            let shown = with { state in
                state.listed.append(asked)
                let names = Set(asked)
                return (state.feeds[.ownPosts] ?? []).filter {
                    names.contains($0.address) && !state.leftOut.contains($0.address)
                }
            }
            try await book?.giveBack(
                price * (count - shown.count), for: .originals, reservedAt: now)
            return (asked, shown)
        }
        return ([], [])
    }

    package func lookUp(identity: PostID) async throws -> ObservedPost? {
        with { $0.lookedUp.append(identity.value) }
        try check(.readPost)
        guard let known = with({ $0.known }) else {
            throw error(.capability, .readPost, outcome: .refused)
        }
        return known[identity]
    }

    package func conversation(of post: ObservedPost) async throws -> String? {
        try check(.readConversation)
        try await with { $0.onThread }()
        if let code = with({ $0.threads[post.address] }) {
            throw error(code, .readConversation, outcome: .refused)
        }
        return post.conversation
    }

    package func replies(to address: String) async throws -> [ObservedPost] {
        try check(.readConversation)
        return with { $0.replies[address] ?? [] }
    }

    package func price(ofReading items: Int, from feed: Feed) -> Money? {
        with { $0.price.map { $0 * items } }
    }

    private func check(_ operation: NetworkError.Operation, _ position: FeedPosition? = nil) throws
    {
        let (failure, cutsOff) = with { state in
            state.calls.append(operation)
            return (state.failure, state.cutsCallsOff)
        }
        if cutsOff { throw CancellationError() }
        if let error = failure(operation, position) { throw error }
    }

    package static let operations: [Feed: NetworkError.Operation] = [
        .ownPosts: .readOwnPosts, .home: .readHome, .favorites: .readFavorites,
        .mentions: .readMentions,
    ]

    package func error(
        _ code: NetworkError.Code, _ operation: NetworkError.Operation = .readHome,
        retryAfter: Date? = nil,
        outcome: NetworkError.Outcome = .notSent
    ) -> NetworkError {
        NetworkError(
            code: code, network: name, host: host, operation: operation, retryAfter: retryAfter,
            outcome: outcome)
    }
}

extension Capabilities {
    /// What the real clients say of their networks.
    package static func paper(_ network: NetworkName) -> Capabilities {
        let isX = network == .x
        let isMastodon = network == .mastodon
        var capabilities = Capabilities(
            feeds: Set(Feed.allCases),
            visibilities: isMastodon
                ? [.public, .unlisted, .private, .direct] : [.public, .unlisted],
            replies: isX ? .summoned : .anyone, replyNeedsMention: isMastodon,
            automaticFavorites: isMastodon ? .anyone : .consenting, supportsIdempotencyKey: !isX,
            requestDeadline: .seconds(30))
        if isX {
            capabilities.automaticFavorites = .nobody
            capabilities.canFavorite = false
            capabilities.depths = [.ownPosts: 3_200, .mentions: 800]
            capabilities.hasQuotaPerFeed = true
            capabilities.lookUpsAtOnce = 100
        } else {
            capabilities.resendWindow = .seconds(3_000)
        }
        capabilities.mayHideEdits = isMastodon
        return capabilities
    }
}
