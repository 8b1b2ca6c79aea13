import Foundation
import Localization
import Mirroring
import Networks
import Posts
package import Settings

/// A login that a network has granted and that is not stored yet.
package struct GrantedLogin: Sendable {
    package let account: AccountConfiguration
    /// Warnings for the person, one sentence each.
    package let warnings: [String]
    /// The network's answer about the account; `nil` where the login did not ask yet.
    let verified: VerifiedLogin?
    /// Revokes the token that the network issued for this login; nil if it issued none.
    private let revoke: (@Sendable () async throws -> Void)?

    /// - Parameters:
    ///   - account: The account with its credentials.
    ///   - verified: The network's answer about the account.
    ///   - warnings: Warnings for the person, one sentence each.
    ///   - revoke: Revokes the token that the network issued.
    init(
        _ account: AccountConfiguration, verified: VerifiedLogin? = nil, warnings: [String] = [],
        revoke: (@Sendable () async throws -> Void)? = nil
    ) {
        self.account = account
        self.verified = verified
        self.warnings = warnings
        self.revoke = revoke
    }

    /// Revokes the token of a login that will not be stored.
    ///
    /// - Returns: Nil, or a sentence about a token that could not be revoked.
    package func withdraw() async -> String? {
        do {
            try await revoke?()
            return nil
        } catch {
            return
                localized(
                    "the token of this login could not be revoked; revoke it in the account's settings"
                )
        }
    }
}

/// The account of a login, as its network returned it.
struct VerifiedLogin: Sendable {
    let account: Account
    let network: any SocialNetwork
    /// The session that was opened to ask for the account.
    let session: TriedSession

    /// Asks the network for the account of a login.
    ///
    /// - Throws: `NetworkError`; the store's error.
    init(_ login: AccountConfiguration, for mirror: HumanMirror) async throws {
        session = TriedSession()
        network = try await mirror.measuredNetwork(for: login, sessions: session)
        account = try await network.verifyAccount()
    }
}
