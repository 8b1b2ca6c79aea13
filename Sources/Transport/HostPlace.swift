import CCurl
import Foundation

/// Where a host is, as far as its text or its address tells.
package enum HostPlace {
    /// Whether a host, as it is written in a URL, is surely this machine: `localhost`, 127.0.0.0/8 as four decimal
    /// numbers, or `[::1]` (RFC 6761, RFC 1122, RFC 4291).
    ///
    /// Other spellings of those addresses, such as `0x7f.1`, `2130706433` or `[::ffff:127.0.0.1]`, are none: each
    /// library reads them in its own way.
    package static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "[::1]"].contains(host.lowercased()) { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { number in UInt8(number).map { String($0) == number } ?? false }
    }

    /// Whether a host, as it is written in a URL, may be this machine or one of a private network.
    ///
    /// True for every number that is no public address in whatever spelling, and for names that are never public. What
    /// another name leads to is only known when it is looked up, see ``HTTPRequest/isPublicOnly``.
    package static func mayBeLocal(_ host: String) -> Bool {
        let name = (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
        if name.hasPrefix("[") {
            var address = in6_addr()
            guard inet_pton(AF_INET6, String(name.dropFirst().dropLast()), &address) == 1 else { return true }
            return withUnsafeBytes(of: address) { isLocal(version6: Array($0)) }
        }
        var address = in_addr()
        // Takes every spelling that a library might take.
        if inet_aton(name, &address) != 0 { return isLocal(version4: UInt32(bigEndian: address.s_addr)) }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count < 2 || labels.last.map { localDomains.contains(String($0)) } ?? true
            || name.hasSuffix(".home.arpa")
    }

    /// Whether an address that a name led to is no public one.
    static func isLocal(_ address: UnsafePointer<sockaddr>) -> Bool {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: return isLocal(version4: UInt32(bigEndian: raw.load(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            return withUnsafeBytes(of: raw.load(as: sockaddr_in6.self).sin6_addr) { isLocal(version6: Array($0)) }
        default: return true
        }
    }

    /// RFC 6761, RFC 6762, RFC 8375 and the reservations of 2024 for private use.
    private static let localDomains: Set = ["localhost", "local", "internal", "lan", "home", "corp", "test", "invalid"]

    /// What is not globally reachable (RFC 6890 and its registry): the first address and the length of the prefix.
    private static let localRanges: [(UInt32, Int)] = [
        (0, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16), (0xAC10_0000, 12),
        (0xC000_0000, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xE000_0000, 3),
    ]

    private static func isLocal(version4 address: UInt32) -> Bool {
        localRanges.contains { first, length in (address ^ first) >> (32 - length) == 0 }
    }

    private static func isLocal(version6 bytes: [UInt8]) -> Bool {
        func embedded(at index: Int) -> Bool {
            isLocal(version4: bytes[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) })
        }
        // Addresses that stand for one of the older kind: mapped, translated (RFC 6052) and 6to4 (RFC 3056).
        if bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) { return embedded(at: 12) }
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) { return embedded(at: 12) }
        if bytes.starts(with: [0x20, 0x02]) { return embedded(at: 2) }
        // Only 2000::/3 is given to machines on the Internet.
        return bytes[0] >> 5 != 1
    }
}
