import Cryptography

/// One argument of a command: any bytes.
package struct RedisArgument: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The text or the bytes of the argument.
    ///
    /// A text is converted only when it is sent, because there are tens of thousands of features.
    private enum Content: Sendable {
        case text(String)
        case bytes([UInt8])
    }

    private let content: Content

    package init(_ bytes: [UInt8]) { content = .bytes(bytes) }

    package init(_ text: String) { content = .text(text) }

    package var bytes: [UInt8] {
        switch content {
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        }
    }

    /// The number of bytes of the argument.
    fileprivate var count: Int {
        switch content {
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }

    fileprivate func append(to output: inout [UInt8]) {
        switch content {
        case .text(let text): output += text.utf8
        case .bytes(let bytes): output += bytes
        }
    }

    package static func == (left: RedisArgument, right: RedisArgument) -> Bool {
        left.bytes == right.bytes
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// The decimal form of a number.
    package init(_ number: some BinaryInteger) { self.init(String(number)) }

    package init(stringLiteral value: String) { self.init(value) }
}

/// A command and its arguments.
///
/// Commands that change the protocol of the connection (SUBSCRIBE, MONITOR, HELLO, CLIENT REPLY)
/// are not supported: a client expects one reply to each command.
package struct RedisCommand: Hashable, Sendable {
    package let parts: [RedisArgument]

    /// - Parameter parts: The command's name, followed by its arguments.
    package init(_ parts: [RedisArgument]) { self.parts = parts }

    package init(_ parts: String...) { self.parts = parts.map { RedisArgument($0) } }
}

// MARK: - As bytes

// The encoding is implemented here, because hiredis prints every length with `sprintf` and requires
// all arguments in one block of memory.
extension RedisCommand {
    /// Encodes commands, in order: each as an array of bulk strings, which are preceded by their
    /// lengths.
    static func encode(_ commands: [RedisCommand]) -> [UInt8] {
        var bytes: [UInt8] = []
        // 16 bytes for each command and 8 for each part are usually enough, because lengths seldom
        // have more than three digits.
        let expectedSize = commands.reduce(0) { size, command in
            command.parts.reduce(size + 16) { size, part in size + part.count + 8 }
        }
        bytes.reserveCapacity(expectedSize)
        for command in commands {
            bytes.append(UInt8(ascii: "*"), command.parts.count)
            for part in command.parts {
                bytes.append(UInt8(ascii: "$"), part.count)
                part.append(to: &bytes)
                bytes.endLine()
            }
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ marker: UInt8, _ number: Int) {
        append(marker)
        append(decimal: number)
        endLine()
    }

    /// Appends a nonnegative number in decimal.
    private mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    fileprivate mutating func endLine() {
        append(UInt8(ascii: "\r"))
        append(UInt8(ascii: "\n"))
    }
}

// MARK: - Scripts

/// A Lua script that the server runs atomically.
package struct RedisScript: Hashable, Sendable {
    package let source: String
    /// The key of the script in the server's cache: the SHA-1 of its source, in lower-case
    /// hexadecimal.
    package let digest: String

    package init(_ source: String) {
        self.source = source
        digest = HashFunction.sha1.digest(of: source.utf8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    func command(_ name: RedisArgument, keys: [String], arguments: [RedisArgument]) -> RedisCommand
    {
        let subject = RedisArgument(name == "EVAL" ? source : digest)
        return RedisCommand(
            [name, subject, RedisArgument(keys.count)] + keys.map { RedisArgument($0) } + arguments)
    }
}
