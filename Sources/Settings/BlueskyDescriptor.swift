import Networks
package import Posts

extension NetworkDescriptor {
    /// Bluesky, by the AT protocol.
    static let bluesky: NetworkDescriptor = {
        var network = NetworkDescriptor(
            .bluesky,
            // The human's password is optional, because posts and favorites are public there.
            fields: [Field(.handle), Field(.appPassword, optionalFor: [.human])],
            // The password is left out, because a weak one could be guessed from its digest.
            identity: .handle, fingerprint: [.handle],
            rhythm: Rhythm(
                mentions: Rhythm.Beat(1, shortest: .seconds(30)),
                home: Rhythm.Beat(2, shortest: .seconds(60)),
                ownPosts: Rhythm.Beat(5, shortest: .seconds(5 * 60)),
                favorites: Rhythm.Beat(10, shortest: .seconds(10 * 60))),
            connect: { made in
                let settings = made.settings
                return try BlueskyNetwork(
                    identifier: made.account.credentials.text(.handle),
                    appPassword: made.account.credentials[.appPassword],
                    apiBaseURL: made.account.apiBaseURL,
                    sessions: made.sessions,
                    gates: BlueskyGates(
                        replies: settings.replies, allowsQuotes: settings.quotes != .nobody),
                    client: made.client, origin: made.origin, now: made.now, uptime: made.uptime)
            })
        network.defaults = [Setting.favoriteMode.name: "suggest"]
        network.quotes = [.anyone, .nobody]
        network.replies = Set(Audience.allCases)
        network.homeGap = { account, _ in
            guard account.credentials[.appPassword] == nil else { return nil }
            return HomeGap(
                words: "\(AccountField.appPassword.name(of: account.role)) is not set",
                isChosen: false)
        }
        return network
    }()
}

extension AccountCredentials {
    /// Returns the credentials of an account by its handle or DID; the password is `nil` if public
    /// reading is enough.
    package static func bluesky(identifier: String, appPassword: Secret?) -> AccountCredentials {
        AccountCredentials(
            network: .bluesky, [.handle: Secret(identifier), .appPassword: appPassword])
    }
}
