/// A request to send.
package struct HTTPRequest: Sendable, CustomStringConvertible, CustomReflectable {
    /// The HTTP method of a request.
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    package var method: Method
    /// An absolute `https:` URL, or `http:` for a loopback host, percent-encoded to visible ASCII.
    package var url: String
    package var headers: HTTPHeaders
    /// The bytes to send, if any; the caller sets the Content-Type.
    package var body: [UInt8]?
    /// The time limit for the whole exchange, from the name look-up to the last byte.
    package var timeout: Duration
    /// The largest body accepted, counted after decompression.
    package var maximumBodyBytes: Int
    /// Follows redirects of a GET without a body, as long as scheme, host and port stay the same.
    ///
    /// Three times at most, and within the same timeout.
    package var followsRedirects: Bool
    /// Whether to connect to public addresses only.
    ///
    /// This is for hosts from an untrusted source, whose names may resolve to an address of this
    /// machine or its network. If the environment names a proxy, the proxy resolves the name.
    package var isPublicOnly = false
    /// A web or mail address, or an account's name, for questions about this program; it becomes a
    /// part of the user agent.
    ///
    /// A text that ``HTTPClient/isContact(_:)`` refuses is left out.
    package var contact: String?
    /// Returns whether the request may still be sent; nil to send it always.
    ///
    /// Called on the client's thread when a connection is open, right before the first byte is
    /// sent. If it returns false, the request fails with `requestDidNotLeave`.
    package var mayLeave: (@Sendable () -> Bool)?
    /// Whether to allow `http:` without TLS also for hosts of a private network, because the
    /// operator chose the address.
    package var allowsPlainNearby = false

    package init(
        method: Method = .get,
        url: String,
        headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8]? = nil,
        timeout: Duration = .seconds(30),
        maximumBodyBytes: Int = 8 << 20,
        followsRedirects: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.maximumBodyBytes = maximumBodyBytes
        self.followsRedirects = followsRedirects
    }

    /// The reason why the URL cannot be requested; nil if it can.
    ///
    /// The text contains no part of the URL except the host.
    package var problem: String? {
        do throws(TransportError) {
            _ = try RequestURL(url, allowsPlainNearby: allowsPlainNearby)
            return nil
        } catch {
            return error.message
        }
    }

    /// The address to request instead; nil if redirects are not followed.
    func redirected(by response: HTTPResponse) -> String? {
        guard followsRedirects, method == .get, body == nil,
            [301, 302, 303, 307, 308].contains(response.status)
        else {
            return nil
        }
        return response.headers["Location"].flatMap { RequestURL.redirected(from: url, to: $0) }
    }

    /// The method alone, because a URL, a header or a body may contain secrets.
    package var description: String { "HTTPRequest(\(method.rawValue))" }

    package var customMirror: Mirror { Mirror(self, children: ["method": method.rawValue]) }
}

/// A server's response, with any status.
package struct HTTPResponse: Sendable, CustomStringConvertible {
    /// 100 through 999; also 3xx, if a redirect is not followed.
    package var status: Int
    package var headers: HTTPHeaders
    /// The body, decompressed.
    package var body: [UInt8]
    /// Whether the body is only the beginning of one that exceeds the request's limit.
    package var isCut: Bool

    package init(
        status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], isCut: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isCut = isCut
    }

    /// Status and size.
    package var description: String { "HTTPResponse(\(status), \(body.count) bytes)" }
}

/// Header fields in the order they were received or will be sent.
///
/// Names are compared without regard to ASCII case. Values may be secret (tokens), so descriptions
/// contain the names only.
package struct HTTPHeaders: Sendable, CustomStringConvertible, CustomReflectable {
    /// The fields in order, names as written.
    package private(set) var pairs: [(name: String, value: String)]

    package init(_ pairs: [(String, String)] = []) {
        self.pairs = pairs.map { name, value in (name: name, value: value) }
    }

    /// The first value of a field; setting replaces all of them, nil removes them.
    package subscript(name: String) -> String? {
        get { pairs.first { Self.areEqual($0.name, name) }?.value }
        set {
            pairs.removeAll { Self.areEqual($0.name, name) }
            if let newValue { append(name, newValue) }
        }
    }

    /// Every value of a field, in order.
    package func all(_ name: String) -> [String] {
        pairs.filter { Self.areEqual($0.name, name) }.map(\.value)
    }

    /// Adds a field after those of the same name.
    package mutating func append(_ name: String, _ value: String) {
        pairs.append((name: name, value: value))
    }

    /// Adds a continuation line to the last value (the obsolete folding of RFC 9112, section 5.2).
    mutating func extendLast(_ text: String) {
        guard let lastIndex = pairs.indices.last else { return }
        pairs[lastIndex].value += " " + text
    }

    package var description: String { "[" + pairs.map(\.name).joined(separator: ", ") + "]" }

    package var customMirror: Mirror { Mirror(self, children: ["names": pairs.map(\.name)]) }

    private static func areEqual(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8) { leftByte, rightByte in
            lowercased(leftByte) == lowercased(rightByte)
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
