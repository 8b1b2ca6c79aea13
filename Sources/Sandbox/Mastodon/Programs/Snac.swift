import Posts

extension MastodonHabits {
    /// snac 2.94, commit 4f27bb0.
    ///
    /// Each comment names the function that shows the habit, in `mastoapi.c` if it names no file;
    /// "seen" means seen in a server's answers.
    package static let snac = program(.snac) { habits in
        // mastoapi_id: ten digits of seconds and an MD5; mastoapi_account: an MD5.
        habits.ids = .stampedHash
        // mastoapi_get_handler, notifications: an id is a number of microseconds.
        habits.notificationIDs = .decimal
        // mastoapi_get_handler, accounts: 256 entries of the index, and neither min_id nor
        // since_id; notify_list gives 64, and /v1/favourites an empty list.
        habits.listsAtMost = [.ownPosts: 256, .notifications: 64, .favorites: 0]
        habits.ignoresSinceID = [.ownPosts, .favorites, .notifications]
        habits.ignoresMinID = [.ownPosts, .favorites]
        // mastoapi_get_handler, notifications: newest first, until one is not above min_id.
        habits.takesMinIDForSinceID = [.notifications]
        // mastoapi_get_handler and mastoapi_timeline: entries are skipped until max_id is found,
        // and data.c, index_asc_first, looks for min_id.
        habits.needsBoundInList = [.ownPosts, .home]
        // timeline_link_header is called for the home alone, with since_id.
        habits.links = .missing
        habits.linksOf = [.home: .untilEmptySince]
        // mastoapi_timeline: 20, and no maximum; notifications: a single one if there is no limit.
        habits.pageSizes = [
            .ownPosts: PageSize(standard: 20, maximum: .max),
            .home: PageSize(standard: 20, maximum: .max),
            .notifications: PageSize(standard: 1, maximum: .max),
        ]
        // mastoapi_get_handler, accounts: only posts with is_msg_public, for the owner too.
        habits.listedVisibilities = [.public, .unlisted]
        // mastoapi_get_handler, /v1/statuses and /v2/search: 401 without a login.
        habits.needsTokenToRead = [.post, .context, .search]
        // mastoapi_get_handler, /v1/statuses: object_get_by_md5 finds every post.
        habits.showsHiddenPostsToAccounts = true
        // mastoapi_get_handler, /v2/search: content_search finds posts by words only.
        habits.searchesWordsOnly = true
        // process_auth_token: an invalid token counts as a missing one, which is refused with 401,
        // but with 422 by verify_credentials.
        habits.badLoginStatus = 422
        // xs_httpd.h, xs_httpd_response: no content-length where the body has no bytes.
        habits.errorForm = .empty
        habits.omitsEmptyLength = true
        // httpd.c: the connection is closed after one answer.
        habits.closesConnections = true
        // httpd.c: the answer with status 404 is a page.
        habits.missingForm = .html
        // Seen: the same Idempotency-Key twice makes two posts; the source does not name it.
        habits.keys = .ignored
        // mastoapi_post_handler, /v1/statuses: a missing parent is ignored.
        habits.publishesLostReplies = true
        // mastoapi_get_handler, /v1/instance: both numbers.
        habits.maximumCharacters = 100_000
        habits.advertisedCharactersPerLink = 32
        // mastoapi_post_handler, /v1/statuses: sensitive only with spoiler_text.
        habits.ignoresSensitive = true
        // mastoapi_put_handler: the summary is removed unless sensitive is true.
        habits.editsNeedSensitive = true
        // format.c, not_really_markdown converts the text to HTML.
        habits.rewritesTexts = true
        habits.dialect = .snac
        // mastoapi_status: mentions are numbered; activitypub.c, msg_note: the answered author is
        // the first, and the people named in the text follow.
        habits.numbersMentions = true
        // mastoapi_status: the mentions leave out the caller.
        habits.omitsViewerFromMentions = true
        // mastoapi_status: language is "en".
        habits.languages = .always("en")
        // mastoapi_status: `text` is sourceContent.
        habits.sourceText = .plain
        // mastoapi_date; notifications have the date as it is stored.
        habits.times = .zeros
        habits.notificationTimes = .seconds
        // mastoapi_account: user@host; credentials_get: the user alone.
        habits.namesPeopleInFull = true
        // mastoapi_get_handler has no /v2/instance and no /v1/apps/verify_credentials.
        habits.lacksInstanceV2 = true
        habits.lacksApplicationOfToken = true
        // mastoapi_post_handler, /v1/apps: the answer has no scopes.
        habits.hidesApplicationScopes = true
        // process_auth_token: a token has no scopes.
        habits.ignoresScopes = true
        habits.unknownScopes = .leftOut
    }
}
