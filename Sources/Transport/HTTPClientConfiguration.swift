/// What all requests of an ``HTTPClient`` have in common.
///
/// Proxies come from the environment as libcurl reads it (`https_proxy`, `all_proxy`, `no_proxy`); loopback hosts are
/// never reached through one.
package struct HTTPClientConfiguration: Sendable {
    /// Sent with every request.
    ///
    /// What is not printable ASCII is dropped; an empty text becomes `mirror-bot`.
    package var userAgent: String
    /// How long the name look-up, the connection and the TLS handshake may take together.
    package var connectTimeout: Duration
    /// How long a transfer may go without a byte in either direction.
    package var stallTimeout: Duration
    /// A PEM file of the authorities to trust instead of the system's.
    package var caBundlePath: String?

    package init(
        userAgent: String,
        connectTimeout: Duration = .seconds(10),
        stallTimeout: Duration = .seconds(60),
        caBundlePath: String? = nil
    ) {
        let printable = String(userAgent.unicodeScalars.filter { (0x20...0x7e).contains($0.value) })
        self.userAgent = printable.allSatisfy { $0 == " " } ? "mirror-bot" : printable
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
        self.caBundlePath = caBundlePath
    }
}
