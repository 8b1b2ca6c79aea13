import Formats
package import Foundation
import Localization
import NetworkNames
package import Networks
package import Posts
package import Transport

/// An account on Bluesky, or on another server of the AT Protocol.
///
/// With an app password all requests go to the server with the account's records, which forwards
/// requests about other things. Without a password the account's posts and favorites can be read,
/// because both are public.
///
/// Posts and favorites are records whose keys and times follow from the draft, so a second attempt
/// to publish a draft writes the same record or none.
package struct BlueskyNetwork: SocialNetwork {
    let client: BlueskyClient
    let resolver: BlueskyResolver
    /// `nil` for public reading.
    let sessions: BlueskySessions?
    /// The rules about who may answer and quote the published posts.
    let gates: BlueskyGates
    let memory = BlueskyMemory()

    /// - Parameters:
    ///   - appPassword: The app password of the account; nil for public reading.
    ///   - apiBaseURL: The server to use in place of all of Bluesky's servers; nil for these.
    ///   - sessions: Stores the session, so that the password is hardly ever sent.
    ///   - client: Sends the requests; may be shared with other networks.
    ///   - origin: The mirror that makes the requests.
    ///   - uptime: A function that reads the monotonic clock, in seconds; nil for the system's.
    /// - Throws: `NetworkError` with code `.configuration` for an invalid identifier or address.
    package init(
        identifier: String, appPassword: Secret?, apiBaseURL: String?,
        sessions: any CredentialStore,
        gates: BlueskyGates = BlueskyGates(), client: HTTPClient,
        origin: RequestOrigin = RequestOrigin(),
        now: @escaping @Sendable () -> Date, uptime: (@Sendable () -> TimeInterval)? = nil
    ) throws(NetworkError) {
        try self.init(
            identifier: identifier, appPassword: appPassword,
            hosts: try BlueskyHosts(apiBaseURL: apiBaseURL),
            sessions: sessions, gates: gates, client: client, origin: origin, now: now,
            uptime: uptime)
    }

    init(
        identifier: String, appPassword: Secret?, hosts: BlueskyHosts,
        sessions: any CredentialStore,
        gates: BlueskyGates = BlueskyGates(), client: HTTPClient,
        origin: RequestOrigin = RequestOrigin(),
        now: @escaping @Sendable () -> Date, uptime: (@Sendable () -> TimeInterval)? = nil
    ) throws(NetworkError) {
        let client = BlueskyClient(
            server: hosts.entryway, http: client, origin: origin,
            serverClock: ServerClock(uptime: uptime),
            now: now, isAnonymous: appPassword == nil)
        let resolver = try BlueskyResolver(identifier: identifier, hosts: hosts, client: client)
        self.gates = gates
        self.client = client
        self.resolver = resolver
        self.sessions = appPassword.map {
            BlueskySessions(password: $0, store: sessions, resolver: resolver)
        }
    }

    package var name: NetworkName { .bluesky }

    package var host: String { client.server.host }

    package var clockLead: TimeInterval? { client.serverClock.lead(at: client.now()) }

    package var capabilities: Capabilities {
        let canWrite = sessions != nil
        var capabilities = Capabilities(
            feeds: canWrite ? Set(Feed.allCases) : [.ownPosts, .favorites],
            visibilities: [.public, .unlisted],
            replies: .anyone, replyNeedsMention: false, automaticFavorites: .consenting,
            supportsIdempotencyKey: true,
            // A call may need four requests: the refused one, a check whether the session is the
            // cause, one for a new session, and the call again.
            requestDeadline: NetworkCall.usualDeadline * 4)
        capabilities.canFavorite = canWrite
        capabilities.canPublish = canWrite
        // Bluesky allows 5,000 points an hour; a deletion takes one and a post three.
        capabilities.deletionPace = Pace(count: 1_000, period: 3_600)
        capabilities.unfavoritePace = Pace(count: 1_000, period: 3_600)
        // The record's key stays valid forever, but nobody reads a reply that comes later than
        // this.
        capabilities.resendWindow = .seconds(24 * 3_600)
        // A reply notifies the authors of the four posts above it, according to the source of the
        // usual app view.
        capabilities.repliesNotifyAncestors = true
        capabilities.linksWords = true
        // The limit in bytes in the lexicon of posts with pictures.
        capabilities.largestPicture = 1_000_000
        return capabilities
    }

    package func verifyAccount() async throws -> Account {
        let did: String
        if sessions != nil {
            did = try await verifiedOwnDID()
        } else {
            let identity = try await resolver.resolve()
            memory.keep(identity, for: Self.identityLifetime, from: client.now())
            did = identity.did
        }
        return BlueskyTranslator(now: client.now()).account(try await readOwnProfile(did))
    }

    package func limits() async throws -> PublishingLimits { .bluesky }

    package func lookUp(_ address: String) async throws -> ObservedPost? {
        try await post(at: try reference(address, .readPost).address)
    }

    package func lookUp(identity: PostID) async throws -> ObservedPost? {
        guard let address = RecordAddress(identity.value), address.isPost else {
            throw failure(
                .readPost, .capability,
                localized("what the post is called is no address of Bluesky's"),
                outcome: .notSent)
        }
        return try await post(at: address)
    }

    private func post(at address: RecordAddress) async throws -> ObservedPost? {
        let ownDID = try await ownDID()
        if address.repository == ownDID { return try await ownPost(address) }
        guard let view = try await view(of: address, .readPost) else { return nil }
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

    /// A post of the account itself, from the server with its records, which is always up to date.
    private func ownPost(_ address: RecordAddress) async throws -> ObservedPost? {
        let listedRecord = try await record(BlueskyPostRecord.self, address, .readPost)
        guard let listedRecord else { return nil }
        guard let value = listedRecord.value else {
            throw failure(
                .readPost, .malformedResponse, localized("the post's record cannot be read"))
        }
        return try await ownPosts([(listedRecord.reference, value)])[listedRecord.reference]
    }

    /// Requests the DID of the session's account, and checks that it is the expected one.
    private func verifiedOwnDID() async throws -> String {
        let answer = try await answer(
            to: NetworkCall(.verifyAccount, "com.atproto.server.getSession"))
        let (did, isActive) = try answer.read { wire in
            wire.did.map { ($0, wire.flag("active") ?? true) }
        }
        guard isActive else {
            throw answer.error(.accountDisabled, localized("the account is switched off"))
        }
        guard try await ownDID() == did else {
            throw answer.error(.configuration, localized("the session is another account's"))
        }
        return did
    }

    /// Parses a post's address that comes from outside.
    func reference(_ address: String, _ operation: NetworkError.Operation) throws(NetworkError)
        -> RecordReference
    {
        if let reference = RecordReference(address), reference.address.isPost { return reference }
        throw failure(
            operation, .rejected, localized("the post's address is not one of Bluesky's"),
            outcome: .notSent)
    }

    /// - Throws: `NetworkError` with code `.capability` without an app password.
    func requireSession(_ operation: NetworkError.Operation) throws(NetworkError) {
        guard sessions == nil else { return }
        throw failure(
            operation, .capability, localized("this needs the account's app password"),
            outcome: .notSent)
    }

    func failure(
        _ operation: NetworkError.Operation, _ code: NetworkError.Code, _ detail: String,
        outcome: NetworkError.Outcome = .refused
    ) -> NetworkError {
        client.error(operation, code, outcome: outcome, detail: detail)
    }
}

/// Sends each request to the server that can answer it, with the session of the account if there is
/// one.
extension BlueskyNetwork {
    /// Seconds for which an account's identity is cached.
    static let identityLifetime: TimeInterval = 3_600
    /// Seconds for which the account's own profile, and the bios of others, are cached.
    private static let profileLifetime: TimeInterval = 3_600
    private static let bioLifetime: TimeInterval = 86_400
    /// The most posts or accounts in one request.
    private static let batchSize = 25
    /// The most attempts of a call: with the present session, with one that another process
    /// renewed, and with a new one.
    private static let maximumAttempts = 3

    /// Sends a call to the account's own server with its session, or, without one, to a public
    /// server.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    func answer(to call: NetworkCall) async throws -> BlueskyAnswer {
        guard let sessions else {
            let server = call.isAboutRecords ? try await identity().server : resolver.hosts.appView
            let answer = try await client.at(server).answer(to: call)
            // The server may not know the account, because the account has moved to another server.
            if call.isAboutRecords, let refusal = answer.refusal, refusal.error.code == .notFound,
                refusal.name != "RecordNotFound"
            {
                memory.forgetIdentity()
            }
            return answer
        }
        var session = try await sessions.current()
        for _ in 1..<Self.maximumAttempts {
            let answer = try await ask(call, in: session, sessions)
            guard let refusal = answer.refusal else {
                await sessions.confirm(session)
                return answer
            }
            guard let refusal = try await asSessionRefusal(refusal, session, sessions) else {
                return answer
            }
            session = try await sessions.renewed(insteadOf: session, refusal)
        }
        return try await ask(call, in: session, sessions)
    }

    /// The refusal if it is about the session; nil if it is about the call.
    ///
    /// If a server, or a proxy before it, does not name the error, a request for the session itself
    /// decides.
    private func asSessionRefusal(
        _ refusal: BlueskyRefusal, _ session: BlueskySession, _ sessions: BlueskySessions
    ) async throws -> BlueskyRefusal? {
        guard refusal.name == nil, let status = refusal.error.status,
            [400, 401, 403].contains(status)
        else {
            return refusal.error.code == .unauthorized ? refusal : nil
        }
        let call = NetworkCall(refusal.error.operation, "com.atproto.server.getSession")
        guard let sessionRefusal = try await ask(call, in: session, sessions).refusal,
            sessionRefusal.error.isPermanent
        else {
            return nil
        }
        var error = refusal.error
        error.code = .unauthorized
        return BlueskyRefusal(name: sessionRefusal.name ?? "ExpiredToken", error: error)
    }

    /// Sends a call to the server of a session, with the session's access token.
    private func ask(
        _ call: NetworkCall, in session: BlueskySession, _ sessions: BlueskySessions
    ) async throws -> BlueskyAnswer {
        try await client.at(session.server, hiding: [session.refresh, sessions.password])
            .answer(to: call, with: session.access)
    }

    /// The DID of the account that the network acts for.
    func ownDID() async throws -> String {
        if let sessions { return try await sessions.current().did }
        return try await identity().did
    }

    /// Returns the DID of the account that the network acts for, after renewing a session whose
    /// token would expire before the change.
    func ownDIDForChange() async throws -> String {
        guard let sessions else { return try await ownDID() }
        return try await sessions.lasting().did
    }

    /// The account's identity, requested once an hour; if a request fails, the last known one.
    func identity() async throws -> BlueskyIdentity {
        let time = client.now()
        if let rememberedIdentity = memory.identity(at: time) { return rememberedIdentity }
        let identity: BlueskyIdentity
        do {
            identity = try await resolver.resolve()
        } catch let error as NetworkError where !error.isPermanent {
            guard let rememberedIdentity = memory.lastIdentity else { throw error }
            identity = rememberedIdentity
        }
        memory.keep(identity, for: Self.identityLifetime, from: time)
        return identity
    }

    /// A record by its address; nil if its server says that there is none.
    func record<Value: Decodable & Sendable>(
        _ type: Value.Type, _ address: RecordAddress, _ operation: NetworkError.Operation
    ) async throws -> BlueskyListedRecord<Value>? {
        let call = NetworkCall(
            operation, "com.atproto.repo.getRecord",
            [
                (name: "repo", value: address.repository),
                (name: "collection", value: address.collection),
                (name: "rkey", value: address.key),
            ])
        let answer = try await answer(to: call)
        // Only this name proves that the record is missing: other answers with status 404 come from
        // servers that do not know the account.
        if answer.refusal?.name == "RecordNotFound" { return nil }
        let listedRecord = try answer.value(BlueskyListedRecord<Value>.self)
        guard listedRecord.reference.address == address else {
            throw answer.malformed(localized("the answer is about another record"))
        }
        return listedRecord
    }

    /// Posts by their addresses; deleted posts, and those hidden from the account, are left out.
    func views(of uris: [String], _ operation: NetworkError.Operation) async throws -> BlueskyViews
    {
        var views = BlueskyViews()
        for batch in batches(of: uris) {
            let call = NetworkCall(
                operation, "app.bsky.feed.getPosts", batch.map { (name: "uris", value: $0) })
            do {
                let posts = try await answer(to: call).value(BlueskyViews.self)
                views.add(posts, named: Set(batch))
            } catch let error as NetworkError where error.code == .tooLarge && batch.count == 1 {
                views.add(BlueskyViews(unreadable: Set(batch)), named: Set(batch))
            }
        }
        return views
    }

    /// A post by its address; nil if it is deleted, or hidden from the account.
    func view(of address: RecordAddress, _ operation: NetworkError.Operation) async throws
        -> BlueskyPostView?
    {
        let views = try await views(of: [address.uri], operation)
        guard views.unreadable.isEmpty else {
            throw failure(
                operation, .malformedResponse, localized("the post cannot be read"),
                outcome: .notSent)
        }
        return views.readable[address.uri]
    }

    /// Returns the bios of those profiles that came without one.
    ///
    /// Bios are needed because people opt out of bots in them. Each is requested once a day; the
    /// result is empty if the server does not support the request.
    func bios(
        of profiles: [BlueskyProfile], _ operation: NetworkError.Operation
    ) async throws -> [String: String] {
        let missingDIDs = Set(profiles.filter { !$0.isBioIncluded }.map(\.did))
        var bios = memory.bios(of: missingDIDs, at: client.now())
        let uncachedDIDs = missingDIDs.subtracting(bios.keys).sorted()
        for batch in batches(of: uncachedDIDs) {
            let call = NetworkCall(
                operation, "app.bsky.actor.getProfiles", batch.map { (name: "actors", value: $0) })
            let answer = try await answer(to: call)
            if answer.refusal?.error.code == .capability { return bios }
            let profiles = try answer.read { wire in
                wire.isPresent("profiles") ? wire.list(of: BlueskyProfile.self, "profiles") : nil
            }
            let requestedProfiles = profiles.filter { batch.contains($0.did) }
            let receivedBios = requestedProfiles.map { ($0.did, $0.description ?? "") }
            // Deleted accounts have no bio.
            let emptyBios = Dictionary(uniqueKeysWithValues: batch.map { ($0, "") })
            let newBios = emptyBios.merging(receivedBios) { _, new in new }
            memory.keep(bios: newBios, for: Self.bioLifetime, from: client.now())
            bios.merge(newBios) { _, new in new }
        }
        return bios
    }

    /// The account's own profile, requested once an hour.
    func ownProfile() async throws -> BlueskyProfile {
        if let cachedProfile = memory.ownProfile(at: client.now()) { return cachedProfile }
        return try await readOwnProfile(try await ownDID())
    }

    /// The account's own profile, requested now.
    func readOwnProfile(_ did: String) async throws -> BlueskyProfile {
        let call = NetworkCall(
            .verifyAccount, "app.bsky.actor.getProfile", [(name: "actor", value: did)])
        let answer = try await answer(to: call)
        let profile = try answer.value(BlueskyProfile.self)
        guard profile.did == did else {
            throw answer.malformed(localized("the answer is about another account"))
        }
        memory.keep(ownProfile: profile, for: Self.profileLifetime, from: client.now())
        return profile
    }

    private func batches(of items: [String]) -> [[String]] {
        stride(from: 0, to: items.count, by: Self.batchSize).map {
            Array(items[$0..<min($0 + Self.batchSize, items.count)])
        }
    }
}

