import Foundation
import Posts

/// Where a server is: the scheme and host that requests go to.
struct ServerAddress: Sendable, Equatable {
    /// Scheme, host and port, without a slash at the end.
    let base: String
    /// The host without the port, in lower case.
    let host: String

    /// - Parameters:
    ///   - text: `https://host`, or `host` alone; `http://` works for loopback hosts only, as the transport sees to.
    ///   - network: Named by the error.
    /// - Throws: ``NetworkError`` with code `.configuration` for everything else.
    init(_ text: String, network: NetworkName) throws(NetworkError) {
        func error(_ cause: String) -> NetworkError {
            NetworkError(
                code: .configuration, network: network, host: "the configured server", operation: .configure,
                detail: cause, outcome: .notSent)
        }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let full = trimmed.contains("://") ? trimmed : "https://\(trimmed)"
        guard let separator = full.range(of: "://") else { throw error("it has no host") }
        let scheme = full[..<separator.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { throw error("its scheme is not https") }
        var authority = full[separator.upperBound...]
        while authority.hasSuffix("/") { authority.removeLast() }
        guard !authority.contains("@") else { throw error("it holds a user name; leave that out") }
        let isPlain = authority.isVisibleASCII
        guard isPlain else { throw error("it has a character that is not ASCII; write the xn-- form of the host") }
        guard !authority.isEmpty, !authority.contains(where: { "/?#\\<>\"%".contains($0) }) else {
            throw error("it is not a host; expected https://social.example")
        }
        let host = Self.withoutPort(authority).lowercased()
        guard !host.isEmpty else { throw error("it is not a host; expected https://social.example") }
        self.base = "\(scheme)://\(authority.lowercased())"
        self.host = host
    }

    private static func withoutPort(_ authority: Substring) -> Substring {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") { return authority[...end] }
        return authority.prefix { $0 != ":" }
    }
}
