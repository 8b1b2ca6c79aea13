package import Transport

/// How to verify the server of a `rediss://` connection.
package enum RedisTLSVerification: Hashable, Sendable {
    /// The certificate must have a chain to a trusted authority, and the host's name.
    case full
    /// No verification: protects against eavesdroppers, not against an impostor.
    case none
    /// The certificate must have the given public key.
    case pinned(PublicKeyPin)
    /// Accepts the certificate of the first connection, for as long as the client lives; for hosts
    /// with self-signed certificates.
    case firstUse
}

/// The address of a server.
struct RedisAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an IP address, without brackets.
    let host: String
    let port: Int

    var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

/// The servers of Redis and the connection parameters.
///
/// Its description omits the password.
package struct RedisConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    /// The initial servers, in the order of the URL: any servers of a cluster, or alternatives of
    /// which the first one that answers is used.
    let addresses: [RedisAddress]
    package let usesTLS: Bool
    package let database: Int
    package var tlsVerification: RedisTLSVerification
    /// A PEM file of the authorities to trust instead of the system's.
    package var caBundlePath: String?
    /// The time limit for connecting, including TLS and authentication.
    package var connectTimeout: Duration = .seconds(10)
    /// The time limit for a pipeline, from the first byte sent to the last received.
    package var commandTimeout: Duration = .seconds(30)
    /// The longest wait for a cluster that migrates slots or replaces a master.
    package var clusterTimeout: Duration = .seconds(5)
    /// The limit of bytes in the replies to one pipeline.
    package var maximumReplyBytes = 256 << 20
    let user: String?
    let password: String?

    /// Reads `redis://[[user]:password@]host[:port][,host[:port]…][/database]`; `rediss://` speaks
    /// TLS.
    ///
    /// User name and password are percent-decoded, and are the same for all hosts.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - tlsVerification: The verification for `rediss://`; not used for `redis://`.
    /// - Throws: ``RedisError`` with code `.invalidConfiguration`, which names the problem without
    ///   quoting the URL.
    package init(url: String, tlsVerification: RedisTLSVerification = .full) throws(RedisError) {
        let afterScheme: Substring
        (usesTLS, afterScheme) = try Self.scheme(url)
        guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Self.unusable(
                "has a space, a control or a non-ASCII character; percent-encode it")
        }
        let authority = afterScheme.prefix { !"/?#".contains($0) }
        let afterHosts = afterScheme[authority.endIndex...]
        try Self.checkEnd(afterHosts)
        database = try Self.database(of: afterHosts)
        // The last @ ends the password, because a password may contain an @.
        let atSign = authority.lastIndex(of: "@")
        (user, password) = try Self.credentials(atSign.map { authority[..<$0] })
        let hosts = atSign.map { authority[authority.index(after: $0)...] } ?? authority
        addresses = try hosts.split(separator: ",", omittingEmptySubsequences: false)
            .map { host throws(RedisError) in try Self.address(host) }
        self.tlsVerification = tlsVerification
    }

    /// Hosts, ports and database.
    package var description: String {
        let hosts = addresses.map(\.description).joined(separator: ",")
        return "\(usesTLS ? "rediss" : "redis")://\(hosts)/\(database)"
    }

    package var customMirror: Mirror { Mirror(self, children: ["address": description]) }

    func endpoint(_ address: RedisAddress) -> ByteStreamEndpoint {
        let verification: TLSVerification =
            switch tlsVerification {
            case .full: .full
            case .none, .firstUse: .none
            case .pinned(let pin): .pinned(pin)
            }
        return ByteStreamEndpoint(
            host: address.host, port: address.port, tls: usesTLS ? verification : nil,
            caBundlePath: caBundlePath)
    }
}

// MARK: - The parts of a URL

extension RedisConfiguration {
    private static let form =
        "expected redis://[user:password@]host[:port][,host[:port]…][/database]"

