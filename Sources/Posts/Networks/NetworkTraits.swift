package import Localization

/// The facts about a network that need no request: the forms of accounts, posts and texts, and the
/// options of authors.
///
/// Each network's value is in a separate file of this folder. Requests, prices and logins are in
/// `NetworkDescriptor`.
package struct NetworkTraits: Sendable {
    /// The form of an account's identity.
    package enum AccountForm: Sendable, Equatable {
        /// `user@host`, which people also type.
        case address
        /// A number.
        ///
        /// People do not know it: they type a name, which another account may take over.
        case number
        /// A text with this prefix, such as `did:`.
        ///
        /// People type a name, which another account may take over.
        case identifier(beginning: String)
    }

    /// The form of a content warning, which precedes a text.
    package enum WarningForm: Sendable, Equatable {
        /// No content warnings.
        case none
        /// Words by the author, which count against the limit as the text does.
        case words
        /// Labels of this set only.
        case labels(Set<String>)
    }

    /// The place in texts at which people's names appear.
    package enum NamePlace: Sendable {
        case nowhere
        /// The name of the answered person is at the start of a reply.
        case beforeAnswers
        /// The names are in posts that mention a single person.
        case inMentions
    }

    /// The raw value of the network's ``NetworkName``.
    package var name: String
    /// The name that people use for the network.
    package var displayName: String
    /// The network's single host; nil if accounts are on many servers.
    package var site: String?
    package var accountForm: AccountForm
    /// Whether a name, without the leading `@`, has the form of the network's handles.
    package var isHandle: @Sendable (String) -> Bool
    /// The web page of a person, by their handle; nil if unknown.
    package var profilePage: @Sendable (String) -> String?
    /// The web page of a post, by its identity; nil if unknown.
    package var postPage: @Sendable (String) -> String?
    /// The identity of a post's author, by the post's identity; nil if that does not contain it.
    package var author: @Sendable (String) -> String? = { _ in nil }
    /// The prefix that the identities of all posts of an account have in common; `nil` if
    /// identities do not contain the author.
    package var postIdentityPrefix: @Sendable (String) -> String? = { _ in nil }

    /// The limits of texts, unless a server has its own.
    package var limits: PublishingLimits
    /// The longest description of a picture, in code points.
    package var longestAlt: Int
    package var warningForm: WarningForm
    /// Whether a picture may be marked as sensitive without a warning text.
    package var hidesPictures = false
    /// Whether the network dislikes hashtags, and cashtags after the first, in automated posts, so
    /// that their signs are removed.
    package var resentsTags = false
    /// Whether the network turns host names that match ``XLink`` into links, which cost more.
    package var chargesForHosts = false
    /// Whether the network's API allows authors to continue their own posts.
    package var hasThreads = true
    /// Whether `:name:` in a text stands for a custom picture of a server.
    package var hasCustomEmoji = false
    /// Whether the network's API returns the pictures of posts; otherwise they can only come from
    /// an archive.
    package var returnsPictures = true
    /// The place in the human's texts at which people's names are found, if identities do not
    /// contain them.
    package var namePlace = NamePlace.nowhere
    /// Whether the network's API returns that an account is automated.
    package var returnsBotMark = true
    /// Whether apps show beside posts that their account is automated, if a program marked it.
    package var showsBotMark = true
    /// The advice for credentials that the network refuses.
    package var newCredentials = LocalizedText("make a new access token and configure it")
    /// The advice for a login that the network refuses.
    package var wrongLogin = LocalizedText(
        "check that the token was copied whole and belongs to this server, or make a new one, and log in again"
    )
    /// Whether a post can be visible to the mentioned people only.
    package var hasPrivateMentions = false
    /// Whether profiles show which of their links lead to a page that links back.
    package var verifiesLinks = false
    /// The number of days for which other people's posts may be kept for learning.
    package var learningDays = 180

    package init(
        name: String, displayName: String, site: String? = nil, accountForm: AccountForm,
        isHandle: @escaping @Sendable (String) -> Bool,
        profilePage: @escaping @Sendable (String) -> String?,
        postPage: @escaping @Sendable (String) -> String?, limits: PublishingLimits,
        longestAlt: Int,
        warningForm: WarningForm = .none
    ) {
        self.name = name
        self.displayName = displayName
        self.site = site
        self.accountForm = accountForm
        self.isHandle = isHandle
        self.profilePage = profilePage
        self.postPage = postPage
        self.limits = limits
        self.longestAlt = longestAlt
        self.warningForm = warningForm
    }

    /// Whether the names that people type are identities.
    package var namesAreIdentities: Bool { accountForm == .address }

    /// Whether a text is an identity rather than a name.
    package func isIdentity(_ text: String) -> Bool {
        switch accountForm {
        case .address: text.contains("@")
        case .number: !text.isEmpty && text.utf8.allSatisfy(\.isASCIIDigit)
        case .identifier(let beginning): text.hasPrefix(beginning)
        }
    }
}
