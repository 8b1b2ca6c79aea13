import Formats
import Foundation
import Networks
import Posts

/// Keeps one account logged in: stores tokens, renews them once for all callers, and uses the
/// password only if nothing else works.
///
/// A new pair is saved before it is used, and before a pair is renewed the saved one is read again,
/// because another process may have renewed it.
actor BlueskySessions {
    /// Seconds of remaining life below which a token is renewed before a change.
    private static let margin: TimeInterval = 120
    private static let stranger = "the server logged in another account"

    let password: Secret
    private let store: any CredentialStore
    private let resolver: BlueskyResolver
    private let flight = SingleFlight<BlueskySession>()

    private var session: BlueskySession?
    /// Whether `session` is in the store too.
    private var isSaved = true
    private var brake: LoginBrake

    private var client: BlueskyClient { resolver.client }

    init(password: Secret, store: any CredentialStore, resolver: BlueskyResolver) {
        self.password = password
        self.store = store
        self.resolver = resolver
        brake = LoginBrake(account: resolver.identifier)
    }

    /// Returns a session that no server is known to have refused.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    func current() async throws -> BlueskySession {
        if let session, isSaved { return session }
        return try await obtained(insteadOf: nil)
    }

    /// The session, renewed if its token ends soon by the network's clock.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    func lasting() async throws -> BlueskySession {
        let session = try await current()
        let time = client.now()
        let present = time - (client.serverClock.lead(at: time) ?? 0)
        guard let end = session.accessEnd, end.timeIntervalSince(present) < Self.margin else {
            return session
        }
        let ended = client.error(.refreshSession, .unauthorized, outcome: .notSent)
        do {
            return try await renewed(
                insteadOf: session, BlueskyRefusal(name: "ExpiredToken", error: ended))
        } catch is NetworkError {
            // The server decides whether the present token is still valid.
            return session
        }
    }

    /// Returns a session to use after a server refused another one.
    ///
    /// - Throws: `NetworkError`, the refusal itself if a new session was refused;
    ///   `CancellationError`.
    func renewed(insteadOf refused: BlueskySession, _ refusal: BlueskyRefusal) async throws
        -> BlueskySession
    {
        if let session, isSaved, !session.isSame(as: refused) { return session }
        return try await obtained(insteadOf: (refused, refusal))
    }

    /// Records that a server accepted a session.
    func confirm(_ accepted: BlueskySession) { brake.confirm(accepted) }

    private func obtained(
        insteadOf old: (session: BlueskySession, refusal: BlueskyRefusal)?
    ) async throws -> BlueskySession {
        do {
            return try await flight.value { try await self.obtain(insteadOf: old) }
        } catch var error as NetworkError {
            // The call that needed the session was not made.
            error.outcome = .notSent
            throw error
        }
    }

    /// Obtains a session for all waiting callers.
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
        if old.refusal.saysExpired, let renewed = try await refreshed(old.session) {
            return renewed
        }
        return try await logIn()
    }

    /// The pair that a refresh of the old one returns; nil if the server no longer accepts the old
    /// one.
    private func refreshed(_ old: BlueskySession) async throws -> BlueskySession? {
        let call = NetworkCall(.refreshSession, "com.atproto.server.refreshSession", body: [])
        let answer = try await client.at(old.server, hiding: [old.access, password])
            .answer(to: call, with: old.refresh)
        if let refusal = answer.refusal {
            guard [.unauthorized, .rejected, .forbidden, .notFound].contains(refusal.error.code)
            else {
                throw refusal.error
            }
            // Another process may have been faster, and saved a new pair.
            guard let saved = try await saved(), !saved.isSame(as: old) else { return nil }
            session = saved
            return saved
        }
        let tokens = try tokens(in: answer)
        guard tokens.did == old.did else { throw answer.error(.configuration, Self.stranger) }
        return try await adopt(tokens, at: server(named: tokens) ?? old.server, call)
    }

    private func logIn() async throws -> BlueskySession {
        try brake.check(at: client.now())
        let hosts = resolver.hosts
        let identity = hosts.directory == nil ? nil : try await resolver.resolve()
        let client = self.client.at(
            identity.map { hosts.login(for: $0.server) } ?? hosts.entryway, hiding: [password])
        let body = ["identifier": resolver.identifier, "password": password.reveal()]
        let call = NetworkCall(
            .logIn, "com.atproto.server.createSession", body: try JSONBody.encoded(body))
        do {
            guard !password.isEmpty else {
                throw client.error(
                    call, .unauthorized, outcome: .notSent, detail: "the app password is empty")
            }
            let answer = try await client.answer(to: call)
            let tokens = try tokens(in: answer)
            let did =
                identity?.did
                ?? (BlueskyName.isDID(resolver.identifier) ? resolver.identifier : tokens.did)
            guard tokens.did == did else { throw answer.error(.configuration, Self.stranger) }
            return try await adopt(
                tokens, at: server(named: tokens) ?? identity?.server ?? hosts.entryway, call)
        } catch let error as NetworkError {
            throw brake.note(error, at: client.now())
        }
    }

    private func tokens(in answer: BlueskyAnswer) throws(NetworkError) -> BlueskyTokens {
        let tokens = try answer.value(BlueskyTokens.self)
        guard tokens.isActive else {
            throw answer.error(.accountDisabled, "the account is switched off")
        }
        return tokens
    }

    /// The server of the account's records now, according to its document.
    private func server(named tokens: BlueskyTokens) -> ServerAddress? {
        resolver.hosts.directory == nil
            ? nil : tokens.document?.server(of: tokens.did, besides: resolver.hosts)
    }

    private func adopt(
        _ tokens: BlueskyTokens, at server: ServerAddress, _ call: NetworkCall
    ) async throws -> BlueskySession {
        let newSession = BlueskySession(
            did: tokens.did, handle: tokens.handle, server: server, access: tokens.access,
            refresh: tokens.refresh)
        session = newSession
        isSaved = false
        if call.operation == .logIn { brake.note(newSession, at: client.now()) }
        try await save(newSession, call.operation)
        return newSession
    }

    private func saved() async throws -> BlueskySession? {
        do {
            let sealed = try await store.load()
            return sealed.flatMap {
                BlueskySession(sealed: $0, for: resolver.identifier, at: resolver.hosts)
            }
        } catch {
            throw storeFailure(.refreshSession, "the saved session could not be read")
        }
    }

    private func save(_ session: BlueskySession, _ operation: NetworkError.Operation) async throws {
        do {
            try await store.save(
                try session.sealed(for: resolver.identifier, at: resolver.hosts.entryway))
            isSaved = true
        } catch {
            throw storeFailure(
                operation, "the new session could not be saved, so it is not used yet")
        }
    }

    /// The store's own error is left out, because it might contain secrets.
    private func storeFailure(_ operation: NetworkError.Operation, _ detail: String) -> NetworkError
    {
        client.error(operation, .unavailable, outcome: .notSent, detail: detail)
    }
}

