package import Foundation

/// Ways in which X's interface may differ from its documentation, and what an operator of the app
/// has arranged.
package struct XHabits: Equatable, Sendable {
    /// X renamed much of its interface in 2026, and no document says which name a live server
    /// knows.
    package enum Spelling: Sendable {
        /// `tweet.fields`, `referenced_tweets`, `note_tweet`.
        case tweet
        /// `post.fields`, `referenced_posts`, `note_post`.
        case post
    }

    /// The names of parameters and of the values in them; the other names are refused.
    package var parameterSpelling = Spelling.tweet
    /// The names in answers.
    package var answerSpelling = Spelling.tweet
    /// Author, answered person and referenced posts cannot be asked for as fields, only as
    /// expansions.
    package var referencesOnlyByExpansion = false
    /// A single post or person that does not exist is a 200 with `errors` and without `data`.
    package var answersMissingWith200 = false
    /// An empty list is `data: []` instead of no `data`.
    package var sendsEmptyData = false
    /// Pages hold less than asked for although there is more.
    package var shortPages = false
    /// Before every further page comes one without items.
    package var emptyPages = false
    /// For so many seconds every other new post is missing from the lists.
    package var hidesRecent: TimeInterval = 0
    /// How many posts a person may publish in 24 hours; with a number the headers of that limit are
    /// sent too.
    package var postsPerDay: Int?
    /// The rate limit headers always tell of a full allowance and of a reset that is over.
    package var misstatesLimits = false
    /// How many posts the app may read in a calendar month.
    package var postReadsPerMonth = 3_000_000
    /// The credits that the app's owner has paid for in advance, in millionths of a US dollar;
    /// `nil` for more than enough.
    package var credits: Int?
    /// The last of every so many requests gets an error page of the edge instead of an answer.
    package var edgeFailsEvery: Int?
    /// Favorites are not refused, as it was before April 2026.
    package var allowsFavorites = false
    /// The text of an answer begins with the name of the one answered even if that was not sent.
    package var namesTheAnswered = false
    /// Errors 401 and 429 have the form of version 1.1.
    package var oldErrors = false
    /// A text that the account has on X already is published again: no document promises the
    /// refusal.
    package var publishesRepeats = false
    /// The account that owns the app and gets its own lists at the price of owned reads; `nil` if
    /// the app belongs to neither account.
    package var appOwner: SandboxRole?
    /// Posts and people that come along in `includes` are billed too.
    package var billsIncludes = true

    /// How many seconds the timestamp of a request may be from the server's clock.
    ///
    /// Five minutes as documented. Where the sandbox's clock runs many times faster than the real
    /// one, a moment of delay in real time takes as long, so that a wider window may be needed.
    package var timestampWindow: TimeInterval = 300

    package init() {}
}
