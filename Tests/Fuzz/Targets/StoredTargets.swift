import Formats
import Foundation
import Posts

@testable import Bluesky
@testable import Control
@testable import Mastodon
@testable import Mirroring
@testable import Networks
@testable import Redis
@testable import Settings
@testable import Transport
@testable import X

/// What comes back from where it was kept: cursors, sessions, keys, counts.
extension FuzzTarget {
    static let stored = [cursors, sessions, vault, redisReplies, headerLines]

    private static let cursors = FuzzTarget(
        "cursors",
        texts: [
            #"""
            {"rest":{"place":"p","window":{"floor":"3k","known":["a"]}},"window":{"floor":"3k",\#
            "known":["0123456789abcdef"]}}
            """#,
            "1900000000000000001", "3;1;2", "5,4,3", "5,4;7,6;token%20x", ";;", "1;2",
        ],
        words: [
            "{\"window\":{\"floor\":\"", "\"known\":[", "\"rest\":{\"place\":\"", ";", ",", "%3B",
            "18446744073709551616",
        ]
    ) { text in
        if let cursor = BlueskyCursor(text) {
            try hold(BlueskyCursor(try cursor.text()) == cursor, "a cursor survives being stored")
            _ = cursor.window.isNew(BlueskyItemKey("x", order: "3k"))
        }
        if let arrivals = Arrivals(text, separator: ";", where: XID.isUsable) {
            try hold(arrivals.text(separator: ";") == text, "a cursor is written as it was read")
        }
        if let cursor = XFavoriteCursor(text) {
            try hold(XFavoriteCursor(cursor.text) == cursor, "favorites survive being stored")
            try hold(
                cursor.updated(with: ["9"]).count <= XFavoriteCursor.maximumKnown,
                "few favorites are remembered")
            _ = cursor.reach(in: cursor.known.map(Optional.some) + [nil])
        }
        for other in ["3", "01HF7YAT00ABCDEFGHJKMNPQRS"] {
            if MastodonID.isNewer(text, than: other) == true {
                try hold(
                    MastodonID.isNewer(other, than: text) != true,
                    "two ids are not newer than each other")
            }
        }
        _ = MastodonID.isOrdered(text)
    }

    private static let sessions = FuzzTarget(
        "sessions",
        texts: [
            #"""
            {"access":"a.b.c","did":"did:plc:a","entryway":"https://bsky.social","handle":"a.example",\#
            "identifier":"a.example","pds":"https://pds.example","refresh":"d.e.f"}
            """#,
            ##"""
            {"accessJwt":"a.b.c","refreshJwt":"d.e.f","did":"did:plc:a","handle":"a.example","active":true,\##
            "didDoc":{"id":"did:plc:a","service":[{"id":"#atproto_pds","serviceEndpoint":"https://pds.example"}]}}
            """##,
            #"{"origin":"x","accessToken":"t","refreshToken":"r","expiresAt":9223372036854775807}"#,
            #"{"network":"mastodon","server":"https://a.example","accessToken":"t","expires":-9223372036854775808}"#,
            #"{"network":"x","consumerKey":"k","consumerSecret":"s","accessToken":"t","accessTokenSecret":"u"}"#,
            #"{"network":"bluesky","identifier":"a.example","appPassword":"p","apiBaseURL":"http://127.0.0.1:1"}"#,
        ],
        words: [
            "\"accessJwt\":\"", "\"network\":\"bluesky\"", "\"pds\":\"http://", "\"expires\":",
            "9223372036854775807",
            "\"didDoc\":{",
            "\"identifier\":\"a.example\"", "\"entryway\":\"https://bsky.social\"", "\\u0000",
        ]
    ) { text in
        let hosts = try BlueskyHosts(apiBaseURL: nil)
        if let session = BlueskySession(sealed: Secret(text), for: "a.example", at: hosts) {
            try hold(session.server.isPrivate, "tokens go where nobody listens")
            let again = BlueskySession(
                sealed: try session.sealed(for: "a.example", at: hosts.entryway), for: "a.example",
                at: hosts)
            try hold(
                again?.isSame(as: session) == true && again?.did == session.did,
                "a session survives being kept")
        }
        if let tokens = JSONBody.decoded(BlueskyTokens.self, Array(text.utf8)) {
            try hold(
                !tokens.access.isEmpty && BlueskyName.isDID(tokens.did), "tokens are somebody's")
        }
        if let saved = MastodonSavedSession(Secret(text)) {
            let again = MastodonSavedSession(try JSONBody.sealed(saved))
            try hold(
                again?.accessToken == saved.accessToken && again?.expiresAt == saved.expiresAt,
                "a session stays")
        }
        if let record = try? JSONDecoder().decode(LoginRecord.self, from: Data(text.utf8)),
            let login = record.login
        {
            let data = try JSONEncoder().encode(LoginRecord(login))
            let again = try JSONDecoder().decode(LoginRecord.self, from: data).login
            try hold(
                again?.credentials.openSameAccount(as: login.credentials) == true,
                "a login survives being kept")
            try hold(
                !login.account(.bot).host.isEmpty || text.contains("\"server\""),
                "an account has a host")
        }
    }

    private static let vault = FuzzTarget(
        "vault",
        texts: [
            "1.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "1.", "2.AAAA",
            String(repeating: "0fA9", count: 16),
            "a text of thirty-two characters.", String(repeating: "Ａ", count: 64),
        ],
        words: ["1.", "AAAA", "====", "0f", "\n"]
    ) { text in
        let seal = VaultSeal(secret: Secret("0123456789abcdef0123456789abcdef"))
        try hold(seal.opened(text, place: "p") == nil, "what was not sealed does not open")
        let other = VaultSeal(secret: Secret(text))
        let sealed = try other.sealed(Secret(text), place: text)
        try hold(other.opened(sealed, place: text)?.reveal() == text, "what was sealed opens")
        try hold(other.opened(sealed, place: text + "x") == nil, "it opens nowhere else")
        var bent = Data(base64Encoded: String(sealed.dropFirst(2))) ?? Data()
        let place = text.utf8.count % max(bent.count, 1)
        bent[place] ^= 1
        try hold(
            other.opened("1." + bent.base64EncodedString(), place: text) == nil,
            "what was changed does not open")
        guard text.utf8.count <= 256 else { return }
        let database = NSTemporaryDirectory() + "/fuzz." + UUID().uuidString
        let file = KeyFile(besideDatabase: database)
        defer { unlink(file.path) }
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        let isMade = FileManager.default.createFile(
            atPath: file.path, contents: Data(text.utf8), attributes: attributes)
        try hold(isMade, "there is room for a file")
        if let key = try? file.read() {
            try hold(
                key.reveal().utf8.count == 64 && key.reveal().utf8.allSatisfy(\.isHexadecimal),
                "a key is 64 digits")
        }
    }

    private static let redisReplies = FuzzTarget(
        "redis-replies",
        texts: [
            "+OK\r\n:12\r\n$5\r\nhello\r\n*2\r\n$1\r\na\r\n*1\r\n:-9223372036854775808\r\n",
            "-ERR wrong\r\n$-1\r\n*-1\r\n*0\r\n",
            "*2147483647\r\n", "$2147483647\r\nx",
            "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
            ",1.5\r\n%1\r\n",
        ],
        words: [
            "\r\n", "+OK\r\n", "$-1\r\n", "*1\r\n", "*-1\r\n", ":1\r\n", "-ERR ", "$",
            "9223372036854775807", "~", "%",
            "_\r\n",
        ]
    ) { text in
        let bytes = Array(text.utf8)
        func replies(of size: Int) -> [RedisReply] {
            var replies: [RedisReply] = []
            do {
                let reader = try ReplyReader()
                for chunk in bytes.chunks(of: size) {
                    try reader.feed(Array(chunk))
                    while let reply = try reader.next() { replies.append(reply) }
                }
            } catch {
                // What came before the nonsense counts.
            }
            return replies
        }
        let whole = replies(of: .max)
        for size in bytes.count <= 512 ? [1, 5] : [61] {
            try hold(replies(of: size) == whole, "the pieces that replies arrive in do not matter")
        }
        for reply in whole {
            if case .error(let message) = reply {
                try hold(!"\(RedisError(reply: message))".isEmpty, "an error says something")
            }
        }
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            Array($0.utf8)
        }
        guard parts.first?.isEmpty == false, parts.count <= 1_000 else { return }
        let command = RedisCommand(parts.map { RedisArgument($0) })
        let reader = try ReplyReader()
        try reader.feed(RedisCommand.encode([command]))
        try hold(
            try reader.next() == .array(parts.map { .bulk($0) }),
            "a command is written in Redis' own way")
    }

    private static let headerLines = FuzzTarget(
        "header-lines",
        texts: [
            "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nX-Y:\r\n\r\nbody",
            "HTTP/1.1 100\n\nHTTP/2 200\nSet-Cookie: a=b\n\n",
            ":\n::\n\n",
        ],
        words: ["HTTP/1.1 200\r\n", "\r\n", ": ", "\n ", "Link: ", "Retry-After: "]
    ) { text in
        let response = Answer(Array(text.utf8)).response
        for (name, value) in response.headers.pairs.prefix(100) {
            try hold(!name.contains("\n") && !value.contains("\n"), "a field is one line")
            try hold(response.headers.all(name).contains(value), "a field is found by its name")
            guard let line = try? HeaderList.line(name: name, value: value) else { continue }
            let isClean = line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            try hold(isClean, "a line that is sent ends where it should")
        }
        try hold(!"\(response.headers)".contains("\n"), "a description is one line")
    }
}

extension ReplyReader {
    // Not in one expression: a closure with an error type of its own stops the compiler here.
    fileprivate func feed(_ bytes: [UInt8]) throws {
        let result: Result<Void, RedisError> = bytes.withUnsafeBytes { bytes in
            do throws(RedisError) { return .success(try feed(bytes)) } catch {
                return .failure(error)
            }
        }
        try result.get()
    }
}

extension UInt8 {
    fileprivate var isHexadecimal: Bool {
        (0x30...0x39).contains(self) || (0x41...0x46).contains(self) || (0x61...0x66).contains(self)
    }
}
