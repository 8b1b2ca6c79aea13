import CCrypto

/// A key that seals bytes with ChaCha20-Poly1305 (RFC 8439, section 2.8).
package struct SealingKey: Sendable {
    /// OpenSSL refused the cipher, as it does in FIPS mode.
    package struct Unavailable: Error, CustomStringConvertible {
        package let description =
            "OpenSSL offers no ChaCha20-Poly1305, as in FIPS mode: use an OpenSSL that offers it"
    }

    private static let keySize = 32
    private static let nonceSize = 12
    private static let tagSize = 16

    private let bytes: [UInt8]

    /// Derives the key with HKDF-SHA256 (RFC 5869) without a salt.
    ///
    /// - Parameters:
    ///   - material: The operator's secret: one byte or more.
    ///   - purpose: The derivation's `info`; each purpose gets a key of its own.
    package init(from material: some Collection<UInt8>, purpose: some Collection<UInt8>) {
        bytes = KeyDerivation.key(from: material, purpose: purpose, count: Self.keySize)
    }

    /// - Parameter bytes: The key itself, of 32 bytes.
    init(_ bytes: [UInt8]) {
        precondition(bytes.count == Self.keySize)
        self.bytes = bytes
    }

    /// Seals bytes under a new random nonce.
    ///
    /// - Parameters:
    ///   - plain: The bytes to encrypt.
    ///   - context: Additional authenticated data; ``opened(_:context:)`` needs the same.
    /// - Returns: The nonce (12 bytes), the ciphertext, the tag (16 bytes).
    /// - Throws: ``Unavailable``.
    package func sealed(
        _ plain: some Collection<UInt8>, context: some Collection<UInt8>
    ) throws(Unavailable) -> [UInt8] {
        try sealed(plain, context: context, nonce: Self.randomBytes(Self.nonceSize))
    }

    /// Returns bytes from the system's random number generator, which may serve as a key.
    package static func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    func sealed(
        _ plain: some Collection<UInt8>, context: some Collection<UInt8>, nonce: [UInt8]
    ) throws(Unavailable) -> [UInt8] {
        let cipher = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(cipher) }
        let plain = Array(plain)
        let context = Array(context)
        var ciphertext = [UInt8](repeating: 0, count: plain.count)
        var tag = [UInt8](repeating: 0, count: Self.tagSize)
        var count: Int32 = 0
        var finalCount: Int32 = 0
        guard EVP_EncryptInit_ex2(cipher, EVP_chacha20_poly1305(), bytes, nonce, nil) == 1,
            EVP_EncryptUpdate(cipher, nil, &count, context, Int32(context.count)) == 1,
            EVP_EncryptUpdate(cipher, &ciphertext, &count, plain, Int32(plain.count)) == 1,
            EVP_EncryptFinal_ex(cipher, nil, &finalCount) == 1,
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
        else { throw Unavailable() }
        return nonce + ciphertext + tag
    }

    /// Decrypts the result of ``sealed(_:context:)``.
    ///
    /// - Returns: nil if the bytes were sealed with another key or context, or were changed.
    package func opened(_ sealed: some Collection<UInt8>, context: some Collection<UInt8>)
        -> [UInt8]?
    {
        guard sealed.count >= Self.nonceSize + Self.tagSize else { return nil }
        let cipher = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(cipher) }
        let nonce = Array(sealed.prefix(Self.nonceSize))
        let ciphertext = Array(sealed.dropFirst(Self.nonceSize).dropLast(Self.tagSize))
        var tag = Array(sealed.suffix(Self.tagSize))
        let context = Array(context)
        var plain = [UInt8](repeating: 0, count: ciphertext.count)
        var count: Int32 = 0
        var finalCount: Int32 = 0
        guard EVP_DecryptInit_ex2(cipher, EVP_chacha20_poly1305(), bytes, nonce, nil) == 1,
            EVP_DecryptUpdate(cipher, nil, &count, context, Int32(context.count)) == 1,
            EVP_DecryptUpdate(cipher, &plain, &count, ciphertext, Int32(ciphertext.count)) == 1,
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
            EVP_DecryptFinal_ex(cipher, nil, &finalCount) == 1
        else { return nil }
        return plain
    }
}
