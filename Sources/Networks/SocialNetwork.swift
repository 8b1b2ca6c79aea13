package import Foundation
package import Posts

/// One account on one social network, as far as mirror-bot uses it.
///
/// Every call is one task's work: cancelling the task ends the transfer. Calls
/// are not repeated here; what may be repeated, and when, is told by the
/// ``NetworkError`` that they throw. A cancelled write may have happened.
///
/// - Throws: Every call throws ``NetworkError`` or `CancellationError`.
package protocol SocialNetwork: Sendable {
    var name: NetworkName { get }
    var capabilities: Capabilities { get }

    /// By how many seconds the local clock was ahead of the network's when it answered last; nil before it told.
    ///
    /// Asks nothing. A local clock that was set since makes it wrong until the next answer.
    var clockLead: TimeInterval? { get }

    /// Whose credentials these are, freshly asked.
    func verifyAccount() async throws -> Account

    /// How long a text may be; remembered for a day.
    func limits() async throws -> PublishingLimits

    /// One page of a feed. ``FeedWalk`` goes from page to page.
    func page(_ feed: Feed, _ position: FeedPosition) async throws -> FeedPage

    /// Publishes a draft and returns what the network calls it.
    ///
    /// - Throws: ``NetworkError``, whose ``NetworkError/outcome`` says whether the draft may have been published.
    func publish(_ draft: Draft) async throws -> PublishedPost

    /// Favorites a post; doing so twice with the same key and time is harmless.
    ///
    /// - Throws: ``NetworkError``, whose ``NetworkError/outcome`` says whether it may have happened.
    func favorite(_ favorite: FavoriteDraft) async throws

    /// Deletes one of the account's own posts; one that is gone already is no error.
    func delete(_ address: String) async throws

    /// Marks the account as automated, where the network has a way to do so; harmless when it is marked already.
    ///
    /// - Throws: ``NetworkError`` with code `.capability` where only a person can do it.
    func labelAsBot() async throws

    /// The account's own posts from now back to `since`, newest first, replies and posts for few eyes included.
    ///
    /// The list is complete or the call throws: a post that is missing here counts as never sent.
    func ownPosts(since: Date) async throws -> [ObservedPost]

    /// Whether the account has favorited a post; nil when the post is gone.
    func isFavorited(_ address: String) async throws -> Bool?

    /// A post by its address; nil when it is gone or was never visible to the account.
    func lookUp(_ address: String) async throws -> ObservedPost?

    /// What all posts of one conversation share, such as the identity of its first post; nil when the post is gone.
    ///
    /// May need a request; the result stays true for as long as the conversation exists.
    func conversation(of post: ObservedPost) async throws -> String?

    /// What reading so many items of a feed costs at most; nil on networks that are free.
    func price(ofReading items: Int, from feed: Feed) -> Money?
}

extension SocialNetwork {
    package func price(ofReading items: Int, from feed: Feed) -> Money? { nil }
}

/// A list of posts that grows at its newest end, as seen by one account.
package enum Feed: String, Sendable, Hashable, CaseIterable {
    /// What the account itself published.
    case ownPosts = "own-posts"
    /// What the accounts that it follows published.
    case home
    /// What the account favorited, ordered by when it did so.
    case favorites
    /// Posts that name the account.
    case mentions
}

/// Where in a feed a page begins.
///
/// Cursors come from a ``FeedPage`` of the same feed and server; their form is the network's own business.
package enum FeedPosition: Sendable, Hashable {
    /// The newest items.
    case newest
    /// The items that follow in the direction of the past.
    case older(String)
    /// The items that arrived after the cursor was given; where they fill more than one page, some of them, and the
    /// page's ``FeedPage/newer`` leads to the rest.
    case newer(than: String)
}

/// A part of a feed.
package struct FeedPage: Sendable {
    /// In the feed's order, newest first; no post occurs twice.
    package var items: [ObservedPost]
    /// Where the next older page begins; nil at the end.
    package var older: String?
    /// Where to look for what arrives later; nil: keep the cursor that you have.
    package var newer: String?
    /// How many items the server sent, those included that are left out; 0 for an empty page.
    package var received: Int
    /// Items that could not be read and are left out.
    package var skipped: Int
    package var rateLimit: RateLimit?

    package init(
        items: [ObservedPost], older: String? = nil, newer: String? = nil, received: Int? = nil, skipped: Int = 0,
        rateLimit: RateLimit? = nil
    ) {
        self.items = items
        self.received = received ?? items.count
        self.older = older
        self.newer = newer
        self.skipped = skipped
        self.rateLimit = rateLimit
    }
}

/// What a server says about how much more it lets an account ask.
package struct RateLimit: Sendable, Equatable {
    /// Requests in a whole period.
    package var limit: Int?
    /// Requests left in the present one.
    package var remaining: Int?
    /// When the next period begins, on the local clock.
    package var resetsAt: Date?

    package init(limit: Int? = nil, remaining: Int? = nil, resetsAt: Date? = nil) {
        self.limit = limit
        self.remaining = remaining
        self.resetsAt = resetsAt
    }
}