/// The tokens for an app password, and their account.
struct BlueskySession: Sendable {
    let did: String
    let handle: String?
    /// The server of the account's records, which receives every call.
    let server: ServerAddress
    /// The access token, which is valid for about two hours.
    let access: Secret
    /// The refresh token, which can be used once.
    let refresh: Secret

    /// The time at which the access token ends, as stated in it; nil for a token that is no JWT
    /// (RFC 7519).
    var accessEnd: Date? {
        let parts = access.reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let base64 = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        let padded = base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)
        guard let payload = Data(base64Encoded: padded) else { return nil }
        return JSONBody.read(Array(payload)) { $0.integer("exp") }.map {
            Date(timeIntervalSince1970: Double($0))
        }
    }

    /// Whether both are the same pair of tokens.
    func isSame(as other: BlueskySession) -> Bool {
        access.reveal() == other.access.reveal() && refresh.reveal() == other.refresh.reveal()
    }
}

extension BlueskySession {
    /// The text to keep in a ``CredentialStore``.
    ///
    /// - Parameters:
    ///   - entryway: The configured entryway; tokens are never sent to another set of servers.
    /// - Returns: The text that ``init(sealed:for:at:)`` reads.
    /// - Throws: Nothing for the values of a session.
    func sealed(for identifier: String, at entryway: ServerAddress) throws -> Secret {
        let stored = StoredBlueskySession(
            identifier: identifier, entryway: entryway.base, did: did, handle: handle,
            pds: server.base,
            access: access.reveal(), refresh: refresh.reveal())
        return try JSONBody.sealed(stored)
    }

