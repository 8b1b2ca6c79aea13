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

/// The account that a login opens, as its network answered.
struct VerifiedLogin {
    let account: Account
    let network: any SocialNetwork
    /// The session that was opened for it.
    let session: TriedSession

    /// Asks the network whose account a login opens.
    ///
    /// - Throws: `NetworkError`; the store's error.
    init(_ login: AccountConfiguration, for mirror: HumanMirror) async throws {
        session = TriedSession()
        network = try await mirror.measuredNetwork(for: login, sessions: session)
        account = try await network.verifyAccount()
    }
}

/// Which answer of a login a network refused.
enum RefusedAnswer {
    /// The server or the handle: there is nothing to log in to.
    case place
    /// The code, the token or the password.
    case secret

    /// Tells a person why a network refused an answer, so that the question can be asked again.
    ///
    /// - Returns: The answer to ask for again.
    /// - Throws: `error` itself where nobody can answer, and where no answer would help, as while a
    ///   network limits requests.
    static func told(_ error: NetworkError) throws -> RefusedAnswer {
        guard Console.current.input.isInteractive else { throw error }
        let answer: RefusedAnswer
        switch error.code {
        case .rateLimited, .creditsDepleted, .capReached, .overBudget, .accountDisabled,
            .missingScope:
            throw error
        case .unauthorized, .rejected, .forbidden: answer = .secret
        default: answer = .place
        }
        StandardError.write("error: \(Printable.lines("\(error)"))\n")
        return answer
    }
}

/// The account that a login conversation yields.
struct LoginOutcome {
    let account: AccountConfiguration
    /// The network's answer about the account; `nil` where the conversation did not ask.
    var verified: VerifiedLogin?
    /// Warnings for the person, one sentence each.
    var warnings: [String]
    /// Gives back what the network issued for this login; nil where it issued nothing.
    var revoke: (@Sendable () async throws -> Void)?

    /// Gives back what the network issued, for a login that will not be kept.
    func withdraw() async {
        do {
            try await revoke?()
        } catch {
            StandardError.tell(
                "warning: the token of this login could not be revoked; revoke it in the account's "
                    + "settings")
        }
    }
}

/// How accounts are logged in to, by network.
enum LoginConversations {
    typealias Conversation = @Sendable (LoginRequest) async throws -> LoginOutcome

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
        return LoginOutcome(
            account: AccountConfiguration(
                role: asked.role, credentials: AccountCredentials(network: asked.network, values),
                apiBaseURL: asked.apiBaseURL, origin: .login),
            warnings: [])
    }
}
