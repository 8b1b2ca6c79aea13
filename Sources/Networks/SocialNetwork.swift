package import Foundation
import Localization
package import Posts

/// One account on one social network, with the calls that mirror-bot needs.
///
/// Every call runs in the caller's task: cancelling the task ends the transfer. Calls are not
/// repeated here; the ``NetworkError`` that they throw determines whether and when they may be
/// repeated. A cancelled write may have happened.
///
/// - Throws: Every call throws ``NetworkError`` or `CancellationError`.
package protocol SocialNetwork: Sendable {
    var name: NetworkName { get }

    /// The host of the account, as known without a request.
    var host: String { get }

    var capabilities: Capabilities { get }

    /// The seconds by which the local clock is ahead of the network's, as the median of its last
    /// answers; nil before the first answer with a time.
    ///
    /// Makes no request.
    var clockLead: TimeInterval? { get }

    /// Whether the credentials may write; nil if no answer of the network has shown it yet.
    ///
    /// Makes no request.
    var canWrite: Bool? { get }

    /// The account of the credentials, requested now.
    func verifyAccount() async throws -> Account

    /// The length limits of a text; cached for a day.
    func limits() async throws -> PublishingLimits

    /// The names of the custom emoji that the bot's server shows in posts, without colons; cached
    /// for a day.
    ///
    /// - Returns: Empty if the network has no custom emoji, or the server does not return them.
    func emoji() async throws -> Set<String>

    /// Reads the rules and descriptions that the account's server publishes for its users.
    ///
    /// - Returns: Its rules, one in each text, then its description and its about page, as plain
    ///   texts; or the addresses of its terms if it publishes only these. Empty for a network with
    ///   one set of rules, which `NetworkDescriptor` holds.
    func serverStatements() async throws -> [String]

    /// The state of the account with these credentials, as reported by the network.
    ///
    /// The request is made without credentials if the network allows that, because the credentials
    /// of a suspended or deleted account may be refused. If a request costs money, none is made,
    /// and the result is the state that the answers to other calls have reported.
    ///
    /// - Parameter account: The account as it was last verified.
    /// - Returns: Nil if the network does not clearly name a state.
    func standing(of account: AccountID) async throws -> AccountStanding?

    /// One page of a feed. ``FeedWalk`` reads page after page.
    ///
    /// - Parameters:
    ///   - size: The maximum number of items to request, at least 1; nil for the network's usual
    ///     number. A network with a minimum page size requests at least that many.
    /// - Returns: The page. An item that is too large even for a page of its own is in
    ///   ``FeedPage/unreadable``.
    /// - Throws: ``NetworkError`` with code `.tooLarge` if fewer items may fit.
    func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage

    /// Begins a search for an item that makes every page fail that contains it.
    ///
    /// The page's cursor leads to the steps of the search. They return the readable items, and each
    /// unreadable item as ``FeedPage/unreadable``, however many there are. One step makes a few
    /// requests at most.
    ///
    /// - Parameter position: The position directly above or below the item.
    /// - Returns: Nil if the network's cursors have no order, so that the client cannot construct
    ///   cursors for the search.
    /// - Throws: ``NetworkError`` if no other item can be read either.
    func page(_ feed: Feed, passing position: FeedPosition) async throws -> FeedPage?

    /// Makes all preparations for publishing a draft, up to the request itself, which returns the
    /// identifiers of the post.
    ///
    /// - Throws: ``NetworkError``, whose ``NetworkError/outcome`` is never `unknown`: nothing was
    ///   published.
    func prepare(_ draft: Draft) async throws -> Departure<PublishedPost>

    /// Uploads a picture for a later post; the network deletes it after some time if no post
    /// contains it.
    ///
    /// - Returns: The value of ``PictureReference/name`` in the draft of that post, in the
    ///   network's own form; and whether the post may be published now, or only once
    ///   ``isReady(_:)`` returns true.
    /// - Throws: ``NetworkError``; trying again is harmless, whatever the outcome.
    func upload(_ picture: PictureUpload) async throws -> (name: String, isReady: Bool)

    /// Whether an uploaded picture may be in a post now.
    ///
    /// - Throws: ``NetworkError`` with code `.notFound` if the network has deleted it.
    func isReady(_ name: String) async throws -> Bool

    /// Makes all preparations for favoriting a post, up to the request itself; favoriting twice
    /// with the same key and time is harmless.
    ///
    /// - Throws: ``NetworkError``, whose ``NetworkError/outcome`` is never `unknown`: nothing was
    ///   changed.
    func prepare(_ favorite: FavoriteDraft) async throws -> Departure<Void>

    /// Deletes one of the account's own posts; a post that is already gone is no error.
    ///
    /// - Parameters:
    ///   - address: The address that the server returned when the post was published.
    ///   - isOurs: Whether a post is the intended one. Called if the server's returned address is
    ///     not reliable enough.
    /// - Returns: Whether the post still existed, as far as the network reveals that.
    /// - Throws: ``NetworkError`` with code `.rejected` if another post has this address.
    @discardableResult
    func delete(_ address: String, if isOurs: @Sendable (ObservedPost) -> Bool) async throws
        -> Removal

    /// Withdraws a favorite; one that is already gone, or whose post is gone, is no error.
    ///
    /// - Parameter favorite: The favorite with its original key and time, which identify it on
    ///   Bluesky.
    /// - Returns: Whether the favorite still existed, as far as the network reveals that.
    /// - Throws: ``NetworkError`` with code `.capability` if the network forbids this to software.
    @discardableResult
    func unfavorite(_ favorite: FavoriteDraft) async throws -> Removal

    /// Makes all preparations for changing the text and language of one of the account's own posts,
    /// up to the request itself; doing so twice is harmless.
    ///
    /// The answered post and the visibility stay. People who were notified of the post are not
    /// notified again, except those who are mentioned for the first time.
    ///
    /// - Throws: ``NetworkError`` with code `.capability` if ``Capabilities/canEdit`` is false. The
    ///   request throws `.notFound` if the post is gone.
    func prepareEdit(_ address: String, _ draft: Draft) async throws -> Departure<Void>

    /// Marks the account as automated, if the network has a way to do so; harmless if it is already
    /// marked.
    ///
    /// - Throws: ``NetworkError`` with code `.capability` if only a person can do it.
    func labelAsBot() async throws

    /// The account's own posts from now back to `since`, newest first, including replies and posts
    /// with a small audience.
    ///
    /// The list is complete for ``Capabilities/listedVisibilities``, or the call throws: a missing
    /// post of these visibilities counts as never published.
    func ownPosts(since: Date) async throws -> [ObservedPost]

    /// Whether the account has favorited a post; nil if the network itself says that the post is
    /// gone.
    func isFavorited(_ address: String) async throws -> Bool?

    /// Reads a post by its address; nil if the network itself says that the post is gone or was
    /// never visible to the account. The answer of a proxy in front of the network does not count.
    func lookUp(_ address: String) async throws -> ObservedPost?

    /// Reads a post of the account itself by its address; nil as for ``lookUp(_:)``.
    ///
    /// Costs less than ``lookUp(_:)`` if requesting a post's author costs money.
    func lookUpOwn(_ address: String) async throws -> ObservedPost?

    /// Reads several of the account's own posts in one request, and returns those that the network
    /// shows now.
    ///
    /// A missing post is not necessarily gone: ``lookUpOwn(_:)`` decides.
    ///
    /// - Parameter addresses: At most ``Capabilities/lookUpsAtOnce``.
    /// - Returns: The addresses that were requested, which are fewer if there is not enough money;
    ///   and the posts.
    /// - Throws: ``NetworkError`` with code `.capability` if the network has no such request.
    func ownPosts(at addresses: [String]) async throws -> (asked: [String], shown: [ObservedPost])

    /// One page of the account's own posts, read to see which of them still exist.
    func surveyOwnPosts(_ position: FeedPosition) async throws -> FeedPage

    /// The position of a page that begins with one of the account's own posts;
    /// ``FeedPosition/newest`` if such a position cannot be made from an address.
    func surveyStart(at address: String) -> FeedPosition

    /// Reads a post by its identity on the whole network, for a post that is only known from a
    /// downloaded archive; nil if the post is gone, as for ``lookUp(_:)``.
    ///
    /// - Throws: ``NetworkError`` with code `.capability` if the network has no such request; then
    ///   it stays unknown whether the post exists.
    func lookUp(identity: PostID) async throws -> ObservedPost?

    /// Whether a post is visible without a login; nil if the network does not allow to check.
    func isShownToAnybody(_ address: String) async throws -> Bool?

    /// Throws if the server is known to change the audience of posts; makes no request.
    ///
    /// - Throws: ``NetworkError`` with code `.configuration`.
    func requireAudiences() throws(NetworkError)

    /// Access to the server without assumptions about its program, for measuring its habits.
    var plainServer: any PlainServer { get }

    /// The assumed or measured habits of the server that no request can read.
    var serverHabits: [ServerHabit] { get }

    /// Whether a deleted post is still shown without a login; false without a request if the
    /// network is known to hide it.
    func showsDeleted(_ address: String) async throws -> Bool

    /// The identifier shared by all posts of one conversation, such as the identity of its first
    /// post; `nil` if the post is gone.
    ///
    /// May need one fast request with a small answer; the result stays valid as long as the
    /// conversation exists.
    ///
    /// - Throws: ``NetworkError`` with code `.tooLarge` for a conversation of too many posts.
    func conversation(of post: ObservedPost) async throws -> String?

    /// The direct replies to one of the account's own posts, as far as one request of modest size
    /// returns them; none if the post is gone.
    ///
    /// Finds replies that the network did not notify of; unreadable ones are left out.
    ///
    /// - Throws: ``NetworkError`` with code `.capability` if the request costs money.
    func replies(to address: String) async throws -> [ObservedPost]

    /// The account's own direct answers to a post, for all audiences, as far as one request of
    /// modest size returns them; none if the post is gone.
    ///
    /// Finds posts that ``ownPosts(since:)`` leaves out by ``Capabilities/listedVisibilities``. An
    /// answer that is missing here may exist nevertheless.
    func ownAnswers(to address: String) async throws -> [ObservedPost]

    /// The maximum price of reading a number of items of a feed; `nil` on networks that are free.
    func price(ofReading items: Int, from feed: Feed) -> Money?

    /// The maximum price of reading one of the account's own posts by its address; `nil` on
    /// networks that are free.
    var priceOfOwnPost: Money? { get }

    /// The maximum price of publishing texts, each as an answer to the one before; `nil` on
    /// networks that are free.
    ///
    /// The first one has the pictures, and may be a reply.
    func price(ofPublishing texts: [String], pictures: Int, isReply: Bool) -> Money?
}

