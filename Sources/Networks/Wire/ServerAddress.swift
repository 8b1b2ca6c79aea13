import Foundation
import Localization
package import Posts
import Transport

/// The address of a server: the scheme and host that requests go to.
package struct ServerAddress: Sendable, Equatable {
    /// Scheme, host and port, without a slash at the end.
    package let base: String
    /// The host without the port, in lower case.
    package let host: String
    /// Whether the address is not from the operator's settings; then no connection is made if the
    /// name resolves to this machine or its network.
    package var isPublicOnly = false

    /// - Parameters:
    ///   - text: `https://host`, or `host` alone; `http://` is allowed for loopback hosts only.
    ///   - network: The network that the error names.
    /// - Throws: ``NetworkError`` with code `.configuration` for any other text.
    package init(_ text: String, network: NetworkName) throws(NetworkError) {
        func error(_ cause: String) -> NetworkError {
            NetworkError(
                code: .configuration, network: network, host: localized("the configured server"),
                operation: .configure,
                detail: cause, outcome: .notSent, isAnonymous: true)
        }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let withScheme = trimmed.contains("://") ? trimmed : "https://\(trimmed)"
        guard let separator = withScheme.range(of: "://") else {
            throw error(localized("it has no host"))
        }
        let scheme = withScheme[..<separator.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else {
            throw error(localized("its scheme is not https"))
        }
        var authority = withScheme[separator.upperBound...]
        while authority.hasSuffix("/") { authority.removeLast() }
        guard !authority.contains("@") else {
            throw error(localized("it holds a user name; leave that out"))
        }
        guard authority.isVisibleASCII else {
            throw error(
                localized("it has a character that is not ASCII; write the xn-- form of the host"))
        }
        guard let host = Self.host(of: authority) else {
            throw error(localized("it is not a host; expected https://social.example"))
        }
        guard scheme == "https" || HostPlace.isLoopback(String(host)) else {
            throw error(
                localized("plain http is for localhost, 127.0.0.1 and [::1] only; use https"))
        }
        self.base = "\(scheme)://\(authority.lowercased())"
        self.host = host.lowercased()
    }

    /// The part before the port; nil unless it is a host name or an address, and the port is valid.
    private static func host(of authority: Substring) -> Substring? {
        let end =
            authority.hasPrefix("[")
            ? authority.firstIndex(of: "]").map(authority.index(after:))
            : authority.firstIndex(of: ":") ?? authority.endIndex
        guard let end, isHost(authority[..<end]) else { return nil }
        let port = authority[end...]
        guard !port.isEmpty else { return authority }
        let digits = port.dropFirst()
        let isPort =
            port.hasPrefix(":") && digits.utf8.count <= 5 && digits.utf8.allSatisfy(\.isDigit)
        return isPort && (1...65_535).contains(Int(digits) ?? 0) ? authority[..<end] : nil
    }

    private static func isHost(_ text: Substring) -> Bool {
        if text.hasPrefix("[") {
            var address = in6_addr()
            return inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1
        }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        let isName = text.utf8.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
        // A single dot at the end is allowed.
        let requiredLabels = labels.last?.isEmpty == true ? labels.dropLast() : labels[...]
        let hasEmptyLabel = requiredLabels.contains(where: \.isEmpty)
        return isName && !hasEmptyLabel && (1...253).contains(text.utf8.count)
    }
}
