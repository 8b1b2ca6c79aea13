package import Foundation
import NetworkNames
package import Posts

/// The ways in which a server with Mastodon's interface differs from Mastodon.
///
/// Every habit was found in the source of a program in use, or was seen on a server. Each can be
/// set independently; `Programs` has a file for each program, with the sources.
package struct MastodonHabits: Equatable, Sendable {
    /// The program that the server says it is.
    package enum Software: String, CaseIterable, Sendable {
        case mastodon, gotosocial, pleroma, takahe, snac, friendica, wordpress
    }

    /// A list of the interface.
    package enum List: String, CaseIterable, Sendable {
        case ownPosts, home, favorites, notifications
    }

    /// A request that some programs answer without a token.
    package enum Reading: String, CaseIterable, Sendable {
        /// An account by its id.
        case account
        /// An account by its name.
        case name
        /// The posts of an account.
        case ownPosts
        case post, context, search
    }

    /// The number of items on a page of a list.
    package struct PageSize: Equatable, Sendable {
        /// The number without a `limit`.
        package var standard: Int
        /// The most items, whatever the `limit` is.
        package var maximum: Int

        package init(standard: Int, maximum: Int) {
            self.standard = standard
            self.maximum = maximum
        }
    }

    /// The most posts that the context of a post contains.
    package struct ContextSize: Equatable, Sendable {
        /// The most ancestors; the nearest ones are returned.
        package var ancestors: Int
        package var descendants: Int

        package init(ancestors: Int, descendants: Int) {
            self.ancestors = ancestors
            self.descendants = descendants
        }
    }

    /// The `Link` header of a page.
    package enum Links: Sendable {
        /// The header has `next` as long as there are more items.
        case usual
        /// There is no header.
        case missing
        /// The header has `next` even on the last page; only an empty page has none.
        case untilEmpty
        /// The header is as with ``untilEmpty``, but `prev` has `since_id` in place of `min_id`.
        case untilEmptySince
    }

    /// The form of a refusal.
    package enum ErrorForm: String, CaseIterable, Sendable {
        case json, plainText, html, empty
    }

    /// The outcome of a request whose `Idempotency-Key` was used before.
    package enum Keys: Sendable {
        /// The post of the first request is returned again.
        case honored
        /// A second post is published.
        case ignored
        /// The request is refused with 500, as by some versions of Mastodon.
        case failing
        /// The request is refused with 409 while the first one counts as running; after that its
        /// post is returned.
        case busy
    }

    /// The outcome of an unknown scope, at the registration of an application.
    package enum UnknownScopes: Sendable {
        case refused
        /// The application is registered without it.
        case leftOut
    }

    /// The people who still see a post by its id after it was deleted.
    package enum Witnesses: Sendable {
        case nobody
        case author
        case everybody
    }

    /// The answer to a second DELETE of a post that is still shown.
    package enum SecondDeletion: Sendable {
        /// The request is refused with 403 `Record not found`.
        case refused
        /// The request is answered with 200, as the first one.
        case repeated
    }

    /// The deletions that also remove the answers to the post.
    package enum SweptAnswers: Sendable {
        case none
        /// Only the deletion of a post that begins a thread also removes the answers.
        case ofThreads
        case all
    }

    /// The field `language` of a post.
    package enum Languages: Equatable, Sendable {
        /// The field has the author's language.
        case told
        /// The field is null.
        case missing
        /// The field always has this language.
        case always(String)
    }

    /// The field `text` of a post.
    package enum SourceText: Sendable {
        case missing
        /// The text as the client sent it.
        case plain
        /// The same HTML as in `content`.
        case html
    }

    /// The precision of times.
    package enum Times: Sendable {
        case milliseconds
        /// Times have `.000` in place of the milliseconds.
        case zeros
        /// Times have no fraction.
        case seconds
    }

    package static let everywhere = Set(List.allCases)
    package static let everything = Set(Reading.allCases)

    package var software = Software.mastodon
    package var ids = MastodonIDs.decimal
    /// The ids of notifications; nil for ``ids``.
    package var notificationIDs: MastodonIDs?
    /// The names of the server's own emoji.
    package var emoji = ["blobcat"]

    // MARK: Lists

    /// Whether every list contains its items twice.
    package var repeatsItems = false
    /// Whether the home contains its items twice if there are fewer than requested.
    package var repeatsShortHome = false
    /// Lists in which `since_id` has no effect.
    package var ignoresSinceID: Set<List> = []
    /// Lists in which `min_id` has no effect.
    package var ignoresMinID: Set<List> = []
    /// Lists in which `min_id` returns the newest items above it, instead of the next ones.
    package var takesMinIDForSinceID: Set<List> = []
    /// Lists that are empty if `max_id` or `min_id` is not the id of an item in them.
    package var needsBoundInList: Set<List> = []
    package var links = Links.usual
    /// Lists whose header differs from ``links``.
    package var linksOf: [List: Links] = [:]
    /// Lists whose pages have another length than Mastodon's.
    package var pageSizes: [List: PageSize] = [:]
    /// The length of every page, whatever is requested.
    package var fixedPageSize: Int?
    /// The number of newest entries in a list, including hidden ones.
    package var listsAtMost: [List: Int] = [:]
    /// Whether `types[]` and `exclude_types[]` have no effect.
    package var ignoresNotificationTypes = false
    /// Seconds between the runs of a worker that creates all notifications since its last run; nil
    /// for immediate notifications.
    package var notificationsEvery: TimeInterval?
    /// Whether the ids of the posts sort the favorites and are the cursors of their pages.
    package var ordersFavoritesByPost = false
    package var contextSize: ContextSize?

    /// The visibilities of posts in an account's list, even for its owner.
    package var listedVisibilities = Set(Visibility.allCases)
    /// Whether an account's list is sorted by date, although its bounds are compared with ids.
    package var ordersOwnPostsByDate = false
    /// A part of the text of imported posts, which are dated a year before the time in their id;
    /// nil if no posts are imported.
    package var importedPhrase: String?

    // MARK: Reading

    /// Requests that are refused without a token.
    package var needsTokenToRead: Set<Reading> = []
    /// Whether a post that is not public is refused with 401 without a token, although a public one
    /// is shown.
    package var refusesHiddenPosts = false
    /// Whether every local account can see every post by its id.
    package var showsHiddenPostsToAccounts = false
    /// Whether a search does not find posts by their addresses.
    package var searchesWordsOnly = false

    // MARK: Refusals

    package var errorForm = ErrorForm.json
    /// The status for an unknown token.
    package var badTokenStatus = 401
    package var badTokenForm: ErrorForm?
    /// The status of `verify_credentials` for an unknown token; nil for ``badTokenStatus``.
    package var badLoginStatus: Int?
    /// The status for a request without a token; nil for ``badTokenStatus``.
    package var missingTokenStatus: Int?
    package var missingTokenForm: ErrorForm?
    /// The status for a token without the necessary scope.
    package var missingScopeStatus = 403
    /// The form of the answer for a missing resource.
    package var missingForm: ErrorForm?
    /// Whether missing resources are refused with 403, except for a post that is read, edited or
    /// answered.
    package var forbidsMissing = false
    /// The status for deleting another account's post.
    package var foreignPostStatus = 404
    /// The status for an invalid request.
    package var validationStatus = 422
    /// Whether answers without a body have no `Content-Length`, so that the connection ends.
    package var omitsEmptyLength = false
    /// If set to n, every n-th request is refused with 429 and `Retry-After: 30`, but without a
    /// reset time.
    package var overloadEvery: Int?
    /// Whether requests are counted by address, not by token.
    package var limitsByAddress = false
    /// Whether answers have headers with the limit and the number of requests left.
    package var tellsLimits = true
    /// Whether the time of reset is a number of seconds since 1970.
    package var tellsResetAsNumber = false

    // MARK: Writing

    /// Seconds for which the server processes an uploaded file before it may be in a post.
    package var mediaTakes: TimeInterval = 0
    /// The delay of the answer to a new post, in real time, as on a server under load.
    package var postsTake: Duration = .zero

    package var keys = Keys.honored
    /// Seconds for which the first use of a key counts as running, if `keys` is `.busy`.
    package var keyIsBusyFor: TimeInterval = 5
    package var defaultVisibility = Visibility.public
    /// Whether a reply to a missing post is published as an ordinary post.
    package var publishesLostReplies = false
    /// Whether a reply still names an answered post that was deleted.
    package var keepsLostParents = false
    package var maximumCharacters = 500
    /// The rules of the server, and its about page as HTML; nil for no page.
    package var rules = ["Be kind to each other."]
    package var aboutPage: String?
    /// Whether the rules are only in the server's description of itself, as before Mastodon 4.
    package var lacksRules = false
    /// The number of characters that a link counts as; `nil` for its own length.
    package var charactersPerLink: Int? = 23
    /// The number of characters that the server advertises for a link.
    package var advertisedCharactersPerLink: Int? = 23
    /// Whether content warnings, `sensitive` and languages are dropped.
    package var dropsDetails = false
    /// Whether `sensitive` counts only together with a content warning.
    package var ignoresSensitive = false
    /// Whether a content warning is the title of a post, which does not make the post sensitive.
    package var warningsAreTitles = false
    /// Whether a post that is not public has a small audience, but is shown as public.
    package var losesVisibility = false
    /// Whether a direct post is shown as private, and a private answer to it has the same audience.
    package var showsDirectAsPrivate = false
    /// Whether a direct post is refused unless it names a local person without a host.
    package var refusesDirectPosts = false
    /// Whether the answer to the request for a new reply has the id of the answered post.
    package var answersWithParentID = false

    /// Whether nothing shows that a post was edited.
    package var hidesEdits = false
    /// Whether an edited post becomes public.
    package var publishesEdits = false
    /// Whether an edit without `media_ids` removes the attachments.
    package var editsDropMedia = false
    /// Whether an edit keeps a content warning only with `sensitive`.
    package var editsNeedSensitive = false

    /// Seconds from the answer to a DELETE until the post is gone, by the sandbox's clock; at most
    /// ``looksBeforeDeletion`` requests see it.
    package var deletionTakes: TimeInterval = 0
    /// Requests that still see a deleted post while the clock stands still.
    package var looksBeforeDeletion = 2
    /// The people who see a deleted post by its id, although lists omit it.
    package var showsDeletedTo = Witnesses.nobody
    package var secondDeletion = SecondDeletion.refused
    package var sweepsAnswers = SweptAnswers.none
    /// Whether the answer to a DELETE is an empty list in place of the post.
    package var answersDeletionWithList = false
    /// Whether a deleted post that is still shown has the time of its deletion in `edited_at`.
    package var datesDeletions = false

    // MARK: Entities

    /// Whether the author of the thread's first post is returned as the answered person, and
    /// mentioned by every post of the thread; the answered post is included.
    package var takesThreadAuthorForParents = false
    /// Whether a reply that was never edited mentions the author of the answered post, even if the
    /// text does not.
    package var namesParentAuthor = false
    /// Whether the mentioned people are numbered from 0; then a reply mentions the answered author
    /// once more.
    package var numbersMentions = false
    /// Whether the mentioned people are returned without the requesting account.
    package var omitsViewerFromMentions = false
    /// Whether posts have no mentions and no hashtags.
    package var namesNobody = false
    package var languages = Languages.told
    package var sourceText = SourceText.missing
    /// Whether posts state who may favorite, answer and repost them, as on GoToSocial.
    package var tellsPolicies = false
    /// Further fields by which authors restricted the audience of posts.
    package var restrictedAudiences: [NarrowedPosts] = []

    /// Whether texts of local people are converted from markup, whose signs are lost.
    package var rewritesTexts = false
    /// The kind of conversion, if texts are converted.
    package var dialect = TextDialect.snac
    package var times = Times.milliseconds
    /// The times of notifications; nil for ``times``.
    package var notificationTimes: Times?
    /// Whether people of the server itself are `user@host` everywhere but in answers about the own
    /// account.
    package var namesPeopleInFull = false
    package var lacksInstanceV2 = false
    /// Whether the account's own profile is returned as others see it, without its source text.
    package var hidesProfileSource = false
    /// Whether a change of the profile is accepted, but not stored.
    package var dropsProfiles = false
    /// Whether the table of a profile cannot be changed.
    package var dropsProfileFields = false
    /// Whether the flag of an automated account is accepted, but not stored.
    package var dropsBotMarks = false
    /// Whether every connection ends after one answer.
    package var closesConnections = false

    // MARK: Logins

    /// Seconds for which a token with a refresh token is valid; nil for tokens that do not expire.
    package var tokenLifetime: TimeInterval?
    /// Whether a token permits everything, whatever its scopes.
    package var ignoresScopes = false
    /// Whether the scope `profile` is known, which is a recent one.
    package var knowsProfileScope = true
    package var unknownScopes = UnknownScopes.refused
    /// Whether a code is exchanged for a token with the scopes that the person allowed, whatever
    /// the application then requests.
    package var grantsWhatWasAllowed = false
    /// Whether the server has no metadata about its logins.
    package var lacksLoginMetadata = false
    /// Whether codes are only shown, so that an application with another return address is refused.
    package var showsCodesOnly = false
    /// Whether only `read`, `write` and `follow` have an effect: a finer scope is granted, and
    /// requests with it are refused.
    package var knowsCoarseScopesOnly = false
    /// Whether the server has no endpoint for the application of a token.
    package var lacksApplicationOfToken = false
    /// Whether the server does not return the scopes of an application.
    package var hidesApplicationScopes = false

    package init() {}

    /// The date of a post in answers.
    func date(of post: SandboxPost) -> Date {
        guard let importedPhrase, post.text.contains(importedPhrase) else { return post.createdAt }
        return post.createdAt - 365 * 86_400
    }

    /// Returns the time at which the notification of an event at `date` appears in the list.
    func notificationDate(_ date: Date) -> Date {
        guard let every = notificationsEvery, every > 0 else { return date }
        return Date(
            timeIntervalSince1970: (date.timeIntervalSince1970 / every).rounded(.down) * every
                + every)
    }

    func links(of list: List) -> Links { linksOf[list] ?? links }

    func ids(of list: List) -> MastodonIDs { list == .notifications ? notificationIDs ?? ids : ids }
}