extension SocialNetwork {
    /// One page of a feed, of the network's usual size.
    package func page(_ feed: Feed, _ position: FeedPosition) async throws -> FeedPage {
        try await page(feed, position, size: nil)
    }

    package var host: String { name.displayName }

    package var canWrite: Bool? { nil }

    package func emoji() async throws -> Set<String> { [] }

    package func serverStatements() async throws -> [String] { [] }

    package func standing(of account: AccountID) async throws -> AccountStanding? { nil }

    package func ownAnswers(to address: String) async throws -> [ObservedPost] { [] }

    package func page(_ feed: Feed, passing position: FeedPosition) async throws -> FeedPage? {
        nil
    }

    package func isShownToAnybody(_ address: String) async throws -> Bool? { nil }

    package func requireAudiences() throws(NetworkError) {}

    package var plainServer: any PlainServer { ClientAsServer(self) }

    package var serverHabits: [ServerHabit] { [] }

    package func showsDeleted(_ address: String) async throws -> Bool { false }

    package func lookUp(identity: PostID) async throws -> ObservedPost? {
        throw NetworkError(
            code: .capability, network: name, host: host, operation: .readPost,
            detail: localized("posts cannot be asked for by what they are called"),
            outcome: .notSent)
    }

    package func price(ofReading items: Int, from feed: Feed) -> Money? { nil }

