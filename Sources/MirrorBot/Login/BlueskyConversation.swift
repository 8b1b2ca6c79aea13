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
    let mirror: HumanMirror

    /// Where an account's owner makes app passwords.
    private static let passwordPage = "https://bsky.app/settings/app-passwords"

    func outcome() async throws -> LoginOutcome {
        var handle = try askedHandle(given: handle)
        var password = try password(given: given)
        while true {
            let login = AccountConfiguration(
                role: role,
                credentials: .bluesky(
                    identifier: handle, appPassword: password.isEmpty ? nil : password),
                apiBaseURL: apiBaseURL, origin: .login)
            do {
                let verified = try await VerifiedLogin(login, for: mirror)
                return LoginOutcome(
                    account: login, verified: verified, warnings: warnings(password))
            } catch let error as NetworkError {
                switch try RefusedAnswer.told(error) {
                case .place: handle = try askedHandle(given: nil, refused: handle)
                case .secret:
                    // The network does not say which of the two it refuses.
                    handle = try askedHandle(given: nil, refused: handle)
                    password = try self.password(given: nil)
                }
            }
        }
    }

    /// - Parameter refused: The handle that a network error was about, which is proposed again.
    private func askedHandle(given: String?, refused: String? = nil) throws -> String {
        func normalized(_ text: String) throws -> String {
            try BlueskyIdentifier.normalized(text, setting: "the handle")
        }
        let start = "Handle of the \(role.rawValue)'s account"
        if let refused {
            return try Question.answer("\(start) [\(refused)]: ", default: refused, normalized)
        }
        return try Question.answer(given: given, "\(start) (name.bsky.social): ", normalized)
    }

    private func warnings(_ password: Secret) -> [String] {
        guard role == .human, !password.isEmpty else { return [] }
        return [
            "an app password can write, for Bluesky has none that only reads; without one the human's posts "
                + "and likes are read all the same, only the home timeline is not"
        ]
    }

    private func password(given: Secret?) throws -> Secret {
        if let given { return given }
        guard role == .bot else {
            return try Question.optionalSecret("App password (Enter for none, which is enough): ")
        }
        LoginPage(address: Self.passwordPage, role: role).show("make an app password, and copy it")
        return try Question.secret("App password: ")
    }
}
