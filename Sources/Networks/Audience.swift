/// Whom the author of a post lets answer it, or quote it, where a network leaves that to authors.
package enum Audience: String, CaseIterable, Sendable {
    case anyone
    /// Who follows the author.
    case followers
    /// Whom the author follows.
    case followed
    /// Whom the post names.
    case mentioned
    case nobody
}
