import CCrypto

/// Derives keys from a secret with HKDF-SHA256 (RFC 5869).
package enum KeyDerivation {
    /// Derives a key for one purpose.
    ///
    /// - Parameters:
    ///   - material: The secret: one byte or more.
    ///   - salt: A value that need not be secret; empty for none.
    ///   - purpose: The derivation's `info`; each purpose gets a key of its own.
    ///   - count: The length of the key in bytes; 8,160 at most.
    package static func key(
        from material: some Collection<UInt8>, salt: some Collection<UInt8> = [UInt8](),
        purpose: some Collection<UInt8>, count: Int
    ) -> [UInt8] {
        let material = Array(material)
        let salt = Array(salt)
        let purpose = Array(purpose)
        var key = [UInt8](repeating: 0, count: count)
        let status = mb_hkdf_sha256(
            material, material.count, salt, salt.count, purpose, purpose.count, &key, key.count)
        precondition(status == 1, "OpenSSL could not derive a key: no memory is left")
        return key
    }
}
