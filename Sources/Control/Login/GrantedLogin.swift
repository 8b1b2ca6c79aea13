import Foundation
package import Mirroring
package import Networks
import Posts
package import Settings

/// A login that a network granted, before anything of it is kept.
package struct GrantedLogin: Sendable {
    package let account: AccountConfiguration
    /// Warnings for the person, one sentence each.
    package let warnings: [String]
    /// The network's answer about the account; `nil` where the login did not ask yet.
    let verified: VerifiedLogin?
    /// Gives back what the network issued for this login; nil where it issued nothing.
    private let revoke: (@Sendable () async throws -> Void)?

    /// - Parameters:
    ///   - account: What opens the account.
    ///   - verified: The network's answer about it.
    ///   - warnings: What the person should know, a sentence each.
    ///   - revoke: Gives back what the network issued.
    package init(
        _ account: AccountConfiguration, verified: VerifiedLogin? = nil, warnings: [String] = [],
        revoke: (@Sendable () async throws -> Void)? = nil
    ) {
        self.account = account
        self.verified = verified
        self.warnings = warnings
        self.revoke = revoke
    }

    /// Gives back what the network issued, for a login that will not be kept.
    ///
    /// - Returns: Nil, or a sentence about a token that could not be revoked.
    package func withdraw() async -> String? {
        do {
            try await revoke?()
            return nil
        } catch {
            return
                "the token of this login could not be revoked; revoke it in the account's settings"
        }
    }
}

/// The account that a login opens, as its network answered.
package struct VerifiedLogin: Sendable {
    let account: Account
    let network: any SocialNetwork
    /// The session that was opened for it.
    let session: TriedSession

    /// Asks the network whose account a login opens.
    ///
    /// - Throws: `NetworkError`; the store's error.
    package init(_ login: AccountConfiguration, for mirror: HumanMirror) async throws {
        session = TriedSession()
        network = try await mirror.measuredNetwork(for: login, sessions: session)
        account = try await network.verifyAccount()
    }
}

/// The answer of a person that a network refused.
package enum RefusedAnswer: Sendable {
    /// The server or the handle: there is nothing to log in to.
    case place
    /// The code, the token or the password.
    case secret

    /// Nil where no answer would help, as while a network limits requests.
    package init?(_ error: NetworkError) {
        switch error.code {
        case .rateLimited, .creditsDepleted, .capReached, .overBudget, .accountDisabled,
            .missingScope:
            return nil
        case .unauthorized, .rejected, .forbidden: self = .secret
        default: self = .place
        }
    }
}
