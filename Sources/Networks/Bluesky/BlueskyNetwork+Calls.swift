import Foundation
import Posts
import Transport

/// The account that a network acts for.
struct BlueskyHome: Sendable {
    let did: String
    /// The host that keeps its records.
    let host: String
}

/// Asking the right server in the right name.
extension BlueskyNetwork {
    /// How long it is believed where an account lives: seconds.
    static let identityLifetime: TimeInterval = 3_600
    /// How long an account's own profile is believed, and others' bios: seconds.
    private static let profileLifetime: TimeInterval = 3_600
    private static let bioLifetime: TimeInterval = 86_400
    /// The most posts or accounts that one request may name.
    private static let batchSize = 25
    /// With a session of another process and a renewed one.
    private static let maximumAttempts = 3

    /// Asks the account's own server in its name, or, without a session, whoever answers strangers.
    ///
    /// - Returns: The answer and the host that gave it.
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func answer(to call: BlueskyCall) async throws -> (answer: BlueskyClient.Answer, host: String) {
        guard let sessions else {
            let server = call.isAboutRecords ? try await identity().server : resolver.hosts.appView
            let answer = try await client.answer(to: call, from: server)
            if call.isAboutRecords, case .refusal(let refusal) = answer, refusal.error.code == .notFound,
                refusal.name != "RecordNotFound"
            {
                memory.forgetIdentity()
            }
            return (answer, server.host)
        }
        var session = try await sessions.current()
        for _ in 1..<Self.maximumAttempts {
            let answer = try await ask(call, in: session, sessions)
            switch answer {
            case .success:
                await sessions.confirm(session)
                return (answer, session.server.host)
            case .refusal(let refusal):
                guard let refusal = try await asSessionRefusal(refusal, session, sessions) else {
                    return (answer, session.server.host)
                }
                session = try await sessions.renewed(insteadOf: session, refusal)
            }
        }
        return (try await ask(call, in: session, sessions), session.server.host)
    }

    /// The refusal, if it is the session that is refused; nil if it is the call.
    ///
    /// Where a server, or a proxy before it, does not name the error, another question tells the two apart.
    private func asSessionRefusal(
        _ refusal: BlueskyRefusal, _ session: BlueskySession, _ sessions: BlueskySessions
    ) async throws -> BlueskyRefusal? {
        guard refusal.name == nil, let status = refusal.error.status, [400, 401, 403].contains(status) else {
            return refusal.error.code == .unauthorized ? refusal : nil
        }
        let call = BlueskyCall(refusal.error.operation, "com.atproto.server.getSession")
        guard case .refusal(let second) = try await ask(call, in: session, sessions),
            second.error.isPermanent
        else { return nil }
        var error = refusal.error
        error.code = .unauthorized
        return BlueskyRefusal(name: second.name ?? "ExpiredToken", error: error)
    }

    private func ask(
        _ call: BlueskyCall, in session: BlueskySession, _ sessions: BlueskySessions
    ) async throws -> BlueskyClient.Answer {
        try await client.answer(
            to: call, from: session.server, with: session.access, hiding: [session.refresh, sessions.password])
    }