    package var priceOfOwnPost: Money? { nil }

    package func lookUpOwn(_ address: String) async throws -> ObservedPost? {
        try await lookUp(address)
    }

    package func ownPosts(at addresses: [String]) async throws -> (
        asked: [String], shown: [ObservedPost]
    ) {
        throw NetworkError(
            code: .capability, network: name, host: host, operation: .readPost,
            detail: localized("posts cannot be asked for in lists"), outcome: .notSent)
    }

    package func surveyOwnPosts(_ position: FeedPosition) async throws -> FeedPage {
        try await page(.ownPosts, position)
    }

    package func surveyStart(at address: String) -> FeedPosition { .newest }

    package func price(ofPublishing texts: [String], pictures: Int, isReply: Bool) -> Money? { nil }

    /// Deletes the account's own post at this address without checking which post it is.
    @discardableResult
    package func delete(_ address: String) async throws -> Removal {
        try await delete(address, if: { _ in true })
    }

    package func isReady(_ name: String) async throws -> Bool { true }

    package func upload(_ picture: PictureUpload) async throws -> (name: String, isReady: Bool) {
        throw NetworkError(
            code: .capability, network: name, host: host, operation: .upload,
            detail: localized("pictures cannot be sent there"), outcome: .notSent)
    }

    package func prepareEdit(_ address: String, _ draft: Draft) async throws -> Departure<Void> {
        throw NetworkError(
            code: .capability, network: name, host: host, operation: .edit,
            detail: localized("posts cannot be changed there"), outcome: .notSent)
    }
}