/// Posts with an audience that is limited by a field that Mastodon does not have.
package struct NarrowedPosts: Equatable, Sendable {
    /// A field of a status, or one of an object in it.
    package enum Field: Equatable, Sendable {
        case flag(String, Bool)
        case text(String, String)
        /// A text in the object `pleroma`.
        case pleroma(String, String)
    }

    /// A part of the text of each such post; empty for all posts.
    package var phrase: String
    package var field: Field

    package init(saying phrase: String = "", _ field: Field) {
        self.phrase = phrase
        self.field = field
    }

    /// Whether a post with this text has the field.
    func applies(to text: String) -> Bool { phrase.isEmpty || text.contains(phrase) }
}

extension MastodonHabits {
    /// The habits of a program.
    package static func habits(of software: Software) -> MastodonHabits {
        switch software {
        case .mastodon: mastodon
        case .gotosocial: gotosocial
        case .pleroma: pleroma
        case .takahe: takahe
        case .snac: snac
        case .friendica: friendica
        case .wordpress: wordpress
        }
    }

    /// Returns the habits shared by the programs besides Mastodon, with the changes of one of them.
    static func program(
        _ software: Software, _ change: (inout MastodonHabits) -> Void
    ) -> MastodonHabits {
        var habits = MastodonHabits()
        habits.software = software
        habits.lacksLoginMetadata = true
        habits.knowsProfileScope = false
        habits.tellsLimits = false
        habits.charactersPerLink = nil
        change(&habits)
        return habits
    }
}
