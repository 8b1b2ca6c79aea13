import Crypto
import Foundation
import Posts

/// Seals texts so that only the same key opens them, and only in the same place.
///
/// ChaCha20-Poly1305 with a random nonce (RFC 8439). The key is derived from
/// the operator's with HKDF-SHA256 (RFC 5869), so that what was typed is used
/// for nothing else.
struct VaultSeal: Sendable {
    /// Stands before every sealed text; another form gets another number.
    private static let version = "1."
    private static let purpose = Data("mirror-bot credentials 1".utf8)

    private let key: SymmetricKey

    /// - Parameter secret: 64 hexadecimal digits stand for the 32 bytes that they spell, any other text for itself.
    init(secret: Secret) {
        let text = secret.reveal()
        let material = SymmetricKey(data: Self.bytes(hex: text) ?? Data(text.utf8))
        key = HKDF<SHA256>.deriveKey(inputKeyMaterial: material, info: Self.purpose, outputByteCount: 32)
    }

    /// A text that shows nothing of `secret`.
    ///
    /// - Parameters:
    ///   - secret: What to seal.
    ///   - place: Where the text will be kept; it opens nowhere else.
    /// - Returns: ASCII characters.
    /// - Throws: An error of the cipher, which does not happen with a key of 32 bytes.
    func sealed(_ secret: Secret, place: String) throws -> String {
        let box = try ChaChaPoly.seal(Data(secret.reveal().utf8), using: key, authenticating: Data(place.utf8))
        return Self.version + box.combined.base64EncodedString()
    }

    /// What was sealed; nil if it was sealed with another key or for another place, or was changed.
    func opened(_ text: String, place: String) -> Secret? {
        guard text.hasPrefix(Self.version), let data = Data(base64Encoded: String(text.dropFirst(Self.version.count))),
            let box = try? ChaChaPoly.SealedBox(combined: data),
            let plain = try? ChaChaPoly.open(box, using: key, authenticating: Data(place.utf8))
        else { return nil }
        return String(data: plain, encoding: .utf8).map(Secret.init)
    }

    private static func bytes(hex text: String) -> Data? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard text.utf8.count == 64, digits.count == 64 else { return nil }
        return Data(stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
    }
}
