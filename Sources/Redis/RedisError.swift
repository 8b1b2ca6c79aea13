/// A failed command or connection of the client.
///
/// Safe to print: it contains neither the URL nor a password, and of a server's error only the code
/// word, because the rest may repeat arguments.
package struct RedisError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; more kinds may be added.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// A short stable name, usable as a metric label.
        package let description: String

        private init(_ description: String) { self.description = description }

        /// The configured URL or TLS setting cannot be used.
        package static let invalidConfiguration = Code("invalid-configuration")
        /// A command without a name, or a command that is too large.
        package static let invalidCommand = Code("invalid-command")
        /// There is no connection, or it was lost, or the server is loading or shutting down.
        package static let unavailable = Code("unavailable")
        /// The user name, the password or the server's certificate was not accepted.
        package static let authentication = Code("authentication")
        /// The server did not answer in time.
        package static let timeout = Code("timeout")
        /// The received bytes are not the Redis protocol, or exceed its limits.
        package static let protocolViolation = Code("protocol-violation")
        /// The server refused a command.
        package static let server = Code("server")
        /// The client was closed.
        package static let closed = Code("closed")
    }

    package let code: Code
    /// False only if the server has certainly executed none of the commands.
    package let mayHaveRun: Bool
    /// The first word of the server's error, such as `NOSCRIPT` or `WRONGTYPE`.
    package let serverCode: String?
    /// The cause, in words.
    package let message: String

    package init(_ code: Code, mayHaveRun: Bool = false, serverCode: String? = nil, message: String)
    {
        self.code = code
        self.mayHaveRun = mayHaveRun
        self.serverCode = serverCode
        self.message = message
    }

    /// Creates the error for a server's error reply.
    ///
    /// - Parameter reply: The text of the reply, without the leading `-`.
    package init(reply: String) {
        let word = Self.codeWord(of: reply)
        let code: Code =
            switch word {
            case "NOAUTH", "WRONGPASS", "NOPERM": .authentication
            case "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "DENIED": .unavailable
            default: .server
            }
        let advice = (Self.missingRight(in: reply) ?? Self.advice[word]).map { "; \($0)" } ?? ""
        self.init(code, serverCode: word, message: "the server answered \(word)\(advice)")
    }

    /// The missing permission; nil if the reply does not name it.
    ///
    /// Only the name of a command is taken from the reply, never an argument.
    private static func missingRight(in reply: String) -> String? {
        guard codeWord(of: reply) == "NOPERM" else { return nil }
        if let command = reply.firstMatch(of: #/'([a-z|-]{1,40})' command/#)?.output.1 {
            return "its user may not run the command \(command)"
        }
        let isAboutKeys = reply.contains("access a key") || reply.contains("access one of the keys")
        return isAboutKeys ? "its user may not use the keys mirror-bot:*" : nil
    }

    /// Advice by the server's error code, if the code alone does not say what to do.
    private static let advice = [
        "CLUSTERDOWN": "a part of the cluster has no master",
        "CROSSSLOT": "its keys are in different slots of the cluster",
        "LOADING": "it is still reading its data",
        "MISCONF": "it cannot save its data: make room on its disk",
        "NOAUTH": "REDIS_URL needs a password",
        "NOPERM": "its user may not do that",
        "OOM": "its memory is full: raise maxmemory",
        "READONLY": "it is a replica, which takes no changes",
        "TRYAGAIN": "the cluster is moving its keys, and does not come to an end",
    ]

    /// Whether the reply comes from a server that a failover may have replaced: a new connection to
    /// the same name may lead to the new server.
    var isOfWrongServer: Bool {
        ["READONLY", "MASTERDOWN", "LOADING", "NOAUTH"].contains(serverCode)
    }

    /// The same error for a pipeline of which some commands have run.
    var forPartlyRunPipeline: RedisError {
        RedisError(code, mayHaveRun: true, serverCode: serverCode, message: message)
    }

    /// The error in one line, for people.
    package var description: String { "could not use Redis: \(message)" }

    /// The first word of an error reply if it is an upper-case code of the protocol; else `ERR`.
    ///
    /// Before version 7 the error of a command in a script was `ERR`, followed by the original
    /// code.
    private static func codeWord(of reply: String) -> String {
        let word = reply.prefix { $0 != " " }
        if word == "ERR",
            let inner = advice.keys.sorted().first(where: { reply.contains(": -\($0) ") })
        {
            return inner
        }
        if word == "ERR", reply.contains(": OOM command not allowed") { return "OOM" }
        let isCode =
            !word.isEmpty && word.utf8.count <= 32
            && word.utf8.allSatisfy { (0x41...0x5a).contains($0) }
        return isCode ? String(word) : "ERR"
    }
}
