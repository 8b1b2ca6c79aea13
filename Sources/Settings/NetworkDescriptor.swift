package import Foundation
import NetworkNames
package import Networks
package import Posts
import Synchronization
package import Transport

/// The network-specific behavior of mirror-bot: logins, requests, prices and rules.
///
/// Each network has one value, in a file of its own beside this one, which also passes the settings
/// to the network's target. The forms of a network's names and texts are in `NetworkTraits`. No
/// target above this one knows the networks' targets: code there uses the descriptor and the
/// traits, and never compares networks' names. `docs/architecture.md` describes how to add a
/// network.
package struct NetworkDescriptor: Sendable {
    /// A value that describes an account of the network.
    package struct Field: Sendable {
        package let field: AccountField
        /// The roles whose accounts do not need the field.
        let rolesWithoutNeed: Set<AccountRole>

        package init(_ field: AccountField, optionalFor roles: Set<AccountRole> = []) {
            self.field = field
            rolesWithoutNeed = roles
        }
    }

    /// The intervals of polls by feed, as multiples of the interval of the mentions.
    package struct PollIntervals: Sendable {
        /// The interval of one feed.
        package struct Interval: Sendable {
            /// The number by which the interval of the mentions is multiplied.
            let multiple: Int
            /// The shortest interval, if the network charges or requires it.
            let shortest: Duration

            package init(multiple: Int, shortest: Duration = .zero) {
                self.multiple = multiple
                self.shortest = shortest
            }

            /// Returns the interval of the feed.
            ///
            /// - Parameter mentions: The interval of polls of the mentions.
            package func duration(mentions: Duration) -> Duration {
                max(mentions * multiple, shortest)
            }
        }

        package let mentions: Interval
        package let home: Interval
        package let ownPosts: Interval
        package let favorites: Interval

        package init(
            mentions: Interval, home: Interval, ownPosts: Interval, favorites: Interval
        ) {
            self.mentions = mentions
            self.home = home
            self.ownPosts = ownPosts
            self.favorites = favorites
        }
    }

    /// The policy that an operator must have read before a program may publish on a network.
    package struct Policy: Sendable {
        /// The setting by which the operator confirms to have read the policy.
        package let setting: String
        package let isAcknowledged: @Sendable (MirrorSettings) -> Bool
        /// Whether the bot's profile must name its operator's account on the network.
        package let wantsOperatorNamed: Bool
        private let makeSummary: @Sendable () -> String

        /// - Parameters:
        ///   - setting: See ``setting``.
        ///   - summary: See ``summary``.
        ///   - isAcknowledged: See ``isAcknowledged``.
        ///   - wantsOperatorNamed: See ``wantsOperatorNamed``.
        init(
            setting: String, summary: @escaping @autoclosure @Sendable () -> String,
            isAcknowledged: @escaping @Sendable (MirrorSettings) -> Bool, wantsOperatorNamed: Bool
        ) {
            self.setting = setting
            self.isAcknowledged = isAcknowledged
            self.wantsOperatorNamed = wantsOperatorNamed
            makeSummary = summary
        }

        /// The network's requirements and their address, in sentences for the operator.
        package var summary: String { makeSummary() }
    }

    /// The prices of a network.
    package struct Prices: Sendable {
        /// The day of the price list, as `2026-04-20`.
        package let day: String
        /// The setting that limits a month's costs.
        package let budgetSetting: String
        /// The budget for all calls of a calendar month in UTC.
        package let monthlyBudget: @Sendable (MirrorSettings) -> Money
        /// The minimum price of a post.
        package let post: Money
        /// The price of a reply, in addition to reading the mention.
        package let reply: Money
        /// The price of deleting a post, and of withdrawing a favorite.
        package let delete: Money
        /// The maximum price of reading a number of items of a feed of a role's account.
        package let priceOfReading:
            @Sendable (_ items: Int, Feed, AccountRole, MirrorSettings) -> Money
        /// The maximum price of reading one of the account's own posts by its address.
        package let priceOfOwnPost: @Sendable (MirrorSettings) -> Money
        /// The maximum cost of home timelines per day.
        package let homeShare: @Sendable (MirrorSettings) -> Money
        /// The settings that the prices depend on, as `NAME=value`.
        package let assumptions: @Sendable (MirrorSettings) -> [String]
        /// The minimum price of one poll of a feed of a role's account.
        package let minimumPriceOfPoll: @Sendable (Feed, AccountRole, MirrorSettings) -> Money
    }

    /// A rule of the network about data on people.
    package struct DataRule: Sendable {
        /// Whether matching an account with one elsewhere needs the person's consent.
        package let matchingNeedsConsent: Bool
        private let makeSummary: @Sendable () -> String

        /// - Parameters:
        ///   - summary: See ``summary``.
        ///   - matchingNeedsConsent: See ``matchingNeedsConsent``.
        init(
            summary: @escaping @autoclosure @Sendable () -> String, matchingNeedsConsent: Bool
        ) {
            self.matchingNeedsConsent = matchingNeedsConsent
            makeSummary = summary
        }

        /// The rule and its address, as the rest of a sentence that begins with the network's name.
        package var summary: String { makeSummary() }
    }

    /// The reason why a home timeline is not read.
    package struct UnreadHome: Equatable, Sendable {
        /// The reason for people, as the rest of a sentence.
        package let words: String
        /// Whether a setting switches the reading off.
        package let isSwitchedOff: Bool

        package init(words: String, isSwitchedOff: Bool) {
            self.words = words
            self.isSwitchedOff = isSwitchedOff
        }
    }

    /// A scope that an access token lacks.
    package struct MissingScope: Sendable {
        package let name: String
        /// The task that is impossible without the scope; `nil` if nothing is possible.
        package let consequence: String?
    }

    /// The parameters for making a client.
    package struct Connection: Sendable {
        package let account: AccountConfiguration
        package let settings: MirrorSettings
        package let sessions: any CredentialStore
        /// The account book for calls that cost money.
        package let book: any SpendingBook
        package let client: HTTPClient
        /// The mirror that makes the requests.
        package let origin: RequestOrigin
        /// Whether `doctor --probe` found the account's server to keep a promise.
        package let findings: [ServerPromise: Bool]
        /// Returns the time of day.
        package let now: @Sendable () -> Date
        /// Returns the monotonic clock, in seconds.
        package let uptime: @Sendable () -> TimeInterval

        package init(
            account: AccountConfiguration, settings: MirrorSettings, sessions: any CredentialStore,
            book: any SpendingBook, client: HTTPClient, origin: RequestOrigin,
            findings: [ServerPromise: Bool],
            now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> TimeInterval
        ) {
            self.account = account
            self.settings = settings
            self.sessions = sessions
            self.book = book
            self.client = client
            self.origin = origin
            self.findings = findings
            self.now = now
            self.uptime = uptime
        }
    }

    package let name: NetworkName
    /// The fields of an account, in the order in which they are requested from a person and
    /// printed.
    package let fields: [Field]
    /// The field that identifies the account: equal values certainly belong to the same account.
    package let identity: AccountField
    /// The fields that distinguish credentials, without those that could be guessed from a digest.
    package let fingerprint: [AccountField]
    package let pollIntervals: PollIntervals
    /// Creates a client for an account.
    ///
    /// - Throws: `NetworkError` for an unusable server.
    package let connect: @Sendable (Connection) throws -> any SocialNetwork

    /// The steps of a login.
    package var login: NetworkLogin
    /// The network's own defaults for settings.
    package var defaults = SettingDefaults()
    /// The audiences that `QUOTES` accepts.
    package var quoteAudiences: Set<Audience> = []
    /// The audiences that `WHO_MAY_REPLY` accepts.
    package var replyAudiences: Set<Audience> = [.anyone]
    /// The most pages of favorites in one poll.
    package var favoritePages = 50
    package var policy: Policy?
    package var dataRule: DataRule?
    package var prices: Prices?
    /// Returns the reason why the home timeline of an account is not read; nil if it is read.
    package var reasonHomeIsUnread:
        @Sendable (AccountConfiguration, MirrorSettings) -> UnreadHome? = { _, _ in nil }
    /// Finds the scopes that the bot's credentials lack; `nil` if the network does not report
    /// scopes.
    package var missingScopes:
        (
            @Sendable (
                AccountConfiguration, HTTPClient, RequestOrigin,
                _ now: @escaping @Sendable () -> Date
            )
                async throws -> [MissingScope]
        )?

    package init(
        _ name: NetworkName, fields: [Field], identity: AccountField, fingerprint: [AccountField],
        pollIntervals: PollIntervals,
        connect: @escaping @Sendable (Connection) throws -> any SocialNetwork
    ) {
        self.name = name
        self.fields = fields
        self.identity = identity
        self.fingerprint = fingerprint
        self.pollIntervals = pollIntervals
        self.connect = connect
        login = .fields(of: name)
    }
}

