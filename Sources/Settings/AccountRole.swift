import Localization

/// One of the two accounts of a mirror.
package enum AccountRole: String, CaseIterable, Codable, Sendable {
    /// The person who is mirrored.
    case human
    /// The account that posts, answers and favorites.
    case bot

    /// The prefix of the names of the role's settings.
    package var prefix: String { rawValue.uppercased() }
}

extension AccountRole {
    /// The role in a sentence, as "the bot".
    package var words: String {
        switch self {
        case .human: localized("the human")
        case .bot: localized("the bot")
        }
    }

    /// The account's owner in a sentence, as "the bot's".
    var whose: String {
        switch self {
        case .human: localized("the human's")
        case .bot: localized("the bot's")
        }
    }
}
