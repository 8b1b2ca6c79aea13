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

    func outcome() throws -> LoginOutcome {
        let handle = try Question.checked(
            try handle ?? Question.line("Handle of the \(role.rawValue)'s account (name.bsky.social): ")
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
        guard role == .bot else { return try Question.secret("App password (Enter for none, which is enough): ") }
        let password = try Question.secret("App password (Settings → Privacy and security → App passwords): ")
        guard !password.isEmpty else { throw CommandError(.usage, "nothing was entered; nothing was changed") }
        return password
    }
}
