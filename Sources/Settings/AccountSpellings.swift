import Foundation
import Localization
import Transport

/// The address of a server in any spelling.
package enum ServerURL {
    /// `https://host[:port]`; a bare host means https, and only loopback may use http.
    ///
    /// Returns the canonical form: lower case, no default port, no dot or slash at the end.
    ///
    /// - Parameters:
    ///   - text: The address.
    ///   - setting: The setting's name, for errors.
    /// - Returns: The address.
    /// - Throws: ``ConfigurationError``.
    package static func normalized(_ text: String, setting: String) throws -> String {
        let urlText = text.contains("://") ? text : "https://\(text)"
        guard let parts = URLComponents(string: urlText), let scheme = parts.scheme?.lowercased(),
            // In the encoded host, as in requests, names with non-ASCII letters begin with `xn--`.
            ["http", "https"].contains(scheme), var host = parts.encodedHost?.lowercased(),
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil,
            parts.path.isEmpty || parts.path == "/"
        else { throw ConfigurationError(setting, localized("is not of the form https://host")) }
        if host.hasSuffix(".") { host.removeLast() }
        guard isHost(host), (1...65_535).contains(parts.port ?? 1) else {
            throw ConfigurationError(setting, localized("is not of the form https://host"))
        }
        guard scheme == "https" || HostPlace.isLoopback(host) else {
            throw ConfigurationError(
                setting,
                localized(
                    "is plain http, which is for localhost, 127.0.0.1 and [::1] only; use https"))
        }
        let defaultPort = scheme == "https" ? 443 : 80
        let port = parts.port.flatMap { $0 == defaultPort ? nil : ":\($0)" } ?? ""
        return "\(scheme)://\(host)\(port)"
    }

    /// Whether `text` is a host name or IPv4 address in ASCII, or an IPv6 address in brackets.
    private static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("["), text.hasSuffix("]") {
            var address = in6_addr()
            return inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1
        }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 253
            && labels.allSatisfy { label in
                !label.isEmpty
                    // Digits, lower-case letters, `-` and `_`.
                    && label.allSatisfy { byte in
                        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
                            || byte == 0x5F
                    }
            }
    }
}

/// A handle or DID in any spelling.
package enum BlueskyIdentifier {
    /// Returns `name.example` in lower case and without `@`, or the DID unchanged.
    ///
    /// - Parameters:
    ///   - text: The handle or DID.
    ///   - setting: The setting's name, for errors.
    /// - Returns: The handle or DID.
    /// - Throws: ``ConfigurationError``.
    package static func normalized(_ text: String, setting: String) throws -> String {
        if text.hasPrefix("did:") {
            // Digits, letters, and the signs `%-.:_`.
            let isPlain = text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte)
                    || [0x25, 0x2D, 0x2E, 0x3A, 0x5F].contains(byte)
            }
            if isPlain, text.utf8.count <= 2_048, text.split(separator: ":").count >= 3 {
                return text
            }
        }
        let handle = text.drop { $0 == "@" }.lowercased()
        let labels = handle.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isHandle =
            handle.utf8.count <= 253 && labels.count >= 2
            && labels.allSatisfy { label in
                (1...63).contains(label.count)
                    // Lower-case letters, digits and `-`.
                    && label.allSatisfy {
                        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
                    }
            }
        guard isHandle else {
            throw ConfigurationError(
                setting, localized("is not a handle such as name.bsky.social, nor a DID"))
        }
        return handle
    }
}
