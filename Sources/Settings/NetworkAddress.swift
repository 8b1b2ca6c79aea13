import Foundation

/// An IP address, compared by its bytes.
package struct NetworkAddress: Hashable, Sendable {
    /// The bytes of the address: 4 for IPv4, also when written as `::ffff:192.0.2.1`; else 16.
    package let bytes: [UInt8]

    /// The first bytes of an IPv6 address that stands for an IPv4 address.
    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// Parses an address; nil for any other text.
    ///
    /// A zone (`%eth0` in `fe80::1%eth0`) is dropped.
    package init?(_ text: some StringProtocol) {
        let text = String(text.prefix { $0 != "%" })
        var ipv4 = in_addr()
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            bytes = withUnsafeBytes(of: ipv4) { Array($0) }
            return
        }
        var ipv6 = in6_addr()
        guard inet_pton(AF_INET6, text, &ipv6) == 1 else { return nil }
        let ipv6Bytes = withUnsafeBytes(of: ipv6) { Array($0) }
        bytes = ipv6Bytes.starts(with: Self.mappedPrefix) ? Array(ipv6Bytes.suffix(4)) : ipv6Bytes
    }

    /// Whether it is a loopback address.
    package var isLoopback: Bool {
        bytes.count == 4
            ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// The range of addresses that one customer of a provider usually has: a single one of IPv4, a
    /// /64 of IPv6.
    package var neighbors: NetworkRange { NetworkRange(self, bits: bytes.count == 4 ? 32 : 64) }
}

/// The IP addresses with a common prefix.
package struct NetworkRange: Hashable, Sendable {
    /// The bytes of the first address of the range.
    private let bytes: [UInt8]
    private let bits: Int

    init(_ address: NetworkAddress, bits: Int) {
        self.bits = bits
        bytes = Self.beginning(of: address.bytes, bits: bits)
    }

    /// Parses an address, or a range such as `10.0.0.0/8`; nil for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = NetworkAddress(parts[0]) else { return nil }
        guard parts.count == 2 else {
            self.init(address, bits: address.bytes.count * 8)
            return
        }
        guard let bits = UInt8(parts[1]), Int(bits) <= address.bytes.count * 8 else { return nil }
        self.init(address, bits: Int(bits))
    }

    package func contains(_ address: NetworkAddress) -> Bool {
        address.bytes.count == bytes.count && Self.beginning(of: address.bytes, bits: bits) == bytes
    }

    /// Returns the bytes, with 0 for every bit after the first `bits`.
    private static func beginning(of bytes: [UInt8], bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let keptBits = min(8, max(0, bits - index * 8))
            // The mask has its first `keptBits` bits set.
            return keptBits == 0 ? 0 : byte & (0xFF << (8 - keptBits))
        }
    }
}

extension NetworkRange: CustomStringConvertible {
    /// The range as ``init(_:)`` reads it, such as `10.0.0.0/8`.
    package var description: String {
        // IPv6 is written in groups of two bytes.
        let groups = stride(from: 0, to: bytes.count, by: 2).map { index in
            String(Int(bytes[index]) << 8 | Int(bytes[index + 1]), radix: 16)
        }
        let address =
            bytes.count == 4
            ? bytes.map { "\($0)" }.joined(separator: ".") : groups.joined(separator: ":")
        return "\(address)/\(bits)"
    }
}
