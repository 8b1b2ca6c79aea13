import Foundation
import Networks
package import Posts

/// What `mirror-bot login` keeps of one account.
///
/// It is no `Codable`: its secrets leave only towards the seal of a ``CredentialVault``.
package struct StoredLogin: Sendable {
    package var credentials: AccountCredentials
    /// Where requests went instead of the network's own address when the login was made.
    package var apiBaseURL: String?

    package init(credentials: AccountCredentials, apiBaseURL: String? = nil) {
        self.credentials = credentials
        self.apiBaseURL = apiBaseURL
    }

    /// What opens an account.
    package init(_ account: AccountConfiguration) {
        self.init(credentials: account.credentials, apiBaseURL: account.apiBaseURL)
    }

    /// The account that the login opens.
    package func account(_ role: AccountRole) -> AccountConfiguration {
        AccountConfiguration(role: role, credentials: credentials, apiBaseURL: apiBaseURL, origin: .login)
    }

    package var network: NetworkName { credentials.network }
}

/// A login in the form in which it is sealed.
struct LoginRecord: Codable {
    private var network: NetworkName
    private var apiBaseURL: String?
    private var server: String?
    private var accessToken: String?
    private var refreshToken: String?
    private var clientID: String?
    private var clientSecret: String?
    private var expires: Int64?
    private var consumerKey: String?
    private var consumerSecret: String?
    private var accessTokenSecret: String?
    private var identifier: String?
    private var appPassword: String?

    init(_ login: StoredLogin) {
        network = login.network
        apiBaseURL = login.apiBaseURL
        switch login.credentials {
        case .mastodon(let server, let credentials):
            self.server = server
            accessToken = credentials.accessToken.reveal()
            refreshToken = credentials.refreshToken?.reveal()
            clientID = credentials.clientID
            clientSecret = credentials.clientSecret?.reveal()
            expires = credentials.expiresAt?.milliseconds
        case .x(let credentials):
            consumerKey = credentials.consumerKey
            consumerSecret = credentials.consumerSecret.reveal()
            accessToken = credentials.accessToken.reveal()
            accessTokenSecret = credentials.accessTokenSecret.reveal()
        case .bluesky(let identifier, let appPassword):
            self.identifier = identifier
            self.appPassword = appPassword?.reveal()
        }
    }

    /// The login; nil if something is missing that its network needs.
    var login: StoredLogin? {
        credentials.map { StoredLogin(credentials: $0, apiBaseURL: apiBaseURL) }
    }

    private var credentials: AccountCredentials? {
        switch network {
        case .mastodon:
            guard let server, let accessToken else { return nil }
            return .mastodon(
                server: server,
                MastodonCredentials(
                    accessToken: Secret(accessToken), refreshToken: refreshToken.map(Secret.init), clientID: clientID,
                    clientSecret: clientSecret.map(Secret.init), expiresAt: expires.map { Date(milliseconds: $0) }))
        case .x:
            guard let consumerKey, let consumerSecret, let accessToken, let accessTokenSecret else { return nil }
            return .x(
                XCredentials(
                    consumerKey: consumerKey, consumerSecret: Secret(consumerSecret),
                    accessToken: Secret(accessToken), accessTokenSecret: Secret(accessTokenSecret)))
        case .bluesky:
            return identifier.map { .bluesky(identifier: $0, appPassword: appPassword.map(Secret.init)) }
        }
    }
}
