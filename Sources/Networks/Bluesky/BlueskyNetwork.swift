package import Foundation
package import Posts
package import Transport

/// An account on Bluesky, or on another server of the AT Protocol.
///
/// With an app password everything goes through the server that keeps the account's records, which passes on what is
/// not about them. Without one the account's posts and favorites can be read, for both are public.
///
/// Posts and favorites are records whose keys and times are chosen before they are sent and follow from the draft: a
/// second attempt writes the same record or none.
package struct BlueskyNetwork: SocialNetwork {
    let client: BlueskyClient
    let resolver: BlueskyResolver
    /// Nil for public reading.
    let sessions: BlueskySessions?
    let memory = BlueskyMemory()

    /// - Parameters:
    ///   - identifier: The account's handle or DID.
    ///   - appPassword: Opens the account; nil for public reading.
    ///   - apiBaseURL: The server that stands for all of Bluesky's; nil for the real ones.
    ///   - sessions: Keeps the session, so that the password is hardly ever sent.
    ///   - client: Carries the requests; may be shared with other networks.
    ///   - now: Reads the wall clock.
    ///   - uptime: Reads a clock that nobody sets, in seconds; nil for the system's.
    /// - Throws: ``NetworkError`` with code `.configuration` for an identifier or address that cannot be one.
    package init(
        identifier: String, appPassword: Secret?, apiBaseURL: String?, sessions: any CredentialStore,
        client: HTTPClient, now: @escaping @Sendable () -> Date, uptime: (@Sendable () -> TimeInterval)? = nil
    ) throws(NetworkError) {
        try self.init(
            identifier: identifier, appPassword: appPassword, hosts: try BlueskyHosts(apiBaseURL: apiBaseURL),
            sessions: sessions, client: client, now: now, uptime: uptime)
    }

    init(
        identifier: String, appPassword: Secret?, hosts: BlueskyHosts, sessions: any CredentialStore,
        client: HTTPClient, now: @escaping @Sendable () -> Date, uptime: (@Sendable () -> TimeInterval)? = nil
    ) throws(NetworkError) {
        let client = BlueskyClient(
            http: client, serverClock: ServerClock(uptime: uptime), now: now, isAnonymous: appPassword == nil)
        let resolver = try BlueskyResolver(identifier: identifier, hosts: hosts, client: client)
        self.client = client
        self.resolver = resolver
        self.sessions = appPassword.map { BlueskySessions(password: $0, store: sessions, resolver: resolver) }
    }

    package var name: NetworkName { .bluesky }

    package var clockLead: TimeInterval? { client.serverClock.lead(at: client.now()) }

    package var capabilities: Capabilities {
        let canWrite = sessions != nil
        return Capabilities(
            feeds: canWrite ? Set(Feed.allCases) : [.ownPosts, .favorites], visibilities: [.public, .unlisted],
            replies: .anyone, replyNeedsMention: false, automaticFavorites: .consenting, canFavorite: canWrite,
            canPublish: canWrite, sendsLanguage: true, supportsIdempotencyKey: true,
            // The record's key is good for ever; whoever waits longer than that writes to nobody.
            resendWindow: .seconds(24 * 3_600),
            // A write is preceded by a look at the post it is about, and perhaps by a new session.
            requestDeadline: BlueskyClient.timeout * 6)
    }

    package func verifyAccount() async throws -> Account {
        let account: BlueskyHome
        if sessions != nil {
            account = try await confirmedHome()
        } else {
            let identity = try await resolver.resolve()
            memory.keep(identity, until: client.now().addingTimeInterval(Self.identityLifetime))
            account = BlueskyHome(did: identity.did, host: identity.server.host)
        }
        return BlueskyTranslator(now: client.now()).account(try await readOwnProfile(account.did))
    }

    package func limits() async throws -> PublishingLimits { .bluesky }

    package func lookUp(_ address: String) async throws -> ObservedPost? {
        let reference = try reference(address, .readPost)
        let home = try await home()
        if reference.address.repository == home.did { return try await ownPost(reference.address) }
        guard let view = try await view(of: reference.address, .readPost) else { return nil }
        let bios = try await bios(of: [view.author], .readPost)
        return BlueskyTranslator(now: client.now()).post(view, bio: bios[view.author.did])
    }

    package func isFavorited(_ address: String) async throws -> Bool? {
        try requireSession(.readPost)
        let reference = try reference(address, .readPost)
        return try await view(of: reference.address, .readPost).map { $0.isFavorited ?? false }
    }

    package func conversation(of post: ObservedPost) async throws -> String? {
        if let root = post.conversation { return root }
        return try await lookUp(post.address)?.conversation
    }

    /// A post of the account itself, from where its records are: no other server knows it sooner or better.
    private func ownPost(_ address: RecordAddress) async throws -> ObservedPost? {
        let found = try await record(BlueskyPostRecord.self, address, .readPost)
        guard let found else { return nil }
        guard let value = found.value else {
            throw failure(.readPost, .malformedResponse, "the post's record cannot be read")
        }
        return try await ownPosts([(found.reference, value)])[found.reference]
    }

    /// The session's account, freshly asked.
    private func confirmedHome() async throws -> BlueskyHome {
        let call = BlueskyCall(.verifyAccount, "com.atproto.server.getSession")
        let (wire, host) = try await value(BlueskyAccountState.self, call)
        guard wire.isActive else {
            throw client.error(
                call, .accountDisabled, host: host, outcome: .refused, detail: "the account is switched off")
        }
        guard try await home().did == wire.did else {
            throw client.error(
                call, .configuration, host: host, outcome: .refused, detail: "the session is another account's")
        }
        return BlueskyHome(did: wire.did, host: host)
    }

    /// What an address from outside stands for.
    func reference(_ address: String, _ operation: NetworkError.Operation) throws(NetworkError) -> RecordReference {
        if let reference = RecordReference(address), reference.address.isPost { return reference }
        throw failure(operation, .rejected, "the post's address is not one of Bluesky's", outcome: .notSent)
    }

    /// - Throws: ``NetworkError`` with code `.capability` where there is no app password.
    func requireSession(_ operation: NetworkError.Operation) throws(NetworkError) {
        guard sessions == nil else { return }
        throw failure(operation, .capability, "this needs the account's app password", outcome: .notSent)
    }

    func failure(
        _ operation: NetworkError.Operation, _ code: NetworkError.Code, _ detail: String,
        outcome: NetworkError.Outcome = .refused
    ) -> NetworkError {
        NetworkError(
            code: code, network: .bluesky, host: resolver.hosts.entryway.host, operation: operation, detail: detail,
            outcome: outcome, isAnonymous: client.isAnonymous)
    }
}

/// What `getSession` answers.
private struct BlueskyAccountState: Decodable {
    let did: String
    let isActive: Bool

    private enum CodingKeys: CodingKey {
        case did, active
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let did = container.text(.did), BlueskyName.isDID(did) else { throw BlueskyShapeError() }
        self.did = did
        isActive = container.flag(.active) ?? true
    }
}
