package import Posts

/// What signs the calls of one account on X: the application's keys and the account's token.
package struct XCredentials: Sendable {
    /// What X calls the API key; it names the application in every request.
    package var consumerKey: String
    package var consumerSecret: Secret
    package var accessToken: Secret
    package var accessTokenSecret: Secret

    package init(consumerKey: String, consumerSecret: Secret, accessToken: Secret, accessTokenSecret: Secret) {
        self.consumerKey = consumerKey
        self.consumerSecret = consumerSecret
        self.accessToken = accessToken
        self.accessTokenSecret = accessTokenSecret
    }
}
