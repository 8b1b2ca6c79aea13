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

    /// The host that the account lives on, as far as it is known without asking.
    var host: String { get }

    var capabilities: Capabilities { get }

    /// By how many seconds the local clock is ahead of the network's, by the median of what its
    /// last answers told; nil before one told.
    ///
    /// Asks nothing.
    var clockLead: TimeInterval? { get }

    /// The account that the credentials belong to, freshly requested.
    func verifyAccount() async throws -> Account

    /// How long a text may be; remembered for a day.
    func limits() async throws -> PublishingLimits

    /// The names of the custom emoji that the bot's server shows in posts, without colons;
    /// remembered for a day.
    ///
    /// - Returns: None where the network has no such emoji, or the server does not tell.
    func emoji() async throws -> Set<String>

    /// Reads what the account's server says to those who use it.
    ///
    /// - Returns: Its rules, one a text, then its description and its about page, as plain texts;
    ///   or the addresses of its terms where it gives only these. None where a network has one set
    ///   of rules, which `NetworkDescriptor` holds.
    func serverStatements() async throws -> [String]

    /// The state of the account with these credentials, in the network's own words.
    ///
    /// Asks without credentials where the network lets anybody ask, for those of such an account
    /// may be refused. Asks nothing where a question costs money: then it is what the answers to
    /// other calls have named.
    ///
    /// - Parameter account: The account as it was verified before.
    /// - Returns: Nil if the network does not clearly name a state.
    func standing(of account: AccountID) async throws -> AccountStanding?

    /// One page of a feed. ``FeedWalk`` goes from page to page.
    ///
    /// - Parameters:
    ///   - size: The most items to ask for, at least 1; nil for as many as the network usually
    ///     gives. Networks that have a smallest page ask for that.
    /// - Returns: The page. What is larger than an answer may be even as the only item of its page
    ///   is ``FeedPage/unreadable``.
    /// - Throws: ``NetworkError`` with code `.tooLarge` where fewer items may fit.
    func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage

    /// Begins a search for an item that makes every page fail which has it.
    ///
    /// The page's cursor leads to the steps of the search. They find what can be had, and name each
    /// item that cannot be had as ``FeedPage/unreadable``, however many there are. One step makes a
    /// few requests at most.
    ///
    /// - Parameter position: The item is the first below it, or above it.
    /// - Returns: Nil where the network's cursors tell no order, so that none can be made up.
    /// - Throws: ``NetworkError`` if no other item can be had either.
    func page(_ feed: Feed, passing position: FeedPosition) async throws -> FeedPage?

    /// Does all that publishing a draft needs, up to the request itself, which returns what the
    /// network calls the post.
    ///
    /// - Throws: ``NetworkError``, whose ``NetworkError/outcome`` is never `unknown`: nothing was
    ///   published.
    func prepare(_ draft: Draft) async throws -> Departure<PublishedPost>

    /// Gives the network a picture for a post to come; what is in no post after a while is
    /// forgotten there.
    ///
    /// - Returns: What ``PictureReference/name`` is to be in the draft of that post, in a form of
    ///   the network's own; and whether it may be in one now, or ``isReady(_:)`` tells when it may.
    /// - Throws: ``NetworkError``; trying again does no harm, whatever became of it.
    func upload(_ picture: PictureUpload) async throws -> (name: String, isReady: Bool)

    /// Whether an uploaded picture may be in a post now.
    ///
    /// - Throws: ``NetworkError`` with code `.notFound` if the network has forgotten it.
    func isReady(_ name: String) async throws -> Bool

    /// Does all that favoriting a post needs, up to the request itself; favoriting twice with the
    /// same key and time is harmless.
    ///
    /// - Throws: ``NetworkError``, whose ``NetworkError/outcome`` is never `unknown`: nothing
    ///   happened.
    func prepare(_ favorite: FavoriteDraft) async throws -> Departure<Void>

    /// Deletes one of the account's own posts; one that is gone already is no error.
    ///
    /// - Parameters:
    ///   - address: What the server called the post when it was published.
    ///   - isOurs: Whether a post is the one that is meant. Asked where a server's word for what it
    ///     published is not enough to be certain.
    /// - Returns: Whether it was still there, as far as the network tells.
    /// - Throws: ``NetworkError`` with code `.rejected` if the server calls another post so.
    @discardableResult
    func delete(_ address: String, if isOurs: @Sendable (ObservedPost) -> Bool) async throws
        -> Removal

    /// Takes a favorite back; one that is gone already, or whose post is, is no error.
    ///
    /// - Parameter favorite: With the same key and time as when it was given: on Bluesky they name
    ///   it.
    /// - Returns: Whether it was still there, as far as the network tells.
    /// - Throws: ``NetworkError`` with code `.capability` where software may not.
    @discardableResult
    func unfavorite(_ favorite: FavoriteDraft) async throws -> Removal

    /// Does all that giving one of the account's own posts another text and language needs, up to
    /// the request itself; doing so twice is harmless.
    ///
    /// The answered post and the visibility stay. Those who were told of the post are told nothing
    /// new, save those who are named for the first time.
    ///
    /// - Throws: ``NetworkError`` with code `.capability` where ``Capabilities/canEdit`` is false.
    ///   The request throws `.notFound` if the post is gone.
    func prepareEdit(_ address: String, _ draft: Draft) async throws -> Departure<Void>

    /// Marks the account as automated, where the network has a way to do so; harmless when it is
    /// marked already.
    ///
    /// - Throws: ``NetworkError`` with code `.capability` where only a person can do it.
    func labelAsBot() async throws

    /// The account's own posts from now back to `since`, newest first, replies and posts for few
    /// eyes included.
    ///
    /// The list is complete for ``Capabilities/listedVisibilities``, or the call throws: a post of
    /// these visibilities that is missing here counts as never sent.
    func ownPosts(since: Date) async throws -> [ObservedPost]

    /// Whether the account has favorited a post; nil when the post is gone, by the network's own
    /// word.
    func isFavorited(_ address: String) async throws -> Bool?

    /// A post by its address; nil when it is gone or was never visible to the account, by the
    /// network's own word: what a proxy before it says does not count.
    func lookUp(_ address: String) async throws -> ObservedPost?

    /// A post of the account itself by its address; nil as for ``lookUp(_:)``.
    ///
    /// Costs less than that where the author of a post has a price.
    func lookUpOwn(_ address: String) async throws -> ObservedPost?

    /// Those of the account's own posts that the network shows now, in one request.
    ///
    /// A post that is missing in the answer is not known to be gone: ``lookUpOwn(_:)`` decides.
    ///
    /// - Parameter addresses: At most ``Capabilities/lookUpsAtOnce``.
    /// - Returns: The addresses that were asked for, fewer where the money does not reach further;
    ///   and the posts.
    /// - Throws: ``NetworkError`` with code `.capability` where posts cannot be asked for in lists.
    func ownPosts(at addresses: [String]) async throws -> (asked: [String], shown: [ObservedPost])

    /// One page of the account's own posts, read to see which of them are still there.
    func surveyOwnPosts(_ position: FeedPosition) async throws -> FeedPage

    /// The position of a page that begins with one of the account's own posts; the newest one where
    /// only cursors lead to others.
    func surveyStart(at address: String) -> FeedPosition

    /// A post by what it is called everywhere, for one that was learned of from a downloaded
    /// archive; nil when it is gone, as for ``lookUp(_:)``.
    ///
    /// - Throws: ``NetworkError`` with code `.capability` where the network cannot tell: nothing is
    ///   known of the post then.
    func lookUp(identity: PostID) async throws -> ObservedPost?

    /// Whether somebody without a login is shown a post; nil where the network lets nobody ask.
    func isShownToAnybody(_ address: String) async throws -> Bool?

    /// Refuses a server that is known to change who may see what is published there; asks nothing.
    ///
    /// - Throws: ``NetworkError`` with code `.configuration`.
    func requireAudiences() throws(NetworkError)

    /// The server's answers without what is believed of its program, for measuring its habits.
    var plainServer: any PlainServer { get }

    /// The habits of the server that a client cannot ask for, as they count now.
    var serverHabits: [ServerHabit] { get }

    /// Whether somebody without a login is still shown a post that was deleted; false where the
    /// network is known to hide it, which needs no request.
    func showsDeleted(_ address: String) async throws -> Bool

    /// The identifier shared by all posts of one conversation, such as the identity of its first
    /// post; `nil` when the post is gone.
    ///
    /// May need a request, whose answer is small and soon there; the result stays true for as long
    /// as the conversation exists.
    ///
    /// - Throws: ``NetworkError`` with code `.tooLarge` for a conversation of too many posts.
    func conversation(of post: ObservedPost) async throws -> String?

    /// The direct replies to one of the account's own posts, as far as one request of modest size
    /// shows them; none if the post is gone.
    ///
    /// For finding what the network did not notify of; what cannot be read is left out.
    ///
    /// - Throws: ``NetworkError`` with code `.capability` where asking costs money.
    func replies(to address: String) async throws -> [ObservedPost]

    /// The account's own direct answers to a post, for all audiences, as far as one request of
    /// modest size shows them; none if the post is gone.
    ///
    /// Finds what ``ownPosts(since:)`` leaves out by ``Capabilities/listedVisibilities``. An answer
    /// that is missing here may exist all the same.
    func ownAnswers(to address: String) async throws -> [ObservedPost]

    /// The highest price of reading so many items of a feed; `nil` on networks that are free.
    func price(ofReading items: Int, from feed: Feed) -> Money?

    /// The highest price of reading one of the account's own posts by its address; `nil` on
    /// networks that are free.
    var priceOfOwnPost: Money? { get }

    /// The highest price of publishing texts, each below the one before; `nil` on networks that are
    /// free.
    ///
    /// The first one has the pictures, and may answer somebody.
    func price(ofPublishing texts: [String], pictures: Int, isReply: Bool) -> Money?
}

