import Foundation
import Mirroring
import Networks
import Posts

/// Logs in at a Mastodon-compatible server.
struct MastodonConversation {
    let role: AccountRole
    let server: String?
    let apiBaseURL: String?
    /// The person has made a token in the server's settings.
    let pastesToken: Bool
    let registry: NetworkRegistry

    func outcome() async throws -> LoginOutcome {
        let server = try Question.checked(
            try server ?? Question.line("Server of the \(role.rawValue)'s account (https://…): ")
        ) { try ServerURL.normalized($0, setting: "the server") }
        let login = try registry.mastodonLogin(server: server, apiBaseURL: apiBaseURL)
        return pastesToken ? try await pasted(server, login) : try await authorized(server, login)
    }

    private func authorized(_ server: String, _ login: MastodonLogin) async throws -> LoginOutcome {
        let request = try await login.register(for: role == .human ? .human : .bot)
        StandardError.write(
            """
            Open this address in a browser that is logged in as the \(role.rawValue), allow the access, and copy the \
            code:
              \(Printable.line(request.authorizeURL))

            """)
        let grant = try await login.finish(request, code: try Question.line("Code: "))
        return outcome(server, grant.credentials, canWrite: grant.canWrite)
    }

    private func pasted(_ server: String, _ login: MastodonLogin) async throws -> LoginOutcome {
        let token = try Question.secret("Access token: ")
        guard !token.isEmpty else { throw CommandError(.usage, "nothing was entered; nothing was changed") }
        return outcome(
            server, MastodonCredentials(accessToken: token), canWrite: try await login.canWrite(with: token))
    }

    private func outcome(_ server: String, _ credentials: MastodonCredentials, canWrite: Bool) -> LoginOutcome {
        LoginOutcome(
            account: AccountConfiguration(
                role: role, credentials: .mastodon(server: server, credentials),
                apiBaseURL: apiBaseURL, origin: .login),
            warnings: role == .human && canWrite
                ? [
                    "the human's token can write, or the server does not say that it cannot; mirror-bot never needs "
                        + "that, so make one that only reads where the server has such"
                ] : [])
    }
}
