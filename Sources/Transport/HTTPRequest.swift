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
    /// The bytes to send, if any; the Content-Type is the caller's to set.
    package var body: [UInt8]?
    /// How long the whole exchange may take, from the name look-up to the last byte.
    package var timeout: Duration
    /// The largest body accepted, counted after decompression.
    package var maximumBodyBytes: Int
    /// For a GET without a body: goes where the server sends, as long as that is the same scheme,
    /// host and port.
    ///
    /// Three times at most, and within the same timeout.
    package var followsRedirects: Bool
    /// Goes to public addresses only: for a host that somebody else named, whose name may lead to
    /// this machine or its network.
    ///
    /// Where a proxy of the environment carries the request, the proxy decides where names lead.
    package var isPublicOnly = false
    /// An address of the web or of mail, or an account's name, that the user agent names for
    /// questions about this program.
    ///
    /// A text that ``HTTPClient/isContact(_:)`` refuses is not sent.
    package var contact: String?
    /// Whether the request may still leave; nil for always.
    ///
    /// Asked on the client's thread when a connection is there, right before the first byte. A
    /// request that may not fails as one that did not leave.
    package var mayLeave: (@Sendable () -> Bool)?
    /// Takes plain `http:` for the hosts of a private network too: for an address that whoever runs
    /// this program chose.
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

    /// Why the URL cannot be asked; nil if it can.
    ///
    /// Names no part of it but the host.
    package var problem: String? {
        do throws(TransportError) {
            _ = try RequestURL(url, allowsPlainNearby: allowsPlainNearby)
            return nil
        } catch {
            return error.message
        }
    }

    /// Where to ask instead; nil where that is not done.
    func redirected(by response: HTTPResponse) -> String? {
        guard followsRedirects, method == .get, body == nil,
            [301, 302, 303, 307, 308].contains(response.status)
        else {
            return nil
        }
        return response.headers["Location"].flatMap { RequestURL.redirected(from: url, to: $0) }
    }

    /// The method alone: a URL, a header or a body may hold secrets.
    package var description: String { "HTTPRequest(\(method.rawValue))" }

    package var customMirror: Mirror { Mirror(self, children: ["method": method.rawValue]) }
}

/// A server's response, whatever the status.
package struct HTTPResponse: Sendable, CustomStringConvertible {
    /// 100 through 999; 3xx too, where a redirect is not followed.
    package var status: Int
    package var headers: HTTPHeaders
    /// The body, decompressed.
    package var body: [UInt8]
    /// The body is only the beginning of one that is larger than the request allows.
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
/// Names compare without regard to ASCII case. Values may be secret (tokens), so printing shows the
/// names only.
package struct HTTPHeaders: Sendable, CustomStringConvertible, CustomReflectable {
    /// The fields in order, names as written.
    package private(set) var pairs: [(name: String, value: String)]

    package init(_ pairs: [(String, String)] = []) {
        self.pairs = pairs.map { (name: $0.0, value: $0.1) }
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
        guard let last = pairs.indices.last else { return }
        pairs[last].value += " " + text
    }

    package var description: String { "[" + pairs.map(\.name).joined(separator: ", ") + "]" }

    package var customMirror: Mirror { Mirror(self, children: ["names": pairs.map(\.name)]) }

    private static func areEqual(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8) { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
