/// One of the two accounts of a mirror.
package enum AccountRole: String, CaseIterable, Codable, Sendable {
    /// The person who is mirrored.
    case human
    /// The account that posts, answers and favorites.
    case bot

    /// The prefix of the names of the role's settings.
    package var prefix: String { rawValue.uppercased() }
}
