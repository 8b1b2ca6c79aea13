import CCurl
import Foundation

/// A URL that passed the rules, in the form libcurl itself parsed: what was checked is what is used.
struct RequestURL {
    let handle: URLHandle
    /// The host as libcurl will look it up, without user name or port.
    let host: String
    let isLoopback: Bool

    /// - Throws: ``TransportError`` with code `.invalidURL` or `.forbiddenScheme`.
    init(_ text: String) throws(TransportError) {
        guard text.utf8.count <= 16_384 else { throw .refused(.invalidURL, "the URL is longer than 16,384 bytes") }
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }) else {
            throw .refused(
                .invalidURL, "the URL has a space, a backslash, or a control or non-ASCII character; percent-encode it")
        }
        guard !Self.namesUser(text) else {
            throw .refused(.invalidURL, "the URL has a user name; send credentials in a header")
        }
        handle = try URLHandle()
        guard handle.parse(text) else { throw .refused(.invalidURL, "the URL is not an absolute http or https URL") }
        guard handle.part(CURLUPART_USER) == nil, handle.part(CURLUPART_PASSWORD) == nil else {
            throw .refused(.invalidURL, "the URL has a user name; send credentials in a header")
        }
        guard let scheme = handle.part(CURLUPART_SCHEME), let host = handle.part(CURLUPART_HOST), !host.isEmpty else {
            throw .refused(.invalidURL, "the URL has no host")
        }
        self.host = host
        isLoopback = Self.isLoopback(host)
        try Self.check(scheme: scheme.lowercased(), host: host, isLoopback: isLoopback)
    }

    private static func check(scheme: String, host: String, isLoopback: Bool) throws(TransportError) {
        switch scheme {
        case "https": return
        case "http" where isLoopback: return
        case "http":
            throw .refused(.forbiddenScheme, host: host, "plain http is for loopback hosts only; use https")
        default:
            throw .refused(.forbiddenScheme, host: host, "only https is spoken here")
        }
    }

    /// Whether there is an `@` between `//` and the path, as written.
    private static func namesUser(_ text: String) -> Bool {
        guard let start = text.utf8.firstRange(of: "//".utf8)?.upperBound else { return false }
        return text.utf8[start...].prefix { !"/?#".utf8.contains($0) }.contains(UInt8(ascii: "@"))
    }

    /// True for `localhost`, 127.0.0.0/8 and ::1 (RFC 6761, RFC 1122, RFC 4291).
    static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        var four = in_addr()
        // inet_pton takes four decimal numbers only: no octal, no short forms.
        if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        guard host.hasPrefix("["), host.hasSuffix("]") else { return false }
        var six = in6_addr()
        guard inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &six) == 1 else { return false }
        return withUnsafeBytes(of: six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }
}

/// The owner of one libcurl URL handle.
final class URLHandle {
    let pointer: OpaquePointer

    init() throws(TransportError) {
        try CurlLibrary.initialize()
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

    func part(_ part: CURLUPart) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(pointer, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