/// A network's state between calls.
///
/// An entry that seems to be from the future, because the clock was set back, is ignored.
final class BlueskyMemory: @unchecked Sendable {
    // Sendable: every access to a variable holds the lock.
    private let lock = NSLock()
    private var identity: (value: BlueskyIdentity, validity: Cooldown)?
    private var storedProfile: (value: BlueskyProfile, validity: Cooldown)?
    private var bios: [String: (text: String, validity: Cooldown)] = [:]

    /// The most bios that are cached.
    private static let maximumBios = 5_000

    func identity(at time: Date) -> BlueskyIdentity? {
        lock.withLock { identity.flatMap { $0.validity.isOver(at: time) ? nil : $0.value } }
    }

    /// The last known identity, however old.
    var lastIdentity: BlueskyIdentity? { lock.withLock { identity?.value } }

    func keep(_ identity: BlueskyIdentity, for lifetime: TimeInterval, from now: Date) {
        lock.withLock { self.identity = (identity, Cooldown(begun: now, until: now + lifetime)) }
    }

    /// Removes the known identity, because the account may have moved to another server.
    func forgetIdentity() {
        lock.withLock { identity = nil }
    }

    func ownProfile(at time: Date) -> BlueskyProfile? {
        lock.withLock {
            storedProfile.flatMap { $0.validity.isOver(at: time) ? nil : $0.value }
        }
    }

    func keep(ownProfile: BlueskyProfile, for lifetime: TimeInterval, from now: Date) {
        lock.withLock { storedProfile = (ownProfile, Cooldown(begun: now, until: now + lifetime)) }
    }

    /// The cached bios, by DID.
    func bios(of dids: Set<String>, at time: Date) -> [String: String] {
        lock.withLock {
            var foundBios: [String: String] = [:]
            for did in dids {
                if let bio = bios[did], !bio.validity.isOver(at: time) {
                    foundBios[did] = bio.text
                }
            }
            return foundBios
        }
    }

    func keep(bios newBios: [String: String], for lifetime: TimeInterval, from now: Date) {
        lock.withLock {
            if bios.count + newBios.count > Self.maximumBios { bios = [:] }
            for (did, text) in newBios {
                bios[did] = (text, Cooldown(begun: now, until: now + lifetime))
            }
        }
    }
}
