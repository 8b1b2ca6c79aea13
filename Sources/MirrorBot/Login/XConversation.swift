import Control
import Foundation
import Mirroring
import Networks
import Posts
import Settings

/// Logs in at X with a PIN.
struct XConversation {
    let role: AccountRole
    let apiBaseURL: String?
    let mirror: HumanMirror

    func outcome() async throws -> LoginOutcome {
        let (login, first) = try await begun()
        let credentials = try await granted(first, login)
        return LoginOutcome(
            account: AccountConfiguration(
                role: role, credentials: .x(credentials), apiBaseURL: apiBaseURL, origin: .login),
            warnings: role == .bot
                ? [
                    "X wants automated accounts labelled: Settings → Your account → Automation",
                    "publishing on X stays off until X_ACKNOWLEDGE_POLICY=yes; the README says what that means",
                ] : [])
    }

    /// Asks for the app's keys until X takes them, and begins a login with them.
    private func begun() async throws -> (XLogin, XLoginRequest) {
        while true {
            let (key, secret) = try await app()
            do {
                let login = try mirror.xLogin(
                    consumerKey: key, consumerSecret: secret, apiBaseURL: apiBaseURL)
                return (login, try await login.begin(forReadingOnly: role == .human))
            } catch let error as NetworkError {
                guard case .secret = try RefusedAnswer.told(error) else { throw error }
            }
        }
    }

    /// Asks for the PIN until X takes one.
    ///
    /// Each page is good for one attempt, so that another one is opened.
    private func granted(_ first: XLoginRequest, _ login: XLogin) async throws -> XCredentials {
        var request = first
        while true {
            LoginPage(address: request.authorizeURL, role: role).show(
                "allow the access, and copy the PIN")
            let pin = try Question.answer("PIN: ") { $0 }
            do {
                return try await login.finish(request, pin: pin)
            } catch let error as NetworkError {
                guard case .secret = try RefusedAnswer.told(error) else { throw error }
                request = try await login.begin(forReadingOnly: role == .human)
            }
        }
    }

    /// The developer app: the one of the other account if the person wants that.
    private func app() async throws -> (key: String, secret: Secret) {
        if let known = try await otherLogin()?.credentials, let consumerKey = known[.consumerKey] {
            let key = try Question.optionalLine(
                "API key of your app (Enter for the other account's app): ")
            if key.isEmpty { return (consumerKey.reveal(), known.secret(.consumerSecret)) }
            return (key, try secret())
        }
        return (try Question.answer("API key of your app: ") { $0 }, try secret())
    }

    /// The stored login of the other account; one that cannot be opened is of no use here, and no
    /// hindrance.
    private func otherLogin() async throws -> StoredLogin? {
        do {
            return try await mirror.vault.login(of: role == .human ? .bot : .human)
        } catch is ConfigurationError {
            return nil
        }
    }

    private func secret() throws -> Secret { try Question.secret("API key secret: ") }
}
