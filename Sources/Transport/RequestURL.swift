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
        // As it was written too: libcurl turns `0x7f.1` and its like into what they may mean.
        isLoopback = HostPlace.isLoopback(host) && HostPlace.isLoopback(Self.writtenHost(text))
        try Self.check(scheme: scheme.lowercased(), host: host, isLoopback: isLoopback)
    }

    /// Where a redirect from one URL leads; nil where it leaves the scheme, host and port.
    static func redirected(from text: String, to location: String) -> String? {
        guard (1...16_384).contains(location.utf8.count), let handle = try? URLHandle(), handle.parse(text) else {
            return nil
        }
        let origin = handle.origin
        // libcurl resolves what is relative against what the handle holds.
        guard handle.parse(location), handle.origin == origin, let next = handle.part(CURLUPART_URL) else { return nil }
        return (try? RequestURL(next)).map { _ in next }
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
    private static func namesUser(_ text: String) -> Bool { writtenAuthority(text).contains("@") }

    /// What is between `//` and the path, as written.
    private static func writtenAuthority(_ text: String) -> Substring {
        guard let start = text.firstRange(of: "//")?.upperBound else { return "" }
        return text[start...].prefix { !"/?#".contains($0) }
    }

    /// The host as written, without the port.
    private static func writtenHost(_ text: String) -> String {
        let authority = writtenAuthority(text)
        let end =
            authority.hasPrefix("[")
            ? authority.firstIndex(of: "]").map(authority.index(after:)) : authority.firstIndex(of: ":")
        return String(authority[..<(end ?? authority.endIndex)])
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

    /// Scheme, host and port, whether or not the port is written.
    var origin: [String?] {
        [
            part(CURLUPART_SCHEME)?.lowercased(), part(CURLUPART_HOST)?.lowercased(),
            part(CURLUPART_PORT, CURLU_DEFAULT_PORT),
        ]
    }

    func part(_ part: CURLUPart, _ flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(pointer, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
