/// The state of the human's account, which all three interfaces report if they know such a state.
package enum SandboxStanding: Equatable, Sendable {
    case active
    /// On the Mastodon-compatible server; elsewhere the account is as usual.
    case memorial
    case suspended
    /// On the Mastodon-compatible server; elsewhere the account is as usual.
    ///
    /// - Parameter to: The new account, as `user@host` of a person of the sandbox.
    case moved(to: String)
    /// The account is deactivated on Bluesky; on the other networks it is as usual.
    case deactivated
    case deleted
}
