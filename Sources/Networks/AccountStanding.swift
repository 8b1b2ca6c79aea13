/// The state of an account, in its network's own words.
package enum AccountStanding: Equatable, Sendable {
    case active
    /// The account is kept in memory of a person who has died.
    case memorial
    /// The network has taken the account down, perhaps for a while.
    case suspended
    /// The person uses another account.
    ///
    /// - Parameter to: The new account's name, as a person types it without `@`.
    case moved(to: String)
    /// The owner switched the account off, and may switch it on again.
    case deactivated
    /// The account is gone.
    case deleted
}
