import Control
import Mirroring
import Networks
import Posts
import Settings

/// The account to log in to, with the given options.
struct LoginRequest {
    let target: LoginTarget
    let network: NetworkName
    let server: String?
    let handle: String?
    /// The person has made a token in the server's settings.
    let pastesToken: Bool
    /// The token or app password, if it was given.
    let token: Secret?
}

extension RefusedAnswer {
    /// Prints why a network refused an answer, so that the question can be asked again.
    ///
    /// - Returns: The answer to ask for again.
    /// - Throws: `error` itself if nobody can answer, or no answer would help.
    static func told(_ error: NetworkError) throws -> RefusedAnswer {
        guard Console.current.input.isInteractive, let answer = RefusedAnswer(error) else {
            throw error
        }
        StandardError.write("error: \(Printable.lines("\(error)"))\n")
        return answer
    }
}

/// The conversations for logging in, by network.
enum LoginConversations {
    typealias Conversation = @Sendable (LoginRequest) async throws -> GrantedLogin

    /// The conversations of networks with special steps.
    static let own: [NetworkName: Conversation] = [
        .mastodon: { asked in
            try await MastodonConversation(
                target: asked.target, server: asked.server, pastesToken: asked.pastesToken,
                token: asked.token
            ).outcome()
        },
        .x: { asked in
            guard asked.token == nil else {
                throw CommandError(
                    .usage,
                    "--token-file is of no use on X, where four keys open an account; log in without it"
                )
            }
            return try await XConversation(target: asked.target).outcome()
        },
        .bluesky: { asked in
            try await BlueskyConversation(
                target: asked.target, handle: asked.handle, given: asked.token
            ).outcome()
        },
    ]

    /// Asks for each required field of an account.
    static let questions: Conversation = { asked in
        var values: [AccountField: Secret?] = [:]
        for field in asked.network.descriptor.required(by: asked.target.role) {
            let prompt =
                "\(field.summary("the \(asked.target.role.rawValue)'s", asked.target.role)): "
            values[field] =
                field.isSecret
                ? try Question.secret(prompt)
                : Secret(try Question.answer(prompt) { try field.form($0, "the answer") })
        }
        return GrantedLogin(
            asked.target.account(AccountCredentials(network: asked.network, values)))
    }
}
