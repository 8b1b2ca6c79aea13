/// Turns commands into the bytes that ask for them: an array of bulk strings each, every one behind its length.
///
/// Written here rather than by hiredis, which prints every length with `sprintf` and wants all arguments in one block
/// of memory first.
struct CommandEncoder {
    private var output: [UInt8] = []

    /// The bytes that ask the server for the commands, in order.
    ///
    /// - Throws: ``RedisError`` with code `.invalidCommand`.
    static func encode(_ commands: [RedisCommand]) throws(RedisError) -> [UInt8] {
        var encoder = CommandEncoder()
        encoder.output.reserveCapacity(commands.reduce(0) { $0 + size(of: $1) })
        for command in commands { try encoder.append(command) }
        return encoder.output
    }

    private mutating func append(_ command: RedisCommand) throws(RedisError) {
        guard command.parts.first?.bytes.isEmpty == false else {
            // An empty command gets no reply at all: waiting for one would never end.
            throw RedisError(.invalidCommand, message: "a command has no name")
        }
        append(UInt8(ascii: "*"), command.parts.count)
        for part in command.parts {
            append(UInt8(ascii: "$"), part.bytes.count)
            output += part.bytes
            endLine()
        }
    }

    private mutating func append(_ marker: UInt8, _ number: Int) {
        output.append(marker)
        append(number)
        endLine()
    }

    /// The decimal form of a number that is not below zero.
    private mutating func append(_ number: Int) {
        if number >= 10 { append(number / 10) }
        output.append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    private mutating func endLine() {
        output.append(UInt8(ascii: "\r"))
        output.append(UInt8(ascii: "\n"))
    }

    /// About as many bytes as the command takes: lengths seldom have more than three digits.
    private static func size(of command: RedisCommand) -> Int {
        command.parts.reduce(16) { $0 + $1.bytes.count + 8 }
    }
}
