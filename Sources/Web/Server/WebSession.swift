import Cryptography
import Foundation
import HTTPTypes
import Posts
import Storage

/// A browser's session: an identifier that only that browser knows, from which the token of its
/// forms follows.
///
/// Nothing of it is stored, so that a form that was open while the server restarted is still
/// accepted.
struct WebSession: Sendable {
    /// 22 characters of the system's generator of random numbers, 132 bits.
    let id: String
    /// Whether the browser has to be told it.
    var isNew = false

    /// The token that each form of the session holds.
    var csrf: String {
        WebSession.text(
            of: HashFunction.sha256.code(of: "mirror-bot csrf".utf8, key: id.utf8).prefix(16))
    }

    static let idLength = 22

    static func new() -> WebSession {
        WebSession(id: String(text(of: SealingKey.randomBytes(17)).prefix(idLength)), isNew: true)
    }

    /// The bytes in the alphabet of URLs.
    static func text(of bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

/// Makes, reads and ends sessions.
///
/// With a password the cookie is the identifier, the time of its end and a code over both, with a
/// key that follows from the password: another password ends all sessions. Without one it is the
/// identifier alone.
struct WebSessions: Sendable {
    /// How long a session lasts, in seconds.
    static let usual: TimeInterval = 12 * 3_600
    static let long: TimeInterval = 30 * 86_400
    private static let secureName = "__Host-mirror-bot"
    private static let plainName = "mirror-bot"
    private static let secureVisitor = "__Host-mirror-bot-visitor"
    private static let plainVisitor = "mirror-bot-visitor"

    /// The key of the codes; nil without a password.
    let key: [UInt8]?
    /// Limit of the cookies of a request that are looked at.
    private static let cookies = 4

    /// The sessions that the request's cookies open, whether they were logged out or not.
    ///
    /// A browser may have kept one of plain http besides the one of https.
    func sessions(of headers: HTTPFields, now: Date) -> [WebSession] {
        let cookies = Cookies(headers)
        return [Self.secureName, Self.plainName].flatMap(cookies.all).prefix(Self.cookies)
            .compactMap { opened($0, now: now) }
    }

    // MARK: Visitors

    /// The visitor of the public page whose cookie the request has; a new one without a cookie.
    ///
    /// It opens nothing else: its cookie has another name, and the pages of a mirror do not look at
    /// it.
    static func visitor(of headers: HTTPFields) -> WebSession {
        let cookies = Cookies(headers)
        let ids = [secureVisitor, plainVisitor].flatMap(cookies.all).filter(isID)
        return ids.first.map { WebSession(id: $0) } ?? .new()
    }

    /// The header that gives a visitor to the browser, until its window closes.
    static func visitorCookie(_ visitor: WebSession, isSecure: Bool) -> String {
        (isSecure ? secureVisitor : plainVisitor) + "=" + visitor.id + flags(isSecure: isSecure)
    }

    private static func isID(_ text: String) -> Bool {
        text.utf8.count == WebSession.idLength && text.utf8.allSatisfy(Cookies.isPlain)
    }

    private func opened(_ value: String, now: Date) -> WebSession? {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let id = parts.first, Self.isID(id) else { return nil }
        guard let key else { return parts.count == 1 ? WebSession(id: id) : nil }
        guard parts.count == 3, ConstantTime.areEqual(parts[2].utf8, code(id, parts[1], key).utf8),
            let end = TimeInterval(parts[1]), now.timeIntervalSince1970 < end
        else { return nil }
        return WebSession(id: id)
    }

    private func code(_ id: String, _ end: String, _ key: [UInt8]) -> String {
        WebSession.text(of: HashFunction.sha256.code(of: "\(id).\(end)".utf8, key: key))
    }

    /// The header that gives the session to the browser.
    ///
    /// - Parameters:
    ///   - isLong: Whether it outlasts the browser's window.
    ///   - isSecure: Whether the browser came over https. On plain http the cookie has another
    ///     name, for not every browser takes a `__Host-` one there.
    func cookie(_ session: WebSession, isLong: Bool, isSecure: Bool, now: Date) -> String {
        let lasts = isLong ? Self.long : Self.usual
        var value = session.id
        if let key {
            let end = String(Int(now.timeIntervalSince1970 + lasts))
            value += ".\(end).\(code(session.id, end, key))"
        }
        return Self.header(value, isSecure: isSecure) + (isLong ? "; Max-Age=\(Int(lasts))" : "")
    }

    /// The header that takes it away.
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

/// The sessions that were logged out, until they would have ended anyway.
///
/// They are rows, so that a copied cookie opens nothing in another process of the same database or
/// after a restart.
struct EndedSessions: Sendable {
    let storage: any StorageEngine

    /// - Throws: The store's error.
    func has(_ session: WebSession) async throws -> Bool {
        let rows = try await storage.query(
            "SELECT 1 AS found FROM ended_sessions WHERE session = \(Self.digest(of: session))")
        return !rows.isEmpty
    }

    /// Ends a session, and removes those that have ended anyway.
    ///
    /// - Throws: The store's error.
    func add(_ session: WebSession, now: Date) async throws {
        let end = (now + WebSessions.long).milliseconds
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

/// Sentences that stand on top of the next page of a session.
final class SaidSentences: @unchecked Sendable {
    private static let kept = 200

    // Sendable because the list is only touched under `lock`.
    private let lock = NSLock()
    private var sentences: [(session: String, said: Said)] = []

    func keep(_ said: Said, for session: String) {
        lock.withLock {
            sentences.removeAll { $0.session == session }
            sentences.append((session, said))
            if sentences.count > Self.kept { sentences.removeFirst() }
        }
    }

    func has(for session: String) -> Bool {
        lock.withLock { sentences.contains { $0.session == session } }
    }

    /// Returns the sentence once.
    func take(for session: String) -> Said? {
        lock.withLock {
            guard let index = sentences.firstIndex(where: { $0.session == session }) else {
                return nil
            }
            return sentences.remove(at: index).said
        }
    }
}
