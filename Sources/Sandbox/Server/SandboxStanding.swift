/// The state of the human's account, which all three interfaces report if they know such a state.
package enum SandboxStanding: Equatable, Sendable {
    case active
    /// The account is a memorial on the Mastodon-compatible server; elsewhere it is as usual.
    case memorial
    case suspended
    /// The account has moved on the Mastodon-compatible server; elsewhere it is as usual.
    ///
    /// - Parameter to: The new account, as `user@host` of a person of the sandbox.
    case moved(to: String)
    /// The account is deactivated on Bluesky; on the other networks it is as usual.
    case deactivated
    case deleted
}
