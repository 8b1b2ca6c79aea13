package import Posts

/// What was found in an archive.
package struct ImportSummary: Equatable, Sendable {
    /// `X archive` or `JSON Lines`.
    package var format: String
    /// Whose archive it is, where it says so.
    package var owner: AccountID?
    package var ownerName: String?
    /// The time zone of the account's settings, an IANA name: a suggestion for `TIME_ZONE`.
    package var timeZone: String?

    /// Items handed over.
    package var posts = 0
    package var favorites = 0
    package var normals = 0

    /// Posts left out because they are on the archive's list of deleted posts.
    package var deleted = 0
    /// Likes whose text the archive does not hold.
    package var withoutText = 0
    /// Lines that do not say whether they were favorited.
    package var unlabelled = 0
    /// Posts of others that not everybody may read.
    package var notOpen = 0
    /// Posts whose full text was found among the long texts.
    package var completed = 0

    /// Items that could not be read.
    package var problemCount = 0
    /// The first of these problems.
    package var problems: [ImportProblem] = []

    package init(format: String) { self.format = format }

    /// All items handed over.
    package var items: Int { posts + favorites + normals }

    mutating func report(_ problem: ImportProblem, limit: Int) {
        problemCount += 1
        if problems.count < limit { problems.append(problem) }
    }
}