/// Conversions between the local clock and the network's clock, which dates the posts.
extension SocialNetwork {
    /// Seconds by which two clocks may differ because of the transfer of an answer; smaller
    /// differences are ignored.
    package static var toleratedLead: TimeInterval { 60 }

    /// The seconds by which the local clock is ahead of the network's: 0 if the difference is
    /// small, or unknown.
    package var clockError: TimeInterval {
        clockLead.flatMap { abs($0) > Self.toleratedLead ? $0 : nil } ?? 0
    }

    /// Converts a time of the local clock to the network's clock, for ages of posts.
    package func present(at local: Date) -> Date { local - clockError }

    /// Converts a time of the network's clock to the local clock, for waits.
    package func local(_ time: Date) -> Date { time + clockError }
}

/// The result of a deletion.
package enum Removal: String, Sendable {
    /// The thing existed and was removed, or the network does not reveal whether it existed.
    case removed
    /// The post or the favorite was gone already.
    case gone
}

/// A list of posts that grows at its newest end, as seen by one account.
package enum Feed: String, Sendable, Hashable, CaseIterable {
    /// Posts that the account itself published.
    case ownPosts = "own-posts"
    /// Posts by the accounts that the account follows.
    case home
    /// Posts that the account favorited, sorted by the time of the favorite.
    case favorites
    /// Posts that mention the account.
    case mentions
}

/// The position of a page in a feed.
///
/// Cursors come from a ``FeedPage`` of the same feed and server; each network defines their form.
package enum FeedPosition: Sendable, Hashable {
    /// The newest items.
    case newest
    /// The items further in the past.
    case older(String)
    /// The items that arrived after the cursor was issued.
    ///
    /// If they fill more than one page, the answer holds some of them, and its ``FeedPage/newer``
    /// leads to the others.
    case newer(than: String)
}

/// A part of a feed.
package struct FeedPage: Sendable {
    /// The posts in the feed's order, newest first; no post occurs twice.
    package var items: [ObservedPost]
    /// The cursor to the next older page; nil at the end.
    package var older: String?
    /// The cursor to items that arrive later; nil to keep the former cursor.
    package var newer: String?
    /// The number of items that the server sent, including those left out; 0 for an empty page.
    package var received: Int
    /// Items that could not be read and are not in `items`.
    package var unreadable: [UnreadableItem]
    /// The number of newest items that the server lists at most; nil if it lists all, or if
    /// ``Capabilities/depths`` has the number.
    package var depth: Int?
    /// Items that the server sent although they are not newer than the requested position: they
    /// were read before, and may have been edited since.
    package var repeated: [ObservedPost] = []
    /// Whether the page is a step of a search for broken items.
    ///
    /// Such a search reads a stretch from its lower end, so the page's oldest item does not show
    /// how far down the feed was read.
    package var isFromBelow = false
    package var rateLimit: RateLimit?

    package init(
        items: [ObservedPost], older: String? = nil, newer: String? = nil, received: Int? = nil,
        unreadable: [UnreadableItem] = [], rateLimit: RateLimit? = nil
    ) {
        self.items = items
        self.received = received ?? items.count
        self.older = older
        self.newer = newer
        self.unreadable = unreadable
        self.rateLimit = rateLimit
    }
}

/// An item of a feed that is not a post in the form of the network's interface.
///
/// Its place in the feed is stored, so that no item is skipped without a trace. A newer version of
/// this program requests the item again, because it may understand it.
package struct UnreadableItem: Sendable, Hashable {
    /// The address of the post in calls to this server, if the item contains it.
    package var address: String?
    /// A digest of the server's data, in hexadecimal digits: identifies an item without an address.
    package var digest: String
    /// The reason why it could not be read, in a few words and without its text.
    package var cause: String

    package init(address: String? = nil, digest: String, cause: String) {
        self.address = address
        self.digest = digest
        self.cause = cause
    }
}

