import CCrypto

/// A key pair of the curve P-256 (FIPS 186-5), for agreeing on secrets and for signatures.
package struct P256Key: Sendable {
    /// The length in bytes of a scalar, and of a coordinate.
    private static let size = 32
    /// The order of the curve's group: a scalar is smaller, and not 0.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
        0x25, 0x51,
    ]
    /// The bytes before the scalar in an ECPrivateKey of the curve (RFC 5915).
    private static let privateHead: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
    /// The bytes after the scalar in an ECPrivateKey of the curve without its public part.
    private static let privateTail: [UInt8] = [
        0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
    /// The bytes before the point in a SubjectPublicKeyInfo of the curve (RFC 5480).
    private static let publicHead: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
        0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    private let scalar: [UInt8]
    /// The public key: 4, then both coordinates (SEC 1, section 2.3.3), 65 bytes.
    package let publicKey: [UInt8]

    /// - Parameter scalar: The private key, 32 bytes.
    /// - Returns: Nil if the bytes are not a valid private key.
    package init?(scalar: [UInt8]) {
        let isScalar =
            scalar.count == Self.size && scalar.contains { $0 != 0 }
            && scalar.lexicographicallyPrecedes(Self.order)
        guard isScalar, let key = OpenedKey(private: Self.privateHead + scalar + Self.privateTail),
            let point = key.point(afterHeader: Self.publicHead.count)
        else { return nil }
        self.scalar = scalar
        publicKey = point
    }

    /// Returns a new key from the system's random number generator.
    package static func random() -> P256Key {
        while true {
            if let key = P256Key(scalar: SealingKey.randomBytes(size)) { return key }
        }
    }

    /// Derives a key that is always the same for the same secret and purpose.
    ///
    /// For about one secret in four billion the derived bytes are not a valid private key; another
    /// derivation, with the next attempt's number, replaces them.
    package static func derived(from material: some Collection<UInt8>, purpose: String) -> P256Key {
        var attempt = 0
        while true {
            let scalar = KeyDerivation.key(
                from: material, purpose: "\(purpose) \(attempt)".utf8, count: size)
            if let key = P256Key(scalar: scalar) { return key }
            attempt += 1
        }
    }

    /// Whether bytes are a public key: a point of the curve in the form of ``publicKey``.
    package static func isPublicKey(_ bytes: [UInt8]) -> Bool { OpenedKey(point: bytes) != nil }

    /// The secret that both owners of two keys can compute: the first coordinate of the shared
    /// point (ECDH, SEC 1, section 3.3.1).
    ///
    /// - Parameter other: The other public key.
    /// - Returns: Nil if `other` is not a public key.
    package func sharedSecret(with other: [UInt8]) -> [UInt8]? {
        guard let ownKey = opened, let otherKey = OpenedKey(point: other),
            let context = EVP_PKEY_CTX_new(ownKey.key, nil)
        else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var secret = [UInt8](repeating: 0, count: Self.size)
        var count = secret.count
        guard EVP_PKEY_derive_init(context) == 1,
            EVP_PKEY_derive_set_peer(context, otherKey.key) == 1,
            EVP_PKEY_derive(context, &secret, &count) == 1, count == Self.size
        else { return nil }
        return secret
    }

    /// Signs with ECDSA and SHA-256, as ES256 does (RFC 7518, section 3.4).
    ///
    /// - Returns: The numbers r and s of the signature, 32 bytes each.
    package func signature(of bytes: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        // The longest signature in DER (RFC 3279, section 2.2.3) has two integers of 33 bytes.
        var encoded = [UInt8](repeating: 0, count: 72)
        var count = encoded.count
        guard let ownKey = opened,
            EVP_DigestSignInit(context, nil, EVP_sha256(), nil, ownKey.key) == 1,
            EVP_DigestSign(context, &encoded, &count, bytes, bytes.count) == 1,
            let numbers = Self.numbers(of: Array(encoded.prefix(count)))
        else { preconditionFailure("OpenSSL could not sign: no memory is left") }
        return numbers
    }

    /// Returns the numbers r and s of a signature in DER, 32 bytes each.
    private static func numbers(of encoded: [UInt8]) -> [UInt8]? {
        let decoded = encoded.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &cursor, buffer.count)
        }
        guard let decoded else { return nil }
        defer { ECDSA_SIG_free(decoded) }
        var rBytes = [UInt8](repeating: 0, count: size)
        var sBytes = rBytes
        guard BN_bn2binpad(ECDSA_SIG_get0_r(decoded), &rBytes, Int32(size)) == size,
            BN_bn2binpad(ECDSA_SIG_get0_s(decoded), &sBytes, Int32(size)) == size
        else { return nil }
        return rBytes + sBytes
    }

    private var opened: OpenedKey? {
        OpenedKey(private: Self.privateHead + scalar + Self.privateTail)
    }

    /// A key as OpenSSL holds it.
    private final class OpenedKey {
        let key: OpaquePointer

        /// - Parameter encoded: An ECPrivateKey; OpenSSL computes the public part.
        init?(private encoded: [UInt8]) {
            let decoded = encoded.withUnsafeBufferPointer { buffer in
                var cursor = buffer.baseAddress
                return d2i_PrivateKey(EVP_PKEY_EC, nil, &cursor, buffer.count)
            }
            guard let decoded else { return nil }
            key = decoded
        }

        /// - Parameter point: A public key as in ``P256Key/publicKey``. OpenSSL refuses a point
        ///   that is not on the curve.
        init?(point: [UInt8]) {
            guard point.count == 2 * P256Key.size + 1, point[0] == 4 else { return nil }
            let encoded = P256Key.publicHead + point
            let decoded = encoded.withUnsafeBufferPointer { buffer in
                var cursor = buffer.baseAddress
                return d2i_PUBKEY(nil, &cursor, buffer.count)
            }
            guard let decoded else { return nil }
            key = decoded
        }

        deinit { EVP_PKEY_free(key) }

        /// Returns the point of the public key, which follows the header of the key's DER form.
        func point(afterHeader headerLength: Int) -> [UInt8]? {
            let count = Int(i2d_PUBKEY(key, nil))
            guard count > headerLength else { return nil }
            let der = [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
                var cursor = buffer.baseAddress
                written = max(0, Int(i2d_PUBKEY(key, &cursor)))
            }
            return Array(der.dropFirst(headerLength))
        }
    }
}
