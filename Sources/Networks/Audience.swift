/// The people whom an author lets answer or quote a post, where a network leaves that to authors.
package enum Audience: String, CaseIterable, Sendable {
    case anyone
    /// The followers of the author.
    case followers
    /// The accounts that the author follows.
    case followed
    /// The accounts that the post names.
    case mentioned
    case nobody
}
