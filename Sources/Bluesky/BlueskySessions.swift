import Formats
import Foundation
import Localization
import Networks
import Posts

/// Keeps one account logged in: stores tokens, renews them once for all callers, and uses the
/// password only if nothing else works.
///
/// A new pair of tokens is saved before it is used. Before a pair is renewed, the saved pair is
/// read again, because another process may have renewed it.
actor BlueskySessions {
    /// Seconds of remaining life below which a token is renewed before a change.
    private static let margin: TimeInterval = 120
    private static var otherAccount: String { localized("the server logged in another account") }

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

    /// Returns the present session, which no server is known to have refused, or a new one.
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
        let serverTime = time - (client.serverClock.lead(at: time) ?? 0)
        guard let end = session.accessEnd, end.timeIntervalSince(serverTime) < Self.margin else {
            return session
        }
        let expiry = client.error(.refreshSession, .unauthorized, outcome: .notSent)
        do {
            return try await renewed(
                insteadOf: session, BlueskyRefusal(name: "ExpiredToken", error: expiry))
        } catch is NetworkError {
            // The token is used nevertheless: the server decides whether it is still valid.
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

    /// Obtains a session, once for all callers that wait for one.
    private func obtain(
        insteadOf old: (session: BlueskySession, refusal: BlueskyRefusal)?
    ) async throws -> BlueskySession {
        if let session, !isSaved { try await save(session, .refreshSession) }
        if let session, Self.differs(session, from: old) { return session }
        if let saved = try await saved(), Self.differs(saved, from: old) {
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

    /// Whether a session is not the refused one; true if none was refused.
    private static func differs(
        _ session: BlueskySession,
        from refused: (session: BlueskySession, refusal: BlueskyRefusal)?
    ) -> Bool {
        guard let refused else { return true }
        return !session.isSame(as: refused.session)
    }

    /// Renews a session with its refresh token; nil if the server no longer accepts that token.
    private func refreshed(_ old: BlueskySession) async throws -> BlueskySession? {
        let call = NetworkCall(.refreshSession, "com.atproto.server.refreshSession", body: [])
        let answer = try await client.at(old.server, hiding: [old.access, password])
            .answer(to: call, with: old.refresh)
        if let refusal = answer.refusal {
            guard [.unauthorized, .rejected, .forbidden, .notFound].contains(refusal.error.code)
            else {
                throw refusal.error
            }
            // Another process may have renewed the pair before, and saved the new one.
            guard let saved = try await saved(), !saved.isSame(as: old) else { return nil }
            session = saved
            return saved
        }
        let tokens = try tokens(in: answer)
        guard tokens.did == old.did else { throw answer.error(.configuration, Self.otherAccount) }
        return try await adopt(tokens, at: server(namedIn: tokens) ?? old.server, call)
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
                    call, .unauthorized, outcome: .notSent,
                    detail: localized("the app password is empty"))
            }
            let answer = try await client.answer(to: call)
            let tokens = try tokens(in: answer)
            let did =
                identity?.did
                ?? (BlueskyName.isDID(resolver.identifier) ? resolver.identifier : tokens.did)
            guard tokens.did == did else { throw answer.error(.configuration, Self.otherAccount) }
            return try await adopt(
                tokens, at: server(namedIn: tokens) ?? identity?.server ?? hosts.entryway, call)
        } catch let error as NetworkError {
            throw brake.note(error, at: client.now())
        }
    }

    private func tokens(in answer: BlueskyAnswer) throws(NetworkError) -> BlueskyTokens {
        let tokens = try answer.value(BlueskyTokens.self)
        guard tokens.isActive else {
            throw answer.error(.accountDisabled, localized("the account is switched off"))
        }
        return tokens
    }

    /// The present server of the account's records, according to the document that came with the
    /// tokens.
    private func server(namedIn tokens: BlueskyTokens) -> ServerAddress? {
        resolver.hosts.directory == nil
            ? nil : tokens.document?.server(of: tokens.did, hosts: resolver.hosts)
    }

    /// Stores the tokens of a login or a refresh as the new session.
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

    /// Reads the session in the store; nil if it has none for this account and these servers.
    private func saved() async throws -> BlueskySession? {
        do {
            let sealed = try await store.load()
            return sealed.flatMap {
                BlueskySession(sealed: $0, for: resolver.identifier, at: resolver.hosts)
            }
        } catch {
            throw storeFailure(.refreshSession, localized("the saved session could not be read"))
        }
    }

    private func save(_ session: BlueskySession, _ operation: NetworkError.Operation) async throws {
        do {
            try await store.save(
                try session.sealed(for: resolver.identifier, at: resolver.hosts.entryway))
            isSaved = true
        } catch {
            throw storeFailure(
                operation, localized("the new session could not be saved, so it is not used yet"))
        }
    }

    /// The error for a failed access to the store.
    ///
    /// The store's own error is left out, because it might contain secrets.
    private func storeFailure(_ operation: NetworkError.Operation, _ detail: String) -> NetworkError
    {
        client.error(operation, .unavailable, outcome: .notSent, detail: detail)
    }
}