    /// The answer to a call, read as JSON, and the host that gave it.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func value<Value: Decodable>(
        _ type: Value.Type, _ call: BlueskyCall
    ) async throws -> (value: Value, host: String) {
        let (answer, host) = try await answer(to: call)
        return (try client.decode(type, from: try answer.response(), call, host: host), host)
    }

    /// Who the account is.
    func home() async throws -> BlueskyHome {
        if let sessions {
            let session = try await sessions.current()
            return BlueskyHome(did: session.did, host: session.server.host)
        }
        let identity = try await identity()
        return BlueskyHome(did: identity.did, host: identity.server.host)
    }

    /// Where the account lives, asked once an hour; an hour that brings no answer keeps what is known.
    private func identity() async throws -> BlueskyIdentity {
        let time = client.now()
        if let known = memory.identity(at: time) { return known }
        let identity: BlueskyIdentity
        do {
            identity = try await resolver.resolve()
        } catch let error as NetworkError where !error.isPermanent {
            guard let known = memory.lastIdentity else { throw error }
            identity = known
        }
        memory.keep(identity, until: time.addingTimeInterval(Self.identityLifetime))
        return identity
    }

    /// A record by its address; nil when its server says that there is none.
    func record<Value: Decodable & Sendable>(
        _ type: Value.Type, _ address: RecordAddress, _ operation: NetworkError.Operation
    ) async throws -> BlueskyListedRecord<Value>? {
        let call = BlueskyCall(
            operation, "com.atproto.repo.getRecord",
            [
                (name: "repo", value: address.repository), (name: "collection", value: address.collection),
                (name: "rkey", value: address.key),
            ])
        let (answer, host) = try await answer(to: call)
        // Only this name says so: other answers of that kind come from servers that know nothing of the account.
        if case .refusal(let refusal) = answer, refusal.name == "RecordNotFound" { return nil }
        let response = try answer.response()
        let found = try client.decode(BlueskyListedRecord<Value>.self, from: response, call, host: host)
        guard found.reference.address == address else {
            throw client.malformed(call, host: host, response, "the answer is about another record")
        }
        return found
    }

    /// Posts by their addresses; those that are gone, or hidden from the account, are missing.
    func views(of uris: [String], _ operation: NetworkError.Operation) async throws -> BlueskyViews {
        var found = BlueskyViews()
        for batch in batches(of: uris) {
            let call = BlueskyCall(operation, "app.bsky.feed.getPosts", batch.map { (name: "uris", value: $0) })
            do {
                let posts = try await value(BlueskyViews.self, call).value
                found.add(posts, named: Set(batch))
            } catch let error as NetworkError where error.code == .tooLarge && batch.count == 1 {
                found.add(BlueskyViews(unreadable: Set(batch)), named: Set(batch))
            }
        }
        return found
    }

    /// A post by its address; nil when it is gone, or hidden from the account.
    func view(of address: RecordAddress, _ operation: NetworkError.Operation) async throws -> BlueskyPostView? {
        let views = try await views(of: [address.uri], operation)
        guard views.unreadable.isEmpty else {
            throw failure(operation, .malformedResponse, "the post cannot be read", outcome: .notSent)
        }
        return views.readable[address.uri]
    }

    /// The bios of accounts that came without them, in which people opt out of bots.
    ///
    /// Asked once a day for each account; empty where a server cannot tell.
    func bios(
        of profiles: [BlueskyProfile], _ operation: NetworkError.Operation
    ) async throws -> [String: String] {
        let wanted = Set(profiles.filter { !$0.isBioIncluded }.map(\.did))
        var bios = memory.bios(of: wanted, at: client.now())
        let unknown = wanted.subtracting(bios.keys).sorted()
        for batch in batches(of: unknown) {
            let call = BlueskyCall(operation, "app.bsky.actor.getProfiles", batch.map { (name: "actors", value: $0) })
            let (answer, host) = try await answer(to: call)
            if case .refusal(let refusal) = answer, refusal.error.code == .capability { return bios }
            let page = try client.decode(BlueskyProfiles.self, from: try answer.response(), call, host: host)
            let named = page.profiles.map { ($0.did, $0.description ?? "") }
            // Accounts that are gone have no bio.
            let none = Dictionary(uniqueKeysWithValues: batch.map { ($0, "") })
            let fresh = none.merging(named.filter { batch.contains($0.0) }) { _, new in new }
            memory.keep(bios: fresh, until: client.now().addingTimeInterval(Self.bioLifetime))
            bios.merge(fresh) { _, new in new }
        }
        return bios
    }

    /// The account's own profile, asked once an hour.
    func ownProfile() async throws -> BlueskyProfile {
        if let known = memory.ownProfile(at: client.now()) { return known }
        return try await readOwnProfile(try await home().did)
    }

    /// The account's own profile, freshly asked.
    func readOwnProfile(_ did: String) async throws -> BlueskyProfile {
        let call = BlueskyCall(.verifyAccount, "app.bsky.actor.getProfile", [(name: "actor", value: did)])
        let (answer, host) = try await answer(to: call)
        let response = try answer.response()
        let profile = try client.decode(BlueskyProfile.self, from: response, call, host: host)
        guard profile.did == did else {
            throw client.malformed(call, host: host, response, "the answer is about another account")
        }
        memory.keep(ownProfile: profile, until: client.now().addingTimeInterval(Self.profileLifetime))
        return profile
    }

    private func batches(of items: [String]) -> [[String]] {
        stride(from: 0, to: items.count, by: Self.batchSize).map {
            Array(items[$0..<min($0 + Self.batchSize, items.count)])
        }
    }
}

/// What `getProfiles` answers.
private struct BlueskyProfiles: Decodable {
    let profiles: [BlueskyProfile]

    private enum CodingKeys: CodingKey {
        case profiles
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard container.isPresent(.profiles) else { throw BlueskyShapeError() }
        profiles = container.list(of: BlueskyProfile.self, .profiles)
    }
}
