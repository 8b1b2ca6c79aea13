extension MastodonHabits {
    /// WordPress 6.1.9 with Enable Mastodon Apps 1.6.1, commit 4f6541c.
    ///
    /// Each comment names the file below `includes/` and the function that show the habit; "seen"
    /// means seen in a server's answers.
    package static let wordpress = program(.wordpress) { habits in
        // handler/class-handler.php, get_posts: next and prev unless there is no post.
        habits.links = .untilEmpty
        // handler/class-handler.php, get_posts: min_id and max_id, and no since_id.
        habits.ignoresSinceID = [.ownPosts, .home, .favorites]
        // handler/class-handler.php, get_posts_query_args: 20, and no maximum.
        habits.pageSizes = [
            .ownPosts: PageSize(standard: 20, maximum: .max),
            .home: PageSize(standard: 20, maximum: .max),
            .favorites: PageSize(standard: 20, maximum: .max),
        ]
        // handler/class-handler.php, get_posts: `posts_where` cuts by ID, usort by created_at.
        habits.ordersOwnPostsByDate = true
        // Seen: notifications are [] without another plugin.
        habits.listsAtMost = [.notifications: 0]
        // class-mastodon-api.php, logged_in_for_private_permission: 401 for an unpublished post,
        // 200 for the others.
        habits.refusesHiddenPosts = true
        // handler/class-search.php: "TODO allow lookup by URL".
        habits.searchesWordsOnly = true
        // class-mastodon-api.php, ensure_required_scope: 401 "token-required", and 401
        // "insufficient-permissions".
        habits.missingScopeStatus = 401
        // class-mastodon-api.php, api_delete_post: 401 for another author's post.
        habits.foreignPostStatus = 401
        // No code reads the Idempotency-Key.
        habits.keys = .ignored
        // handler/class-status.php, api_submit_comment: without an answered post it becomes a post.
        habits.publishesLostReplies = true
        habits.advertisedCharactersPerLink = nil
        // handler/class-status.php, api_status: no warning, `sensitive`, language or mention is
        // set.
        habits.dropsDetails = true
        habits.languages = .missing
        habits.namesNobody = true
        // handler/class-status.php, prepare_post_data: every visibility but public becomes private;
        // api_status: returns public.
        habits.losesVisibility = true
        // handler/class-status.php, api_submit_post: 400 "No mentions found".
        habits.refusesDirectPosts = true
        // Seen: the response to the request for a comment has the id of the answered post.
        habits.answersWithParentID = true
        // entity/class-status.php: edited_at is never set.
        habits.hidesEdits = true
        // class-mastodon-api.php, api_edit_post: visibility is public unless the request says it.
        habits.publishesEdits = true
        // class-mastodon-api.php, api_get_post: a post in the trash is visible to its editors, and
        // api_delete_post moves it there again.
        habits.showsDeletedTo = .author
        habits.secondDeletion = .repeated
        // Seen: comments go to the trash with their post.
        habits.sweepsAnswers = .all
        // handler/class-status.php, prepare_post_data: the first of several lines is the title, and
        // convert_to_blocks makes the rest paragraphs.
        habits.rewritesTexts = true
        habits.dialect = .blocks
        // entity/class-entity.php: `.000P`.
        habits.times = .zeros
        // class-mastodon-api.php, get_patch_data: "We only handle multipart/form-data"; no `bot`.
        habits.dropsProfiles = true
        habits.dropsBotMarks = true
    }
}
