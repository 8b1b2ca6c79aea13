/// A kind of social network that mirror-bot can read from and publish to.
///
/// The raw value is what the `NETWORK` variables and the database use.
package enum NetworkName: String, CaseIterable, Codable, Sendable {
    /// Any server that speaks Mastodon's client API.
    case mastodon
    case x
    case bluesky

    /// What people call the network.
    package var displayName: String {
        switch self {
        case .mastodon: "Mastodon"
        case .x: "X"
        case .bluesky: "Bluesky"
        }
    }
}