extension SocialNetwork {
    /// One page of a feed, of the network's usual size.
    package func page(_ feed: Feed, _ position: FeedPosition) async throws -> FeedPage {
        try await page(feed, position, size: nil)
    }

    package var host: String { name.displayName }

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
            detail: "posts cannot be asked for by what they are called", outcome: .notSent)
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
            detail: "posts cannot be asked for in lists", outcome: .notSent)
    }

    package func surveyOwnPosts(_ position: FeedPosition) async throws -> FeedPage {
        try await page(.ownPosts, position)
    }

    package func surveyStart(at address: String) -> FeedPosition { .newest }

    package func price(ofPublishing texts: [String], pictures: Int, isReply: Bool) -> Money? { nil }

    /// Deletes whatever of the account's own posts the server calls so.
    @discardableResult
    package func delete(_ address: String) async throws -> Removal {
        try await delete(address, if: { _ in true })
    }

    package func isReady(_ name: String) async throws -> Bool { true }

    package func upload(_ picture: PictureUpload) async throws -> (name: String, isReady: Bool) {
        throw NetworkError(
            code: .capability, network: name, host: host, operation: .upload,
            detail: "pictures cannot be sent there", outcome: .notSent)
    }

    package func prepareEdit(_ address: String, _ draft: Draft) async throws -> Departure<Void> {
        throw NetworkError(
            code: .capability, network: name, host: host, operation: .edit,
            detail: "posts cannot be changed there", outcome: .notSent)
    }
}

