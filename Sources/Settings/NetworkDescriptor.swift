package import Foundation
package import Networks
package import Posts
import Synchronization
package import Transport

/// The behavior of mirror-bot that is specific to one network: logins, requests, money and rules.
///
/// One value a network, in a file of its own beside this one. How a network's names and texts are
/// written stands in `NetworkTraits`. Code outside the networks' own folders asks the two values,
/// and never which network it is; `docs/architecture.md` says what a further network needs.
package struct NetworkDescriptor: Sendable {
    /// A value that describes an account of the network.
    package struct Field: Sendable {
        package let field: AccountField
        /// The roles whose accounts can do without it.
        let optional: Set<AccountRole>

        package init(_ field: AccountField, optionalFor roles: Set<AccountRole> = []) {
            self.field = field
            optional = roles
        }
    }

    /// How often feeds are looked at, as multiples of the wait between two looks at the mentions.
    package struct Rhythm: Sendable {
        /// One feed's.
        package struct Beat: Sendable {
            let multiple: Int
            /// Where the network charges or asks for it.
            let shortest: Duration

            package init(_ multiple: Int, shortest: Duration = .zero) {
                self.multiple = multiple
                self.shortest = shortest
            }

            /// Returns the wait between two looks, for a wait between two looks at the mentions.
            package func wait(_ poll: Duration) -> Duration { max(poll * multiple, shortest) }
        }

        package let mentions: Beat
        package let home: Beat
        package let ownPosts: Beat
        package let favorites: Beat

        package init(mentions: Beat, home: Beat, ownPosts: Beat, favorites: Beat) {
            self.mentions = mentions
            self.home = home
            self.ownPosts = ownPosts
            self.favorites = favorites
        }
    }

    /// The policy that a network wants an operator to have read before a program publishes there.
    package struct Policy: Sendable {
        /// The setting that says that the operator has read it.
        package let setting: String
        /// The network's requirements and their address, in sentences for the operator.
        package let summary: String
        package let isAcknowledged: @Sendable (MirrorSettings) -> Bool
        /// Whether the bot's profile is to name the account of its operator on the network.
        package let wantsOperatorNamed: Bool
    }

    /// The prices of a network.
    package struct Prices: Sendable {
        /// The day of the price list, as `2026-04-20`.
        package let day: String
        /// The setting that limits a month's costs.
        package let budget: String
        /// The least that publishing costs.
        package let post: Money
        /// The price of an answer, beside what reading the mention costs.
        package let reply: Money
        /// The price of deleting a post, and of withdrawing a favorite.
        package let delete: Money
        /// The most that reading so many items of a feed of a role's account costs.
        package let read: @Sendable (Int, Feed, AccountRole, MirrorSettings) -> Money
        /// The most that asking for one of the account's own posts by its address costs.
        package let ownPost: @Sendable (MirrorSettings) -> Money
        /// The maximum cost of home timelines per day.
        package let homeShare: @Sendable (MirrorSettings) -> Money
        /// The settings that the costs depend on, as `NAME=value`.
        package let assumptions: @Sendable (MirrorSettings) -> [String]
        /// The least that one look at a feed of a role's account costs.
        package let look: @Sendable (Feed, AccountRole, MirrorSettings) -> Money
    }

    /// A rule of the network about data on people.
    package struct DataRule: Sendable {
        /// The rule and its address, as the rest of a sentence that begins with the network's name.
        package let summary: String
        /// Whether an account may be matched to one elsewhere only with the person's consent.
        package let matchingNeedsConsent: Bool
    }

    /// Why a home timeline is not read.
    package struct HomeGap: Equatable, Sendable {
        /// In words for people, as the rest of a sentence.
        package let words: String
        /// Whether the settings say that it is not to be read.
        package let isChosen: Bool

        package init(words: String, isChosen: Bool) {
            self.words = words
            self.isChosen = isChosen
        }
    }

    /// A scope that an access token lacks.
    package struct MissingScope: Sendable {
        package let name: String
        /// The task that the bot cannot do without the scope; `nil` if it can do nothing.
        package let consequence: String?
    }

    /// The parameters for making a client.
    package struct Connection: Sendable {
        package let account: AccountConfiguration
        package let settings: MirrorSettings
        package let sessions: any CredentialStore
        /// Where calls that cost something are paid.
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
    /// The fields that describe an account, in the order in which they are asked for and printed.
    package let fields: [Field]
    /// The field that says whose account it is: equal values certainly open the same one.
    package let identity: AccountField
    /// The fields that tell credentials from others; none that could be guessed from its digest.
    package let fingerprint: [AccountField]
    package let rhythm: Rhythm
    /// A client that acts as an account.
    ///
    /// - Throws: `NetworkError` for an unusable server.
    package let connect: @Sendable (Connection) throws -> any SocialNetwork

    /// The values of settings that nobody gave, where the bot's network has its own.
    package var defaults: [String: String] = [:]
    /// The audiences that `QUOTES` may name.
    package var quotes: Set<Audience> = []
    /// The audiences that `WHO_MAY_REPLY` may name.
    package var replies: Set<Audience> = [.anyone]
    /// The most pages of the favorites that one look asks for.
    package var favoritePages = 50
    package var policy: Policy?
    package var dataRule: DataRule?
    package var prices: Prices?
    package var homeGap: @Sendable (AccountConfiguration, MirrorSettings) -> HomeGap? = { _, _ in
        nil
    }
    /// Finds the scopes that the bot's credentials lack; `nil` if the network never tells.
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
        rhythm: Rhythm,
        connect: @escaping @Sendable (Connection) throws -> any SocialNetwork
    ) {
        self.name = name
        self.fields = fields
        self.identity = identity
        self.fingerprint = fingerprint
        self.rhythm = rhythm
        self.connect = connect
    }
}

extension NetworkDescriptor {
    private static let registered = Mutex<[NetworkDescriptor]>([.mastodon, .x, .bluesky])

    /// The networks that this process can use, in the order of their registration.
    package static var known: [NetworkDescriptor] { registered.withLock(\.self) }

    /// Makes a network known to this process, for good; before any settings are read.
    ///
    /// - Parameters:
    ///   - traits: How its names and texts are written.
    ///   - descriptor: Makes the descriptor of the name that the network gets.
    /// - Returns: That name.
    package static func register(
        _ traits: NetworkTraits, _ descriptor: (NetworkName) -> NetworkDescriptor
    ) -> NetworkName {
        let name = NetworkName.register(traits)
        let value = descriptor(name)
        registered.withLock { known in
            if !known.contains(where: { $0.name == name }) { known.append(value) }
        }
        return name
    }

    /// The fields that an account of a role needs.
    package func required(by role: AccountRole) -> [AccountField] {
        fields.filter { $0.field.setting != nil && !$0.optional.contains(role) }.map(\.field)
    }

    /// The variables that an account of a role needs, in the order of its fields.
    package func requiredNames(of role: AccountRole) -> [String] {
        required(by: role).map { $0.name(of: role) }
    }
}

extension NetworkName {
    /// The descriptor that is registered for the network.
    package var descriptor: NetworkDescriptor {
        guard let known = NetworkDescriptor.known.first(where: { $0.name == self }) else {
            preconditionFailure("\(self) was registered without a descriptor")
        }
        return known
    }
}
