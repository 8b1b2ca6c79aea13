package import Foundation
package import Posts

/// The ways in which a server that speaks Mastodon's interface differs from Mastodon.
///
/// Every habit was read in the source of a program that people run, or was seen on one. Each can be
/// switched on its own; `Programs` has a file for each program, with the sources.
package struct MastodonHabits: Equatable, Sendable {
    /// The program that the server says it is.
    package enum Software: String, CaseIterable, Sendable {
        case mastodon, gotosocial, pleroma, takahe, snac, friendica, wordpress
    }

    /// A list of the interface.
    package enum List: String, CaseIterable, Sendable {
        case ownPosts, home, favorites, notifications
    }

    /// A question that some programs answer without a token.
    package enum Reading: String, CaseIterable, Sendable {
        /// An account by its id.
        case account
        /// An account by its name.
        case name
        /// The posts of an account.
        case ownPosts
        case post, context, search
    }

    /// How long the pages of a list are.
    package struct PageSize: Equatable, Sendable {
        /// Without a `limit`.
        package var standard: Int
        /// Whatever the `limit` is.
        package var maximum: Int

        package init(standard: Int, maximum: Int) {
            self.standard = standard
            self.maximum = maximum
        }
    }

    /// How many posts the context of a post holds at most.
    package struct ContextSize: Equatable, Sendable {
        /// The nearest ones.
        package var ancestors: Int
        package var descendants: Int

        package init(ancestors: Int, descendants: Int) {
            self.ancestors = ancestors
            self.descendants = descendants
        }
    }

    /// The `Link` header of a page.
    package enum Links: Sendable {
        /// `next` as long as there is more.
        case usual
        /// No header at all.
        case missing
        /// A `next` even on the last page; only an empty page has none.
        case untilEmpty
        /// As ``untilEmpty``; `prev` has `since_id` in place of `min_id`.
        case untilEmptySince
    }

    /// The form of a refusal.
    package enum ErrorForm: String, CaseIterable, Sendable {
        case json, plainText, html, empty
    }

    /// The outcome of a request whose `Idempotency-Key` was used before.
    package enum Keys: Sendable {
        /// The post of the first time is given again.
        case honored
        /// It is published once more.
        case ignored
        /// 500, as of some versions of Mastodon.
        case failing
        /// 409 while the first request counts as running, then its post.
        case busy
    }

    /// The outcome of a scope that the server does not know, at the registration of an application.
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

    /// The answer to a second DELETE of a post that is shown still.
    package enum SecondDeletion: Sendable {
        /// 403 `Record not found`.
        case refused
        /// 200, as to the first one.
        case repeated
    }

    /// The deletions that take the answers to the post along.
    package enum SweptAnswers: Sendable {
        case none
        /// Of posts that begin a thread.
        case ofThreads
        case all
    }

    /// The field `language` of a post.
    package enum Languages: Equatable, Sendable {
        case told
        case missing
        case always(String)
    }

    /// The field `text` of a post.
    package enum SourceText: Sendable {
        case missing
        /// The text as it was sent.
        case plain
        /// The same HTML as in `content`.
        case html
    }

    /// How fine times are.
    package enum Times: Sendable {
        case milliseconds
        /// `.000` in place of the milliseconds.
        case zeros
        /// No fraction.
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

    /// Every list holds its items twice.
    package var repeatsItems = false
    /// The home holds its items twice when there are fewer than asked for.
    package var repeatsShortHome = false
    /// Lists in which `since_id` has no effect.
    package var ignoresSinceID: Set<List> = []
    /// Lists in which `min_id` has no effect.
    package var ignoresMinID: Set<List> = []
    /// Lists in which `min_id` gives the newest items above it, not the next ones.
    package var takesMinIDForSinceID: Set<List> = []
    /// Lists that are empty where `max_id` or `min_id` is not the id of an item in them.
    package var needsBoundInList: Set<List> = []
    package var links = Links.usual
    /// Lists whose header differs from ``links``.
    package var linksOf: [List: Links] = [:]
    /// Lists whose pages are not as long as Mastodon's.
    package var pageSizes: [List: PageSize] = [:]
    /// Every page is so long, whatever was asked for.
    package var fixedPageSize: Int?
    /// Lists that hold only so many of their newest entries, those that are hidden included.
    package var listsAtMost: [List: Int] = [:]
    /// `types[]` and `exclude_types[]` have no effect.
    package var ignoresNotificationTypes = false
    /// Seconds between the runs of a worker that makes all notifications since its last run; nil
    /// for notifications at once.
    package var notificationsEvery: TimeInterval?
    /// Favorites are ordered and cut by the ids of their posts.
    package var ordersFavoritesByPost = false
    package var contextSize: ContextSize?

    /// The visibilities of posts that an account's list holds, also for its owner.
    package var listedVisibilities = Set(Visibility.allCases)
    /// The account's list is ordered by date, while its bounds cut by id.
    package var ordersOwnPostsByDate = false
    /// Posts whose texts hold this were imported: they are dated a year before their ids.
    package var importedPhrase: String?

    // MARK: Reading

    /// Questions that are refused without a token.
    package var needsTokenToRead: Set<Reading> = []
    /// Without a token a post that is not public is refused with 401, while a public one is shown.
    package var refusesHiddenPosts = false
    /// Every account of the server is shown every post by its id.
    package var showsHiddenPostsToAccounts = false
    /// A search does not find posts by their addresses.
    package var searchesWordsOnly = false

    // MARK: Refusals

    package var errorForm = ErrorForm.json
    /// How a token is refused that the server does not know.
    package var badTokenStatus = 401
    package var badTokenForm: ErrorForm?
    /// How `verify_credentials` refuses it; nil for as all else does.
    package var badLoginStatus: Int?
    /// How a request without a token is refused; nil for as one with a bad token.
    package var missingTokenStatus: Int?
    package var missingTokenForm: ErrorForm?
    /// How a token is refused whose scopes do not suffice.
    package var missingScopeStatus = 403
    /// How it looks that something is not there.
    package var missingForm: ErrorForm?
    /// Missing things are refused with 403, but for a post that is read, edited or answered.
    package var forbidsMissing = false
    /// How the deletion of another account's post is refused.
    package var foreignPostStatus = 404
    /// How a request is refused that makes no sense.
    package var validationStatus = 422
    /// Answers without a body have no `Content-Length`, and the connection ends.
    package var omitsEmptyLength = false
    /// Every so manieth request is refused with 429 and `Retry-After: 30`, but without a time of
    /// reset.
    package var overloadEvery: Int?
    /// Requests count for the address that they come from, not for their token.
    package var limitsByAddress = false
    /// Answers say how many requests are left.
    package var tellsLimits = true
    /// The time of reset is a number of seconds since 1970.
    package var tellsResetAsNumber = false

    // MARK: Writing

    /// How many seconds the server looks through an uploaded file before it may be in a post.
    package var mediaTakes: TimeInterval = 0
    /// How long the answer to a new post takes, in real time, as on a server under load.
    package var postsTake: Duration = .zero

    package var keys = Keys.honored
    /// How long the first use of a key counts as running, where that matters.
    package var keyIsBusyFor: TimeInterval = 5
    package var defaultVisibility = Visibility.public
    /// A reply to a post that is not there is published as an ordinary post.
    package var publishesLostReplies = false
    /// A reply goes on naming a post that was deleted.
    package var keepsLostParents = false
    package var maximumCharacters = 500
    /// The rules of the server, and its about page as HTML; nil for none.
    package var rules = ["Be kind to each other."]
    package var aboutPage: String?
    /// The rules stand only in the server's description of itself, as before Mastodon 4.
    package var lacksRules = false
    /// The number of characters that a link counts for; `nil` if its own length counts.
    package var charactersPerLink: Int? = 23
    /// The number of characters that the server advertises for a link.
    package var advertisedCharactersPerLink: Int? = 23
    /// Content warnings, `sensitive` and languages are dropped.
    package var dropsDetails = false
    /// `sensitive` counts only together with a content warning.
    package var ignoresSensitive = false
    /// A content warning is the title of a post, which does not make it sensitive.
    package var warningsAreTitles = false
    /// A post that is not public is for few eyes, and shown as public.
    package var losesVisibility = false
    /// A direct post is shown as private, and a private answer to it has its circle.
    package var showsDirectAsPrivate = false
    /// A direct post is refused unless it names a person of the server without a host.
    package var refusesDirectPosts = false
    /// The answer to a reply carries the id of what it answers.
    package var answersWithParentID = false

    /// Nothing tells that a post was edited.
    package var hidesEdits = false
    /// A post that is edited becomes public.
    package var publishesEdits = false
    /// An edit without `media_ids` takes the attachments away.
    package var editsDropMedia = false
    /// An edit keeps a content warning only with `sensitive`.
    package var editsNeedSensitive = false

    /// Seconds after the answer to a DELETE until the post is gone, by the sandbox's clock; at most
    /// ``looksBeforeDeletion`` requests see it.
    package var deletionTakes: TimeInterval = 0
    /// Requests that still see a deleted post while the clock stands still.
    package var looksBeforeDeletion = 2
    /// The people to whom a deleted post is shown by its id, while lists leave it out.
    package var showsDeletedTo = Witnesses.nobody
    package var secondDeletion = SecondDeletion.refused
    package var sweepsAnswers = SweptAnswers.none
    /// The answer to a DELETE is an empty list in place of the post.
    package var answersDeletionWithList = false
    /// A deleted post that is shown still has the time of its deletion in `edited_at`.
    package var datesDeletions = false

    // MARK: Entities

    /// The author of the thread's first post is given as the one answered, and named by every post
    /// of the thread; the answered post comes along.
    package var takesThreadAuthorForParents = false
    /// A reply that was never edited names the author of the answered post, named in the text or
    /// not.
    package var namesParentAuthor = false
    /// The people that a post names are counted from 0; a reply has the answered author once more.
    package var numbersMentions = false
    /// The people that a post names are given without the account that asks.
    package var omitsViewerFromMentions = false
    /// Posts name nobody and have no hashtags.
    package var namesNobody = false
    package var languages = Languages.told
    package var sourceText = SourceText.missing
    /// Posts say who may favorite, answer and repost them, as GoToSocial does.
    package var tellsPolicies = false
    /// Further fields by which authors narrowed posts.
    package var narrowed: [NarrowedPosts] = []

    /// Texts of the server's own people are rewritten, and the signs of that do not come back.
    package var rewritesTexts = false
    /// How texts are rewritten, where they are.
    package var dialect = TextDialect.snac
    package var times = Times.milliseconds
    /// The times of notifications; nil for ``times``.
    package var notificationTimes: Times?
    /// People of the server itself are `user@host` everywhere but in answers about the own account.
    package var namesPeopleInFull = false
    package var lacksInstanceV2 = false
    /// The account's own profile comes as others see it, without its source text.
    package var hidesProfileSource = false
    /// A change of the profile is answered, and not kept.
    package var dropsProfiles = false
    /// The table of a profile cannot be changed.
    package var dropsProfileFields = false
    /// The mark of an automated account is answered, and not kept.
    package var dropsBotMarks = false
    /// Every connection ends after one answer.
    package var closesConnections = false

    // MARK: Logins

    /// How many seconds a token is good for; then it comes with a token to refresh it.
    package var tokenLifetime: TimeInterval?
    /// A token may do everything, whatever scopes it was given.
    package var ignoresScopes = false
    /// The scope `profile` is known, which is new.
    package var knowsProfileScope = true
    package var unknownScopes = UnknownScopes.refused
    /// A code is exchanged for a token with the scopes that the person allowed, whatever the
    /// application asks for then.
    package var grantsWhatWasAllowed = false
    /// Nothing tells where and how to log in.
    package var lacksLoginMetadata = false
    /// Codes are only shown; an application with another return address is refused.
    package var showsCodesOnly = false
    /// Only `read`, `write` and `follow` mean something; a finer scope is granted and then good for
    /// nothing.
    package var knowsCoarseScopesOnly = false
    /// Nobody can ask which application a token belongs to.
    package var lacksApplications = false
    /// Nothing tells the scopes of an application.
    package var hidesApplicationScopes = false

    package init() {}

    /// The date that the server tells of a post.
    func date(of post: SandboxPost) -> Date {
        guard let importedPhrase, post.text.contains(importedPhrase) else { return post.createdAt }
        return post.createdAt - 365 * 86_400
    }

    /// When a notification about something that happened at `date` comes into the list.
    func notificationDate(_ date: Date) -> Date {
        guard let every = notificationsEvery, every > 0 else { return date }
        return Date(
            timeIntervalSince1970: (date.timeIntervalSince1970 / every).rounded(.down) * every
                + every)
    }

    func links(of list: List) -> Links { linksOf[list] ?? links }

    func ids(of list: List) -> MastodonIDs { list == .notifications ? notificationIDs ?? ids : ids }
}

/// Posts whose authors narrowed their audience in a field that Mastodon does not have.
package struct NarrowedPosts: Equatable, Sendable {
    /// A field of a status, or one of an object in it.
    package enum Field: Equatable, Sendable {
        case flag(String, Bool)
        case text(String, String)
        /// A text in the object `pleroma`.
        case pleroma(String, String)
    }

    /// A piece of the text of each such post; empty for all posts.
    package var phrase: String
    package var field: Field

    package init(saying phrase: String = "", _ field: Field) {
        self.phrase = phrase
        self.field = field
    }
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
