package import Foundation
package import Posts

/// How a server that speaks Mastodon's interface differs from Mastodon.
///
/// Every habit was seen on a server that people run. Each can be switched on its own; the flavours switch what belongs
/// together.
package struct MastodonHabits: Equatable, Sendable {
    /// What the server calls itself.
    package enum Software: String, CaseIterable, Sendable {
        case mastodon, gotosocial, pleroma, takahe, snac, friendica, wordpress
    }

    /// A list of the interface.
    package enum List: String, CaseIterable, Sendable {
        case ownPosts, home, favorites, notifications
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

    /// What leads to other pages.
    package enum Links: Sendable {
        /// A `Link` header as long as there is more.
        case usual
        /// No header at all.
        case missing
        /// A `next` even on the last page; only an empty page has none.
        case untilEmpty
    }

    /// What a refusal looks like.
    package enum ErrorForm: String, CaseIterable, Sendable {
        case json, plainText, html, empty
    }

    /// What becomes of an `Idempotency-Key` that was used before.
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

    /// What becomes of a scope that the server does not know, at the registration of an application.
    package enum UnknownScopes: Sendable {
        case refused
        /// The application is registered without it.
        case leftOut
    }

    package static let everywhere = Set(List.allCases)

    package var software = Software.mastodon
    package var ids = MastodonIDs.decimal
    /// The names of the server's own emoji.
    package var emoji = ["blobcat"]

    // MARK: Lists

    /// Every list holds its items twice.
    package var repeatsItems = false
    /// The home holds its items twice when there are fewer than asked for.
    package var repeatsShortHome = false
    /// Where `since_id` has no effect.
    package var ignoresSinceID: Set<List> = []
    /// Where `min_id` has no effect.
    package var ignoresMinID: Set<List> = []
    /// Where `min_id` gives the newest items above it, not the next ones.
    package var takesMinIDForSinceID: Set<List> = []
    /// Where a list holds only so many of the newest items.
    package var listedAtMost: [List: Int] = [:]
    package var links = Links.usual
    /// Where pages are not as long as Mastodon's.
    package var pageSizes: [List: PageSize] = [:]
    /// Every page is so long, whatever was asked for.
    package var fixedPageSize: Int?
    /// `types[]` and `exclude_types[]` have no effect.
    package var ignoresNotificationTypes = false
    /// Nothing can be read without a token but what the server says about itself.
    package var needsTokenToRead = false
    /// Without a token a post that is not public is refused with 401, while a public one is shown.
    package var refusesHiddenPosts = false

    /// The visibilities of posts that an account's list holds, also for its owner.
    package var listedVisibilities = Set(Visibility.allCases)
    /// The account's list is ordered by date, while its bounds cut by id.
    package var ordersOwnPostsByDate = false
    /// Posts whose texts hold this were imported: they are dated a year before their ids.
    package var importedPhrase: String?

    // MARK: Refusals

    package var errorForm = ErrorForm.json
    /// How a token is refused that the server does not know.
    package var badTokenStatus = 401
    package var badTokenForm: ErrorForm?
    /// How it looks that something is not there.
    package var missingForm: ErrorForm?
    /// How a request is refused that makes no sense.
    package var validationStatus = 422
    /// Every so manieth request is refused with 429 and `Retry-After: 30`, but without a time of reset.
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

    package var keys = Keys.honored
    /// How long the first use of a key counts as running, where that matters.
    package var keyIsBusyFor: TimeInterval = 5
    package var defaultVisibility = Visibility.public
    /// A reply to a post that is not there is published as an ordinary post.
    package var publishesLostReplies = false
    /// A reply goes on naming a post that was deleted.
    package var keepsLostParents = false
    package var maximumCharacters = 500
    /// What a link counts; nil for its length.
    package var charactersPerLink: Int? = 23
    /// What the server says that a link counts.
    package var advertisedCharactersPerLink: Int? = 23

    /// What was deleted is shown to who asks for it by its id, and left out of lists; deleting it again is refused.
    package var showsDeleted = false
    /// The answer to a reply carries the id of what it answers.
    package var answersWithParentID = false
    /// A post that is not public is for few eyes, and shown as public.
    package var losesVisibility = false

    // MARK: Entities

    /// Whom a post answers is the author of the thread's first post, who is named by every post of the thread; the
    /// answered post comes along.
    package var takesThreadAuthorForParents = false
    /// The people that a post names are counted from 0, and each is given twice.
    package var numbersMentions = false
    /// The people that a post names are given without the account that asks.
    package var omitsViewerFromMentions = false
    /// Nothing tells that a post was edited.
    package var hidesEdits = false
    /// Further fields by which authors narrowed posts.
    package var narrowed: [NarrowedPosts] = []

    /// What the server's own people write is read as a kind of Markdown, of which the signs do not come back.
    package var rewritesTexts = false
    /// Times are written without milliseconds.
    package var omitsMilliseconds = false
    /// People of the server itself are `user@host` everywhere but in answers about the own account.
    package var namesPeopleInFull = false
    package var lacksInstanceV2 = false
    /// The account's own profile comes as others see it, without its source text.
    package var hidesProfileSource = false
    /// A change of the profile is answered, and not kept.
    package var dropsProfiles = false
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
    /// Nothing tells where and how to log in.
    package var lacksLoginMetadata = false
    /// Only `read`, `write` and `follow` mean something; a finer scope is granted and then good for nothing.
    package var knowsCoarseScopesOnly = false
    /// Nobody can ask which application a token belongs to.
    package var lacksApplications = false

    package init() {}

    /// The date that the server tells of a post.
    func date(of post: SandboxPost) -> Date {
        guard let importedPhrase, post.text.contains(importedPhrase) else { return post.createdAt }
        return post.createdAt - 365 * 86_400
    }
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

    /// What their texts hold.
    package var phrase: String
    package var field: Field

    package init(saying phrase: String, _ field: Field) {
        self.phrase = phrase
        self.field = field
    }
}

extension MastodonHabits {
    /// As documented.
    package static let mastodon = MastodonHabits()

    /// GoToSocial: ULIDs, a home that repeats itself, no idempotency, bounds that mean something else.
    package static let gotosocial = flavour(.gotosocial) { habits in
        habits.ids = .ulid
        habits.repeatsShortHome = true
        habits.ignoresSinceID = [.ownPosts]
        habits.takesMinIDForSinceID = [.favorites]
        habits.links = .untilEmpty
        habits.pageSizes = [
            .ownPosts: PageSize(standard: 30, maximum: .max), .notifications: PageSize(standard: 20, maximum: 80),
        ]
        habits.needsTokenToRead = true
        habits.validationStatus = 400
        habits.limitsByAddress = true
        habits.keys = .ignored
        habits.defaultVisibility = .unlisted
        habits.keepsLostParents = true
        habits.maximumCharacters = 5_000
        habits.charactersPerLink = nil
        habits.advertisedCharactersPerLink = 25
        habits.lacksApplications = true
    }

    /// Pleroma and Akkoma: flake ids, tokens that expire, a conflict while a key is in use.
    package static let pleroma = flavour(.pleroma) { habits in
        habits.ids = .flake
        habits.badTokenStatus = 403
        habits.tellsLimits = false
        habits.keys = .busy
        habits.publishesLostReplies = true
        habits.maximumCharacters = 5_000
        habits.charactersPerLink = nil
        habits.advertisedCharactersPerLink = nil
        habits.tokenLifetime = 3_600
        habits.knowsProfileScope = false
    }

    /// Takahe: error pages, full names, no idempotency.
    package static let takahe = flavour(.takahe) { habits in
        habits.badTokenStatus = 400
        habits.badTokenForm = .html
        habits.missingForm = .html
        habits.tellsLimits = false
        habits.keys = .ignored
        habits.publishesLostReplies = true
        habits.charactersPerLink = nil
        habits.namesPeopleInFull = true
        // `api/views/accounts.py`, account_statuses: `identity.posts.not_hidden().unlisted()`; the
        // context of a post (`activities/services/post.py`) holds what the reader may see.
        habits.listedVisibilities = [.public, .unlisted]
        habits.knowsProfileScope = false
        habits.unknownScopes = .leftOut
        habits.knowsCoarseScopesOnly = true
        habits.lacksApplications = true
    }

    /// Friendica: comments instead of replies, deleted posts that stay readable, edits that nothing tells of.
    package static let friendica = flavour(.friendica) { habits in
        habits.pageSizes = [.notifications: PageSize(standard: 30, maximum: 30)]
        habits.ignoresNotificationTypes = true
        habits.tellsLimits = false
        habits.keys = .ignored
        habits.publishesLostReplies = true
        habits.keepsLostParents = true
        habits.showsDeleted = true
        habits.takesThreadAuthorForParents = true
        // Seen on Friendica 2024.09: verify_credentials has no `source`.
        habits.hidesProfileSource = true
        habits.hidesEdits = true
        habits.maximumCharacters = 200_000
        habits.charactersPerLink = nil
        habits.advertisedCharactersPerLink = nil
        habits.knowsProfileScope = false
    }

    /// WordPress with the plugin Enable Mastodon Apps: replies that are comments, a trash, no visibility.
    package static let wordpress = flavour(.wordpress) { habits in
        habits.tellsLimits = false
        habits.keys = .ignored
        habits.showsDeleted = true
        habits.answersWithParentID = true
        habits.losesVisibility = true
        // `includes/handler/class-handler.php`, get_posts: `posts_where` cuts by ID, usort by created_at.
        habits.ordersOwnPostsByDate = true
        // `includes/class-mastodon-api.php`, ensure_required_scope and logged_in_for_private_permission:
        // 401 for what is not published, 200 for the rest.
        habits.refusesHiddenPosts = true
        // Seen with 1.6.1: update_credentials answers 200 and keeps nothing of the bio.
        habits.dropsProfiles = true
        habits.hidesEdits = true
        habits.maximumCharacters = 500
        habits.charactersPerLink = nil
        habits.advertisedCharactersPerLink = nil
        habits.knowsProfileScope = false
    }

    /// snac: ids that do not sort, no links, empty errors, tokens that may do everything, texts made into others.
    package static let snac = flavour(.snac) { habits in
        habits.ids = .hash
        habits.ignoresSinceID = [.ownPosts, .favorites, .notifications]
        habits.ignoresMinID = [.ownPosts, .favorites, .notifications]
        // Seen on snac 2.94.
        habits.listedAtMost = [.ownPosts: 256]
        habits.links = .missing
        habits.ignoresNotificationTypes = true
        habits.errorForm = .empty
        habits.badTokenStatus = 422
        habits.tellsLimits = false
        habits.keys = .ignored
        habits.publishesLostReplies = true
        habits.maximumCharacters = 100_000
        habits.charactersPerLink = nil
        habits.rewritesTexts = true
        habits.numbersMentions = true
        // Seen on snac 2.94: `mentions` never holds the account that asks.
        habits.omitsViewerFromMentions = true
        // Seen on snac 2.94: the owner too gets public and unlisted posts only.
        habits.listedVisibilities = [.public, .unlisted]
        habits.missingForm = .html
        habits.omitsMilliseconds = true
        habits.lacksInstanceV2 = true
        habits.closesConnections = true
        habits.ignoresScopes = true
        habits.knowsProfileScope = false
        habits.unknownScopes = .leftOut
        habits.lacksApplications = true
    }

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

    /// What the programs besides Mastodon have in common, and what is their own.
    private static func flavour(_ software: Software, _ change: (inout MastodonHabits) -> Void) -> MastodonHabits {
        var habits = MastodonHabits()
        habits.software = software
        habits.lacksLoginMetadata = true
        change(&habits)
        return habits
    }
}