    private static func scheme(_ text: String) throws(RedisError) -> (Bool, Substring) {
        let lowercased = text.prefix(9).lowercased()
        if lowercased.hasPrefix("redis://") { return (false, text.dropFirst(8)) }
        if lowercased.hasPrefix("rediss://") { return (true, text.dropFirst(9)) }
        let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound].lowercased() } ?? ""
        throw unusable(
            otherSchemes[scheme].map { "begins with \(scheme)://; \($0)" }
                ?? "does not begin with redis:// or rediss://; \(form)")
    }

    /// Schemes and prefixes of URLs for other clients, with their replacements.
    private static let otherSchemes = [
        "redis+tls": "write rediss://", "valkey": "write redis://", "valkeys": "write rediss://",
        "redis+sentinel": "name the server itself, as redis://host",
        "unix": "name a server, as redis://localhost",
        "redis-sentinel": "name the server itself, as redis://host",
        "redis+socket": "name a server, as redis://localhost",
        "redis-socket": "name a server, as redis://localhost",
        "https":
            "that is Upstash's REST interface or a page; write the rediss:// address of the same server",
        "http": "that is a page; write the redis:// address of the server",
        "postgres": "that is the address of PostgreSQL",
        "postgresql": "that is the address of PostgreSQL",
    ]

    /// Refuses anything after user name, password and hosts except a database number.
    private static func checkEnd(_ tail: Substring) throws(RedisError) {
        if let sign = tail.first, let escape = ["/": "%2F", "?": "%3F", "#": "%23"][sign],
            tail.contains("@")
        {
            throw unusable("has a \(sign) in its user name or password; write it as \(escape)")
        }
        guard let delimiter = tail.firstIndex(where: { "?#".contains($0) }) else { return }
        guard tail[delimiter] == "?" else {
            throw unusable(
                "has a # behind its host; leave out what follows, or write it as %23 in a password; \(form)"
            )
        }
        let parameter = tail[delimiter...].dropFirst().prefix { !"&#".contains($0) }
        let name = parameter.prefix { $0 != "=" }
        let isName =
            name.endIndex != parameter.endIndex && (1...40).contains(name.utf8.count)
            && name.allSatisfy { isNameCharacter($0) }
        guard isName else {
            throw unusable(
                "has parameters, which mirror-bot does not know; leave them out; \(form)")
        }
        throw unusable("has the parameter \(name); \(advice(for: name.lowercased()))")
    }

    /// The replacement for a parameter of other clients.
    private static func advice(for parameter: String) -> String {
        switch parameter {
        case "ssl_cert_reqs", "ssl_ca_certs", "insecureskipverify", "skip_verify":
            "leave it out and set REDIS_TLS_VERIFY, as none for a certificate that the host signed itself"
        case "ssl", "tls": "leave it out and begin the URL with rediss://"
        case "db", "database": "write the number behind the host, as redis://host/1"
        case "password", "user", "username", "auth":
            "write user and password before the host, as redis://user:password@host"
        default: "leave it out; \(form)"
        }
    }

    private static func database(of tail: Substring) throws(RedisError) -> Int {
        let digits = tail.dropFirst()
        if digits.isEmpty { return 0 }
        guard let number = decimal(digits, upTo: 65_535) else {
            throw unusable("has a path that is not a database number; \(form)")
        }
        return number
    }

    private static func credentials(_ text: Substring?) throws(RedisError) -> (String?, String?) {
        guard let text else { return (nil, nil) }
        let name = text.prefix { $0 != ":" }
        guard let user = percentDecoded(name),
            let password = percentDecoded(text[name.endIndex...].dropFirst())
        else {
            throw unusable(
                "has a user name or password that is not percent-encoded correctly; write a % as %25"
            )
        }
        guard user.isEmpty || name.endIndex != text.endIndex else {
            throw unusable("has a user name without a password; \(form)")
        }
        guard !password.isEmpty || !user.isEmpty else { return (nil, nil) }
        return (user.isEmpty ? nil : user, password)
    }

    private static func address(_ text: Substring) throws(RedisError) -> RedisAddress {
        var host = text.prefix { $0 != ":" }
        if text.hasPrefix("[") {
            host = text.dropFirst().prefix { $0 != "]" }
            guard host.endIndex != text.endIndex, host.contains(":"),
                host.allSatisfy(isIPv6Character)
            else {
                throw unusable("has a malformed address in brackets; \(form)")
            }
        } else if !host.allSatisfy(isNameCharacter) {
            throw unusable("has a character in its host that no host name has; \(form)")
        }
        guard !host.isEmpty else { throw unusable("has no host; \(form)") }
        var afterHost = text[host.endIndex...]
        if text.hasPrefix("[") { afterHost = afterHost.dropFirst() }
        if afterHost.isEmpty { return RedisAddress(host: String(host), port: 6_379) }
        guard afterHost.hasPrefix(":"),
            let port = decimal(afterHost.dropFirst(), upTo: 65_535), port > 0
        else {
            throw unusable("has a port that is not a number from 1 to 65535; \(form)")
        }
        return RedisAddress(host: String(host), port: port)
    }

    private static func isNameCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "-._".contains(character))
    }

    private static func isIPv6Character(_ character: Character) -> Bool {
        character.isASCII && (character.isHexDigit || ":.".contains(character))
    }

    private static func decimal(_ digits: Substring, upTo maximum: Int) -> Int? {
        guard digits.utf8.count <= 9, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(digits), number <= maximum
        else { return nil }
        return number
    }

    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var remainder = text.utf8
        while let byte = remainder.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = remainder.popFirst().flatMap(hexadecimalDigit),
                let low = remainder.popFirst().flatMap(hexadecimalDigit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    private static func unusable(_ problem: String) -> RedisError {
        RedisError(.invalidConfiguration, message: "REDIS_URL \(problem)")
    }
}

extension RedisTLSVerification {
    /// Parses the setting REDIS_TLS_VERIFY: `auto`, `full`, `none` or `pin:` and the pin.
    ///
    /// - Parameters:
    ///   - text: The setting.
    ///   - isSelfSignedHost: Whether `auto` means `firstUse`, as on a platform known for
    ///     self-signed certificates (Heroku, where `DYNO` is set), instead of `full`.
    /// - Throws: ``RedisError`` with code `.invalidConfiguration`.
    package init(parsing text: String, isSelfSignedHost: Bool) throws(RedisError) {
        switch text {
        case "auto": self = isSelfSignedHost ? .firstUse : .full
        case "full": self = .full
        case "none": self = .none
        default:
            guard text.hasPrefix("pin:"), let pin = PublicKeyPin(text.dropFirst(4)) else {
                throw RedisError(
                    .invalidConfiguration,
                    message:
                        "REDIS_TLS_VERIFY must be auto, full, none or pin:sha256//BASE64 of the public key"
                )
            }
            self = .pinned(pin)
        }
    }
}
