import Control
import Mirroring
import Networks
import Posts
import Settings

/// Logs in at Bluesky with an app password.
struct BlueskyConversation {
    let target: LoginTarget
    let handle: String?
    /// The app password, if it was given.
    let given: Secret?

    func outcome() async throws -> GrantedLogin {
        let grants = BlueskyGrants(target)
        var handle = try askedHandle(given: handle)
        var password = try password(given: given)
        while true {
            do {
                return try await grants.granted(handle, password: password)
            } catch let error as NetworkError {
                switch try RefusedAnswer.told(error) {
                case .place: handle = try askedHandle(given: nil, refused: handle)
                case .secret:
                    // The network does not say whether it refuses the handle or the password.
                    handle = try askedHandle(given: nil, refused: handle)
                    password = try self.password(given: nil)
                }
            }
        }
    }

    /// - Parameter refused: The handle of a network error, which is proposed again.
    private func askedHandle(given: String?, refused: String? = nil) throws -> String {
        func normalized(_ text: String) throws -> String {
            try BlueskyIdentifier.normalized(text, setting: "the handle")
        }
        let start = "Handle of the \(target.role.rawValue)'s account"
        if let refused {
            return try Question.answer("\(start) [\(refused)]: ", default: refused, normalized)
        }
        return try Question.answer(given: given, "\(start) (name.bsky.social): ", normalized)
    }

    private func password(given: Secret?) throws -> Secret {
        if let given { return given }
        guard target.role == .bot else {
            return try Question.optionalSecret("App password (Enter for none, which is enough): ")
        }
        LoginPage(address: BlueskyGrants.passwordPage, role: target.role).show(
            "make an app password, and copy it")
        return try Question.secret("App password: ")
    }
}
