import Control
import Foundation
import Mirroring
import Networks
import Posts
import Settings

/// Logs in at X with a PIN.
struct XConversation {
    let target: LoginTarget

    private var grants: XGrants { XGrants(target) }

    func outcome() async throws -> GrantedLogin { try await granted(try await begun()) }

    /// Asks for the app's keys until X accepts them, and begins a login with them.
    private func begun() async throws -> XGrants.Pending {
        while true {
            let (key, secret) = try await app()
            do {
                return try await grants.begun(key: key, secret: secret)
            } catch let error as NetworkError {
                guard case .secret = try RefusedAnswer.told(error) else { throw error }
            }
        }
    }

    /// Asks for the PIN until X accepts one.
    ///
    /// Each page allows only one attempt, so a new one is opened after a failure.
    private func granted(_ first: XGrants.Pending) async throws -> GrantedLogin {
        var pending = first
        while true {
            LoginPage(address: pending.page, role: target.role).show(
                "allow the access, and copy the PIN")
            let pin = try Question.answer("PIN: ") { $0 }
            do {
                return try await grants.granted(pending, pin: pin)
            } catch let error as NetworkError {
                guard case .secret = try RefusedAnswer.told(error) else { throw error }
                pending = try await grants.begun(again: pending)
            }
        }
    }

    /// The developer app: that of the other account if the person chooses it.
    private func app() async throws -> (key: String, secret: Secret) {
        guard let other = try await grants.otherApp() else {
            return (try Question.answer("API key of your app: ") { $0 }, try secret())
        }
        let key = try Question.optionalLine(
            "API key of your app (Enter for the other account's app): ")
        return key.isEmpty ? other : (key, try secret())
    }

    private func secret() throws -> Secret { try Question.secret("API key secret: ") }
}
