import CCurl
import Formats
import Foundation
import NetworkNames
import Posts

@testable import Control
@testable import Import
@testable import Mastodon
@testable import Mirroring
@testable import Networks
@testable import Postgres
@testable import Redis
@testable import Settings
@testable import Transport

/// Addresses: of servers and databases in the configuration, and of posts and people in answers.
extension FuzzTarget {
    static let addresses = [
        serverAddress, requestURL, redisURL, databaseURL, linkHeader, actorAddress, recordAddress,
    ]

    private static let serverAddress = FuzzTarget(
        "server-address",
        texts: [
            "https://social.example", "social.example:8443/", "http://127.0.0.1:3000",
            "http://[::1]:80",
            "HTTPS://A.B.", "bücher.example", "https://%54.xn----0.",
            "https://user@host", "https://host/path?x#y", "https://[", "https://a:99999",
            "https://a:b", "//",
            "https://[::1",
        ],
        words: [
            "https://", "http://", "[::1]", "127.0.0.1", "localhost", ":443", "@", "xn--", "]", "%",
        ]
    ) { text in
        if let server = try? ServerAddress(text, network: .mastodon) {
            let again = try? ServerAddress(server.base, network: .mastodon)
            try hold(again == server, "an address is read as it was written")
            try hold(
                server.base.hasPrefix("https://") || server.base.hasPrefix("http://"),
                "an address has a scheme")
            try holdOneWord(server.host, "a host")
            let url = try? RequestURL(server.base + "/api/v1/instance")
            try hold(
                url != nil || server.base.hasPrefix("http://"),
                "an address that is taken can be asked")
            if let url, url.host.lowercased() != server.host, !server.host.hasPrefix("[") {
                var number = in_addr()
                try hold(
                    inet_pton(AF_INET, url.host, &number) == 1,
                    "the host that is asked is the one shown, or its number"
                )
            }
        }
        if let normal = try? ServerURL.normalized(text, setting: "BOT_SERVER") {
            let again = try? ServerURL.normalized(normal, setting: "BOT_SERVER")
            try hold(again == normal, "a normal address is normal")
            try hold(
                (try? ServerAddress(normal, network: .mastodon)) != nil,
                "the settings take what the networks take")
        }
    }

    private static let requestURL = FuzzTarget(
        "request-url",
        texts: [
            "https://social.example/api/v1/x?a=b#c", "http://127.0.0.1:80/", "https:///a@b/c",
            "http://0x7f.1/",
            "http://[::1%25lo]/", "https://a.example:0/", "file:///etc/passwd", "https://a@b@c/",
            "HTTP://LOCALHOST./",
        ],
        words: [
            "https://", "http://", "localhost", "127.0.0.1", "[::1]", "@", "\\", "%00", "%2f",
            "file:", "#@",
        ]
    ) { text in
        guard let url = try? RequestURL(text) else { return }
        try hold(
            !url.host.isEmpty && url.handle.part(CURLUPART_USER) == nil,
            "there is a host and no user")
        let scheme = url.handle.part(CURLUPART_SCHEME)?.lowercased()
        try hold(
            scheme == "https" || scheme == "http" && url.isLoopback,
            "plain http stays on this machine")
        guard url.isLoopback else { return }
        let bare = url.host.lowercased()
        try hold(
            bare == "localhost" || bare.hasPrefix("127.")
                || bare.hasPrefix("[") && bare.hasSuffix("1]"), "it is here")
    }

    private static let redisURL = FuzzTarget(
        "redis-url",
        texts: [
            "redis://localhost", "rediss://:p%40ss@host.example:6380/2", "redis://u:p@[::1]:6379/0",
            "redis://@h",
            "redis://a:b@c@d", "redis://h/65536", "redis://h:0",
            "redis://u:p@a:1,b,[::1]:3/2",
        ],
        words: [
            "redis://", "rediss://", "%40", "%zz", "[::1]", ":6379", "/15", "@", "?a=b",
            "pin:sha256//", "auto",
        ]
    ) { text in
        if let redis = try? RedisConfiguration(url: text) {
            let again = try? RedisConfiguration(url: redis.description)
            try hold(again?.addresses == redis.addresses, "where it is survives being written")
            try hold(
                again?.database == redis.database && again?.usesTLS == redis.usesTLS,
                "so does the rest")
            try hold(
                redis.addresses.allSatisfy { (1...65_535).contains($0.port) }, "the ports are some")
            if let password = redis.password, password.utf8.count > 8,
                !redis.addresses.contains(where: { $0.host.contains(password) })
            {
                try holdHidden(password, in: redis.description)
            }
        }
        _ = try? RedisTLSVerification(parsing: text, isSelfSignedHost: false)
        if let pin = PublicKeyPin(text) {
            try hold(PublicKeyPin(pin.description) != nil, "a pin survives being written")
        }
    }

