import Foundation
import Localization
package import Posts
package import Transport

/// The destinations and the format of notices.
package struct NoticeConfiguration: Sendable {
    /// The format of notices.
    package enum Format: String, CaseIterable, Sendable {
        /// A JSON object.
        case json
        /// A text with the headers of ntfy.
        case ntfy
    }

    /// An address that the operator has chosen; both parts may contain credentials.
    package struct Address: Sendable {
        package let url: Secret
        /// The value of the header `Authorization`; nil for none.
        package let authorization: Secret?
        /// The host alone, for people.
        package let host: String
        /// The address in the spelling of the setting.
        let text: Secret

        /// Whether the form of the address shows that it belongs to a server of ntfy.
        var isOfNtfy: Bool { text.reveal().hasPrefix(ntfyScheme) }
    }

    /// The address to which notices are sent; nil for none.
    package let address: Address?
    package let format: Format
    /// The program that receives each notice, and its arguments; empty for none.
    package let command: [String]
    /// The address that is requested repeatedly while the mirror does its work.
    package let heartbeat: Address?

    /// Whether notices are sent at all.
    package var sendsNotices: Bool { address != nil || !command.isEmpty }

    /// Whether neither notices nor heartbeats are sent.
    package var isIdle: Bool { !sendsNotices && heartbeat == nil }

    /// - Parameter values: The settings, unparsed.
    /// - Throws: ``ConfigurationError`` for a value that cannot be used.
    init(_ values: SettingValues) throws {
        address = values[.notifyURL]
        format = values[.notifyFormat]
        if let address, address.isOfNtfy, format != .ntfy {
            throw ConfigurationError(
                Setting.notifyFormat.name,
                localized(
                    "is \(format.rawValue), but \(Setting.notifyURL.name) begins with \(Self.ntfyScheme)"
                )
            )
        }
        heartbeat = values[.heartbeatURL]
        command = values[.notifyCommand]
    }

    private static let ntfyScheme = "ntfy://"

    /// Parses the address of notices, which may also begin with `ntfy://`.
    ///
    /// - Throws: ``ConfigurationError``.
    static func noticeAddress(_ text: String, named name: String) throws -> Address {
        guard text.hasPrefix(ntfyScheme) else { return try address(text, named: name) }
        let url = "https://" + text.dropFirst(ntfyScheme.count)
        return try address(url, writtenAs: text, named: name)
    }

    /// Parses an address, with credentials before an `@`: a token, or a name, `:` and a password.
    ///
    /// - Parameter written: The address as the setting gives it, if that has another form.
    /// - Throws: ``ConfigurationError``.
    static func address(
        _ text: String, writtenAs written: String? = nil, named name: String
    ) throws -> Address {
        guard var parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw ConfigurationError(name, localized("is no URL such as https://host/path"))
        }
        let authorization = authorization(parts)
        parts.user = nil
        parts.password = nil
        guard let url = parts.string else {
            throw ConfigurationError(name, localized("is no URL such as https://host/path"))
        }
        if let problem = request(to: url).problem {
            let hint =
                parts.scheme == "http"
                ? localized("plain http is for loopback and private hosts only; use https")
                : problem
            throw ConfigurationError(name, localized("cannot be used: \(hint)"))
        }
        return Address(
            url: Secret(url), authorization: authorization, host: host,
            text: Secret(written ?? text))
    }

    /// A request to an operator's address, which may be in a private network.
    package static func request(to url: String) -> HTTPRequest {
        var request = HTTPRequest(url: url)
        request.allowsPlainNearby = true
        return request
    }

    private static func authorization(_ parts: URLComponents) -> Secret? {
        guard let user = parts.user, !user.isEmpty else { return nil }
        guard let password = parts.password else { return Secret("Bearer \(user)") }
        return Secret("Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }

    /// The words of a command, separated by blanks, or in single or double quotes.
    ///
    /// No other shell syntax is supported.
    ///
    /// - Throws: ``ConfigurationError``.
    static func words(_ text: String, named name: String) throws -> [String] {
        var words: [String] = []
        var word: String? = nil
        var quote: Character? = nil
        for character in text {
            if let openQuote = quote {
                if character == openQuote { quote = nil } else { word?.append(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if character == " " {
                if let endedWord = word { words.append(endedWord) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else {
            throw ConfigurationError(name, localized("has a quote that does not end"))
        }
        if let endedWord = word { words.append(endedWord) }
        guard words.first?.isEmpty == false else {
            throw ConfigurationError(name, localized("names no program"))
        }
        return words
    }

    /// Writes words as ``words(_:named:)`` reads them.
    static func commandLine(_ words: [String]) -> String {
        words.map { word in
            let isPlain = !word.isEmpty && !word.contains { " \"'".contains($0) }
            return isPlain ? word : "'" + word.replacing("'", with: "'\"'\"'") + "'"
        }.joined(separator: " ")
    }
}
