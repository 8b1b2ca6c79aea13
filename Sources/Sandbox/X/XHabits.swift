package import Foundation

/// Deviations of X's interface from its documentation, and settings of the app's operator.
package struct XHabits: Equatable, Sendable {
    /// The spelling of names: X renamed much of its interface in 2026, and no document says which
    /// names a live server accepts.
    package enum Spelling: Sendable {
        /// `tweet.fields`, `referenced_tweets`, `note_tweet`.
        case tweet
        /// `post.fields`, `referenced_posts`, `note_post`.
        case post
    }

    /// The names of parameters and of the values in them; the other names are refused.
    package var parameterSpelling = Spelling.tweet
    /// The spelling of names in answers.
    package var answerSpelling = Spelling.tweet
    /// Whether the author, the answered person and referenced posts cannot be requested as fields,
    /// only as expansions.
    package var referencesOnlyByExpansion = false
    /// Whether the answer for a missing post or person is a 200 with `errors` and without `data`.
    package var answersMissingWith200 = false
    /// Whether an empty list is `data: []` instead of no `data`.
    package var sendsEmptyData = false
    /// Whether pages contain fewer items than requested although there are more.
    package var shortPages = false
    /// Whether an empty page precedes every further page.
    package var emptyPages = false
    /// Seconds for which every other new post is missing from the lists.
    package var hidesRecent: TimeInterval = 0
    /// The number of posts that a person may publish in 24 hours; if set, the headers of that limit
    /// are sent too.
    package var postsPerDay: Int?
    /// Whether the rate limit headers always state a full allowance and a reset in the past.
    package var misstatesLimits = false
    /// The number of posts that the app may read in a calendar month.
    package var postReadsPerMonth = 3_000_000
    /// The credits that the app's owner has bought, in millionths of a US dollar; `nil` for more
    /// than enough.
    package var credits: Int?
    /// If set to n, every n-th request gets an error page of X's front-end servers instead of an
    /// answer.
    package var edgeFailsEvery: Int?
    /// Whether favorites are allowed, as before April 2026.
    package var allowsFavorites = false
    /// Whether the text of an answer begins with the name of the answered person even if the client
    /// did not send that name.
    package var namesTheAnswered = false
    /// Whether errors with 401 and 429 have the form of version 1.1.
    package var oldErrors = false
    /// Whether a text that the account has published before is published again: no document
    /// promises the refusal.
    package var publishesRepeats = false
    /// The account that owns the app and reads its own lists at the price of owned reads; `nil` if
    /// neither account owns it.
    package var appOwner: SandboxRole?
    /// Whether posts and people in `includes` are billed too.
    package var billsIncludes = true

    /// Seconds by which the timestamp of a request may differ from the server's clock.
    ///
    /// The value is five minutes, as documented. If the sandbox's clock runs many times faster than
    /// real time, a short real delay is that much longer by it, so a wider window may be needed.
    package var timestampWindow: TimeInterval = 300

    package init() {}
}
