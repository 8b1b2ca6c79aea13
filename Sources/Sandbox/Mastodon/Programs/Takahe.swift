import Posts

extension MastodonHabits {
    /// Takahe 0.11.0, commit d45f22c.
    ///
    /// Each comment names the file and the function that show the habit; "seen" means seen in a
    /// server's answers.
    package static let takahe = program(.takahe) { habits in
        // api/pagination.py, PaginatingApiResponse: next and prev unless there is no item.
        habits.links = .untilEmpty
        // api/pagination.py, MastodonPaginator: 20 by default and 40 at most, notifications as
        // well.
        habits.pageSizes = [.notifications: PageSize(standard: 20, maximum: 40)]
        // activities/services/timeline.py, likes: `order_by("-id")` of posts.
        habits.ordersFavoritesByPost = true
        // api/views/accounts.py, account_statuses: `posts.not_hidden().unlisted()`, for the owner
        // too.
        habits.listedVisibilities = [.public, .unlisted]
        // activities/services/post.py, context: 10 ancestors and 50 descendants.
        habits.contextSize = ContextSize(ancestors: 10, descendants: 50)
        // api/views: scope_required on all but `lookup`.
        habits.needsTokenToRead = [.account, .ownPosts, .post, .context, .search]
        // api/middleware.py: 400 "Invalid Bearer token" as a page.
        habits.badTokenStatus = 400
        habits.badTokenForm = .html
        // api/decorators.py, scope_required: 401 {"error": "identity_token_required"}.
        habits.missingTokenStatus = 401
        habits.missingTokenForm = .json
        // api/views/statuses.py, post_for_id: get_object_or_404 answers with a page.
        habits.missingForm = .html
        // api/views/statuses.py, delete_status: 401 "Not the author of this status".
        habits.foreignPostStatus = 401
        // api/views/statuses.py, post_status: 400 "Status is too long".
        habits.validationStatus = 400
        // No code in api/ reads the Idempotency-Key; seen: the same key twice makes two posts.
        habits.keys = .ignored
        // api/views/statuses.py, post_status: Post.DoesNotExist is ignored.
        habits.publishesLostReplies = true
        // activities/models/post.py, edit_local: `visibility` is public unless the caller passes
        // it, and api/views/statuses.py, edit_status, does not.
        habits.publishesEdits = true
        // activities/models/post.py, edit_local: `attachments.set(attachments or [])`.
        habits.editsDropMedia = true
        // activities/models/post.py, create_local: `mentions.add(reply_to.author)`; edit_local
        // does not add the author.
        habits.namesParentAuthor = true
        // activities/models/post.py, to_mastodon_json: "language" is None, "text" is the HTML.
        habits.languages = .missing
        habits.sourceText = .html
        // users/models/identity.py, to_mastodon_json: `acct` is the handle, but the name alone in
        // the own account.
        habits.namesPeopleInFull = true
        // api/views/accounts.py, update_credentials: does not read `bot`.
        habits.dropsBotMarks = true
        habits.unknownScopes = .leftOut
        // api/decorators.py, has_scope; seen: a finer scope is granted and then refused.
        habits.knowsCoarseScopesOnly = true
        // api/schemas.py, Application: has no scopes.
        habits.hidesApplicationScopes = true
    }
}
