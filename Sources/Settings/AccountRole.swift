/// Which of a mirror's two accounts.
package enum AccountRole: String, CaseIterable, Codable, Sendable {
    /// The person who is mirrored.
    case human
    /// The account that posts, answers and favorites.
    case bot

    /// What the names of the role's settings begin with.
    package var prefix: String { rawValue.uppercased() }
}
