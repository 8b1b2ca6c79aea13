import CCrypto
import Foundation
import Posts
import TestSupport
import Testing

/// What a browser and its push service do with a message, by OpenSSL's functions alone: nothing of
/// the program helps to read what the program wrote.
final class PushReceiver: @unchecked Sendable {
    // Unchecked because the key pair is only read after the beginning.
    private let pair: OpaquePointer
    /// The public key, `p256dh`.
    let publicKey: [UInt8]
    /// The secret, `auth`.
    let secret: [UInt8]

    init() throws {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        try #require(EVP_PKEY_keygen_init(context) == 1)
        try #require(
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1)
        try #require(EVP_PKEY_keygen(context, &made) == 1)
        pair = try #require(made)
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_PUBKEY(pair, &encoded))
        publicKey = Array(UnsafeBufferPointer(start: encoded, count: count).suffix(65))
        CRYPTO_free(encoded, #file, #line)
        var generator = SystemRandomNumberGenerator()
        secret = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    deinit { EVP_PKEY_free(pair) }

    // MARK: The browser

    /// The message in a body of `aes128gcm` (RFC 8188, RFC 8291).
    func opened(_ body: [UInt8]) throws -> [UInt8] {
        let plain = try #require(try plain(of: body))
        #expect(plain.last == 2)
        return plain.dropLast()
    }

    /// Whether a body is for this browser.
    func canOpen(_ body: [UInt8]) throws -> Bool { try plain(of: body) != nil }

    /// - Returns: Nil for what is for another browser, or was changed.
    private func plain(of body: [UInt8]) throws -> [UInt8]? {
        try #require(body.count > 86 + 16)
        let salt = Array(body[..<16])
        #expect(Array(body[16..<20]) == [0, 0, 16, 0])
        #expect(body[20] == 65)
        let sender = Array(body[21..<86])
        let shared = try shared(with: sender)
        let material = Self.expanded(
            Self.code(shared, key: secret), Array("WebPush: info\0".utf8) + publicKey + sender)
        let extracted = Self.code(material, key: salt)
        let key = Self.expanded(extracted, Array("Content-Encoding: aes128gcm\0".utf8))
        let nonce = Self.expanded(extracted, Array("Content-Encoding: nonce\0".utf8))
        return try decrypted(
            Array(body[86...]), key: Array(key.prefix(16)), nonce: Array(nonce.prefix(12)))
    }

    private func shared(with point: [UInt8]) throws -> [UInt8] {
        let other = try Self.key(point)
        defer { EVP_PKEY_free(other) }
        let context = EVP_PKEY_CTX_new(pair, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var secret = [UInt8](repeating: 0, count: 32)
        var count = secret.count
        try #require(EVP_PKEY_derive_init(context) == 1)
        try #require(EVP_PKEY_derive_set_peer(context, other) == 1)
        try #require(EVP_PKEY_derive(context, &secret, &count) == 1)
        return secret
    }

    /// A public key, from the form that RFC 5480 gives it.
    private static func key(_ point: [UInt8]) throws -> OpaquePointer {
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
            0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        let encoded = head + point
        let found = encoded.withUnsafeBufferPointer { buffer in
            var place = buffer.baseAddress
            return d2i_PUBKEY(nil, &place, buffer.count)
        }
        return try #require(found)
    }

    private static func code(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        _ = HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, nil)
        return code
    }

    /// The first 32 bytes of the expansion (RFC 5869, section 2.3).
    private static func expanded(_ key: [UInt8], _ info: [UInt8]) -> [UInt8] {
        code(info + [1], key: key)
    }

    private func decrypted(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws -> [UInt8]? {
        let cipher = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(cipher) }
        let text = Array(sealed.dropLast(16))
        var tag = Array(sealed.suffix(16))
        var plain = [UInt8](repeating: 0, count: text.count)
        var count: Int32 = 0
        var rest: Int32 = 0
        try #require(EVP_DecryptInit_ex2(cipher, EVP_aes_128_gcm(), key, nonce, nil) == 1)
        try #require(EVP_DecryptUpdate(cipher, &plain, &count, text, Int32(text.count)) == 1)
        try #require(EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1)
        return EVP_DecryptFinal_ex(cipher, nil, &rest) == 1 ? plain : nil
    }

    // MARK: The push service

    /// The claims of a sender (RFC 8292).
    struct Claims: Decodable, Equatable {
        let aud: String
        let exp: Int
        let sub: String?
    }

    /// The claims in a header `Authorization`, whose signature is right.
    ///
    /// - Parameter key: The public key that the browser subscribed with, in Base64 for addresses.
    static func claims(in header: String, signedBy key: String) throws -> Claims {
        let match = try #require(
            header.wholeMatch(of: #/vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)/#))
        #expect(String(match.output.4) == key)
        let head = try decoded(match.output.1)
        #expect(String(decoding: head, as: UTF8.self) == #"{"alg":"ES256","typ":"JWT"}"#)
        let numbers = try decoded(match.output.3)
        try #require(numbers.count == 64)
        let signed = Array("\(match.output.1).\(match.output.2)".utf8)
        #expect(try isSignature(numbers, of: signed, by: try decoded(match.output.4)))
        return try JSONDecoder().decode(Claims.self, from: Data(try decoded(match.output.2)))
    }

    private static func decoded(_ text: Substring) throws -> [UInt8] {
        let usual = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Array(try #require(Data(base64Encoded: String(usual) + padding)))
    }

    private static func isSignature(_ numbers: [UInt8], of bytes: [UInt8], by point: [UInt8]) throws
        -> Bool
    {
        let signature = ECDSA_SIG_new()
        defer { ECDSA_SIG_free(signature) }
        let first = Array(numbers.prefix(32))
        let second = Array(numbers.suffix(32))
        try #require(
            ECDSA_SIG_set0(signature, BN_bin2bn(first, 32, nil), BN_bin2bn(second, 32, nil)) == 1)
        var place: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_ECDSA_SIG(signature, &place))
        let encoded = Array(UnsafeBufferPointer(start: place, count: count))
        CRYPTO_free(place, #file, #line)
        let key = try key(point)
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        try #require(EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1)
        return EVP_DigestVerify(context, encoded, encoded.count, bytes, bytes.count) == 1
    }
}
