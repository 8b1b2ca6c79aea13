package import Mirroring
import Networks
package import Posts
package import Settings

/// The questions of a login, for a page that asks all of them at once.
package struct LoginForm: Sendable {
    /// A question.
    package struct Field: Sendable {
        /// Its name in ``LoginSteps/begin(_:returningTo:)``.
        package let name: String
        /// As "Server of the bot's account".
        package let label: String
        /// An example, or how to get the value.
        package let hint: String?
        package let isSecret: Bool
        package let isOptional: Bool
    }

    package let fields: [Field]
    /// The page on which the account's owner creates the required value; nil for none.
    package let page: String?
}

/// The state of a login after its answers were submitted.
package enum LoginProgress: Sendable {
    /// The person opens a page of the network, which leads back with a code or shows one to copy:
    /// ``PendingLogin/leadsBack``.
    case asksForCode(PendingLogin)
    case granted(GrantedLogin)
}

/// A login that waits for the code of a page of the network.
package enum PendingLogin: Sendable {
    case mastodon(MastodonGrants.Pending)
    case x(XGrants.Pending)

    /// The address that the person opens; it must be kept private if the network leads back.
    package var page: String {
        switch self {
        case .mastodon(let pending): pending.page
        case .x(let pending): pending.page
        }
    }

    /// Whether the network leads the browser back with the code, so that nothing is copied.
    package var leadsBack: Bool {
        switch self {
        case .mastodon(let pending): pending.leadsBack
        case .x: false
        }
    }

    /// Whether a browser that was led back has the `state` of this login.
    package func hasState(_ text: String) -> Bool {
        switch self {
        case .mastodon(let pending): pending.hasState(text)
        case .x: false
        }
    }

    /// The name of the sign that the page shows, as "code".
    package var codeName: String {
        switch self {
        case .mastodon: "code"
        case .x: "PIN"
        }
    }
}

/// The steps of a login on a page: answers, then perhaps a code, then the grant.
package struct LoginSteps: Sendable {
    private let network: NetworkName
    private let target: LoginTarget

    /// - Parameters:
    ///   - role: The role of the account.
    ///   - network: The network of the account.
    ///   - mirror: The mirror that makes the requests.
    package init(for role: AccountRole, on network: NetworkName, of mirror: HumanMirror) {
        self.network = network
        target = LoginTarget(for: role, at: mirror.configuration.apiBaseURL(of: role), of: mirror)
    }

    private var role: AccountRole { target.role }

    /// The questions.
    ///
    /// - Throws: The store's error.
    package func form() async throws -> LoginForm {
        let whose = "the \(role.rawValue)'s account"
        switch network {
        case .mastodon:
            return LoginForm(
                fields: [
                    LoginForm.Field(
                        name: AccountField.server.name, label: "Server of \(whose)",
                        hint: "such as mastodon.social", isSecret: false, isOptional: false)
                ], page: nil)
        case .x:
            let hasApp = try await XGrants(target).otherApp() != nil
            let hint = hasApp ? "empty for the app of the other account" : nil
            return LoginForm(
                fields: [
                    LoginForm.Field(
                        name: AccountField.consumerKey.name, label: "API key of your app",
                        hint: hint, isSecret: true, isOptional: hasApp),
                    LoginForm.Field(
                        name: AccountField.consumerSecret.name, label: "API key secret",
                        hint: nil, isSecret: true, isOptional: hasApp),
                ], page: nil)
        case .bluesky:
            let isOptional = role == .human
            return LoginForm(
                fields: [
                    LoginForm.Field(
                        name: AccountField.handle.name, label: "Handle of \(whose)",
                        hint: "such as name.bsky.social", isSecret: false, isOptional: false),
                    LoginForm.Field(
                        name: AccountField.appPassword.name, label: "App password",
                        hint: isOptional
                            ? "none is enough: posts and likes are public"
                            : "not the password of the account",
                        isSecret: true, isOptional: isOptional),
                ], page: role == .bot ? BlueskyGrants.passwordPage : nil)
        default:
            return LoginForm(
                fields: network.descriptor.required(by: role).map { field in
                    LoginForm.Field(
                        name: field.name, label: field.summary("the \(role.rawValue)'s", role),
                        hint: nil, isSecret: field.isSecret, isOptional: false)
                }, page: nil)
        }
    }

    /// Submits the answers to the network.
    ///
    /// - Parameters:
    ///   - answers: The answers by the names of the form's fields; a missing one counts as empty.
    ///   - page: The address to which the network leads back if it can; `nil` to show a code.
    /// - Throws: `ConfigurationError` for an answer in a wrong form, or a missing key;
    ///   `NetworkError`; the store's error.
    package func begin(
        _ answers: [String: String], returningTo page: String? = nil
    ) async throws -> LoginProgress {
        func answer(_ field: AccountField) -> String { answers[field.name] ?? "" }
        // Without a key the login could not be stored.
        try target.mirror.vault.requireKey()
        switch network {
        case .mastodon:
            let server = try ServerURL.normalized(
                Self.address(answer(.server)), setting: "the server")
            return .asksForCode(
                .mastodon(
                    try await MastodonGrants(target).begun(at: server, returningTo: page)))
        case .x:
            let grants = XGrants(target)
            var app = (key: answer(.consumerKey), secret: Secret(answer(.consumerSecret)))
            if app.key.isEmpty, let other = try await grants.otherApp() { app = other }
            guard !app.key.isEmpty, !app.secret.isEmpty else {
                throw ConfigurationError("the app", "needs its API key and the secret of that key")
            }
            return .asksForCode(.x(try await grants.begun(key: app.key, secret: app.secret)))
        case .bluesky:
            let handle = try BlueskyIdentifier.normalized(answer(.handle), setting: "the handle")
            let password = answer(.appPassword)
            guard role == .human || !password.isEmpty else {
                throw ConfigurationError("the app password", "is empty")
            }
            let grants = BlueskyGrants(target)
            return .granted(try await grants.granted(handle, password: Secret(password)))
        default:
            var values: [AccountField: Secret?] = [:]
            for field in network.descriptor.required(by: role) {
                values[field] = Secret(
                    try field.form(answer(field), field.summary("the \(role.rawValue)'s", role)))
            }
            return .granted(
                GrantedLogin(
                    target.account(AccountCredentials(network: network, values))))
        }
    }

    /// Submits the code that the network's page showed or returned.
    ///
    /// - Throws: `NetworkError`; ``LoginRefusal`` for a useless token; the store's error.
    package func finish(_ pending: PendingLogin, code: String) async throws -> GrantedLogin {
        switch pending {
        case .mastodon(let pending):
            try await MastodonGrants(target)
                .granted(pending, code: code)
        case .x(let pending):
            try await XGrants(target).granted(pending, pin: code)
        }
    }

    /// A login to try again after a refused code: the same one if its page can show another code,
    /// else a new one.
    ///
    /// - Throws: `NetworkError`.
    package func renewed(_ pending: PendingLogin) async throws -> PendingLogin {
        switch pending {
        case .mastodon: pending
        case .x(let pending):
            .x(try await XGrants(target).begun(again: pending))
        }
    }

    /// The address with its scheme, which people omit.
    private static func address(_ typed: String) -> String {
        typed.contains("://") ? typed : "https://" + typed
    }
}
