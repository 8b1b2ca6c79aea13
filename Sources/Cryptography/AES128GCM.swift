import CCrypto

/// The cipher AES-128 in the mode GCM (NIST SP 800-38D), where a protocol requires it.
///
/// For bytes that only this program reads, use ``SealingKey``.
package enum AES128GCM {
    /// OpenSSL refused the cipher.
    package struct Unavailable: Error, CustomStringConvertible {
        package let description = "OpenSSL offers no AES-128-GCM"
    }

    package static let keySize = 16
    package static let nonceSize = 12
    private static let tagSize = 16

    /// Encrypts bytes.
    ///
    /// - Parameters:
    ///   - plain: The bytes.
    ///   - key: ``keySize`` bytes.
    ///   - nonce: ``nonceSize`` bytes, never twice with the same key.
    /// - Returns: The ciphertext and the tag (16 bytes).
    /// - Throws: ``Unavailable``.
    package static func sealed(
        _ plain: [UInt8], key: [UInt8], nonce: [UInt8]
    ) throws(Unavailable) -> [UInt8] {
        precondition(key.count == keySize && nonce.count == nonceSize)
        let cipher = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(cipher) }
        var ciphertext = [UInt8](repeating: 0, count: plain.count)
        var tag = [UInt8](repeating: 0, count: tagSize)
        var count: Int32 = 0
        var finalCount: Int32 = 0
        guard EVP_EncryptInit_ex2(cipher, EVP_aes_128_gcm(), key, nonce, nil) == 1,
            EVP_EncryptUpdate(cipher, &ciphertext, &count, plain, Int32(plain.count)) == 1,
            EVP_EncryptFinal_ex(cipher, nil, &finalCount) == 1,
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
        else { throw Unavailable() }
        return ciphertext + tag
    }
}
