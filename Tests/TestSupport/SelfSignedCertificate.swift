import Foundation

/// A certificate for localhost and 127.0.0.1 that no authority has signed.
package final class SelfSignedCertificate: Sendable {
    private let folder: TemporaryDirectory

    /// The certificate, in PEM form.
    package var certificatePath: String { folder.path("cert.pem") }

    /// The private key, in PEM form.
    package var keyPath: String { folder.path("key.pem") }

    /// Makes a key and a certificate that is valid for two days.
    package init() async throws {
        folder = try TemporaryDirectory(in: TemporaryDirectory.short)
        try await ChildProcess.run([
            try ServerProcess.locate("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", folder.path("key.pem"), "-out", folder.path("cert.pem"),
        ])
    }

    /// The Base64 form of the SHA-256 of the public key.
    package func publicKeyPin() async throws -> String {
        let key = folder.path("key.der")
        let digest = folder.path("key.sha256")
        let openssl = try ServerProcess.locate("openssl")
        try await ChildProcess.run([
            openssl, "pkey", "-in", keyPath, "-pubout", "-outform", "der", "-out", key,
        ])
        try await ChildProcess.run([openssl, "dgst", "-sha256", "-binary", "-out", digest, key])
        return try Data(contentsOf: URL(fileURLWithPath: digest)).base64EncodedString()
    }
}

/// An HTTPS server that answers every GET with a page about the connection.
package final class TLSPageServer: Sendable {
    private let process: ServerProcess
    /// The port the system chose.
    package let port: Int

    /// Starts openssl's server with a certificate.
    package init(_ certificate: SelfSignedCertificate) async throws {
        let folder = try TemporaryDirectory(in: TemporaryDirectory.short)
        process = try await ServerProcess.start(
            ServerProcess.Recipe(
                command: [
                    try ServerProcess.locate("openssl"), "s_server", "-accept", "127.0.0.1:0",
                    "-www",
                    "-cert", certificate.certificatePath, "-key", certificate.keyPath,
                ], folder: folder.path, stopSignal: "KILL", deathSignal: "KILL")
        ) { Self.port(in: $0) != nil }
        guard let port = Self.port(in: process.log) else {
            throw TestSupportError("could not find openssl's port")
        }
        self.port = port
        self.folder = folder
    }

    private let folder: TemporaryDirectory

    private static func port(in log: String) -> Int? {
        guard let range = log.firstRange(of: "ACCEPT 127.0.0.1:"),
            log[range.upperBound...].contains("\n")
        else {
            return nil
        }
        return Int(log[range.upperBound...].prefix { $0.isNumber })
    }
}
