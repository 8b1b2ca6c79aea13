import Foundation

/// Who is logged in: access tokens that end soon, refresh tokens that are exchanged for new pairs.
struct BlueskySessions: Sendable {
    /// What a client gets.
    struct Pair: Sendable {
        var access: String
        var refresh: String
    }

    private struct Access: Sendable {
        var person: Int
        var issued: Date
        var isRevoked = false
    }

    private struct Refresh: Sendable {
        var person: Int
        var ends: Date
        /// The access token of the same pair.
        var access: String
        /// The token that has taken its place.
        var successor: String?
        var isRevoked = false
    }

    static let refreshLifetime = 90 * 86_400.0
    /// How long a refresh token goes on after it was exchanged.
    static let grace = 2 * 3_600.0

    private var generator: SampleGenerator
    private var accesses: [String: Access] = [:]
    private var refreshes: [String: Refresh] = [:]

    init(seed: UInt64) { generator = SampleGenerator(seed: seed) }

    /// Begins a session.
    mutating func open(for person: Int, at now: Date) -> Pair {
        let access = accessToken(for: person, at: now)
        let refresh = word()
        refreshes[refresh] = Refresh(person: person, ends: now + Self.refreshLifetime, access: access)
        return Pair(access: access, refresh: refresh)
    }

    /// Whose access token it is.
    ///
    /// - Throws: `ExpiredToken` for one that has ended, `InvalidToken` for anything else that is none.
    func person(access token: String, at now: Date, habits: BlueskyHabits) throws(BlueskyRefusal) -> Int {
        guard let access = accesses[token] else {
            if refreshes[token] != nil { throw .invalidToken("Bad token scope") }
            throw .invalidToken("Token could not be verified")
        }
        if access.isRevoked { throw .expired("Token has been revoked") }
        guard now.timeIntervalSince(access.issued) < habits.accessTokenLifetime else {
            throw .expired("Token has expired")
        }
        return access.person
    }

    /// Exchanges a refresh token for a new pair; one that was exchanged before gives its successor once more.
    mutating func refresh(
        _ token: String, at now: Date, habits: BlueskyHabits
    ) throws(BlueskyRefusal) -> (person: Int, pair: Pair) {
        let known = try refresh(named: token, at: now)
        if let successor = known.successor {
            guard var next = refreshes[successor], !next.isRevoked else { throw .expired("Token has been revoked") }
            next.access = accessToken(for: known.person, at: now)
            refreshes[successor] = next
            return (known.person, Pair(access: next.access, refresh: successor))
        }
        let pair = open(for: known.person, at: now)
        if habits.revokesOldTokens {
            refreshes[token]?.isRevoked = true
            accesses[known.access]?.isRevoked = true
        } else {
            refreshes[token]?.successor = pair.refresh
            refreshes[token]?.ends = min(known.ends, now + Self.grace)
        }
        return (known.person, pair)
    }

    /// Ends a session; its access token lives out its time, as nobody asks a database about it.
    mutating func close(_ token: String, at now: Date) throws(BlueskyRefusal) {
        let known = try refresh(named: token, at: now)
        refreshes[token]?.isRevoked = true
        if let successor = known.successor { refreshes[successor]?.isRevoked = true }
    }

    private func refresh(named token: String, at now: Date) throws(BlueskyRefusal) -> Refresh {
        guard let known = refreshes[token] else {
            if accesses[token] != nil { throw .invalidToken("Bad token scope") }
            throw .invalidToken("Token could not be verified")
        }
        if known.isRevoked { throw .expired("Token has been revoked") }
        guard now < known.ends else { throw .expired("Token has expired") }
        return known
    }

    private mutating func accessToken(for person: Int, at now: Date) -> String {
        let token = word()
        accesses[token] = Access(person: person, issued: now)
        return token
    }

    /// Nothing that a client could read anything from.
    private mutating func word() -> String {
        (0..<4).map { _ in String(generator.next(), radix: 36) }.joined(separator: ".")
    }
}
