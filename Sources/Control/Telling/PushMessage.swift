import Cryptography
import Foundation
import Localization
import Posts
import Transport

/// The address of a browser at its push service, and the keys for messages to it (W3C Push API,
/// `PushSubscription`).
package struct PushSubscription: Codable, Equatable, Sendable {
    /// The longest address, in bytes.
    private static let longestEndpoint = 2_048
    private static let secretSize = 16

    /// The address at the push service; to send a message, one needs it and the key of the page.
    let endpoint: String
    /// The browser's public key of P-256, `p256dh`.
    let key: [UInt8]
    /// The browser's secret, `auth`.
    let secret: [UInt8]

    /// Reads a subscription as a browser reports it.
    ///
    /// - Parameters:
    ///   - endpoint: An `https` address of a public host. If the page itself is on this machine,
    ///     the push service may be on it, too.
    ///   - key: `p256dh` in Base64url.
    ///   - secret: `auth` in Base64url.
    ///   - page: The address of the web page for browsers.
    /// - Returns: Nil for values of another form.
    package init?(endpoint: String, key: String, secret: String, page: String) {
        guard endpoint.utf8.count <= Self.longestEndpoint,
            HTTPRequest(url: endpoint).problem == nil,
            let host = URLComponents(string: endpoint)?.host,
            !HostPlace.mayBeLocal(host) || Self.areBothLocal(host, page),
            let key = Base64URL.bytes(of: Self.unpadded(key)), P256Key.isPublicKey(key),
            let secret = Base64URL.bytes(of: Self.unpadded(secret)),
            secret.count == Self.secretSize
        else { return nil }
        self.endpoint = endpoint
        self.key = key
        self.secret = secret
    }

    private static func unpadded(_ text: String) -> String {
        var text = text
        while text.hasSuffix("=") { text.removeLast() }
        return text
    }

    private static func areBothLocal(_ host: String, _ page: String) -> Bool {
        HostPlace.isLoopback(host)
            && URLComponents(string: page)?.host.map(HostPlace.isLoopback) == true
    }

    /// The host of the push service, for people.
    var host: String { URLComponents(string: endpoint)?.host ?? "?" }

    /// Scheme, host and port of the push service, without the port that is usual for the scheme
    /// (RFC 6454, section 6.2).
    var origin: String {
        guard let parts = URLComponents(string: endpoint), let scheme = parts.scheme,
            let host = parts.host
        else { return "" }
        let defaultPort = scheme.lowercased() == "https" ? 443 : 80
        let port = parts.port.flatMap { $0 == defaultPort ? nil : ":\($0)" } ?? ""
        return "\(scheme)://\(host)\(port)".lowercased()
    }

    /// Whether the push service may be on this machine.
    fileprivate var isLocal: Bool { HostPlace.isLoopback(host) }
}

/// The meaning of a push service's answer (RFC 8030, sections 5 and 7.3).
package enum PushAnswer: Equatable, Sendable {
    case taken
    /// The browser or the push service has ended the subscription.
    case gone
    /// The message was not accepted, for a reason in our own words.
    case refused(String)

    init(status: Int) {
        self =
            switch status {
            case 200...299: .taken
            case 404, 410: .gone
            case 401, 403:
                .refused(localized("the push service refuses the signature (status \(status))"))
            case 413:
                .refused(localized("the message is too long for the push service (status 413)"))
            case 429: .refused(localized("the push service takes no more for now (status 429)"))
            default: .refused(localized("the push service answers with status \(status)"))
            }
    }
}

/// A message for a push service, and how to deliver it (RFC 8030).
struct PushRequest: Sendable {
    /// How urgent a message is (RFC 8030, section 5.3).
    enum Urgency: String, Sendable { case low, normal, high }

    /// How long a push service keeps a message for a device that is off, in seconds: until the next
    /// notice about the same cause.
    private static let timeToLive = 86_400
    private static let bodyLimit = 16_384

    /// The message, which only the browser can read.
    let body: [UInt8]
    /// The topic: 32 characters of Base64url (RFC 8030, section 5.4).
    ///
    /// A message replaces an earlier one with the same topic that still waits at the push service.
    let topic: String
    let urgency: Urgency

    /// Returns the request that sends the message to a push service.
    ///
    /// - Parameters:
    ///   - subscription: The recipient.
    ///   - identity: The sender, which signs the request.
    ///   - now: The time of the signature.
    func request(
        to subscription: PushSubscription, by identity: PushIdentity, now: Date
    ) -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: subscription.endpoint)
        request.isPublicOnly = !subscription.isLocal
        request.maximumBodyBytes = Self.bodyLimit
        request.headers["Content-Type"] = "application/octet-stream"
        request.headers["Content-Encoding"] = "aes128gcm"
        request.headers["TTL"] = "\(Self.timeToLive)"
        request.headers["Topic"] = topic
        request.headers["Urgency"] = urgency.rawValue
        request.headers["Authorization"] = identity.authorization(
            for: subscription.origin, now: now)
        request.body = body
        return request
    }
}

