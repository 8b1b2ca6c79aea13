import Blocking
import Transport

/// One connection, ready for commands.
///
/// Used by one thread at a time. After any thrown error it has lost synchronization with the server
/// and must be dropped.
final class RedisConnection {
    /// The maximum number of bytes offered to the connection at a time.
    private static let sendChunk = 64 << 10
    /// The most bytes that are received at once: few, because hiredis moves the rest of its buffer
    /// after every kilobyte that it reads.
    private static let receiveChunk = 16 << 10

    /// The certificate the server showed.
    let peerCertificate: String?
    /// Whether the last small exchange took less than the ``blockingLimit``.
    private(set) var isNear = true
    private let stream: ByteStream
    private let reader: ReplyReader
    private let maximumReplyBytes: Int
    private var buffer = [UInt8](repeating: 0, count: receiveChunk)
    /// The exchange whose replies are not complete yet.
    private var exchange: Exchange?

    private struct Exchange {
        /// The encoded commands.
        let commands: [UInt8]
        /// The number of commands, and so of expected replies.
        let count: Int
        let start: ContinuousClock.Instant
        /// The number of bytes sent so far.
        var sent = 0
        /// The number of bytes received so far.
        var received = 0
        var replies: [RedisReply] = []
    }

    init(
        _ configuration: RedisConfiguration, to address: RedisAddress,
        deadline: ContinuousClock.Instant,
        interruption: Interruption
    ) throws {
        reader = try ReplyReader()
        stream = try ByteStream(
            to: configuration.endpoint(address), deadline: deadline, interruption: interruption)
        peerCertificate = stream.peerCertificate
        maximumReplyBytes = configuration.maximumReplyBytes
    }

    /// Whether commands may be sent: false if the server has closed the connection or sent
    /// unsolicited data, or if an exchange was abandoned.
    func isIdle() -> Bool {
        guard exchange == nil else { return false }
        do {
            return try buffer.withUnsafeMutableBytes { try stream.receiveSome(into: $0) } == nil
        } catch {
            return false
        }
    }

    /// Begins an exchange of encoded commands; ``proceed(until:interruption:)`` must follow.
    func begin(_ commands: [UInt8], count: Int) {
        var newExchange = Exchange(commands: commands, count: count, start: .now)
        newExchange.replies.reserveCapacity(count)
        exchange = newExchange
    }

    /// Sends encoded commands and returns their replies.
    func exchange(
        _ commands: [UInt8], count: Int, deadline: ContinuousClock.Instant,
        interruption: Interruption
    ) throws -> [RedisReply] {
        begin(commands, count: count)
        return try finish(by: deadline, interruption: interruption)
    }

    /// Completes the begun exchange.
    ///
    /// - Throws: ``RedisError`` with code `.timeout` after the deadline, and others.
    func finish(by deadline: ContinuousClock.Instant, interruption: Interruption) throws
        -> [RedisReply]
    {
        guard let replies = try proceed(until: deadline, interruption: interruption) else {
            throw RedisError(
                .timeout, mayHaveRun: true, message: "the server did not answer in time")
        }
        return replies
    }

    /// Continues the begun exchange.
    ///
    /// Sending and receiving alternate: a server whose replies are not read stops reading commands,
    /// so a long pipeline that is written in one go would block both sides forever.
    ///
    /// - Returns: The replies; nil if more are expected at the deadline.
    func proceed(until deadline: ContinuousClock.Instant, interruption: Interruption? = nil) throws
        -> [RedisReply]?
    {
        guard var exchange else { return nil }
        self.exchange = nil
        guard try proceed(&exchange, until: deadline, interruption) else {
            self.exchange = exchange
            return nil
        }
        guard exchange.replies.count == exchange.count, exchange.sent == exchange.commands.count
        else {
            throw RedisError(
                .protocolViolation, mayHaveRun: true,
                message: "the server answered what was not asked")
        }
        if exchange.commands.count <= Self.smallRequestBytes {
            isNear = exchange.start.duration(to: .now) < Self.blockingLimit
        }
        return exchange.replies
    }

    private func proceed(
        _ exchange: inout Exchange, until deadline: ContinuousClock.Instant,
        _ interruption: Interruption?
    ) throws -> Bool {
        while exchange.replies.count < exchange.count {
            let sent = try send(&exchange)
            let isEverythingSent = exchange.sent == exchange.commands.count
            // This call has sent all commands at once, so no reply can have arrived yet.
            if isEverythingSent, sent == exchange.sent {
                guard try stream.wait(until: deadline, interruption: interruption) else {
                    return false
                }
            }
            let received = try receive(&exchange)
            if sent == 0, received == 0, exchange.replies.count < exchange.count {
                guard
                    try stream.wait(
                        toSend: !isEverythingSent, until: deadline, interruption: interruption)
                else {
                    return false
                }
            }
        }
        return true
    }

