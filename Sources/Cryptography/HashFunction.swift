import CCrypto

/// A hash function of OpenSSL's libcrypto, the library that libcurl and libpq use too.
package enum HashFunction: Sendable {
    /// SHA-1 (FIPS 180-4), 20 bytes: only where a protocol requires it.
    case sha1
    /// SHA-256 (FIPS 180-4), 32 bytes.
    case sha256

    /// The hash of the bytes.
    package func digest(of bytes: some Collection<UInt8>) -> [UInt8] {
        withPointer(to: bytes) { input in
            [UInt8](unsafeUninitializedCapacity: size) { output, count in
                let status = EVP_Digest(
                    input.baseAddress, input.count, output.baseAddress, nil, algorithm, nil)
                precondition(status == 1, "OpenSSL could not hash: no memory is left")
                count = size
            }
        }
    }

    /// The message authentication code HMAC (RFC 2104).
    package func code(of bytes: some Collection<UInt8>, key: some Collection<UInt8>) -> [UInt8] {
        withPointer(to: key) { key in
            withPointer(to: bytes) { input in
                [UInt8](unsafeUninitializedCapacity: size) { output, count in
                    let code = HMAC(
                        algorithm, key.baseAddress, Int32(key.count), input.baseAddress,
                        input.count,
                        output.baseAddress, nil)
                    precondition(code != nil, "OpenSSL could not hash: no memory is left")
                    count = size
                }
            }
        }
    }

    private var size: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        }
    }

    private var algorithm: OpaquePointer {
        switch self {
        case .sha1: Self.fetchedSHA1
        case .sha256: Self.fetchedSHA256
        }
    }

    // Fetched once, because OpenSSL otherwise looks the function up by name for each hash. Never
    // changed and never freed.
    private nonisolated(unsafe) static let fetchedSHA1 = fetched("SHA1")
    private nonisolated(unsafe) static let fetchedSHA256 = fetched("SHA2-256")

    private static func fetched(_ name: String) -> OpaquePointer {
        guard let algorithm = EVP_MD_fetch(nil, name, nil) else {
            preconditionFailure("OpenSSL offers no \(name)")
        }
        return algorithm
    }
}

/// Calls `body` with the bytes in one contiguous buffer.
func withPointer<Result>(
    to bytes: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
) rethrows -> Result {
    if let result = try bytes.withContiguousStorageIfAvailable(body) { return result }
    return try Array(bytes).withUnsafeBufferPointer(body)
}
