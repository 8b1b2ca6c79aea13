extension MastodonHabits {
    /// Mastodon 4.4 as documented (docs.joinmastodon.org, 2026-07): every other program is told by
    /// its differences from this one.
    package static let mastodon = MastodonHabits()
}