    private static let databaseURL = FuzzTarget(
        "database-url",
        texts: [
            "postgres://user:p%40ss@host.example:5432/name?sslmode=require",
            "postgresql:///name?host=/run&port=1",
            "postgres://a,b:1,2/db", "postgres://[::1]/x?connect_timeout=9999999999999",
            "postgres://%zz",
        ],
        words: [
            "postgres://", "postgresql://", "?sslmode=", "connect_timeout=", "&port=", "%00",
            "host=", ",", "[::1]",
        ]
    ) { text in
        do {
            let configuration = try PostgresConfiguration(url: text)
            try hold(
                !configuration.hosts.isEmpty
                    && configuration.hosts.allSatisfy { $0["client_encoding"] == "UTF8" },
                "texts travel as UTF-8")
            if let timeout = configuration.connectTimeoutMilliseconds {
                try hold((1_000...3_600_000).contains(timeout), "connecting ends within an hour")
            }
        } catch let error as PostgresError {
            let rest = text.dropFirst(13)
            if rest.utf8.count > 12 { try holdHidden(String(rest), in: "\(error)") }
        }
    }

    private static let linkHeader = FuzzTarget(
        "link-header",
        texts: [
            "<https://a.example/api?max_id=1>; rel=\"next\", <https://a.example/api?min_id=9&since_id=8>; rel=prev",
            "<?max_id=%41%2F>;rel=next",
            "<//evil.example/?max_id=x#min_id=y>; rel=\"PREVIOUS next\"", "<<<<>>>>",
            "<a>;;;=",
        ],
        words: [
            "<", ">", "; rel=\"next\"", "rel=prev", "max_id=", "min_id=", "since_id=", "%2e%2e",
            "%0a", "?", "&", "#",
        ]
    ) { text in
        let values = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let link = LinkHeader(values) else { return }
        for cursor in [link.older, link.newer].compactMap(\.self) {
            try holdOneWord(cursor, "a cursor")
            try hold(
                MastodonID.isUsable(cursor) && cursor.utf8.count <= 256, "a cursor can be an id")
            // It goes into a query, where nothing of it may lead elsewhere.
            let encoded = PercentEncoding.encoded(cursor)
            try hold(
                !encoded.contains(":") && !encoded.contains("/"), "a cursor names no other place")
            try hold(encoded.removingPercentEncoding == cursor, "encoding can be undone")
        }
    }

    private static let actorAddress = FuzzTarget(
        "actor-address",
        texts: [
            "https://social.example/users/Ann", "https://a.example:3000/@ann/1",
            "@Ann@Social.Example",
            "acct:ann@a.example",
            "http://a/u/b/", "https://a.example/users/", "ann", "@@a@b@c",
        ],
        words: ["https://", "/users/", "/@", "@", "?", "#", "acct:", "%40", "xn--", "\u{2028}"]
    ) { text in
        if let address = ActorAddress(text) {
            try holdOneWord(address.host, "a host")
            try hold(address.host == address.host.lowercased(), "a host is in lower case")
            if let user = address.user { try holdOneWord(user, "a name") }
        }
        if let name = ActorAddress.name(text) {
            try holdOneWord(name.user, "a name")
            let full = name.host.map { "\(name.user)@\($0)" } ?? name.user
            let again = ActorAddress.name(full)
            try hold(
                again?.user == name.user && again?.host == name.host,
                "a name survives being written")
        }
        for host in ["social.example", nil] {
            guard let owner = MastodonOwner(actor: text, localHost: host) else { continue }
            try hold(
                owner.account.value == owner.account.value.lowercased(),
                "an account is in lower case")
            try hold(
                owner.account.value.filter { $0 == "@" }.count == 1,
                "an account has one name and one host")
        }
        if let zone = RailsTimeZone.identifier(text) {
            try hold(TimeZone(identifier: zone) != nil, "a zone is there")
        }
    }

    private static let recordAddress = FuzzTarget(
        "record-address",
        texts: [
            "at://did:plc:abc/app.bsky.feed.post/3kabcdefghij2",
            "at://did:web:a.example/app.bsky.feed.like/self",
            "at://did:plc:abc/app.bsky.feed.post/3k bafyreiabc", "3kabcdefghij2", "did:plc:",
            "Name.bsky.social",
        ],
        words: [
            "at://", "did:plc:", "did:web:", "/app.bsky.feed.post/", "..", "%", "bafyrei",
            "zzzzzzzzzzzzz", "@", "-",
        ]
    ) { text in
        if let address = RecordAddress(text) {
            try hold(address.uri == text, "an address is written as read")
        }
        if let reference = RecordReference(text) {
            try hold(reference.text == text, "so is a reference")
        }
        if let id = TimestampID(text) {
            try hold(id.description == text, "so is a record key")
            try hold(
                TimestampID(microseconds: id.microseconds, clock: id.clock) == id,
                "a key is its time and clock")
        }
        if let handle = BlueskyName.handle(text) {
            try hold(BlueskyName.handle(handle) == handle, "a handle stays")
        }
        if let name = try? BlueskyIdentifier.normalized(text, setting: "BOT_HANDLE") {
            let again = try? BlueskyIdentifier.normalized(name, setting: "BOT_HANDLE")
            try hold(again == name, "a normal name is normal")
        }
        if MastodonID.isUsable(text) { try holdOneWord(text, "an id") }
        if let id = XID.number(text) {
            try hold(String(id) == text || text.hasPrefix("0"), "an id is its number")
        }
    }
}