/// The request quota of an account, as the server announces it.
package struct RateLimit: Sendable, Equatable {
    /// Requests in a whole period.
    package var limit: Int?
    /// Requests left in the current period.
    package var remaining: Int?
    /// The time at which the next period begins, on the local clock.
    package var resetsAt: Date?

    package init(limit: Int? = nil, remaining: Int? = nil, resetsAt: Date? = nil) {
        self.limit = limit
        self.remaining = remaining
        self.resetsAt = resetsAt
    }
}

/// The features and permissions of a network.
///
/// Callers check these before a call, and do not decide by the network's name.
package struct Capabilities: Sendable, Equatable {
    /// The authors whose posts the network allows a bot to answer.
    package enum ReplyPermission: Sendable, Equatable {
        /// The authors of all posts that the account can see.
        case anyone
        /// Only people who mentioned the account in the answered post itself.
        case summoned
    }

    /// The posts that software may favorite without a person's decision.
    package enum FavoritePermission: String, Sendable, Equatable {
        /// All posts that the account can see.
        case anyone
        /// Only posts by people who asked for it or mentioned the account; others are suggested to
        /// a person.
        case consenting
        /// No posts: favorites are suggested to a person.
        case nobody
    }

    /// The feeds that can be read, as configured.
    package var feeds: Set<Feed>
    /// The allowed values of ``Draft/visibility``; another one is refused with
    /// ``NetworkError/Code/capability``.
    package var visibilities: Set<Visibility>
    package var replies: ReplyPermission
    /// Whether the answered person is notified only if the text mentions them.
    package var replyNeedsMention: Bool
    /// Whether a reply notifies not only the answered person, but also the authors of a few posts
    /// further up the thread.
    package var repliesNotifyAncestors = false
    package var automaticFavorites: FavoritePermission
    /// Whether favorites are possible at all, even if a person decides.
    package var canFavorite = true
    /// Whether texts may be published, as configured.
    package var canPublish = true
    /// Whether the text of a published post can be changed.
    ///
    /// Depends on the server, and is false until its program is known.
    package var canEdit = false
    /// The largest accepted picture, in bytes.
    package var largestPicture = Picture.maximumBytes
    /// The rate at which the account's posts may be deleted; below the network's limit, because a
    /// person deletes posts too.
    package var deletionPace = Pace(count: 100, period: 300)
    /// The rate at which favorites may be taken back.
    package var unfavoritePace = Pace(count: 100, period: 300)
    /// Whether the network is known to recognize a second attempt by ``Draft/key``, so that nothing
    /// is published twice.
    ///
    /// Depends on the server, and is false until its program is known.
    package var supportsIdempotencyKey: Bool
    /// The time after the first attempt within which a draft may be sent again, if its answer was
    /// lost and a look-up found nothing.
    ///
    /// Nil if a draft must not be sent again.
    package var resendWindow: Duration?
    /// The time from sending a prepared change until its answer counts as lost.
    package var requestDeadline: Duration
    /// The number of newest items that can be read of each feed; no entry for a feed without a
    /// limit.
    package var depths: [Feed: Int] = [:]
    /// The number of posts in one request of ``SocialNetwork/ownPosts(at:)``; 1 if there is no such
    /// request.
    package var lookUpsAtOnce = 1
    /// Whether each feed has its own quota of requests, instead of one quota for the account.
    package var hasQuotaPerFeed = false
    /// Whether an edited post may lack the time of the edit, so that only its text shows it.
    package var mayHideEdits = false
    /// The visibilities of posts that ``SocialNetwork/ownPosts(since:)`` returns; missing posts of
    /// other visibilities may exist.
    ///
    /// Depends on the server, and is narrower than necessary until its program is known.
    package var listedVisibilities = Set(Visibility.allCases)
    /// Whether words of a text can be a link to an address that is not in the text.
    package var linksWords = false
}

extension Capabilities {
    /// Creates the capabilities from those that every network states; the others have their default
    /// values.
    package init(
        feeds: Set<Feed>, visibilities: Set<Visibility>, replies: ReplyPermission,
        replyNeedsMention: Bool,
        automaticFavorites: FavoritePermission, supportsIdempotencyKey: Bool,
        requestDeadline: Duration
    ) {
        self.init(
            feeds: feeds, visibilities: visibilities, replies: replies,
            replyNeedsMention: replyNeedsMention,
            automaticFavorites: automaticFavorites, supportsIdempotencyKey: supportsIdempotencyKey,
            resendWindow: nil, requestDeadline: requestDeadline)
    }
}
