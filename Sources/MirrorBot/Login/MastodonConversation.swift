import Control
import Foundation
import Mirroring
import Networks
import Posts
import Settings

/// Logs in at a Mastodon-compatible server.
struct MastodonConversation {
    let target: LoginTarget
    let server: String?
    /// The person has made a token in the server's settings.
    let pastesToken: Bool
    /// The token, if it was given.
    let token: Secret?

    private var grants: MastodonGrants { MastodonGrants(target) }

    func outcome() async throws -> GrantedLogin {
        let server = try askedServer(given: server)
        return pastesToken || token != nil ? try await pasted(server) : try await authorized(server)
    }

    /// - Parameter refused: The server of a network error, which is proposed again, because it may
    ///   only have been down.
    private func askedServer(given: String?, refused: String? = nil) throws -> String {
        func normalized(_ text: String) throws -> String {
            try ServerURL.normalized(text, setting: "the server")
        }
        let start = "Server of the \(target.role.rawValue)'s account"
        if let refused {
            return try Question.answer("\(start) [\(refused)]: ", default: refused, normalized)
        }
        return try Question.answer(given: given, "\(start) (https://HOST): ", normalized)
    }

    /// Registers an application at the entered server.
    private func registered(_ first: String) async throws -> MastodonGrants.Pending {
        var server = first
        while true {
            do {
                return try await grants.begun(at: server)
            } catch let error as NetworkError {
                _ = try RefusedAnswer.told(error)
                server = try askedServer(given: nil, refused: server)
            }
        }
    }

    /// Asks for the code until the server accepts one; the application and its page stay the same.
    private func authorized(_ first: String) async throws -> GrantedLogin {
        let pending = try await registered(first)
        LoginPage(address: pending.page, role: target.role).show(
            "allow the access, and copy the code")
        while true {
            let code = try Question.answer("Code: ") { $0 }
            do {
                return try await grants.granted(pending, code: code)
            } catch let error as NetworkError {
                _ = try RefusedAnswer.told(error)
                StandardError.tell("The same page shows another code.")
            }
        }
    }

    /// Asks for a token until the server accepts one; the token is kept while the server is entered
    /// again.
    private func pasted(_ first: String) async throws -> GrantedLogin {
        var server = first
        var token = try token ?? Question.secret("Access token: ")
        while true {
            do {
                return try await grants.granted(server, token: token)
            } catch let error as NetworkError {
                switch try RefusedAnswer.told(error) {
                case .place: server = try askedServer(given: nil, refused: server)
                case .secret: token = try Question.secret("Access token: ")
                }
            }
        }
    }
}
