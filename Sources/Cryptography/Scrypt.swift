import CCrypto

/// The password hash scrypt (RFC 7914) of OpenSSL.
package enum Scrypt {
    /// OpenSSL refused the derivation: it has no scrypt, as in FIPS mode, or no memory.
    package struct Unavailable: Error, CustomStringConvertible {
        package let description =
            "OpenSSL could not derive a key with scrypt: it offers none, as in FIPS mode, or has no memory"
    }

    /// The default cost: 2^15 blocks of 1 KiB, so 32 MiB of memory and about 100 ms of one core.
    package static let usualCost: UInt64 = 1 << 15
    /// The parameter r of RFC 7914: a block has 128 r bytes.
    private static let blockSize: UInt64 = 8
    /// The parameter p of RFC 7914.
    private static let parallelism: UInt64 = 1
    /// The most bytes that OpenSSL may use for a derivation.
    private static let memoryLimit: UInt64 = 64 << 20

    /// Derives a key from a password.
    ///
    /// It blocks its thread for about 100 ms.
    ///
    /// - Parameters:
    ///   - password: The password, as a person types it.
    ///   - salt: Makes different keys of one password, one for each purpose.
    ///   - count: The length of the key in bytes.
    ///   - cost: The number of blocks of 1 KiB that are filled: a power of two.
    /// - Throws: ``Unavailable``.
    package static func key(
        from password: some Collection<UInt8>, salt: some Collection<UInt8>, count: Int,
        cost: UInt64 = usualCost
    ) throws(Unavailable) -> [UInt8] {
        let password = password.map { CChar(bitPattern: $0) }
        let salt = Array(salt)
        var key = [UInt8](repeating: 0, count: count)
        let status = EVP_PBE_scrypt(
            password, password.count, salt, salt.count, cost, blockSize, parallelism, memoryLimit,
            &key, key.count)
        guard status == 1 else { throw Unavailable() }
        return key
    }
}

/// Compares secrets.
package enum ConstantTime {
    /// Whether both are equal; the time depends only on their lengths.
    package static func areEqual(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>)
        -> Bool
    {
        let first = Array(first)
        let second = Array(second)
        return first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
    }
}
