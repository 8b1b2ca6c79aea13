import CHiredis

/// Turns commands into the bytes that ask for them, reusing its memory from one command to the next.
struct CommandEncoder {
    private(set) var output: [UInt8] = []
    private var joined: [UInt8] = []
    private var lengths: [Int] = []
    private var addresses: [UnsafePointer<CChar>?] = []

    /// The bytes that ask the server for the commands, in order.
    ///
    /// - Throws: ``RedisError`` with code `.invalidCommand`.
    static func encode(_ commands: [RedisCommand]) throws(RedisError) -> [UInt8] {
        var encoder = CommandEncoder()
        for command in commands { try encoder.append(command) }
        return encoder.output
    }

    private mutating func append(_ command: RedisCommand) throws(RedisError) {
        guard let count = Int32(exactly: command.parts.count), command.parts.first?.bytes.isEmpty == false else {
            // An empty command gets no reply at all: waiting for one would never end.
            throw RedisError(.invalidCommand, message: "a command has no name")
        }
        gather(command)
        var target: UnsafeMutablePointer<CChar>?
        // An int in hiredis 0.14, a long long since 1.0.
        let length = joined.withUnsafeBytes { bytes in
            var offset = 0
            for length in lengths {
                addresses.append(bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self))
                offset += length
            }
            return Int(redisFormatCommandArgv(&target, count, &addresses, lengths))
        }
        guard length >= 0, let target else { throw RedisError(.invalidCommand, message: "a command is too large") }
        defer { redisFreeCommand(target) }
        output.append(contentsOf: UnsafeRawBufferPointer(start: target, count: length))
    }

    /// Puts all arguments into one buffer, so that their addresses hold still together.
    private mutating func gather(_ command: RedisCommand) {
        joined.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        addresses.removeAll(keepingCapacity: true)
        for part in command.parts {
            joined += part.bytes
            lengths.append(part.bytes.count)
        }
    }
}
