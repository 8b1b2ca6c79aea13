import Control
import Foundation
import Mirroring
import Networks
import Posts
import Settings

/// Logs in at a Mastodon-compatible server.
struct MastodonConversation {
    let role: AccountRole
    let server: String?
    let apiBaseURL: String?
    /// The person has made a token in the server's settings.
    let pastesToken: Bool
    /// The token, if it needs not be asked for.
    let token: Secret?
    let mirror: HumanMirror

    func outcome() async throws -> LoginOutcome {
        let server = try askedServer(given: server)
        return pastesToken || token != nil ? try await pasted(server) : try await authorized(server)
    }

    /// - Parameter refused: The server that a network error was about, which is proposed again: it
    ///   may only have been down.
    private func askedServer(given: String?, refused: String? = nil) throws -> String {
        func normalized(_ text: String) throws -> String {
            try ServerURL.normalized(text, setting: "the server")
        }
        let start = "Server of the \(role.rawValue)'s account"
        if let refused {
            return try Question.answer("\(start) [\(refused)]: ", default: refused, normalized)
        }
        return try Question.answer(given: given, "\(start) (https://HOST): ", normalized)
    }

    /// Registers an application at the server that the person means.
    private func registered(
        _ first: String
    ) async throws -> (server: String, login: MastodonLogin, request: MastodonLoginRequest) {
        var server = first
        while true {
            do {
                let login = try mirror.mastodonLogin(server: server, apiBaseURL: apiBaseURL)
                return (
                    server, login, try await login.register(for: role == .human ? .human : .bot)
                )
            } catch let error as NetworkError {
                _ = try RefusedAnswer.told(error)
                server = try askedServer(given: nil, refused: server)
            }
        }
    }

    private func authorized(_ first: String) async throws -> LoginOutcome {
        let (server, login, request) = try await registered(first)
        LoginPage(address: request.authorizeURL, role: role).show(
            "allow the access, and copy the code")
        let grant = try await granted(request, login)
        var outcome = outcome(server, grant.credentials, canWrite: grant.canWrite, lacks: [])
        outcome.revoke = { try await login.revoke(grant.credentials) }
        do {
            let lacks = try await lacks(grant.credentials.accessToken, granted: grant.scopes, login)
            outcome.warnings += lacks
            return outcome
        } catch {
            await outcome.withdraw()
            throw error
        }
    }

    /// Asks for the code until the server takes one: the application and its page stay the same.
    private func granted(_ request: MastodonLoginRequest, _ login: MastodonLogin) async throws
        -> MastodonLoginGrant
    {
        while true {
            let code = try Question.answer("Code: ") { $0 }
            do {
                return try await login.finish(request, code: code)
            } catch let error as NetworkError {
                _ = try RefusedAnswer.told(error)
                StandardError.tell("The same page shows another code.")
            }
        }
    }

    /// Asks for a token until the server takes one; the token is kept while the server is asked for
    /// again.
    private func pasted(_ first: String) async throws -> LoginOutcome {
        var server = first
        var token = try token ?? Question.secret("Access token: ")
        while true {
            do {
                let login = try mirror.mastodonLogin(server: server, apiBaseURL: apiBaseURL)
                let canWrite = try await login.canWrite(with: token)
                return outcome(
                    server, MastodonCredentials(accessToken: token), canWrite: canWrite,
                    lacks: try await lacks(token, granted: nil, login))
            } catch let error as NetworkError {
                switch try RefusedAnswer.told(error) {
                case .place: server = try askedServer(given: nil, refused: server)
                case .secret: token = try Question.secret("Access token: ")
                }
            }
        }
    }

    /// Returns the restrictions that the token's missing scopes put on the bot, a sentence each.
    ///
    /// - Throws: ``CommandError`` with the code for a refusal where it could not work at all.
    private func lacks(_ token: Secret, granted: [String]?, _ login: MastodonLogin) async throws
        -> [String]
    {
        guard role == .bot else { return [] }
        let missing = try await login.missingBotScopes(of: token, granted: granted)
        let advice =
            pastesToken || self.token != nil
            ? "make a token with the scopes read and write in the server's settings under Development, or log in "
                + "without --token"
            : "log in again and allow everything that is listed"
        let vital = missing.filter { $0.consequence == nil }.map(\.rawValue)
        guard vital.isEmpty else {
            throw CommandError(
                .refused,
                "the bot's token lacks \(vital.joined(separator: ", ")); nothing was changed; \(advice)"
            )
        }
        return missing.compactMap { scope in
            scope.consequence.map {
                "the bot's token lacks \(scope.rawValue), so that \($0); \(advice)"
            }
        }
    }

    private func outcome(
        _ server: String, _ credentials: MastodonCredentials, canWrite: Bool, lacks: [String]
    ) -> LoginOutcome {
        LoginOutcome(
            account: AccountConfiguration(
                role: role, credentials: .mastodon(server: server, credentials),
                apiBaseURL: apiBaseURL, origin: .login),
            warnings: role == .human && canWrite
                ? [
                    "the human's token can write, or the server does not say that it cannot; mirror-bot never needs "
                        + "that, so make one that only reads where the server has such"
                ] : lacks)
    }
}