    /// Reads the text that ``sealed(for:at:)`` made; `nil` if it is for another account or other
    /// servers.
    init?(sealed: Secret, for identifier: String, at hosts: BlueskyHosts) {
        guard let stored = JSONBody.opened(StoredBlueskySession.self, sealed),
            stored.entryway == hosts.entryway.base,
            [stored.identifier, stored.did].contains(identifier),
            BlueskyName.isDID(stored.did),
            let server = stored.pds == hosts.entryway.base
                ? hosts.entryway : ServerAddress(named: stored.pds, besides: hosts)
        else { return nil }
        self.init(
            did: stored.did, handle: stored.handle, server: server, access: Secret(stored.access),
            refresh: Secret(stored.refresh))
    }
}

private struct StoredBlueskySession: Codable {
    let identifier: String
    let entryway: String
    let did: String
    let handle: String?
    let pds: String
    let access: String
    let refresh: String
}

/// The answer of `createSession` and `refreshSession`.
struct BlueskyTokens: Decodable {
    let access: Secret
    let refresh: Secret
    let did: String
    let handle: String?
    let document: DIDDocument?
    /// Whether the account is active; false for a deactivated account, whose `status` has the
    /// reason.
    let isActive: Bool

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let access = wire.text("accessJwt"), let refresh = wire.text("refreshJwt"),
            let did = wire.did, !access.isEmpty, !refresh.isEmpty
        else { throw ShapeError() }
        self.access = Secret(access)
        self.refresh = Secret(refresh)
        self.did = did
        handle = wire.text("handle").flatMap { BlueskyName.handle($0) }
        document = wire.value(DIDDocument.self, "didDoc")
        isActive = wire.flag("active") ?? true
    }
}

/// Keeps an account from being locked for logging in too often: 30 times in five minutes and 300
/// times a day are allowed.
struct LoginBrake {
    /// The least time between two successful logins, in seconds; it permits 288 a day.
    private static let pause: TimeInterval = 300
    /// Seconds for which a refusal that a person has to resolve is not tried again; the refusal may
    /// be a mistake.
    private static let verdictLasts: TimeInterval = 25

    /// The account that logs in; decides the spread of the waits.
    let account: String
    private var verdict: (error: NetworkError, pause: Cooldown)?
    private var lastFailure: (error: NetworkError, pause: Cooldown)?
    private var failures = 0
    /// The pause after the last log-in that succeeded.
    private var lastLogin: Cooldown?
    /// The session of the last log-in, until a server accepts it.
    private var unconfirmed: BlueskySession?

    init(account: String) { self.account = account }

    /// - Throws: `NetworkError` if a login is pointless, or must wait.
    func check(at time: Date) throws(NetworkError) {
        for known in [verdict, lastFailure] {
            if let known, known.pause.end(at: time) != nil { throw known.error }
        }
    }

    /// - Throws: `NetworkError` if a session must not be replaced by a new one, or not yet.
    func check(_ refused: BlueskySession, _ refusal: BlueskyRefusal, at time: Date)
        throws(NetworkError)
    {
        // An unconfirmed session that expired unused, long after the login, is merely old.
        if unconfirmed?.isSame(as: refused) == true,
            !refusal.saysExpired || lastLogin?.end(at: time) != nil
        {
            var error = refusal.error
            error.detail = "the server refuses the session that it has just given"
            throw error
        }
        guard !refusal.saysExpired, let end = lastLogin.flatMap({ $0.end(at: time) }) else {
            return
        }
        var error = refusal.error
        error.code = .unavailable
        error.detail = "the session ended soon after logging in"
        error.retryAfter = end
        throw error
    }

    mutating func confirm(_ accepted: BlueskySession) {
        if unconfirmed?.isSame(as: accepted) == true { unconfirmed = nil }
    }

    mutating func note(_ session: BlueskySession, at time: Date) {
        verdict = nil
        lastFailure = nil
        failures = 0
        unconfirmed = session
        lastLogin = Cooldown(begun: time, until: time + Self.pause)
    }

    /// Records that a login failed.
    ///
    /// - Returns: The error, with when to try again.
    mutating func note(_ error: NetworkError, at time: Date) -> NetworkError {
        // A failure after the server returned a session is no failed login, and a request that was
        // not sent does no harm.
        guard error.outcome != .notSent || error.stopsActor else { return error }
        if error.stopsActor {
            verdict = (error, Cooldown(begun: time, until: time + Self.verdictLasts))
            return error
        }
        failures += 1
        var error = error
        error.retryAfter = RetryRule.logIn.next(
            after: failures, key: account, asked: error.retryAfter, now: time)
        lastFailure = (error, Cooldown(begun: time, until: error.retryAfter ?? time))
        return error
    }
}
