package import Foundation
package import Posts
package import Transport

/// A server that speaks Mastodon's client interface: Mastodon, GoToSocial, Pleroma, Akkoma and others.
///
/// Nothing depends on which of them it is. Feeds are paged by the `Link`
/// header, or by the ids of their items where the header is missing; the
/// server's own paging is trusted for finding items, never for having handled
/// them.
package struct MastodonNetwork: SocialNetwork {
    let client: MastodonClient
    let memory: MastodonMemory

    /// - Parameters:
    ///   - server: `https://social.example`, or the host alone.
    ///   - accessToken: The token of the account to act for.
    ///   - client: Carries the requests; may be shared with other networks.
    ///   - now: Reads the wall clock.
    /// - Throws: ``NetworkError`` with code `.configuration` if `server` is not an address.
    package init(
        server: String, accessToken: Secret, client: HTTPClient, now: @escaping @Sendable () -> Date
    ) throws(NetworkError) {
        self.client = MastodonClient(
            server: try ServerAddress(server, network: .mastodon), token: accessToken, http: client, now: now)
        self.memory = MastodonMemory()
    }

    package var name: NetworkName { .mastodon }

    package var capabilities: Capabilities {
        Capabilities(
            feeds: Set(Feed.allCases), visibilities: [.public, .unlisted, .private, .direct], replies: .anyone,
            replyNeedsMention: true, automaticFavorites: .anyone, sendsLanguage: true,
            supportsIdempotencyKey: true,
            // Servers keep keys for an hour.
            resendWindow: .seconds(50 * 60), requestDeadline: MastodonClient.deadline, ownPostsDepth: nil)
    }

    package func verifyAccount() async throws -> Account {
        let wire = try await client.value(
            MastodonAccount.self,
            MastodonCall(operation: .verifyAccount, path: ["api", "v1", "accounts", "verify_credentials"]))
        memory.keep(accountID: wire.id)
        return try await translator().account(wire)
    }

    package func limits() async throws -> PublishingLimits {
        try await instance().limits
    }

    package func lookUp(_ address: String) async throws -> ObservedPost? {
        guard let status = try await status(address) else { return nil }
        guard let post = try await translator().post(status) else {
            throw client.error(
                MastodonCall(operation: .readPost, path: []), .malformedResponse, outcome: .refused,
                detail: "the post has no author or no address")
        }
        return post
    }

    package func isFavorited(_ address: String) async throws -> Bool? {
        try await status(address)?.isFavourited
    }

    package func conversation(of post: ObservedPost) async throws -> String? {
        guard post.replyToAddress != nil else { return post.post.id.value }
        let call = MastodonCall(
            operation: .readConversation, path: try path(.readConversation, "statuses", post.address, "context"))
        do {
            let first = try await client.value(MastodonContext.self, call).ancestors.first
            return first.flatMap { $0.uri ?? $0.url } ?? post.post.id.value
        } catch let error as NetworkError where error.code == .notFound {
            return nil
        }
    }

    /// Reads what a server calls one of its posts; nil when it is gone.
    func status(_ address: String) async throws -> MastodonStatus? {
        let call = MastodonCall(operation: .readPost, path: try path(.readPost, "statuses", address))
        do {
            return try await client.value(MastodonStatus.self, call)
        } catch let error as NetworkError where error.code == .notFound {
            return nil
        }
    }

    /// `/api/v1/…` with an address from outside as one of its parts.
    func path(_ operation: NetworkError.Operation, _ parts: String...) throws(NetworkError) -> [String] {
        guard parts.allSatisfy(MastodonID.isUsable) else {
            throw client.error(
                MastodonCall(operation: operation, path: []), .rejected, outcome: .notSent,
                detail: "the post's address is not an id of this server")
        }
        return ["api", "v1"] + parts
    }

    /// Makes values of ours from the wire's.
    func translator() async throws -> MastodonTranslator {
        MastodonTranslator(
            domain: try await instance().domain ?? client.server.host, accountID: memory.accountID, now: client.now)
    }

    /// The id that the server gave to the token's account.
    func accountID() async throws -> String {
        if let id = memory.accountID { return id }
        return try await verifyAccount().address
    }
}
