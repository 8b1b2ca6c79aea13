extension MastodonHabits {
    /// Friendica 2024.09-rc, commit a0a8aeb.
    ///
    /// Each comment names the file below `src/` and the function that show the habit; "seen" means
    /// seen in a server's answers.
    package static let friendica = program(.friendica) { habits in
        // Module/BaseApi.php, getLinkHeader: next and prev unless there is no item.
        habits.links = .untilEmpty
        // Module/Api/Mastodon: `limit` has no maximum, except for notifications (default 15,
        // maximum 30).
        habits.pageSizes = [
            .ownPosts: PageSize(standard: 20, maximum: .max),
            .home: PageSize(standard: 20, maximum: .max),
            .favorites: PageSize(standard: 20, maximum: .max),
            .notifications: PageSize(standard: 15, maximum: 30),
        ]
        // Module/Api/Mastodon/Notifications.php: min_id works as since_id, and `types` is ignored.
        habits.takesMinIDForSinceID = [.notifications]
        habits.ignoresNotificationTypes = true
        // Seen on a server: a background worker creates the notifications, in each run all new
        // ones.
        habits.notificationsEvery = 60
        // Module/Api/Mastodon/Favourited.php: `thr-parent-id` is the order and the cursor.
        habits.ordersFavoritesByPost = true
        // Module/Api/Mastodon/Statuses/Context.php: 40 ancestors and 40 descendants.
        habits.contextSize = ContextSize(ancestors: 40, descendants: 40)
        // Module/Api/Mastodon/Search.php: checkAllowedScope; everything else is public.
        habits.needsTokenToRead = [.search]
        // Module/BaseApi.php, checkAllowedScope and logAndJsonError: 403 for every refusal.
        habits.badTokenStatus = 403
        habits.forbidsMissing = true
        habits.foreignPostStatus = 403
        // Factory/Api/Mastodon/Status.php throws NotFoundException, which Special/HTTPException.php
        // turns into a page.
        habits.missingForm = .html
        // No code reads the Idempotency-Key; seen: the same key twice makes two posts.
        habits.keys = .ignored
        // Module/Api/Mastodon/Statuses.php, post: a missing parent is 404; a deleted one is found.
        habits.keepsLostParents = true
        habits.maximumCharacters = 200_000
        habits.advertisedCharactersPerLink = 23
        // Object/Api/Mastodon/Status.php: spoiler_text is the title, and `sensitive` does not
        // depend on it.
        habits.warningsAreTitles = true
        // Object/Api/Mastodon/Status.php: public, private and unlisted; Statuses.php, post: a
        // private answer takes the circle of a private post.
        habits.showsDirectAsPrivate = true
        // Module/Api/Mastodon/Statuses.php, put: `edited` is not touched; seen: edited_at stays
        // null.
        habits.hidesEdits = true
        // Module/Api/Mastodon/Statuses.php, put: media that the request does not name is deleted.
        habits.editsDropMedia = true
        // Module/Api/Mastodon/Statuses.php, delete: `[]`; rawContent: a deleted post is still
        // shown.
        habits.answersDeletionWithList = true
        habits.showsDeletedTo = .everybody
        // Seen: 403 "Record not found".
        habits.secondDeletion = .refused
        // Model/Item.php, markForDeletionById: `edited` is set, and the comments of a thread go
        // too.
        habits.datesDeletions = true
        habits.sweepsAnswers = .ofThreads
        // Object/Api/Mastodon/Status.php: parent-author-id and in_reply_to_status; seen: the
        // thread's author is named.
        habits.takesThreadAuthorForParents = true
        // Module/Api/Mastodon/Statuses.php, formatStatus: Markdown::toBBCode.
        habits.rewritesTexts = true
        habits.dialect = .markdown
        // Util/DateTimeFormat.php, JSON: writes milliseconds, which are always zero, because the
        // database has whole seconds.
        habits.times = .zeros
        // Module/Api/Mastodon/Accounts/VerifyCredentials.php: "@todo Support the source property".
        habits.hidesProfileSource = true
        // Module/Api/Mastodon/Accounts/UpdateCredentials.php: reads fields_attributes, and stores
        // none.
        habits.dropsProfileFields = true
    }
}
