import Cryptography

/// Hashes that are the same in every process and on every machine: what is stored depends on them.
package enum StableHash {
    /// The hash by Fowler, Noll and Vo (FNV-1a) in 64 bits: quick for short texts, and nothing that
    /// withstands an enemy.
    ///
    /// For bytes in one piece: made for any sequence it takes four times as long.
    @inlinable package static func fnv1a(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    /// The same of a text's UTF-8.
    package static func fnv1a(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { fnv1a($0) }
    }

    /// The 32 bytes of SHA-256 over the parts with a NUL between them.
    package static func digest(of parts: String...) -> [UInt8] { digest(of: parts) }

    /// A number from the first eight bytes of ``digest(of:)-([String])``, big endian, to draw
    /// others from.
    package static func seed(of parts: [String]) -> UInt64 {
        digest(of: parts).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The same of parts that are counted only when it runs.
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
