import Cryptography

/// Hashes that are the same in every process and on every machine, because they are stored.
package enum StableHash {
    /// The hash by Fowler, Noll and Vo (FNV-1a) in 64 bits: fast for short texts, but not
    /// collision-resistant against attackers.
    ///
    /// Takes a contiguous buffer: a generic version for any sequence takes four times as long.
    @inlinable package static func fnv1a(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    /// The hash of a text's UTF-8.
    package static func fnv1a(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { fnv1a($0) }
    }

    /// The 32 bytes of SHA-256 over the parts with a NUL between them.
    package static func digest(of parts: String...) -> [UInt8] { digest(of: parts) }

    /// A seed from the first eight bytes of ``digest(of:)-([String])``, big endian.
    package static func seed(of parts: [String]) -> UInt64 {
        digest(of: parts).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The digest of an array of parts.
    package static func digest(of parts: [String]) -> [UInt8] {
        HashFunction.sha256.digest(of: Array(parts.map(\.utf8).joined(separator: [0])))
    }
}

extension Sequence<UInt8> {
    /// The bytes as lower-case hexadecimal digits, two for each.
    package var hexadecimal: String {
        map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