/// The tokens that a server issued for an app password, and the account that they belong to.
struct BlueskySession: Sendable {
    let did: String
    let handle: String?
    /// The server of the account's records, which receives every call.
    let server: ServerAddress
    /// The access token, which is valid for about two hours.
    let access: Secret
    /// The refresh token, which can be used once.
    let refresh: Secret

    /// The time at which the access token expires, as stated in the token; nil for a token that is
    /// no JWT (RFC 7519).
    var accessEnd: Date? {
        let parts = access.reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let base64 = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        // A token lacks the padding to a multiple of four characters, which Base64 requires.
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
    ///   - entryway: The configured entryway; the tokens are not used with another one.
    /// - Returns: The text that ``init(sealed:for:at:)`` reads.
    /// - Throws: An encoding error, which does not occur for the values of a session.
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
                ? hosts.entryway : ServerAddress(untrusted: stored.pds, hosts: hosts)
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

/// Limits the logins of an account, because a server locks one that logs in too often: it allows 30
/// logins in five minutes and 300 a day.
struct LoginBrake {
    /// The least time between two successful logins, in seconds; it permits 288 a day.
    private static let pause: TimeInterval = 300
    /// Seconds without a login after a refusal that a person has to resolve.
    ///
    /// After that a login is tried again, because the refusal may be a mistake.
    private static let pauseAfterRefusal: TimeInterval = 25

    /// The account that logs in; the spread of the waits follows from its name.
    let account: String
    /// The last refusal that a person has to resolve, and how long no login is tried after it.
    private var permanentRefusal: (error: NetworkError, pause: Cooldown)?
    /// The last other failure, and how long no login is tried after it.
    private var lastFailure: (error: NetworkError, pause: Cooldown)?
    /// The number of failures in a row.
    private var failures = 0
    /// The pause after the last log-in that succeeded.
    private var pauseAfterLogin: Cooldown?
    /// The session of the last log-in, until a server accepts it.
    private var unconfirmed: BlueskySession?

    init(account: String) { self.account = account }

    /// - Throws: `NetworkError` if a login is pointless, or must wait.
    func check(at time: Date) throws(NetworkError) {
        for failure in [permanentRefusal, lastFailure] {
            if let failure, !failure.pause.isOver(at: time) { throw failure.error }
        }
    }

    /// - Throws: `NetworkError` if a session must not be replaced by a new one, or not yet.
    func check(_ refused: BlueskySession, _ refusal: BlueskyRefusal, at time: Date)
        throws(NetworkError)
    {
        // A new session that is refused at once must not be replaced again and again. A session
        // that was never used and expired long after the login is just old, and may be replaced.
        if unconfirmed?.isSame(as: refused) == true,
            !refusal.saysExpired || pauseAfterLogin?.isOver(at: time) == false
        {
            var error = refusal.error
            error.detail = localized("the server refuses the session that it has just given")
            throw error
        }
        guard !refusal.saysExpired, let end = pauseAfterLogin?.end(at: time) else { return }
        var error = refusal.error
        error.code = .unavailable
        error.detail = localized("the session ended soon after logging in")
        error.retryAfter = end
        throw error
    }

    mutating func confirm(_ accepted: BlueskySession) {
        if unconfirmed?.isSame(as: accepted) == true { unconfirmed = nil }
    }

    mutating func note(_ session: BlueskySession, at time: Date) {
        permanentRefusal = nil
        lastFailure = nil
        failures = 0
        unconfirmed = session
        pauseAfterLogin = Cooldown(begun: time, until: time + Self.pause)
    }

    /// Records that a login failed.
    ///
    /// - Returns: The error, with the time of the next attempt.
    mutating func note(_ error: NetworkError, at time: Date) -> NetworkError {
        // Neither is a failed login: a login whose session could not be saved has succeeded, and a
        // request that was not sent is no login.
        guard error.outcome != .notSent || error.stopsActor else { return error }
        if error.stopsActor {
            permanentRefusal = (error, Cooldown(begun: time, until: time + Self.pauseAfterRefusal))
            return error
        }
        failures += 1
        var error = error
        error.retryAfter = RetryRule.logIn.next(
            after: failures, key: account, retryAfter: error.retryAfter, now: time)
        lastFailure = (error, Cooldown(begun: time, until: error.retryAfter ?? time))
        return error
    }
}
