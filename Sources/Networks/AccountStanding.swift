/// The state of an account, in its network's own words.
package enum AccountStanding: Equatable, Sendable {
    case active
    /// A memorial account of a person who has died.
    case memorial
    /// The network has suspended the account, perhaps for a time.
    case suspended
    /// The person has moved to another account.
    ///
    /// - Parameter to: The new account's name, as a person types it without `@`.
    case moved(to: String)
    /// The owner deactivated the account, and may reactivate it.
    case deactivated
    /// The account was deleted.
    case deleted
}
