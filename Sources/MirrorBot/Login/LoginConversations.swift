import Control
import Mirroring
import Networks
import Posts
import Settings

/// The account to log in to, with the options that the person gave.
struct LoginRequest {
    let role: AccountRole
    let network: NetworkName
    let server: String?
    let handle: String?
    /// Where requests go instead of the network's own address.
    let apiBaseURL: String?
    /// The person has made a token in the server's settings.
    let pastesToken: Bool
    /// The token or app password, if it needs not be asked for.
    let token: Secret?
    let mirror: HumanMirror
}

extension RefusedAnswer {
    /// Tells a person why a network refused an answer, so that the question can be asked again.
    ///
    /// - Returns: The answer to ask for again.
    /// - Throws: `error` itself where nobody can answer, and where no answer would help.
    static func told(_ error: NetworkError) throws -> RefusedAnswer {
        guard Console.current.input.isInteractive, let answer = RefusedAnswer(error) else {
            throw error
        }
        StandardError.write("error: \(Printable.lines("\(error)"))\n")
        return answer
    }
}

/// How accounts are logged in to, by network.
enum LoginConversations {
    typealias Conversation = @Sendable (LoginRequest) async throws -> GrantedLogin

    /// Those of networks with steps of their own.
    static let own: [NetworkName: Conversation] = [
        .mastodon: { asked in
            try await MastodonConversation(
                role: asked.role, server: asked.server, apiBaseURL: asked.apiBaseURL,
                pastesToken: asked.pastesToken,
                token: asked.token, mirror: asked.mirror
            ).outcome()
        },
        .x: { asked in
            guard asked.token == nil else {
                throw CommandError(
                    .usage,
                    "--token-file is of no use on X, where four keys open an account; log in without it"
                )
            }
            return try await XConversation(
                role: asked.role, apiBaseURL: asked.apiBaseURL, mirror: asked.mirror
            )
            .outcome()
        },
        .bluesky: { asked in
            try await BlueskyConversation(
                role: asked.role, handle: asked.handle, apiBaseURL: asked.apiBaseURL,
                given: asked.token,
                mirror: asked.mirror
            ).outcome()
        },
    ]

    /// Asks for each field that an account needs.
    static let questions: Conversation = { asked in
        var values: [AccountField: Secret?] = [:]
        for field in asked.network.descriptor.required(by: asked.role) {
            let prompt = "\(field.summary("the \(asked.role.rawValue)'s", asked.role)): "
            values[field] =
                field.isSecret
                ? try Question.secret(prompt)
                : Secret(try Question.answer(prompt) { try field.form($0, "the answer") })
        }
        return GrantedLogin(
            AccountConfiguration(
                role: asked.role, credentials: AccountCredentials(network: asked.network, values),
                apiBaseURL: asked.apiBaseURL, origin: .login))
    }
}