/// The encryption of a message for one browser (RFC 8291), which no push service can read.
enum PushEncryption {
    /// The message is too long for one record, or OpenSSL refuses the cipher.
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The size of a record, which every push service takes (RFC 8291, section 4).
    private static let recordSize = 4_096
    /// The most bytes of a message: a record without its head (86 bytes), its tag (16 bytes) and
    /// its delimiter (1 byte).
    static let longestMessage = recordSize - 86 - 17
    private static let saltSize = 16
    /// Ends the last record (RFC 8188, section 2).
    private static let delimiter: UInt8 = 2

    /// Encrypts a message: the head and the only record of `aes128gcm` (RFC 8188).
    ///
    /// - Parameters:
    ///   - plain: The message, at most ``longestMessage`` bytes.
    ///   - subscription: The recipient.
    ///   - key: A key pair for this message alone.
    ///   - salt: 16 random bytes for this message alone.
    /// - Throws: ``Failure``.
    static func body(
        _ plain: [UInt8], for subscription: PushSubscription, key: P256Key = .random(),
        salt: [UInt8] = SealingKey.randomBytes(saltSize)
    ) throws(Failure) -> [UInt8] {
        guard plain.count <= longestMessage else {
            throw Failure(description: localized("the message is too long"))
        }
        guard let shared = key.sharedSecret(with: subscription.key) else {
            throw Failure(description: localized("the key of the browser is none"))
        }
        // The key derivation of RFC 8291, section 3.4.
        let publicKeys = subscription.key + key.publicKey
        let material = KeyDerivation.key(
            from: shared, salt: subscription.secret,
            purpose: Array("WebPush: info\0".utf8) + publicKeys,
            count: 32)
        let cipherKey = KeyDerivation.key(
            from: material, salt: salt, purpose: "Content-Encoding: aes128gcm\0".utf8,
            count: AES128GCM.keySize)
        let nonce = KeyDerivation.key(
            from: material, salt: salt, purpose: "Content-Encoding: nonce\0".utf8,
            count: AES128GCM.nonceSize)
        let size = withUnsafeBytes(of: UInt32(recordSize).bigEndian) { Array($0) }
        do {
            let record = try AES128GCM.sealed(plain + [delimiter], key: cipherKey, nonce: nonce)
            return salt + size + [UInt8(key.publicKey.count)] + key.publicKey + record
        } catch {
            throw Failure(description: "\(error)")
        }
    }
}

/// The sender of the messages, as it identifies itself to push services (VAPID, RFC 8292).
///
/// The key pair is derived from the operator's key, so that every process of a database has the
/// same key pair, as long as that key is not changed.
package struct PushIdentity: Sendable {
    private static let purpose = "mirror-bot push identity 1"
    /// How long a signature is valid, in seconds; 24 hours are the most that push services accept.
    private static let validity: TimeInterval = 12 * 3_600

    private let key: P256Key
    /// The contact for push services: the address of the page; nil if that has no TLS.
    private let contact: String?

    /// - Parameters:
    ///   - material: A secret of the operator, for this purpose alone.
    ///   - page: The address of the web page for browsers.
    init(material: [UInt8], page: String) {
        key = P256Key.derived(from: material, purpose: Self.purpose)
        contact = page.hasPrefix("https://") ? page : nil
    }

    /// The public key that a browser subscribes with, in Base64url.
    package var publicKey: String { Base64URL.text(of: key.publicKey) }

    /// Returns the header `Authorization` for one push service.
    ///
    /// - Parameters:
    ///   - origin: Scheme, host and port of the only push service for which the header is valid.
    ///   - now: The present.
    func authorization(for origin: String, now: Date) -> String {
        struct Claims: Encodable {
            let aud: String
            let exp: Int
            let sub: String?
        }
        let claims = Claims(
            aud: origin, exp: Int((now + Self.validity).timeIntervalSince1970), sub: contact)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and a number can always be written.
        let body = (try? encoder.encode(claims)) ?? Data()
        let head = Base64URL.text(of: #"{"alg":"ES256","typ":"JWT"}"#.utf8)
        let text = "\(head).\(Base64URL.text(of: body))"
        let signature = Base64URL.text(of: key.signature(of: text.utf8))
        return "vapid t=\(text).\(signature), k=\(publicKey)"
    }
}
