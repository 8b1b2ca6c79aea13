import Foundation
import Posts

/// Keeps one account logged in: tokens are kept, renewed once for all who need it, and asked for with the password only
/// when nothing else is left.
///
/// A new pair is saved before it is used, and before a pair is renewed the saved one is read again, for another process
/// may have renewed it.
actor BlueskySessions {
    let password: Secret
    private let store: any CredentialStore
    private let resolver: BlueskyResolver
    private let flight = SingleFlight<BlueskySession>()

    private var session: BlueskySession?
    /// Whether `session` is in the store too.
    private var isSaved = true
    private var brake = LoginBrake()

    private var client: BlueskyClient { resolver.client }

    init(password: Secret, store: any CredentialStore, resolver: BlueskyResolver) {
        self.password = password
        self.store = store
        self.resolver = resolver
    }

    /// A session that nobody has refused yet, as far as is known here.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func current() async throws -> BlueskySession {
        if let session, isSaved { return session }
        return try await obtained(insteadOf: nil)
    }

    /// A session to try after a server refused one.
    ///
    /// - Parameters:
    ///   - refused: The session that was refused.
    ///   - refusal: In what words.
    /// - Returns: Another session.
    /// - Throws: ``NetworkError``, the refusal itself where a fresh session was refused; `CancellationError`.
    func renewed(insteadOf refused: BlueskySession, _ refusal: BlueskyRefusal) async throws -> BlueskySession {
        if let session, isSaved, !session.isSame(as: refused) { return session }
        return try await obtained(insteadOf: (refused, refusal))
    }

    /// Notes that a server accepted a session.
    func confirm(_ accepted: BlueskySession) { brake.confirm(accepted) }

    private func obtained(
        insteadOf old: (session: BlueskySession, refusal: BlueskyRefusal)?
    ) async throws -> BlueskySession {
        do {
            return try await flight.value { try await self.obtain(insteadOf: old) }
        } catch var error as NetworkError {
            // Whatever the session was for did not leave.
            error.outcome = .notSent
            throw error
        }
    }

    /// The work that one does for all.
    private func obtain(
        insteadOf old: (session: BlueskySession, refusal: BlueskyRefusal)?
    ) async throws -> BlueskySession {
        if let session, !isSaved { try await save(session, .refreshSession) }
        if let session, old.map({ !session.isSame(as: $0.session) }) ?? true { return session }
        if let saved = try await saved(), old.map({ !saved.isSame(as: $0.session) }) ?? true {
            session = saved
            return saved
        }
        guard let old else { return try await logIn() }
        try brake.check(old.session, old.refusal, at: client.now())
        if old.refusal.saysExpired, let renewed = try await refreshed(old.session) { return renewed }
        return try await logIn()
    }

    /// The pair that the old one buys; nil if the server no longer takes the old one.
    private func refreshed(_ old: BlueskySession) async throws -> BlueskySession? {
        let call = BlueskyCall(.refreshSession, "com.atproto.server.refreshSession", body: [])
        let answer = try await client.answer(
            to: call, from: old.server, with: old.refresh, hiding: [old.access, password])
        if case .refusal(let refusal) = answer {
            guard [.unauthorized, .rejected, .forbidden, .notFound].contains(refusal.error.code) else {
                throw refusal.error
            }
            // Another process may have been faster.
            guard let saved = try await saved(), !saved.isSame(as: old) else { return nil }
            session = saved
            return saved
        }
        let tokens = try tokens(in: answer, call, host: old.server.host)
        guard tokens.did == old.did else { throw stranger(call, host: old.server.host) }
        return try await adopt(tokens, at: server(named: tokens) ?? old.server, call)
    }

    private func logIn() async throws -> BlueskySession {
        try brake.check(at: client.now())
        let hosts = resolver.hosts
        let identity = hosts.directory == nil ? nil : try await resolver.resolve()
        let host = identity.map { hosts.login(for: $0.server) } ?? hosts.entryway
        let body = ["identifier": resolver.identifier, "password": password.reveal()]
        let call = BlueskyCall(
            .logIn, "com.atproto.server.createSession", body: try JSONBody.encoded(body))
        do {
            guard !password.isEmpty else {
                throw client.error(
                    call, .unauthorized, host: host.host, outcome: .notSent, detail: "the app password is empty")
            }
            let answer = try await client.answer(to: call, from: host, hiding: [password])
            let tokens = try tokens(in: answer, call, host: host.host)
            let did = identity?.did ?? (BlueskyName.isDID(resolver.identifier) ? resolver.identifier : tokens.did)
            guard tokens.did == did else { throw stranger(call, host: host.host) }
            let session = try await adopt(tokens, at: server(named: tokens) ?? identity?.server ?? hosts.entryway, call)
            return session
        } catch let error as NetworkError {
            throw brake.note(error, at: client.now())
        }
    }

    private func tokens(
        in answer: BlueskyClient.Answer, _ call: BlueskyCall, host: String
    ) throws(NetworkError) -> BlueskyTokens {
        let tokens = try client.decode(BlueskyTokens.self, from: try answer.response(), call, host: host)
        guard tokens.isActive else {
            throw client.error(
                call, .accountDisabled, host: host, outcome: .refused, detail: "the account is switched off")
        }
        return tokens
    }

    /// Where the account's own document says that its records are now.
    private func server(named tokens: BlueskyTokens) -> ServerAddress? {
        resolver.hosts.directory == nil ? nil : tokens.document?.server(of: tokens.did, besides: resolver.hosts)
    }

    private func adopt(
        _ tokens: BlueskyTokens, at server: ServerAddress, _ call: BlueskyCall
    ) async throws -> BlueskySession {
        let new = BlueskySession(
            did: tokens.did, handle: tokens.handle, server: server, access: tokens.access, refresh: tokens.refresh)
        session = new
        isSaved = false
        if call.operation == .logIn { brake.note(new, at: client.now()) }
        try await save(new, call.operation)
        return new
    }

    private func saved() async throws -> BlueskySession? {
        do {
            let sealed = try await store.load()
            return sealed.flatMap { BlueskySession(sealed: $0, for: resolver.identifier, at: resolver.hosts) }
        } catch {
            throw storeFailure(.refreshSession, "the saved session could not be read")
        }
    }

    private func save(_ session: BlueskySession, _ operation: NetworkError.Operation) async throws {
        do {
            try await store.save(try session.sealed(for: resolver.identifier, at: resolver.hosts.entryway))
            isSaved = true
        } catch {
            throw storeFailure(operation, "the new session could not be saved, so it is not used yet")
        }
    }

    /// The store's own error is not repeated: nobody knows what it holds.
    private func storeFailure(_ operation: NetworkError.Operation, _ detail: String) -> NetworkError {
        NetworkError(
            code: .unavailable, network: .bluesky, host: resolver.hosts.entryway.host, operation: operation,
            detail: detail, outcome: .notSent)
    }

    private func stranger(_ call: BlueskyCall, host: String) -> NetworkError {
        client.error(
            call, .configuration, host: host, outcome: .refused, detail: "the server logged in another account")
    }
}
