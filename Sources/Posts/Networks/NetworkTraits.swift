/// The facts about a network that mirror-bot knows without a request: how accounts, posts and texts
/// are written, and what authors may do.
///
/// One value a network, in a file of its own beside this one. Requests, money and logins are
/// `NetworkDescriptor`'s.
package struct NetworkTraits: Sendable {
    /// The form of an account's identity.
    package enum AccountForm: Sendable, Equatable {
        /// `user@host`, which is also what people type for it.
        case address
        /// A number, which people do not know: they type a name that may change hands.
        case number
        /// A text that begins so, as `did:`; people type a name that may change hands.
        case identifier(beginning: String)
    }

    /// The form of a content warning, which is shown before a text.
    package enum WarningForm: Sendable, Equatable {
        /// Nothing.
        case none
        /// Words of the author's, which count as the text does.
        case words
        /// Only these labels.
        case labels(Set<String>)
    }

    /// Where texts hold the names of people.
    package enum NamePlace: Sendable {
        case nowhere
        /// At the start of an answer, the name of whom it answers.
        case beforeAnswers
        /// In a post that names nobody else.
        case inMentions
    }

    /// The raw value of the network's ``NetworkName``.
    package var name: String
    /// The name that people use for the network.
    package var displayName: String
    /// The one host on which people meet the network; nil where each account has a server of its
    /// own.
    package var site: String?
    package var accounts: AccountForm
    /// Whether a name that people type is of the network's form, without the leading `@`.
    package var isHandle: @Sendable (String) -> Bool
    /// Where a browser shows a person, by what people type for them; nil if that does not tell.
    package var profilePage: @Sendable (String) -> String?
    /// Where a browser shows a post, by its identity; nil if that does not tell.
    package var postPage: @Sendable (String) -> String?
    /// The identity of a post's author, by that of the post; nil where that does not tell.
    package var author: @Sendable (String) -> String? = { _ in nil }
    /// The prefix of the identities of all posts of an account, where they tell their author; else
    /// `nil`.
    package var postsBegin: @Sendable (String) -> String? = { _ in nil }

    /// How long a text may be, unless a server says otherwise.
    package var limits: PublishingLimits
    /// The longest description of a picture, in code points.
    package var longestAlt: Int
    package var warnings: WarningForm
    /// Whether a picture may be hidden from who did not ask for it without any words.
    package var hidesPictures = false
    /// Whether hashtags, and cashtags after the first, are held against automated posts, so that
    /// their signs go.
    package var resentsTags = false
    /// Whether the network makes links of host names by the pattern of ``XLink``, which charge for
    /// them.
    package var chargesForHosts = false
    /// Whether an author may go on from a post of their own by the network's interface.
    package var hasThreads = true
    /// Whether `:name:` in a text stands for a picture of one server.
    package var hasCustomEmoji = false
    /// Whether the network tells of the pictures of its posts; else an archive may know them.
    package var tellsPictures = true
    /// Where a text of the human's tells what somebody is called whose identity does not tell.
    package var namesStand = NamePlace.nowhere
    /// Whether the network's interface tells that an account is automated.
    package var tellsBots = true
    /// Whether apps show readers that the account of a post is automated, wherever it was marked by
    /// a program.
    package var showsBotMark = true
    /// The advice for credentials that the network refuses.
    package var newCredentials = "make a new access token and configure it"
    /// The advice for a login that the network refuses.
    package var wrongLogin =
        "check that the token was copied whole and belongs to this server, or make a new one, and log in again"
    /// Whether a post may be shown to nobody but the people that it names.
    package var hasPrivateMentions = false
    /// Whether profiles show which of their links lead to a page that links back.
    package var verifiesLinks = false
    /// How many days posts of others may be kept to learn from.
    package var learningDays = 180

    package init(
        name: String, displayName: String, site: String? = nil, accounts: AccountForm,
        isHandle: @escaping @Sendable (String) -> Bool,
        profilePage: @escaping @Sendable (String) -> String?,
        postPage: @escaping @Sendable (String) -> String?, limits: PublishingLimits,
        longestAlt: Int,
        warnings: WarningForm = .none
    ) {
        self.name = name
        self.displayName = displayName
        self.site = site
        self.accounts = accounts
        self.isHandle = isHandle
        self.profilePage = profilePage
        self.postPage = postPage
        self.limits = limits
        self.longestAlt = longestAlt
        self.warnings = warnings
    }

    /// Whether people type what identifies an account.
    package var namesAreIdentities: Bool { accounts == .address }

    /// Whether a text is an identity rather than a name that people type.
    package func isIdentity(_ text: String) -> Bool {
        switch accounts {
        case .address: text.contains("@")
        case .number: !text.isEmpty && text.utf8.allSatisfy(\.isASCIIDigit)
        case .identifier(let beginning): text.hasPrefix(beginning)
        }
    }
}
