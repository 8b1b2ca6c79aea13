extension MastodonHabits {
    /// Mastodon 4.4 as documented (docs.joinmastodon.org, 2026-07); all other programs are
    /// described by their differences from it.
    package static let mastodon = MastodonHabits()
}
