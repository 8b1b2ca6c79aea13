/// The parts of a `redis://` or `rediss://` URL.
struct RedisURL {
    let usesTLS: Bool
    let user: String?
    let password: String?
    let host: String
    let port: Int
    let database: Int

    private static let form = "expected redis://[user:password@]host[:port][/database]"

    init(_ text: String) throws(RedisError) {
        let rest: Substring
        (usesTLS, rest) = try Self.scheme(text)
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Self.invalid("has a space, a control or a non-ASCII character; percent-encode it")
        }
        let authority = rest.prefix { !"/?#".contains($0) }
        let tail = rest[authority.endIndex...]
        guard !tail.contains("?"), !tail.contains("#") else {
            throw Self.invalid("has parameters, which are not supported; \(Self.form)")
        }
        database = try Self.database(tail)
        // The last @, since a password may hold one.
        let split = authority.lastIndex(of: "@")
        (user, password) = try Self.credentials(split.map { authority[..<$0] })
        (host, port) = try Self.address(split.map { authority[authority.index(after: $0)...] } ?? authority)
    }

    private static func scheme(_ text: String) throws(RedisError) -> (Bool, Substring) {
        let lowercased = text.prefix(9).lowercased()
        if lowercased.hasPrefix("redis://") { return (false, text.dropFirst(8)) }
        if lowercased.hasPrefix("rediss://") { return (true, text.dropFirst(9)) }
        throw invalid("does not begin with redis:// or rediss://; \(form)")
    }

    private static func database(_ tail: Substring) throws(RedisError) -> Int {
        let digits = tail.dropFirst()
        if digits.isEmpty { return 0 }
        guard let number = decimal(digits, upTo: 65_535) else {
            throw invalid("has a path that is not a database number; \(form)")
        }
        return number
    }

    private static func credentials(_ text: Substring?) throws(RedisError) -> (String?, String?) {
        guard let text else { return (nil, nil) }
        let name = text.prefix { $0 != ":" }
        guard let user = percentDecoded(name), let password = percentDecoded(text[name.endIndex...].dropFirst()) else {
            throw invalid("has a user name or password that is not percent-encoded correctly")
        }
        guard user.isEmpty || name.endIndex != text.endIndex else {
            throw invalid("has a user name without a password; \(form)")
        }
        return password.isEmpty && user.isEmpty ? (nil, nil) : (user.isEmpty ? nil : user, password)
    }

    private static func address(_ text: Substring) throws(RedisError) -> (String, Int) {
        var host = text.prefix { $0 != ":" }
        if text.hasPrefix("[") {
            host = text.dropFirst().prefix { $0 != "]" }
            guard host.endIndex != text.endIndex, host.contains(":"), host.allSatisfy(isAddress6Character) else {
                throw invalid("has a malformed address in brackets; \(form)")
            }
        } else if !host.allSatisfy(isNameCharacter) {
            throw invalid("has a character in its host that no host name has; \(form)")
        }
        guard !host.isEmpty else { throw invalid("has no host; \(form)") }
        var rest = text[host.endIndex...]
        if text.hasPrefix("[") { rest = rest.dropFirst() }
        if rest.isEmpty { return (String(host), 6_379) }
        guard rest.hasPrefix(":"), let port = decimal(rest.dropFirst(), upTo: 65_535), port > 0 else {
            throw invalid("has a port that is not a number from 1 to 65535; \(form)")
        }
        return (String(host), port)
    }

    private static func isNameCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "-._".contains(character))
    }

    private static func isAddress6Character(_ character: Character) -> Bool {
        character.isASCII && (character.isHexDigit || ":.".contains(character))
    }

    private static func decimal(_ digits: Substring, upTo maximum: Int) -> Int? {
        guard digits.utf8.count <= 9, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(digits), number <= maximum
        else { return nil }
        return number
    }

    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimalDigit),
                let low = rest.popFirst().flatMap(hexadecimalDigit)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    private static func invalid(_ problem: String) -> RedisError {
        RedisError(.invalidConfiguration, message: "REDIS_URL \(problem)")
    }
}
