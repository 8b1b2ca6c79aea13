extension MastodonHabits {
    /// Pleroma and Akkoma.
    ///
    /// Each comment names the file that shows the habit, below `lib/pleroma/web/` of Akkoma 3.16.0
    /// (a fork of Pleroma, commit 071bb07); neither program was run.
    package static let pleroma = program(.pleroma) { habits in
        habits.ids = .flake
        // controller_helper.ex, add_link_headers: next and prev unless there is no entry.
        habits.links = .untilEmpty
        // pagination.ex (in `lib/pleroma/`): 20 by default and 40 at most, notifications as well.
        habits.pageSizes = [.notifications: PageSize(standard: 20, maximum: 40)]
        // plugs/ensure_authenticated_plug.ex: 403 "Invalid credentials.", without a token too.
        habits.badTokenStatus = 403
        // plugs/idempotency_plug.ex caches an answer; reported: 409 while the first one runs.
        habits.keys = .busy
        // common_api/activity_draft.ex, in_reply_to: a missing parent is nil.
        habits.publishesLostReplies = true
        habits.maximumCharacters = 5_000
        habits.advertisedCharactersPerLink = nil
        // mastodon_api/controllers/status_controller.ex, update, and common_api.ex,
        // make_update_data: PUT works and keeps the visibility and the answered post, and takes the
        // rest from the request.
        habits.editsDropMedia = true
        habits.tokenLifetime = 3_600
        // o_auth/token.ex, exchange_token: the scopes of the authorization, which its page lets a
        // person choose.
        habits.grantsWhatWasAllowed = true
    }
}
