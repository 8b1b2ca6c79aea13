/// How much a TLS connection trusts the certificate it is shown.
package enum TLSVerification: Hashable, Sendable {
    /// A chain to a known authority, and the host's name in the certificate.
    case full
    /// Nothing is checked: protects against listeners, not against an impostor.
    case none
    /// The key is the one expected, whoever signed the certificate and whatever name it bears.
    case pinned(PublicKeyPin)
}

/// The SHA-256 of a server's public key (its SubjectPublicKeyInfo in DER form), as libcurl compares it.
///
/// From a certificate: `openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der |
/// openssl dgst -sha256 -binary | base64`.
package struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
    /// 44 characters of Base64.
    let base64: String

    /// Nil unless `text` is the Base64 form of 32 bytes, with or without `sha256//` before it.
    package init?(_ text: some StringProtocol) {
        let digits = text.hasPrefix("sha256//") ? String(text.dropFirst(8)) : String(text)
        // 32 bytes are 42 characters of six bits, one of four, and a padding character.
        guard digits.utf8.count == 44, digits.hasSuffix("="), !digits.hasSuffix("=="),
            digits.utf8.dropLast().allSatisfy(Self.isBase64Digit)
        else { return nil }
        base64 = digits
    }

    package var description: String { "sha256//" + base64 }

    private static func isBase64Digit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "+"), UInt8(ascii: "/"): true
        default: false
        }
    }
}

/// Where a ``ByteStream`` leads.
package struct ByteStreamEndpoint: Hashable, Sendable {
    /// A name or an address; an IPv6 address without brackets.
    package var host: String
    /// 1 through 65535.
    package var port: Int
    /// Nil for a connection without TLS.
    package var tls: TLSVerification?
    /// A PEM file of the authorities to trust instead of the system's.
    package var caBundlePath: String?

    package init(host: String, port: Int, tls: TLSVerification? = nil, caBundlePath: String? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
        self.caBundlePath = caBundlePath
    }
}
