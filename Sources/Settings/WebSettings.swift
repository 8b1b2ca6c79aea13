import Foundation
import Localization
package import Posts
import Transport

/// The address of the web page, and the access to it.
package struct WebSettings: Sendable {
    /// The least length of a password, in characters.
    private static let shortestPassword = 8

    /// An address and a port to listen on.
    package struct Listening: Equatable, Sendable, CustomStringConvertible {
        /// An IP address or a name, without brackets.
        package let host: String
        /// The port; 0 for any free one.
        package let port: Int

        /// Parses `127.0.0.1:8080` or `[::1]:8080`; nil for any other text.
        package init?(_ text: String) {
            guard let colon = text.lastIndex(of: ":"),
                let port = UInt16(text[text.index(after: colon)...])
            else {
                return nil
            }
            var host = String(text[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = String(host.dropFirst().dropLast())
            } else if host.contains(":") {
                return nil
            }
            let isHost = host.utf8.allSatisfy { $0.isASCIIAlphanumeric || ".:-%".utf8.contains($0) }
            guard !host.isEmpty, isHost else { return nil }
            self.host = host
            self.port = Int(port)
        }

        /// Whether it is reachable only from this machine.
        package var isLoopback: Bool { Self.isLoopback(host) }

        package static func isLoopback(_ host: String) -> Bool {
            if host == "localhost" || host == "::1" { return true }
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } && parts[0] == "127"
        }

        package var description: String {
            host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The address of the page in browsers.
    package struct Address: Equatable, Sendable {
        /// Scheme and host in lower case, without a slash at the end.
        package let text: String
        /// The host in the form of ``WebSettings/hosts``.
        let host: String
    }

    package var listening: Listening
    /// The address of the page in browsers: scheme and host, without a slash at the end; nil if
    /// unknown.
    package let address: String?
    /// The password; nil for none.
    package let password: Secret?
    /// The host names that requests may use, besides `localhost` and IP addresses; in lower case.
    ///
    /// They include the host of ``address``.
    package let hosts: Set<String>
    /// The header in which a reverse proxy passes the logged-in user; nil for none.
    package let userHeader: String?
    /// The addresses of reverse proxies whose headers about the client are trusted.
    package let proxies: [NetworkRange]

    /// - Parameters:
    ///   - values: The settings, unparsed.
    ///   - environment: Other variables of the process: `PORT`.
    /// - Throws: ``ConfigurationError`` for a value that cannot be used.
    package init(_ values: SettingValues, environment: [String: String]) throws {
        let port = environment["PORT"].flatMap { UInt16($0) }
        let defaultAddress = port.map { "0.0.0.0:\($0)" } ?? "127.0.0.1:8080"
        listening =
            try values[.webListen]
            ?? Self.listening(defaultAddress, named: Setting.webListen.name)
        password = values[.webPassword]
        let pageAddress = values[.webAddress]
        address = pageAddress?.text
        var names = values[.webHosts]
        if let host = pageAddress?.host, !Listening.isLoopback(host) { names.insert(host) }
        hosts = names
        userHeader = values[.webUserHeader]
        proxies = values[.webProxies]
    }

    /// Fails for a text that is no password.
    ///
    /// - Throws: ``ConfigurationError``.
    static func requirePassword(_ text: String, named name: String) throws {
        guard text.count >= shortestPassword else {
            throw ConfigurationError(
                name, localized("is too short; expected \(shortestPassword) characters or more"))
        }
        let isBlank = !text.contains {
            $0.isLetter || $0.isNumber || $0.isPunctuation || $0.isSymbol
        }
        guard !isBlank else {
            throw ConfigurationError(
                name, localized("has no visible character; choose another one"))
        }
    }

    /// Parses names with commas between them.
    ///
    /// - Throws: ``ConfigurationError``.
    static func hosts(_ text: String, named setting: String) throws -> Set<String> {
        let names = text.split(separator: ",").map {
            $0.filter { !$0.isWhitespace }.lowercased()
        }
        for name in names
        where !name.utf8.allSatisfy({ $0.isASCIIAlphanumeric || ".-".utf8.contains($0) }) {
            throw ConfigurationError(
                setting,
                localized(
                    "has \"\(name.prefix(60))\"; expected names as mirror.example.org, with commas between"
                )
            )
        }
        return Set(names)
    }

    /// Returns a header's name; fails if browsers, or proxies without a login, send that header.
    ///
    /// - Throws: ``ConfigurationError``.
    static func userHeader(_ header: String, named name: String) throws -> String {
        guard header.utf8.allSatisfy({ $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }) else {
            throw ConfigurationError(
                name,
                localized("is \"\(header.prefix(60))\"; expected a header's name as Remote-User"))
        }
        guard !isSentByOthers(header) else {
            throw ConfigurationError(
                name,
                localized(
                    "is \(header), which browsers or any proxy send too; expected one of the proxy's own as Remote-User"
                )
            )
        }
        return header
    }

    /// Parses addresses and ranges with commas between them.
    ///
    /// - Throws: ``ConfigurationError``.
    static func proxies(_ text: String, named name: String) throws -> [NetworkRange] {
        try text.split(separator: ",").map { part in
            let text = part.filter { !$0.isWhitespace }
            guard let range = NetworkRange(text) else {
                throw ConfigurationError(
                    name,
                    localized(
                        "has \"\(text.prefix(60))\"; expected IP addresses or ranges as 172.18.0.0/16, with commas between"
                    )
                )
            }
            return range
        }
    }

    /// Parses `--listen` or `WEB_LISTEN`.
    ///
    /// - Throws: ``ConfigurationError``.
    package static func listening(_ text: String, named name: String) throws -> Listening {
        guard let listening = Listening(text) else {
            throw ConfigurationError(
                name,
                localized(
                    "is \"\(text.prefix(60))\"; expected an address and a port as 127.0.0.1:8080"))
        }
        return listening
    }

    /// Parses scheme and host.
    ///
    /// - Throws: ``ConfigurationError``.
    static func address(_ text: String, named name: String) throws -> Address {
        let address = (text.hasSuffix("/") ? String(text.dropLast()) : text).lowercased()
        let parts = URLComponents(string: address)
        guard let parts, let host = parts.host, !host.isEmpty, parts.path.isEmpty,
            parts.query == nil, parts.fragment == nil, parts.user == nil, parts.password == nil,
            host.utf8.allSatisfy({ $0.isASCIIAlphanumeric || ".-:[]".utf8.contains($0) })
        else {
            throw ConfigurationError(
                name,
                localized(
                    "is \"\(text.prefix(60))\"; expected scheme and host as https://mirror.example.org"
                ))
        }
        if let problem = NoticeConfiguration.request(to: address).problem {
            let hint =
                parts.scheme == "http"
                ? localized("plain http is for this machine and its network only; use https")
                : problem
            throw ConfigurationError(name, localized("cannot be used: \(hint)"))
        }
        return Address(text: address, host: host.filter { !"[]".contains($0) })
    }

    /// Whether a login is required.
    package var needsLogin: Bool { password != nil || userHeader != nil }

    /// Whether a connection from this address is from a listed proxy.
    package func isProxy(_ peer: NetworkAddress) -> Bool { proxies.contains { $0.contains(peer) } }

    /// Whether a trusted reverse proxy reports a logged-in user.
    ///
    /// - Parameters:
    ///   - users: The values of ``userHeader`` in a request. With two, one was sent by the browser
    ///     and not removed.
    ///   - peer: The address of the connection's other end.
    package func isLoggedIn(_ users: [String], by peer: String) -> Bool {
        guard let address = NetworkAddress(peer), address.isLoopback || isProxy(address) else {
            return false
        }
        return users.count == 1 && users[0].contains { !$0.isWhitespace }
    }

    /// Headers that browsers send, or that proxies send without a login; in lower case.
    private static let sentByOthers: Set = [
        "age", "alt-used", "authorization", "cache-control", "connection", "cookie", "cookie2",
        "date",
        "device-memory", "dnt", "downlink", "dpr", "early-data", "ect", "expect", "forwarded",
        "from", "host",
        "http2-settings", "keep-alive", "last-event-id", "max-forwards", "origin", "pragma",
        "priority", "purpose",
        "range",
        "referer", "rtt", "save-data", "te", "trailer", "transfer-encoding", "upgrade",
        "upgrade-insecure-requests",
        "user-agent", "via", "viewport-width", "warning", "width", "x-client-ip", "x-csrf-token",
        "x-purpose",
        "x-real-ip", "x-request-id", "x-requested-with", "x-scheme",
    ]
    /// The beginnings of the names of further such headers.
    private static let prefixesSentByOthers = [
        "accept", "access-control-", "cf-", "content-", "if-", "ping-", "proxy-", "sec-",
        "service-worker",
        "x-forwarded-", "x-original-", "x-moz",
    ]

    private static func isSentByOthers(_ header: String) -> Bool {
        let name = header.lowercased()
        return sentByOthers.contains(name) || prefixesSentByOthers.contains { name.hasPrefix($0) }
    }

    /// Whether requests from other machines can be expected.
    private var isOpen: Bool { !listening.isLoopback || !hosts.isEmpty || !proxies.isEmpty }

    /// Throws if the page would be accessible from other machines without a login, or with a weak
    /// password.
    ///
    /// - Throws: ``ConfigurationError``.
    package func requireSafe() throws {
        if isOpen, let password, WeakPassword.isGuessed(password.reveal()) {
            throw ConfigurationError(
                Setting.webPassword.name,
                localized(
                    "is among the passwords that are guessed first, and others than this machine can try; choose a longer one of several words"
                ))
        }
        guard !listening.isLoopback, !needsLogin else { return }
        throw ConfigurationError(
            Setting.webPassword.name,
            localized(
                "is not set, and \(listening) can be reached from other machines; set it, or \(Setting.webUserHeader.name) behind a reverse proxy that logs people in, or listen on 127.0.0.1"
            )
        )
    }
}
