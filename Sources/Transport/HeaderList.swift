import CCurl

/// The header lines of one request, as libcurl wants them; the owner of the list.
final class HeaderList {
    private(set) var pointer: UnsafeMutablePointer<curl_slist>?

    init() {}

    deinit { curl_slist_free_all(pointer) }

    /// Adds one line.
    ///
    /// - Throws: ``TransportError`` when memory ran out.
    func append(_ line: String) throws(TransportError) {
        guard let extended = curl_slist_append(pointer, line) else {
            throw .refused(.other, "libcurl could not keep a header; the process is short of memory")
        }
        pointer = extended
    }

    /// Headers that decide where a message ends, or that libcurl sets from the request itself.
    private static let reserved: Set<String> = ["connection", "content-length", "expect", "host", "transfer-encoding"]

    /// The line for a header field.
    ///
    /// - Throws: ``TransportError`` with code `.invalidHeader` for anything that could end the line early or change
    ///   where the request ends (RFC 9110, section 5).
    static func line(name: String, value: String) throws(TransportError) -> String {
        guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else {
            throw .refused(.invalidHeader, "a header name has a character that is not allowed in one")
        }
        guard !reserved.contains(name.lowercased()) else {
            throw .refused(.invalidHeader, "the header \(name) is set by the client itself")
        }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
            throw .refused(.invalidHeader, "the value of the header \(name) has a control character")
        }
        // "Name:" would tell libcurl to leave the header out; "Name;" sends it empty (CURLOPT_HTTPHEADER(3)).
        return value.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) ? "\(name);" : "\(name): \(value)"
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
