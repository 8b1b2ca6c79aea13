/// One argument of a command: any bytes.
package struct RedisArgument: Hashable, Sendable, ExpressibleByStringLiteral {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The decimal form of a number.
    package init(_ number: some BinaryInteger) { self.init(String(number)) }

    package init(stringLiteral value: String) { self.init(value) }
}

/// A command and its arguments.
///
/// Commands that change how the connection speaks (SUBSCRIBE, MONITOR, HELLO, CLIENT REPLY) do not belong here: a
/// client expects one reply to each command.
package struct RedisCommand: Hashable, Sendable {
    package let parts: [RedisArgument]

    /// - Parameter parts: The name of the command first; at least that.
    package init(_ parts: [RedisArgument]) { self.parts = parts }

    package init(_ parts: String...) { self.parts = parts.map { RedisArgument($0) } }
}
