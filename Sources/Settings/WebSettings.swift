package import Posts

/// Where the web page listens, and who may see it.
package struct WebSettings: Sendable {
    /// The least length of a password, in characters.
    private static let shortestPassword = 8

    /// An address and a port to listen on.
    package struct Listening: Equatable, Sendable, CustomStringConvertible {
        /// An IP address or a name, without brackets.
        package let host: String
        /// 0 for any free one.
        package let port: Int

        /// Parses `127.0.0.1:8080` or `[::1]:8080`; nil for anything else.
        package init?(_ text: String) {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
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
            (self.host, self.port) = (host, Int(port))
        }

        /// Whether only programs on this machine reach it.
        package var isLoopback: Bool { Self.isLoopback(host) }

        package static func isLoopback(_ host: String) -> Bool {
            if host == "localhost" || host == "::1" { return true }
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } && parts[0] == "127"
        }

        package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    package var listening: Listening
    /// Nil for none.
    package let password: Secret?
    /// The names by which browsers may call the server besides `localhost` and IP addresses; in lower case.
    package let hosts: Set<String>
    /// The header in which a reverse proxy says who is logged in there; nil for none.
    package let userHeader: String?

    /// - Parameters:
    ///   - values: The settings as they were found.
    ///   - environment: Other variables of the process: `PORT`.
    /// - Throws: ``ConfigurationError`` for a value that cannot be used.
    package init(_ values: SettingValues, environment: [String: String]) throws {
        let text =
            values.text(.webListen) ?? environment["PORT"].flatMap { UInt16($0) }.map { "0.0.0.0:\($0)" }
            ?? "127.0.0.1:8080"
        listening = try Self.listening(text, named: Setting.webListen.name)
        password = try values.text(.webPassword).map { text in
            guard text.count >= Self.shortestPassword else {
                throw ConfigurationError(
                    Setting.webPassword.name, "is too short; expected \(Self.shortestPassword) characters or more")
            }
            return Secret(text)
        }
        let names = (values.text(.webHosts) ?? "").split(separator: ",").map {
            $0.filter { !$0.isWhitespace }.lowercased()
        }
        for name in names where !name.utf8.allSatisfy({ $0.isASCIIAlphanumeric || ".-".utf8.contains($0) }) {
            throw ConfigurationError(
                Setting.webHosts.name,
                "has \"\(name.prefix(60))\"; expected names as mirror.example.org, with commas between")
        }
        hosts = Set(names)
        userHeader = try values.text(.webUserHeader).map { name in
            guard name.utf8.allSatisfy({ $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }) else {
                throw ConfigurationError(
                    Setting.webUserHeader.name, "is \"\(name.prefix(60))\"; expected a header's name as Remote-User")
            }
            return name
        }
    }

    /// Parses what `--listen` or `WEB_LISTEN` says.
    ///
    /// - Throws: ``ConfigurationError``.
    package static func listening(_ text: String, named name: String) throws -> Listening {
        guard let listening = Listening(text) else {
            throw ConfigurationError(
                name, "is \"\(text.prefix(60))\"; expected an address and a port as 127.0.0.1:8080")
        }
        return listening
    }

    /// Whether somebody has to show who they are.
    package var needsLogin: Bool { password != nil || userHeader != nil }

    /// Throws if the page would be open to other machines.
    ///
    /// - Throws: ``ConfigurationError``.
    package func requireSafe() throws {
        guard !listening.isLoopback, !needsLogin else { return }
        throw ConfigurationError(
            Setting.webPassword.name,
            "is not set, and \(listening) can be reached from other machines; set it, or WEB_USER_HEADER behind a "
                + "reverse proxy that logs people in, or listen on 127.0.0.1")
    }
}
