package import Foundation
package import Posts

/// What opens an account on a server that speaks Mastodon's interface.
package struct MastodonCredentials: Sendable {
    package var accessToken: Secret
    /// What a new access token is asked for with, on servers whose tokens expire.
    package var refreshToken: Secret?
    /// The application that the tokens were given to.
    package var clientID: String?
    package var clientSecret: Secret?
    /// When the access token ends; nil where it does not, or nobody said so.
    package var expiresAt: Date?

    package init(
        accessToken: Secret, refreshToken: Secret? = nil, clientID: String? = nil, clientSecret: Secret? = nil,
        expiresAt: Date? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.expiresAt = expiresAt
    }

    /// Whether both open the account with the same token.
    func hasToken(of other: MastodonCredentials) -> Bool {
        accessToken.reveal() == other.accessToken.reveal()
    }
}