/// Telling the time that the network's posts are dated with.
extension SocialNetwork {
    /// A smaller difference between two clocks may be the way of an answer, and is left alone:
    /// seconds.
    package static var toleratedLead: TimeInterval { 60 }

    /// By how many seconds the local clock is wrong by the network's: 0 while that is little, or
    /// not known.
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
    /// It was there, and is no more; also where the network does not tell.
    case removed
    /// There was nothing left to delete.
    case gone
}

/// A list of posts that grows at its newest end, as seen by one account.
package enum Feed: String, Sendable, Hashable, CaseIterable {
    /// Posts that the account itself published.
    case ownPosts = "own-posts"
    /// Posts that the accounts it follows published.
    case home
    /// Posts that the account favorited, ordered by when it did so.
    case favorites
    /// Posts that name the account.
    case mentions
}

/// Where in a feed a page begins.
///
/// Cursors come from a ``FeedPage`` of the same feed and server; their form is the network's own
/// business.
package enum FeedPosition: Sendable, Hashable {
    /// The newest items.
    case newest
    /// The items that follow in the direction of the past.
    case older(String)
    /// The items that arrived after the cursor was given; where they fill more than one page, some
    /// of them, and the page's ``FeedPage/newer`` leads to the rest.
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
    package var unreadable: [UnreadableItem]
    /// How many of the newest items of the feed the server lists at most; nil where it lists all,
    /// or where ``Capabilities/depths`` tells.
    package var depth: Int?
    /// Items that are not newer than the position, which the server sent although they were not
    /// asked for: they were read before, and may have been changed since.
    package var repeated: [ObservedPost] = []
    /// Whether the page is a step of a search for broken items, which reads a stretch from its
    /// lower end: its oldest item does not tell how far down the feed was read.
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

/// Something in a feed that is no post as the network's interface promises one.
///
/// It is remembered, so that nothing is passed over without a trace, and asked for once more when a
/// newer program may understand it.
package struct UnreadableItem: Sendable, Hashable {
    /// The address of the post in calls to this server, where the item tells it.
    package var address: String?
    /// A digest of what the server sent, in hexadecimal digits: tells the item from others that
    /// have no address.
    package var digest: String
    /// Why it could not be read, in a few words and with nothing of its text.
    package var cause: String

    package init(address: String? = nil, digest: String, cause: String) {
        self.address = address
        self.digest = digest
        self.cause = cause
    }
}

/// The request quota of an account, as the server tells it.
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

/// The features and permissions of a network, asked before a call instead of testing for the
/// network's name.
package struct Capabilities: Sendable, Equatable {
    /// The people whom the network lets a bot answer.
    package enum ReplyPermission: Sendable, Equatable {
        /// The authors of all posts that the account can see.
        case anyone
        /// Only those who mentioned the account in the very post that is answered.
        case summoned
    }

    /// When software may favorite a post without a person's decision.
    package enum FavoritePermission: String, Sendable, Equatable {
        /// Whatever post the account can see.
        case anyone
        /// Only posts by who asked for it or named the account; others are suggested to a person.
        case consenting
        /// Never; what would be favorited is suggested to a person.
        case nobody
    }

    /// The feeds that can be read, as configured.
    package var feeds: Set<Feed>
    /// The permitted values of ``Draft/visibility``; another one is refused with
    /// ``NetworkError/Code/capability``.
    package var visibilities: Set<Visibility>
    package var replies: ReplyPermission
    /// Whether the person answered is notified only if the text names them.
    package var replyNeedsMention: Bool
    /// Whether not only the person answered is told of a reply, but who wrote the posts above it
    /// too, a few up the thread.
    package var repliesTellAncestors = false
    package var automaticFavorites: FavoritePermission
    /// Whether favorites can be given at all, be it after a person's decision.
    package var canFavorite = true
    /// Whether texts may be published, as configured.
    package var canPublish = true
    /// Whether what was published can be given another text.
    ///
    /// Depends on the server, and is false before it said what it is.
    package var canEdit = false
    /// The largest picture that is taken, in bytes.
    package var largestPicture = Picture.maximumBytes
    /// How fast the account's posts may be deleted; less than the network takes, for a person
    /// deletes as well.
    package var deletionPace = Pace(count: 100, period: 300)
    /// The same for taking favorites back.
    package var unfavoritePace = Pace(count: 100, period: 300)
    /// Whether the network is known to recognise a second attempt by ``Draft/key``, so that it
    /// makes nothing twice.
    ///
    /// Depends on the server, and is false before it said what it is.
    package var supportsIdempotencyKey: Bool
    /// How long after the first attempt a draft may be sent again, if its answer was lost and a
    /// look-up found nothing.
    ///
    /// Nil: never.
    package var resendWindow: Duration?
    /// How long a prepared change may take from its departure until its answer counts as lost.
    package var requestDeadline: Duration
    /// How many of the newest items of a feed can be read; of a feed that is not named here, all.
    package var depths: [Feed: Int] = [:]
    /// The number of posts that ``SocialNetwork/ownPosts(at:)`` asks for at once; 1 where there is
    /// no such call.
    package var lookUpsAtOnce = 1
    /// Whether there is a share of requests for each feed; else all of an account share one.
    package var countsEachFeed = false
    /// A post may have been changed without a time of the change, so that only its text tells.
    package var mayHideEdits = false
    /// The visibilities of posts that ``SocialNetwork/ownPosts(since:)`` returns; of others its
    /// silence tells nothing.
    ///
    /// Depends on the server, and is narrower than the truth before it said what it is.
    package var listedVisibilities = Set(Visibility.allCases)
    /// Words of a text can lead to an address that is not in the text.
    package var linksWords = false
}

extension Capabilities {
    /// The capabilities that every network states; the others have their usual values.
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
