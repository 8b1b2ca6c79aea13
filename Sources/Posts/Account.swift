/// What a network says about a person or bot.
package struct Account: Equatable, Sendable {
    package var id: AccountID
    /// The name people type after `@`, without it: `user@host` (also for local accounts), or a screen name or handle.
    package var handle: String
    package var displayName: String
    /// The account says of itself that it is automated.
    package var isBot: Bool
    /// The profile text as plain text, in which people opt out of bots.
    package var bio: String
    /// What the network calls this account in its own paths.
    package var address: String

    package init(
        id: AccountID, handle: String, displayName: String = "", isBot: Bool = false, bio: String = "",
        address: String = ""
    ) {
        self.id = id
        self.handle = handle
        self.displayName = displayName
        self.isBot = isBot
        self.bio = bio
        self.address = address
    }
}
