import Crypto

/// A Lua script that the server runs as one step.
package struct RedisScript: Hashable, Sendable {
    package let source: String
    /// The name under which the server keeps the script: the SHA-1 of its source, in lower-case hexadecimal.
    package let digest: String

    package init(_ source: String) {
        self.source = source
        digest = Insecure.SHA1.hash(data: Array(source.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    func command(_ name: RedisArgument, keys: [String], arguments: [RedisArgument]) -> RedisCommand {
        let subject = RedisArgument(name == "EVAL" ? source : digest)
        return RedisCommand([name, subject, RedisArgument(keys.count)] + keys.map { RedisArgument($0) } + arguments)
    }
}
