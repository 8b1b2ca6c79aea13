import CCurl

/// The library as a whole.
enum CurlLibrary {
    /// libcurl wants one initialisation per process (curl_global_init(3)); a global constant is made once.
    private static let result = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// - Throws: ``TransportError`` when the library cannot be used at all.
    static func initialize() throws(TransportError) {
        guard result == CURLE_OK else {
            throw .refused(.other, "libcurl did not start: \(text(for: result))")
        }
    }

    /// The library's fixed sentence for a code.
    static func text(for code: CURLcode) -> String {
        String(cString: curl_easy_strerror(code))
    }
}

extension Duration {
    /// Whole milliseconds for libcurl, which reads zero as "no limit" and takes at most a 32-bit number.
    var curlMilliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < 2_000_000 else { return 2_000_000_000 }
        guard seconds >= 0 else { return 1 }
        return max(1, Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
