/// The people whom an author allows to answer or quote a post, on networks with such a choice.
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
