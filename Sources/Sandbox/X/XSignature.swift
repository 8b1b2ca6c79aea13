import Crypto
import Foundation

/// The signature of OAuth 1.0a with HMAC-SHA1, from RFC 5849 §3.4.
struct XSignature: Sendable {
    var method: String
    /// Scheme, host and path, without query.
    var address: String
    /// Everything that is signed: query, form and protocol parameters, decoded.
    var parameters: [(name: String, value: String)]

    /// Names and values escaped, in the order of their bytes.
    var parameterText: String {
        parameters.map { (Self.escaped($0.name), Self.escaped($0.value)) }
            .sorted { $0.0 == $1.0 ? Self.precedes($0.1, $1.1) : Self.precedes($0.0, $1.0) }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// What is signed.
    var base: String {
        [method.uppercased(), Self.escaped(address), Self.escaped(parameterText)].joined(separator: "&")
    }

    /// The signature in Base64; without a token its secret is empty.
    func text(consumerSecret: String, tokenSecret: String) -> String {
        let key = Self.escaped(consumerSecret) + "&" + Self.escaped(tokenSecret)
        let code = HMAC<Insecure.SHA1>.authenticationCode(
            for: Data(base.utf8), using: SymmetricKey(data: Data(key.utf8)))
        return Data(code).base64EncodedString()
    }

    /// Letters, digits and `-._~` stay; every other byte becomes `%` and two digits.
    static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func precedes(_ one: String, _ other: String) -> Bool {
        one.utf8.lexicographicallyPrecedes(other.utf8)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

extension XSignature {
    /// What a request over plain HTTP must have signed.
    ///
    /// A JSON body takes no part, a form does.
    init(_ request: WireRequest, authorization: XAuthorization) {
        let form =
            request.mediaType == "application/x-www-form-urlencoded"
            ? WireRequest.form(String(decoding: request.body, as: UTF8.self)) : []
        self.init(
            method: request.method, address: Self.address(of: request),
            parameters: request.query + form + authorization.signed)
    }

    /// The address that the client called, from the `Host` header and the path as sent.
    private static func address(of request: WireRequest) -> String {
        var host = (request.header("host") ?? "").lowercased()
        if host.hasSuffix(":80") { host.removeLast(3) }
        return "http://" + host + request.target.prefix { $0 != "?" }
    }
}

/// The parameters of an `Authorization: OAuth …` header.
struct XAuthorization: Sendable {
    /// Decoded, in the order they were sent.
    private(set) var parameters: [(name: String, value: String)] = []

    /// - Parameter header: The value; nil or another scheme than OAuth gives nil, as does what cannot be read.
    init?(_ header: String?) {
        guard let header, header.prefix(6).lowercased() == "oauth " else { return nil }
        for part in header.dropFirst(6).split(separator: ",") {
            let pair = part.trimmingCharacters(in: .whitespaces).split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[1].count >= 2, pair[1].first == "\"", pair[1].last == "\"",
                let name = pair[0].removingPercentEncoding,
                let value = String(pair[1].dropFirst().dropLast()).removingPercentEncoding
            else { return nil }
            parameters.append((name, value))
        }
    }

    subscript(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The parameters that the signature covers.
    var signed: [(name: String, value: String)] {
        parameters.filter { $0.name != "oauth_signature" && $0.name != "realm" }
    }
}
