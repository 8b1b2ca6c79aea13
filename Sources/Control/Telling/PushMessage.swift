import Cryptography
import Foundation
import Posts
import Transport

/// The address of a browser at its push service, and the keys for messages to it (W3C Push API,
/// `PushSubscription`).
package struct PushSubscription: Codable, Equatable, Sendable {
    /// The longest address, in bytes.
    private static let longestEndpoint = 2_048
    private static let secretSize = 16

    /// The address at the push service; who has it and the key of the page may send to it.
    let endpoint: String
    /// The browser's public key of P-256, `p256dh`.
    let key: [UInt8]
    /// The browser's secret, `auth`.
    let secret: [UInt8]

    /// Reads a subscription as a browser tells it.
    ///
    /// - Parameters:
    ///   - endpoint: An `https` address of a public host. Where the page itself is on this machine,
    ///     the push service may be so too.
    ///   - key: `p256dh` in Base64 for addresses.
    ///   - secret: `auth` in Base64 for addresses.
    ///   - page: Where browsers find the page.
    /// - Returns: Nil for anything else.
    package init?(endpoint: String, key: String, secret: String, page: String) {
        guard endpoint.utf8.count <= Self.longestEndpoint,
            HTTPRequest(url: endpoint).problem == nil,
            let host = URLComponents(string: endpoint)?.host,
            !HostPlace.mayBeLocal(host) || Self.areBothHere(host, page),
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

    private static func areBothHere(_ host: String, _ page: String) -> Bool {
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
        let usual = scheme.lowercased() == "https" ? 443 : 80
        let port = parts.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        return "\(scheme)://\(host)\(port)".lowercased()
    }

    /// Whether the push service may be on this machine.
    fileprivate var isHere: Bool { HostPlace.isLoopback(host) }
}

/// What the answer of a push service means (RFC 8030, sections 5 and 7.3).
package enum PushAnswer: Equatable, Sendable {
    case taken
    /// The browser or the push service has ended the subscription.
    case gone
    /// It was not taken, for a reason in our own words.
    case refused(String)

    init(status: Int) {
        self =
            switch status {
            case 200...299: .taken
            case 404, 410: .gone
            case 401, 403: .refused("the push service refuses the signature (status \(status))")
            case 413: .refused("the message is too long for the push service (status 413)")
            case 429: .refused("the push service takes no more for now (status 429)")
            default: .refused("the push service answers with status \(status)")
            }
    }
}

/// What a push service is asked to do with a message (RFC 8030).
struct PushRequest: Sendable {
    /// How urgent a message is (RFC 8030, section 5.3).
    enum Urgency: String, Sendable { case low, normal, high }

    /// How long a push service keeps a message for a device that is off, in seconds: until the next
    /// notice about the same cause.
    private static let lasts = 86_400
    private static let bodyLimit = 16_384

    /// The message, which only the browser can read.
    let body: [UInt8]
    /// A later message with the same topic takes the place of one that waits: 32 characters of
    /// Base64 for addresses (RFC 8030, section 5.4).
    let topic: String
    let urgency: Urgency

    /// The request that hands the message to a push service.
    ///
    /// - Parameters:
    ///   - subscription: The recipient.
    ///   - identity: Signs it.
    ///   - now: The time of the signature.
    func request(
        to subscription: PushSubscription, by identity: PushIdentity, now: Date
    ) -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: subscription.endpoint)
        request.isPublicOnly = !subscription.isHere
        request.maximumBodyBytes = Self.bodyLimit
        request.headers["Content-Type"] = "application/octet-stream"
        request.headers["Content-Encoding"] = "aes128gcm"
        request.headers["TTL"] = "\(Self.lasts)"
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
    /// The most bytes of a message: a record without the head, the tag and the delimiter.
    static let longest = recordSize - 86 - 17
    private static let saltSize = 16
    /// Ends the last record (RFC 8188, section 2).
    private static let delimiter: UInt8 = 2

    /// Encrypts a message: the head and the only record of `aes128gcm` (RFC 8188).
    ///
    /// - Parameters:
    ///   - plain: ``longest`` bytes at most.
    ///   - subscription: The recipient.
    ///   - key: A key pair for this message alone.
    ///   - salt: 16 random bytes for this message alone.
    /// - Throws: ``Failure``.
    static func body(
        _ plain: [UInt8], for subscription: PushSubscription, key: P256Key = .random(),
        salt: [UInt8] = SealingKey.randomBytes(saltSize)
    ) throws(Failure) -> [UInt8] {
        guard plain.count <= longest else { throw Failure(description: "the message is too long") }
        guard let shared = key.sharedSecret(with: subscription.key) else {
            throw Failure(description: "the key of the browser is none")
        }
        let both = subscription.key + key.publicKey
        let material = KeyDerivation.key(
            from: shared, salt: subscription.secret, purpose: Array("WebPush: info\0".utf8) + both,
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

/// Who sends the messages, as push services know it (VAPID, RFC 8292).
///
/// The key pair is derived from the operator's key, so that every process of a database has the
/// same one, and it is as old as that.
package struct PushIdentity: Sendable {
    private static let purpose = "mirror-bot push identity 1"
    /// How long a signature is valid, in seconds; 24 hours are the most that push services accept.
    private static let lasts: TimeInterval = 12 * 3_600

    private let key: P256Key
    /// Where push services may ask about the messages: the page, or nothing.
    private let contact: String?

    /// - Parameters:
    ///   - material: A secret of the operator, for this purpose alone.
    ///   - page: Where browsers find the page.
    init(material: [UInt8], page: String) {
        key = P256Key.derived(from: material, purpose: Self.purpose)
        contact = page.hasPrefix("https://") ? page : nil
    }

    /// The public key that a browser subscribes with, in Base64 for addresses.
    package var publicKey: String { Base64URL.text(of: key.publicKey) }

    /// The header `Authorization` for one push service.
    ///
    /// - Parameters:
    ///   - origin: Scheme, host and port of the push service, for which alone it is valid.
    ///   - now: The present.
    func authorization(for origin: String, now: Date) -> String {
        struct Claims: Encodable {
            let aud: String
            let exp: Int
            let sub: String?
        }
        let claims = Claims(
            aud: origin, exp: Int((now + Self.lasts).timeIntervalSince1970), sub: contact)
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
