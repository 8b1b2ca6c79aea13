import Posts

extension MastodonHabits {
    /// GoToSocial, commit 57cb4fe.
    ///
    /// Each comment names the file below `internal/` and the function that show the habit; "seen"
    /// means seen in a server's answers.
    package static let gotosocial = program(.gotosocial) { habits in
        // Seen: every id is a ULID.
        habits.ids = .ulid
        // Seen: the home repeats its items if there are fewer than requested; the source agrees.
        habits.repeatsShortHome = true
        // db/bundb/account.go, GetAccountStatuses: takes max_id and min_id, and no since_id.
        habits.ignoresSinceID = [.ownPosts]
        // Seen: with limit=1 `min_id` of favorites gave the newest one.
        habits.takesMinIDForSinceID = [.favorites]
        // processing/account/statuses.go, StatusesGet: PackagePageableResponse has both links
        // unless there is no item.
        habits.links = .untilEmpty
        // db/bundb/account.go, GetAccountStatuses: limit has no maximum; seen: 30 posts without a
        // limit, and 20 to 80 notifications.
        habits.pageSizes = [
            .ownPosts: PageSize(standard: 30, maximum: .max),
            .notifications: PageSize(standard: 20, maximum: 80),
        ]
        // api/client, TokenAuth in every handler of accounts, statuses and searches.
        habits.needsTokenToRead = everything
        // Seen: 400 for an empty or too long text.
        habits.validationStatus = 400
        // processing/status/delete.go, Delete: NewErrorForbidden for another account's post.
        habits.foreignPostStatus = 403
        // Seen: rate headers on every answer, counted by address.
        habits.tellsLimits = true
        habits.limitsByAddress = true
        // Seen: the same Idempotency-Key twice makes two posts.
        habits.keys = .ignored
        // Seen: new accounts post unlisted.
        habits.defaultVisibility = .unlisted
        // Seen: a reply keeps naming a post that was deleted.
        habits.keepsLostParents = true
        // Seen: 5,000 code points, links in full although 25 is advertised.
        habits.maximumCharacters = 5_000
        habits.advertisedCharactersPerLink = 25
        // processing/status/delete.go, Delete: a worker deletes after the answer; seen: 9 to 35 ms.
        habits.deletionTakes = 0.035
        // processing/status/edit.go, Edit: the attachments become those of `media_ids`.
        habits.editsDropMedia = true
        // typeutils/internaltofrontend.go, baseStatusToFrontend: `Text: status.Text`.
        habits.sourceText = .plain
        // typeutils/internaltofrontend.go, InteractionPolicyToAPIInteractionPolicy.
        habits.tellsPolicies = true
        // Seen: apps/verify_credentials is 404 with a token and 401 without.
        habits.lacksApplicationOfToken = true
        // Seen: `profile` is granted.
        habits.knowsProfileScope = true
    }
}
