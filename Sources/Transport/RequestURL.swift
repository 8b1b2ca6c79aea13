import CCurl
import Foundation

/// A validated URL as libcurl parsed it, so that the checked URL is the one that libcurl requests.
struct RequestURL {
    let handle: URLHandle
    /// The host that libcurl will look up, without user name or port.
    let host: String
    /// Scheme, host and port, which requests on one connection share.
    let origin: String
    /// Whether TLS is used; servers can offer HTTP/2 only with it.
    let isSecure: Bool
    let isLoopback: Bool

    /// - Parameters:
    ///   - text: The URL.
    ///   - allowsPlainNearby: Whether to allow `http:` also for hosts of a private network, and not
    ///     only for loopback hosts.
    /// - Throws: ``TransportError`` with code `.invalidURL` or `.forbiddenScheme`.
    init(_ text: String, allowsPlainNearby: Bool = false) throws(TransportError) {
        guard text.utf8.count <= 16_384 else {
            throw .refused(.invalidURL, "the URL is longer than 16,384 bytes")
        }
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") })
        else {
            throw .refused(
                .invalidURL,
                "the URL has a space, a backslash, or a control or non-ASCII character; percent-encode it"
            )
        }
        let authority = Self.writtenAuthority(text)
        guard !authority.utf8.contains(UInt8(ascii: "@")) else {
            throw .refused(.invalidURL, "the URL has a user name; send credentials in a header")
        }
        handle = try URLHandle()
        guard handle.parse(text) else {
            throw .refused(.invalidURL, "the URL is not an absolute http or https URL")
        }
        guard handle.part(CURLUPART_USER) == nil, handle.part(CURLUPART_PASSWORD) == nil else {
            throw .refused(.invalidURL, "the URL has a user name; send credentials in a header")
        }
        guard let scheme = handle.part(CURLUPART_SCHEME), let host = handle.part(CURLUPART_HOST),
            !host.isEmpty
        else {
            throw .refused(.invalidURL, "the URL has no host")
        }
        self.host = host
        origin = handle.origin.map { $0 ?? "" }.joined(separator: " ")
        isSecure = scheme.lowercased() == "https"
        // The host is also checked as written in the URL, because libcurl converts spellings such
        // as `0x7f.1` to 127.0.0.1.
        isLoopback = HostPlace.isLoopback(host) && HostPlace.isLoopback(Self.host(in: authority))
        let mayBePlain = isLoopback || allowsPlainNearby && HostPlace.mayBeLocal(host)
        try Self.check(scheme: scheme.lowercased(), host: host, mayBePlain: mayBePlain)
    }

    /// The target of a redirect; nil if scheme, host or port differ.
    static func redirected(from text: String, to location: String) -> String? {
        // Creating a handle fails only for lack of memory.
        guard (1...16_384).contains(location.utf8.count), let handle = try? URLHandle(),
            handle.parse(text)
        else {
            return nil
        }
        let origin = handle.origin
        // libcurl resolves a relative URL against the one in the handle.
        guard handle.parse(location), handle.origin == origin, let next = handle.part(CURLUPART_URL)
        else { return nil }
        // A redirect to an address that is not allowed is not followed.
        guard (try? RequestURL(next)) != nil else { return nil }
        return next
    }

    private static func check(scheme: String, host: String, mayBePlain: Bool) throws(TransportError)
    {
        switch scheme {
        case "https": return
        case "http" where mayBePlain: return
        case "http":
            throw .refused(
                .forbiddenScheme, host: host, "plain http is for loopback hosts only; use https")
        default:
            throw .refused(.forbiddenScheme, host: host, "only https is spoken here")
        }
    }

    /// Returns the authority of a URL: the text after the first `//` up to the next `/`, `?` or
    /// `#`; empty without a `//`.
    ///
    /// - Parameter text: The URL, in ASCII.
    private static func writtenAuthority(_ text: String) -> Substring {
        let bytes = text.utf8
        let slash = UInt8(ascii: "/")
        let query = UInt8(ascii: "?")
        let fragment = UInt8(ascii: "#")
        guard
            let doubleSlash = bytes.indices.first(where: { index in
                bytes[index...].starts(with: [slash, slash])
            })
        else { return "" }
        let afterSlashes = bytes[bytes.index(doubleSlash, offsetBy: 2)...]
        return Substring(afterSlashes.prefix { $0 != slash && $0 != query && $0 != fragment })
    }

    /// The host of an authority, without the port.
    private static func host(in authority: Substring) -> String {
        let hostEnd =
            authority.hasPrefix("[")
            ? authority.firstIndex(of: "]").map(authority.index(after:))
            : authority.firstIndex(of: ":")
        return String(authority[..<(hostEnd ?? authority.endIndex)])
    }
}