    private func send(_ exchange: inout Exchange) throws -> Int {
        let sent = try exchange.commands.withUnsafeBytes { bytes in
            try stream.sendSome(
                UnsafeRawBufferPointer(rebasing: bytes[exchange.sent...].prefix(Self.sendChunk)))
        }
        exchange.sent += sent
        return sent
    }

    /// Receives the available bytes, at most one buffer; returns their number.
    private func receive(_ exchange: inout Exchange) throws -> Int {
        let received = try buffer.withUnsafeMutableBytes { try stream.receiveSome(into: $0) }
        guard let received else { return 0 }
        guard received > 0 else {
            throw RedisError(
                .unavailable, mayHaveRun: true, message: "the server closed the connection")
        }
        exchange.received += received
        guard exchange.received <= maximumReplyBytes else {
            throw RedisError(
                .protocolViolation, mayHaveRun: true, message: "the answer is too large")
        }
        try buffer.withUnsafeBytes {
            try reader.feed(UnsafeRawBufferPointer(rebasing: $0.prefix(received)))
        }
        while let reply = try reader.next() { exchange.replies.append(reply) }
        return received
    }

    // MARK: - Small exchanges

    /// The size of commands, in bytes, that a server answers in less than the ``blockingLimit``.
    static let smallRequestBytes = 4 << 10
    /// The time for which the caller's thread may be blocked: about as long as a hop to another
    /// thread takes.
    static let blockingLimit: Duration = .milliseconds(1)
}

// MARK: - Greeting

extension RedisConnection {
    /// Authenticates, selects the database, and checks that a Redis server answers.
    ///
    /// - Returns: The server's information about its cluster; nil if it is in none, or does not
    ///   report it.
    func greet(
        _ configuration: RedisConfiguration, by deadline: ContinuousClock.Instant,
        interruption: Interruption
    ) throws -> SlotMap.Report? {
        func ask(_ command: RedisCommand) throws -> RedisReply {
            try exchange(
                RedisCommand.encode([command]), count: 1, deadline: deadline,
                interruption: interruption)[0]
        }
        if let password = configuration.password {
            let credentials = [configuration.user, password].compactMap {
                $0.map { RedisArgument($0) }
            }
            var reply = try ask(RedisCommand(["AUTH"] + credentials))
            // Before version 6 there are no users, and AUTH has one argument only.
            if configuration.user != nil, case .error(let text) = reply,
                text.contains("number of arguments")
            {
                reply = try ask(RedisCommand("AUTH", password))
            }
            try Self.accept(reply, asAuthentication: true)
        }
        if configuration.database != 0 {
            try Self.accept(ask(RedisCommand("SELECT", "\(configuration.database)")))
        }
        try Self.accept(ask(RedisCommand("PING")))
        return SlotMap.Report(try ask(SlotMap.question))
    }

    private static func accept(_ reply: RedisReply, asAuthentication: Bool = false)
        throws(RedisError)
    {
        switch reply {
        case .status: return
        case .error(let text):
            let error = RedisError(reply: text)
            // The user is authenticated, but lacks the permission for a command.
            if error.serverCode == "NOPERM" { throw error }
            if ["without any password", "no password is set"].contains(where: text.contains) {
                throw RedisError(
                    .authentication, serverCode: error.serverCode,
                    message:
                        "the server has no password; leave user name and password out of REDIS_URL")
            }
            if text.contains("DB index is out of range") {
                throw RedisError(
                    .server, serverCode: error.serverCode,
                    message:
                        "the server has no database of that number; correct the end of REDIS_URL")
            }
            if error.code == .authentication || asAuthentication && error.code == .server {
                throw RedisError(
                    .authentication, serverCode: error.serverCode,
                    message: "the server did not accept the user name or password; check REDIS_URL")
            }
            guard !text.contains("cluster mode") else {
                throw RedisError(
                    .server, serverCode: error.serverCode,
                    message:
                        "a cluster has no databases; leave the number at the end of REDIS_URL out")
            }
            throw error
        case .null, .integer, .bulk, .array:
            throw RedisError(.protocolViolation, message: "the greeting is not Redis'")
        }
    }
}
