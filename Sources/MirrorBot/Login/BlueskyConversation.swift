import Control
import Mirroring
import Networks
import Posts
import Settings

/// Logs in at Bluesky with an app password.
struct BlueskyConversation {
    let role: AccountRole
    let handle: String?
    let apiBaseURL: String?
    /// The app password, if it needs not be asked for.
    let given: Secret?

    /// Where an account's owner makes app passwords.
    private static let passwordPage = "https://bsky.app/settings/app-passwords"

    func outcome() throws -> LoginOutcome {
        let handle = try Question.answer(
            given: handle, "Handle of the \(role.rawValue)'s account (name.bsky.social): "
        ) { try BlueskyIdentifier.normalized($0, setting: "the handle") }
        let password = try password()
        return LoginOutcome(
            account: AccountConfiguration(
                role: role,
                credentials: .bluesky(identifier: handle, appPassword: password.isEmpty ? nil : password),
                apiBaseURL: apiBaseURL, origin: .login),
            warnings: role == .human && !password.isEmpty
                ? [
                    "an app password can write, for Bluesky has none that only reads; without one the human's posts "
                        + "and likes are read all the same, only the home timeline is not"
                ] : [])
    }

    private func password() throws -> Secret {
        if let given { return given }
        guard role == .bot else {
            return try Question.optionalSecret("App password (Enter for none, which is enough): ")
        }
        LoginPage(address: Self.passwordPage, role: role).show("make an app password, and copy it")
        return try Question.secret("App password: ")
    }
}
