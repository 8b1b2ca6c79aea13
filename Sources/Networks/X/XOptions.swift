/// How X calls the fields of a post in requests; answers are understood in both spellings.
package enum XFieldNames: String, CaseIterable, Sendable {
    /// `tweet.fields`, `referenced_tweets`: the names until July 2026, which are still understood.
    case tweet
    /// `post.fields`, `referenced_posts`: the names since.
    case post
}

/// What an operator decides about an account on X.
package struct XOptions: Sendable {
    /// Another host to ask, such as a proxy or a test server; nil: `https://api.x.com`.
    package var apiBaseURL: String?
    /// Whether texts may be published: the operator has read X's rules for automated accounts.
    package var mayPublish: Bool
    /// How many posts of the home timeline may be read in a day; 0: the timeline is not read at all.
    package var homePostsPerDay: Int
    /// The account owns the developer app, so that reading what is its own has a lower price.
    package var ownsApp: Bool
    /// The spelling of request parameters.
    package var fieldNames: XFieldNames

    package init(
        apiBaseURL: String? = nil, mayPublish: Bool = false, homePostsPerDay: Int = 0, ownsApp: Bool = false,
        fieldNames: XFieldNames = .tweet
    ) {
        self.apiBaseURL = apiBaseURL
        self.mayPublish = mayPublish
        self.homePostsPerDay = homePostsPerDay
        self.ownsApp = ownsApp
        self.fieldNames = fieldNames
    }
}
