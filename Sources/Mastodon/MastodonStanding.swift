import Formats
import NetworkNames
package import Networks
package import Posts

/// Reads the state of an account as its server states it publicly, or to its owner.
extension MastodonNetwork {
    package func standing(of account: AccountID) async throws -> AccountStanding? {
        let name = account.value.prefix { $0 != "@" }.lowercased()
        guard account.network == .mastodon, !name.isEmpty else { return nil }
        let call = NetworkCall(
            operation: .readProfile, path: ["api", "v1", "accounts", "lookup"],
            query: [("acct", name)])
        let isMissing: Bool
        do {
            // No token is sent, because every call with the token of a suspended account is
            // refused.
            let answer = try await client.value(MastodonStandingAnswer.self, call, token: nil)
            return answer.standing(of: name, at: account.addressHost ?? "")
        } catch let error as NetworkError {
            guard error.isPermanent else { throw error }
            guard error.saysDeleted || [401, 403].contains(error.status) else { return nil }
            isMissing = error.saysDeleted
        }
        // Some programs refuse public look-ups, or answer every unknown path with 404.
        do {
            let answer = try await session.value(MastodonStandingAnswer.self, .verification)
            return answer.standing(of: name, at: account.addressHost ?? "")
        } catch let error as NetworkError {
            guard error.isPermanent else { throw error }
            return isMissing ? .deleted : nil
        }
    }
}

extension NetworkError {
    /// Whether the server itself says that the account does not exist (any more).
    ///
    /// Mastodon uses these words for a missing record, but not for an unknown path.
    fileprivate var saysDeleted: Bool {
        guard let serverCode else { return false }
        return status == 410 || status == 404 && serverCode.lowercased() == "record not found"
    }
}

/// The part of an account that shows its state.
struct MastodonStandingAnswer: Decodable {
    private let account: MastodonAccount
    private let isMemorial: Bool
    private let isSuspended: Bool
    /// The account to which this one has moved; nil if it has not.
    private let successor: MastodonAccount?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let account = MastodonAccount(wire) else { throw ShapeError() }
        self.account = account
        isMemorial = wire.flag("memorial") == true
        isSuspended = wire.flag("suspended") == true
        successor = wire.object("moved").flatMap { MastodonAccount($0) }
    }

    /// The state of the account; nil if the answer is about another one.
    ///
    /// - Parameters:
    ///   - name: The account's name in lower case.
    ///   - host: The host in the names of the server's own accounts.
    func standing(of name: String, at host: String) -> AccountStanding? {
        guard account.acct.prefix(while: { $0 != "@" }).lowercased() == name else { return nil }
        if isSuspended { return .suspended }
        if isMemorial { return .memorial }
        guard let successor else { return .active }
        return .moved(
            to: successor.acct.contains("@") ? successor.acct : "\(successor.acct)@\(host)")
    }
}
