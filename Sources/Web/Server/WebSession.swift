import Cryptography
import Foundation
import HTTPTypes
import Posts
import Storage

/// A browser's session: an identifier that only that browser knows, from which the token of its
/// forms is derived.
///
/// It is not stored, so a form that was open during a restart of the server is still accepted.
struct WebSession: Sendable {
    /// The identifier: 22 random characters, 132 bits, from the system's generator.
    let id: String
    /// Whether the browser does not have the cookie yet, so that the response must set it.
    var isNew = false

    /// The token for the session's forms.
    var csrf: String {
        Base64URL.text(
            of: HashFunction.sha256.code(of: "mirror-bot csrf".utf8, key: id.utf8).prefix(16))
    }

    static let idLength = 22

    static func new() -> WebSession {
        let text = Base64URL.text(of: SealingKey.randomBytes(17))
        return WebSession(id: String(text.prefix(idLength)), isNew: true)
    }
}

/// Creates, validates and ends sessions.
///
/// With a password the cookie consists of the identifier, its expiry and an HMAC of both. The key
/// of the HMAC is derived from the password, so a new password ends all sessions. Without a
/// password the cookie is the identifier alone.
struct WebSessions: Sendable {
    /// The usual duration of a session, in seconds.
    static let usualDuration: TimeInterval = 12 * 3_600
    /// The duration of a session that outlasts the browser's window, in seconds.
    static let longDuration: TimeInterval = 30 * 86_400
    private static let secureName = "__Host-mirror-bot"
    private static let plainName = "mirror-bot"
    private static let secureVisitorName = "__Host-mirror-bot-visitor"
    private static let plainVisitorName = "mirror-bot-visitor"

    /// The key of the codes in cookies; nil if no password is set.
    let key: [UInt8]?
    /// The most cookies of a request that are checked.
    private static let maximumCookies = 4

    /// The valid sessions of the request's cookies, including those that were logged out.
    ///
    /// A browser may send two: the cookie that was set over https, and the one set over plain http.
    func sessions(of headers: HTTPFields, now: Date) -> [WebSession] {
        let cookies = Cookies(headers)
        return [Self.secureName, Self.plainName].flatMap(cookies.all).prefix(Self.maximumCookies)
            .compactMap { session(from: $0, now: now) }
    }

    // MARK: Visitors

    /// The visitor of the public page from the request's cookie; a new one without a cookie.
    ///
    /// A visitor's session gives no access to the pages of a mirror, which ignore its cookie
    /// because of its name.
    static func visitor(of headers: HTTPFields) -> WebSession {
        let cookies = Cookies(headers)
        let ids = [secureVisitorName, plainVisitorName].flatMap(cookies.all).filter(isID)
        return ids.first.map { WebSession(id: $0) } ?? .new()
    }

    /// The header that sets a visitor's cookie, until the browser's window is closed.
    static func visitorCookie(_ visitor: WebSession, isSecure: Bool) -> String {
        (isSecure ? secureVisitorName : plainVisitorName) + "=" + visitor.id
            + flags(isSecure: isSecure)
    }

    private static func isID(_ text: String) -> Bool {
        text.utf8.count == WebSession.idLength && text.utf8.allSatisfy(Cookies.isPlain)
    }

    private func session(from value: String, now: Date) -> WebSession? {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let id = parts.first, Self.isID(id) else { return nil }
        guard let key else { return parts.count == 1 ? WebSession(id: id) : nil }
        guard parts.count == 3 else { return nil }
        let endText = parts[1]
        let expectedCode = code(of: id, until: endText, key: key)
        guard ConstantTime.areEqual(parts[2].utf8, expectedCode.utf8),
            let end = TimeInterval(endText), now.timeIntervalSince1970 < end
        else { return nil }
        return WebSession(id: id)
    }

    private func code(of id: String, until end: String, key: [UInt8]) -> String {
        Base64URL.text(of: HashFunction.sha256.code(of: "\(id).\(end)".utf8, key: key))
    }

    /// The header that sets the session's cookie.
    ///
    /// - Parameters:
    ///   - isLong: Whether it outlasts the browser's window.
    ///   - isSecure: Whether the request came over https. On plain http the cookie has another
    ///     name, because not every browser accepts the prefix `__Host-` there.
    func cookie(_ session: WebSession, isLong: Bool, isSecure: Bool, now: Date) -> String {
        let duration = isLong ? Self.longDuration : Self.usualDuration
        var value = session.id
        if let key {
            let end = String(Int(now.timeIntervalSince1970 + duration))
            value += ".\(end).\(code(of: session.id, until: end, key: key))"
        }
        return Self.header(value, isSecure: isSecure) + (isLong ? "; Max-Age=\(Int(duration))" : "")
    }

    /// The header that deletes the cookie.
    func endingCookie(isSecure: Bool) -> String {
        Self.header("", isSecure: isSecure) + "; Max-Age=0"
    }

    private static func header(_ value: String, isSecure: Bool) -> String {
        (isSecure ? secureName : plainName) + "=" + value + flags(isSecure: isSecure)
    }

    private static func flags(isSecure: Bool) -> String {
        "; Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }
}

/// The sessions that were logged out, until they would have expired anyway.
///
/// They are stored in the database, so that a copied cookie is invalid in another process of the
/// same database and after a restart.
struct EndedSessions: Sendable {
    let storage: any StorageEngine

    /// Whether a session was logged out.
    ///
    /// - Throws: The store's error.
    func has(_ session: WebSession) async throws -> Bool {
        let rows = try await storage.query(
            "SELECT 1 AS found FROM ended_sessions WHERE session = \(Self.digest(of: session))")
        return !rows.isEmpty
    }

    /// Ends a session, and removes the expired ones.
    ///
    /// - Throws: The store's error.
    func add(_ session: WebSession, now: Date) async throws {
        let end = (now + WebSessions.longDuration).milliseconds
        try await storage.transaction { connection in
            try connection.execute(
                "DELETE FROM ended_sessions WHERE ends_ms <= \(now.milliseconds)")
            try connection.execute(
                """
                INSERT INTO ended_sessions (session, ends_ms) VALUES (\(Self.digest(of: session)), \(end))
                ON CONFLICT (session) DO NOTHING
                """)
        }
    }

    private static func digest(of session: WebSession) -> String {
        StableHash.digest(of: "mirror-bot web", "session", session.id).hexadecimal
    }
}

/// The cookies of a request.
struct Cookies {
    private let pairs: [(name: Substring, value: Substring)]

    init(_ headers: HTTPFields) {
        pairs = headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.drop { $0 == " " }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
    }

    func all(_ name: String) -> [String] {
        pairs.filter { $0.name == name }.map { String($0.value) }
    }

    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// The result of a session's last operation, to be shown on top of its next page.
final class SaidSentences: @unchecked Sendable {
    private static let mostKept = 200

    // Sendable because the list is only touched under `lock`.
    private let lock = NSLock()
    private var sentences: [(session: String, said: Said)] = []

    func keep(_ said: Said, for session: String) {
        lock.withLock {
            sentences.removeAll { $0.session == session }
            sentences.append((session, said))
            if sentences.count > Self.mostKept { sentences.removeFirst() }
        }
    }

    func has(for session: String) -> Bool {
        lock.withLock { sentences.contains { $0.session == session } }
    }

    /// Returns the sentence, and removes it, so that it is shown once.
    func take(for session: String) -> Said? {
        lock.withLock {
            guard let index = sentences.firstIndex(where: { $0.session == session }) else {
                return nil
            }
            return sentences.remove(at: index).said
        }
    }
}
