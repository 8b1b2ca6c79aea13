/// A name that is not that of one action.
package struct ActionNameError: Error, Equatable, Sendable, CustomStringConvertible {
    /// As many digits of an identifier are shown where there is little room, and nearly always enough.
    package static let usualLength = 7

    package let description: String

    static func preview(_ name: String) -> ActionNameError {
        ActionNameError(
            description: """
                "\(name.prefix(60))" is a slot of a day that is not planned yet; mirror-bot plan skip leaves it out
                """)
    }

    static func unknown(_ name: String) -> ActionNameError {
        ActionNameError(
            description: """
                "\(name.prefix(60))" is no action of this mirror; mirror-bot status and mirror-bot plan show the ids \
                that there are
                """)
    }

    static let nothingNext = ActionNameError(
        description: "no post is planned or to be planned in the next weeks; mirror-bot status says why")

    static func ambiguous(_ name: String, _ actions: [String]) -> ActionNameError {
        ActionNameError(
            description: """
                "\(name.prefix(60))" is the beginning of several ids; give more digits: \
                \(actions.joined(separator: ", "))
                """)
    }
}
