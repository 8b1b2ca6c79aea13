import Formats
import NetworkNames
package import Networks
package import Posts

/// Reads the state of an account from the server of its records, without a login.
extension BlueskyNetwork {
    package func standing(of account: AccountID) async throws -> AccountStanding? {
        guard account.network == .bluesky, BlueskyName.isDID(account.value) else { return nil }
        // The handle may belong to another account by now.
        let resolver = try BlueskyResolver(
            identifier: account.value, hosts: resolver.hosts, client: client)
        let server: ServerAddress
        do {
            server = try await resolver.resolve().server
        } catch let error as NetworkError where error.isPermanent {
            return nil
        }
        let call = NetworkCall(
            .readProfile, "com.atproto.sync.getRepoStatus", [(name: "did", value: account.value)])
        let answer = try await client.at(server).answer(to: call)
        guard let refusal = answer.refusal else {
            return try answer.value(BlueskyStandingAnswer.self).standing(of: account.value)
        }
        switch refusal.name {
        case "RepoTakendown", "AccountTakedown", "RepoSuspended", "AccountSuspended":
            return .suspended
        case "RepoDeactivated", "AccountDeactivated": return .deactivated
        case "RepoNotFound": return .deleted
        default:
            guard refusal.error.isPermanent else { throw refusal.error }
            return nil
        }
    }
}

/// The state of an account's records.
private struct BlueskyStandingAnswer: Decodable {
    private let did: String?
    private let isActive: Bool?
    private let status: String?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        did = wire.did
        isActive = wire.flag("active")
        status = wire.text("status")
    }

    /// The state; nil if the answer is about another account, or names an unknown state.
    func standing(of account: String) -> AccountStanding? {
        guard did == account else { return nil }
        if isActive == true { return .active }
        return switch status {
        case "takendown", "suspended": .suspended
        case "deactivated": .deactivated
        case "deleted": .deleted
        default: nil
        }
    }
}
