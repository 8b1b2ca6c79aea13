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
        let server = try Question.answer(
            given: server, "Server of the \(role.rawValue)'s account (https://HOST): "
        ) { try ServerURL.normalized($0, setting: "the server") }
        let login = try mirror.mastodonLogin(server: server, apiBaseURL: apiBaseURL)
        return pastesToken || token != nil ? try await pasted(server, login) : try await authorized(server, login)
    }

    private func authorized(_ server: String, _ login: MastodonLogin) async throws -> LoginOutcome {
        let request = try await login.register(for: role == .human ? .human : .bot)
        LoginPage(address: request.authorizeURL, role: role).show("allow the access, and copy the code")
        let grant = try await login.finish(request, code: try Question.answer("Code: ") { $0 })
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

    private func pasted(_ server: String, _ login: MastodonLogin) async throws -> LoginOutcome {
        let token = try token ?? Question.secret("Access token: ")
        let canWrite = try await login.canWrite(with: token)
        return outcome(
            server, MastodonCredentials(accessToken: token), canWrite: canWrite,
            lacks: try await lacks(token, granted: nil, login))
    }

    /// What the bot will not do with the token, a sentence each.
    ///
    /// - Throws: ``CommandError`` with the code for a refusal where it could not work at all.
    private func lacks(_ token: Secret, granted: [String]?, _ login: MastodonLogin) async throws -> [String] {
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
                .refused, "the bot's token lacks \(vital.joined(separator: ", ")); nothing was changed; \(advice)")
        }
        return missing.compactMap { scope in
            scope.consequence.map { "the bot's token lacks \(scope.rawValue), so that \($0); \(advice)" }
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
