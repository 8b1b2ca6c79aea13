package import Networks
package import Posts

/// Getting credentials in the first place.
extension NetworkRegistry {
    /// Logging in at a Mastodon-compatible server.
    ///
    /// - Parameters:
    ///   - server: The account's server.
    ///   - apiBaseURL: Where calls go instead; nil for the server itself.
    /// - Returns: The steps of the login.
    /// - Throws: ``NetworkError`` for an address that cannot be used.
    package func mastodonLogin(server: String, apiBaseURL: String?) throws -> MastodonLogin {
        try MastodonLogin(server: server, apiBaseURL: apiBaseURL, client: client, now: { [clock] in clock.now })
    }

    /// Logging in at X with a PIN.
    ///
    /// - Parameters:
    ///   - consumerKey: The developer app's key.
    ///   - consumerSecret: The developer app's secret.
    ///   - apiBaseURL: Where calls go instead of X.
    /// - Returns: The steps of the login.
    /// - Throws: ``NetworkError`` for an address that cannot be used.
    package func xLogin(consumerKey: String, consumerSecret: Secret, apiBaseURL: String?) throws -> XLogin {
        try XLogin(
            consumerKey: consumerKey, consumerSecret: consumerSecret, apiBaseURL: apiBaseURL, client: client,
            now: { [clock] in clock.now })
    }
}
