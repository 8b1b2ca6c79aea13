package import Posts

/// What a network can do and allows, asked before a call instead of testing for the network's name.
package struct Capabilities: Sendable, Equatable {
    /// Whom the network lets a bot answer.
    package enum ReplyPermission: Sendable, Equatable {
        /// Whoever's post the account can see.
        case anyone
        /// Only who mentioned the account in the very post that is answered.
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
    /// What ``Draft/visibility`` may be; another one is refused with ``NetworkError/Code/capability``.
    package var visibilities: Set<Visibility>
    package var replies: ReplyPermission
    /// Whether the person answered is notified only if the text names them.
    package var replyNeedsMention: Bool
    package var automaticFavorites: FavoritePermission
    /// Whether favorites can be given at all, be it after a person's decision.
    package var canFavorite: Bool
    /// Whether texts may be published, as configured.
    package var canPublish: Bool
    /// Whether ``Draft/language`` is sent.
    package var sendsLanguage: Bool
    /// Whether the network is known to recognise a second attempt by ``Draft/key``, so that it makes nothing twice.
    ///
    /// Depends on the server, and is false before it said what it is.
    package var supportsIdempotencyKey: Bool
    /// How long after the first attempt a draft may be sent again, if its answer was lost and a look-up found nothing.
    ///
    /// Nil: never.
    package var resendWindow: Duration?
    /// How long a call may take before its answer counts as lost.
    package var requestDeadline: Duration
    /// How many of the newest items of a feed can be read; of a feed that is not named here, all.
    package var depths: [Feed: Int]

    package init(
        feeds: Set<Feed>, visibilities: Set<Visibility>, replies: ReplyPermission, replyNeedsMention: Bool,
        automaticFavorites: FavoritePermission, canFavorite: Bool = true, canPublish: Bool = true,
        sendsLanguage: Bool, supportsIdempotencyKey: Bool, resendWindow: Duration?, requestDeadline: Duration,
        depths: [Feed: Int] = [:]
    ) {
        self.feeds = feeds
        self.visibilities = visibilities
        self.replies = replies
        self.replyNeedsMention = replyNeedsMention
        self.automaticFavorites = automaticFavorites
        self.canFavorite = canFavorite
        self.canPublish = canPublish
        self.sendsLanguage = sendsLanguage
        self.supportsIdempotencyKey = supportsIdempotencyKey
        self.resendWindow = resendWindow
        self.requestDeadline = requestDeadline
        self.depths = depths
    }
}
