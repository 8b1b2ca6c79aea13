import Formats
package import Networks
import Posts
import Transport

extension MastodonNetwork {
    package var plainServer: any PlainServer { MastodonPlainServer(network: self) }
}

/// Requests of Mastodon's interface that do not depend on the server's program.
private struct MastodonPlainServer: PlainServer {
    let network: MastodonNetwork

    func publish(_ draft: Draft, mark: String) async throws -> String? {
        let call = try network.publication(of: draft)
        let response = try await network.session.send(call)
        let status = try network.client.decode(MastodonStatus.self, from: response, call)
        // WordPress returns the answered post instead of the new one.
        guard status.id != draft.replyTo else { return nil }
        return try await text(of: status).contains(mark) ? status.id : nil
    }

    func read(_ address: String) async throws -> PlainPost? {
        guard let status = try await network.status(address) else { return nil }
        return PlainPost(
            text: try await text(of: status), visibility: status.audience.visibility,
            answeredAddress: status.inReplyToID, isChanged: status.editedAt != nil)
    }

    func isShownWithoutLogin(_ address: String) async throws -> Bool? {
        try await network.isShownWithoutLogin(address)
    }

    func newest() async throws -> Set<String> {
        let ownID = try await network.ownAccount().id
        let call = NetworkCall(
            operation: .readOwnPosts,
            path: try network.path(.readOwnPosts, "accounts", ownID, "statuses"),
            query: [("limit", "20")])
        let posts = try await network.session.value([LenientElement<MastodonStatus>].self, call)
        return Set(posts.compactMap(\.id))
    }

    func change(_ address: String, to draft: Draft) async throws -> Bool? {
        let call = try network.change(of: address, to: draft)
        do {
            _ = try await network.session.send(call)
            return true
        } catch let error as NetworkError where error.isRefusalOfPost || error.status == 501 {
            return false
        }
    }

    func delete(_ address: String) async throws {
        let call = NetworkCall(
            operation: .delete, method: .delete,
            path: try network.path(.delete, "statuses", address))
        do {
            _ = try await network.session.send(call)
        } catch let error as NetworkError where error.isRefusalOfPost {
            // The caller checks whether the post is gone.
        }
    }

    private func text(of status: MastodonStatus) async throws -> String {
        try await network.translator().post(status)?.post.text ?? ""
    }
}

extension NetworkError {
    /// Whether the server itself refuses the post, regardless of the time.
    ///
    /// Such a refusal has a status of 400 through 499, except 408, 425 and 429, and is not the page
    /// of a proxy.
    var isRefusalOfPost: Bool {
        guard let status, (400...499).contains(status) else { return false }
        return ![408, 425, 429].contains(status)
            && !(code == .unavailable && [403, 406].contains(status))
    }
}
