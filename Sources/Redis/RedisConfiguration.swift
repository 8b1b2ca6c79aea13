package import Transport

/// How a `rediss://` connection decides whether to trust the server.
package enum RedisTLSVerification: Hashable, Sendable {
    /// A chain to a known authority, and the host's name in the certificate.
    case full
    /// Nothing: protects against listeners, not against an impostor.
    case none
    /// One key, given beforehand.
    case pinned(PublicKeyPin)
    /// The certificate of the first connection, for as long as the client lives. For hosts that sign their own.
    case firstUse
}

/// Where Redis is and how to talk to it.
///
/// Never prints the password.
package struct RedisConfiguration: Sendable, CustomStringConvertible, CustomReflectable {
    /// A name or an address, without brackets.
    package let host: String
    package let port: Int
    package let usesTLS: Bool
    package let database: Int
    package var tlsVerification: RedisTLSVerification
    /// A PEM file of the authorities to trust instead of the system's.
    package var caBundlePath: String?
    /// How long connecting may take, TLS and password included.
    package var connectTimeout: Duration = .seconds(10)
    /// How long a pipeline may take from the first byte sent to the last received.
    package var commandTimeout: Duration = .seconds(30)
    /// The most bytes the replies to one pipeline may have.
    package var maximumReplyBytes = 256 << 20
    let user: String?
    let password: String?

    /// Reads `redis://[[user]:password@]host[:port][/database]`; `rediss://` speaks TLS.
    ///
    /// User name and password are percent-decoded.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - tlsVerification: What a `rediss://` server has to show; of no effect for `redis://`.
    /// - Throws: ``RedisError`` with code `.invalidConfiguration`, which says what is wrong without repeating the URL.
    package init(url: String, tlsVerification: RedisTLSVerification = .full) throws(RedisError) {
        let parts = try RedisURL(url)
        host = parts.host
        port = parts.port
        usesTLS = parts.usesTLS
        database = parts.database
        user = parts.user
        password = parts.password
        self.tlsVerification = tlsVerification
    }

    /// Host, port and database.
    package var description: String {
        "\(usesTLS ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
    }

    package var customMirror: Mirror { Mirror(self, children: ["address": description]) }

    var endpoint: ByteStreamEndpoint {
        let verification: TLSVerification =
            switch tlsVerification {
            case .full: .full
            case .none, .firstUse: .none
            case .pinned(let pin): .pinned(pin)
            }
        return ByteStreamEndpoint(
            host: host, port: port, tls: usesTLS ? verification : nil, caBundlePath: caBundlePath)
    }
}

extension RedisTLSVerification {
    /// Reads the setting REDIS_TLS_VERIFY: `auto`, `full`, `none` or `pin:` and the pin.
    ///
    /// - Parameters:
    ///   - text: The setting.
    ///   - isSelfSignedHost: What `auto` means: `firstUse` on a platform known to sign its own certificates (Heroku,
    ///     where `DYNO` is set), `full` elsewhere.
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
                    message: "REDIS_TLS_VERIFY must be auto, full, none or pin:sha256//BASE64 of the public key")
            }
            self = .pinned(pin)
        }
    }
}