extension NetworkDescriptor {
    private static let registered = Mutex<[NetworkDescriptor]>([.mastodon, .x, .bluesky])

    /// The networks that this process supports, in the order of their registration.
    package static var known: [NetworkDescriptor] { registered.withLock(\.self) }

    /// Registers a network permanently in this process; to be called before any settings are read.
    ///
    /// - Parameters:
    ///   - traits: The forms of its names and texts.
    ///   - descriptor: Makes the descriptor from the network's name.
    /// - Returns: The name.
    package static func register(
        _ traits: NetworkTraits, _ descriptor: (NetworkName) -> NetworkDescriptor
    ) -> NetworkName {
        let name = NetworkName.register(traits)
        let newDescriptor = descriptor(name)
        registered.withLock { descriptors in
            if !descriptors.contains(where: { $0.name == name }) {
                descriptors.append(newDescriptor)
            }
        }
        return name
    }

    /// The fields that an account of a role needs.
    package func required(by role: AccountRole) -> [AccountField] {
        fields.filter { $0.field.setting != nil && !$0.rolesWithoutNeed.contains(role) }
            .map(\.field)
    }

    /// The variables that an account of a role needs, in the order of its fields.
    package func requiredNames(of role: AccountRole) -> [String] {
        required(by: role).map { $0.name(of: role) }
    }
}

extension MirrorSettings {
    /// The prices of the networks that charge for calls.
    private static var prices: [NetworkDescriptor.Prices] {
        NetworkDescriptor.known.compactMap(\.prices)
    }

    /// The budget for all calls that cost money, of a calendar month in UTC.
    package var monthlyBudget: Money {
        Self.prices.map { $0.monthlyBudget(self) }.reduce(.zero, +)
    }

    /// The maximum cost of home timelines per day.
    package var homeShare: Money { Self.prices.map { $0.homeShare(self) }.reduce(.zero, +) }
}

extension NetworkName {
    /// The descriptor that is registered for the network.
    package var descriptor: NetworkDescriptor {
        guard let descriptor = NetworkDescriptor.known.first(where: { $0.name == self }) else {
            preconditionFailure("\(self) was registered without a descriptor")
        }
        return descriptor
    }
}