/// The owner of one libcurl URL handle.
final class URLHandle {
    let pointer: OpaquePointer

    init() throws(TransportError) {
        try startLibrary()
        guard let pointer = curl_url() else {
            throw .refused(.other, "libcurl gave no handle; the process is short of memory")
        }
        self.pointer = pointer
    }

    deinit { curl_url_cleanup(pointer) }

    func parse(_ text: String) -> Bool {
        curl_url_set(pointer, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK
    }

    func set(_ part: CURLUPart, _ text: String) -> Bool {
        curl_url_set(pointer, part, text, 0) == CURLUE_OK
    }

    /// Scheme, host and port; a port that the URL does not contain is the scheme's default.
    var origin: [String?] {
        [
            part(CURLUPART_SCHEME)?.lowercased(), part(CURLUPART_HOST)?.lowercased(),
            part(CURLUPART_PORT, CURLU_DEFAULT_PORT),
        ]
    }

    func part(_ part: CURLUPart, _ flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(pointer, part, &text, UInt32(flags)) == CURLUE_OK, let text else {
            return nil
        }
        defer { curl_free(text) }
        return String(cString: text)
    }
}

/// Classifies hosts by their text or their address.
package enum HostPlace {
    /// Whether a host, as it is written in a URL, is certainly this machine: `localhost`,
    /// 127.0.0.0/8 as four decimal numbers, or `[::1]` (RFC 6761, RFC 1122, RFC 4291).
    ///
    /// Other spellings of those addresses, such as `0x7f.1`, `2130706433` or `[::ffff:127.0.0.1]`,
    /// are not accepted, because libraries parse them differently.
    package static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "[::1]"].contains(host.lowercased()) { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { number in
                // A number with leading zeros is not accepted.
                guard let byte = UInt8(number) else { return false }
                return String(byte) == number
            }
    }

    /// Whether a host, as it is written in a URL, may be this machine or in a private network.
    ///
    /// True for every IP address that is not public, in any spelling, and for names that are never
    /// public. The address of any other name is known only after the look-up; see
    /// ``HTTPRequest/isPublicOnly``.
    package static func mayBeLocal(_ host: String) -> Bool {
        let name = (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
        if name.hasPrefix("[") {
            var address = in6_addr()
            guard inet_pton(AF_INET6, String(name.dropFirst().dropLast()), &address) == 1 else {
                return true
            }
            return withUnsafeBytes(of: address) { isLocal(version6: Array($0)) }
        }
        var address = in_addr()
        // Accepts every spelling that a library might accept.
        if inet_aton(name, &address) != 0 {
            return isLocal(version4: UInt32(bigEndian: address.s_addr))
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let lastLabel = labels.last else { return true }
        return localDomains.contains(String(lastLabel)) || name.hasSuffix(".home.arpa")
    }

    /// Whether a resolved address is not public.
    static func isLocal(_ address: UnsafePointer<sockaddr>) -> Bool {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return isLocal(
                version4: UInt32(bigEndian: raw.load(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            return withUnsafeBytes(of: raw.load(as: sockaddr_in6.self).sin6_addr) {
                isLocal(version6: Array($0))
            }
        default: return true
        }
    }

    /// Last labels of names that are never public (RFC 6761, RFC 6762, RFC 8375, and the name
    /// reserved for private use in 2024).
    private static let localDomains: Set = [
        "localhost", "local", "internal", "lan", "home", "corp", "test", "invalid",
    ]

    /// The address ranges that are not globally reachable (RFC 6890 and its registry): the first
    /// address and the prefix length.
    private static let localRanges: [(first: UInt32, prefixLength: Int)] = [
        (0, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
        (0xAC10_0000, 12),
        (0xC000_0000, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xE000_0000, 3),
    ]

    private static func isLocal(version4 address: UInt32) -> Bool {
        localRanges.contains { first, prefixLength in
            // The exclusive or is 0 in each bit in which both addresses are equal.
            (address ^ first) >> (32 - prefixLength) == 0
        }
    }

    private static func isLocal(version6 bytes: [UInt8]) -> Bool {
        func embedded(at index: Int) -> Bool {
            var address: UInt32 = 0
            for byte in bytes[index..<index + 4] { address = address << 8 | UInt32(byte) }
            return isLocal(version4: address)
        }
        // IPv6 addresses that contain an IPv4 one: mapped, translated (RFC 6052) and 6to4 (RFC
        // 3056).
        if bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) {
            return embedded(at: 12)
        }
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return embedded(at: 12)
        }
        if bytes.starts(with: [0x20, 0x02]) { return embedded(at: 2) }
        // Only 2000::/3 is assigned to machines on the Internet.
        return bytes[0] >> 5 != 1
    }
}
