import Blocking
import Transport

/// A client of one Redis server.
///
/// One connection on one thread, made when first needed. Commands of concurrent callers queue; a caller with many
/// commands hands them over as one pipeline. A connection found dead before a pipeline is sent is replaced silently;
/// one that dies afterwards is an error whose ``RedisError/mayHaveRun`` is true, and the next call connects anew.
package final class RedisClient: @unchecked Sendable {
    // Unchecked because everything mutable is only touched on the executor's one thread.
    private let configuration: RedisConfiguration
    private let executor = ThreadExecutor(name: "mirror-bot.redis")
    private let interruption = Interruption()
    private var connection: RedisConnection?
    private var firstCertificate: String?

    package init(configuration: RedisConfiguration) {
        self.configuration = configuration
    }

    deinit { executor.shutdown() }

    /// Sends commands together and returns their replies in order.
    ///
    /// Error replies are values here: the other commands ran. Cancellation drops the connection at once; the commands
    /// may have run.
    ///
    /// - Throws: ``RedisError``, or `CancellationError`.
    package func pipeline(_ commands: [RedisCommand]) async throws -> [RedisReply] {
        if commands.isEmpty { return [] }
        let bytes = try RedisCommand.encode(commands)
        do {
            return try await executor.run(interrupting: interruption) {
                try self.exchange(bytes, count: commands.count)
            }
        } catch is CancellationError where !Task.isCancelled {
            throw RedisError(.closed, message: "the client was closed")
        }
    }

    /// Sends one command and returns its reply.
    ///
    /// - Throws: ``RedisError``, also for an error reply, or `CancellationError`.
    package func command(_ command: RedisCommand) async throws -> RedisReply {
        guard let reply = try await pipeline([command]).first else {
            throw RedisError(.protocolViolation, mayHaveRun: true, message: "there is no answer")
        }
        return try reply.orThrow()
    }

    /// Runs a script by its digest; a server that does not know it yet gets the source.
    ///
    /// - Throws: ``RedisError``, also for an error reply, or `CancellationError`.
    package func script(
        _ script: RedisScript, keys: [String] = [], arguments: [RedisArgument] = []
    ) async throws -> RedisReply {
        do {
            return try await command(script.command("EVALSHA", keys: keys, arguments: arguments))
        } catch let error as RedisError where error.serverCode == "NOSCRIPT" {
            return try await command(script.command("EVAL", keys: keys, arguments: arguments))
        }
    }

    /// Ends the connection after the commands in the queue; later calls throw code `.closed`.
    package func close() async {
        await executor.shutdown { self.connection = nil }
    }

    // MARK: - On the thread

    /// Sends encoded commands over a live connection, made if need be, and returns their replies.
    private func exchange(_ commands: [UInt8], count: Int) throws -> [RedisReply] {
        // A connection that died while idle is replaced here, before anything is sent: nothing can run twice.
        if let connection, !connection.isIdle() { self.connection = nil }
        let connection = try self.connection ?? connect()
        do {
            let replies = try connection.exchange(
                commands, count: count, deadline: .now + configuration.commandTimeout, interruption: interruption)
            let isMisled = replies.contains { reply in
                if case .error(let text) = reply { RedisError(reply: text).isOfWrongServer } else { false }
            }
            self.connection = isMisled ? nil : connection
            return replies
        } catch {
            self.connection = nil
            throw redisError(error, mayHaveRun: true)
        }
    }

    private func connect() throws -> RedisConnection {
        let deadline = ContinuousClock.now + configuration.connectTimeout
        do {
            let connection = try RedisConnection(configuration, deadline: deadline, interruption: interruption)
            try checkCertificate(connection)
            try greet(connection, deadline)
            return connection
        } catch {
            throw redisError(error, mayHaveRun: false)
        }
    }

    private func checkCertificate(_ connection: RedisConnection) throws(RedisError) {
        guard configuration.usesTLS, configuration.tlsVerification == .firstUse else { return }
        guard let certificate = connection.peerCertificate,
            firstCertificate == nil || firstCertificate == certificate
        else {
            throw RedisError(
                .authentication,
                message:
                    "the server shows another certificate than before; restart to trust it, or set REDIS_TLS_VERIFY")
        }
        firstCertificate = certificate
    }

    /// Gives the password, chooses the database, and makes sure that a Redis server answers.
    private func greet(_ connection: RedisConnection, _ deadline: ContinuousClock.Instant) throws {
        func ask(_ command: RedisCommand) throws -> RedisReply {
            let bytes = try RedisCommand.encode([command])
            return try connection.exchange(bytes, count: 1, deadline: deadline, interruption: interruption)[0]
        }
        if let password = configuration.password {
            let credentials = [configuration.user, password].compactMap { $0.map { RedisArgument($0) } }
            var reply = try ask(RedisCommand(["AUTH"] + credentials))
            // Before version 6 there are no users, and two arguments are one too many.
            if configuration.user != nil, case .error(let text) = reply, text.contains("number of arguments") {
                reply = try ask(RedisCommand("AUTH", password))
            }
            try accept(reply, asAuthentication: true)
        }
        if configuration.database != 0 { try accept(ask(RedisCommand("SELECT", "\(configuration.database)"))) }
        try accept(ask(RedisCommand("PING")))
    }

    private func accept(_ reply: RedisReply, asAuthentication: Bool = false) throws(RedisError) {
        switch reply {
        case .status: return
        case .error(let text):
            let error = RedisError(reply: text)
            if error.code == .authentication || asAuthentication && error.code == .server {
                throw RedisError(
                    .authentication, serverCode: error.serverCode,
                    message: "the server did not accept the user name or password; check REDIS_URL")
            }
            throw error
        case .null, .integer, .bulk, .array:
            throw RedisError(.protocolViolation, message: "the greeting is not Redis'")
        }
    }

    /// An error of the transport in Redis' terms; cancellations pass.
    private func redisError(_ error: any Error, mayHaveRun: Bool) -> any Error {
        if let error = error as? RedisError {
            return RedisError(
                error.code, mayHaveRun: error.mayHaveRun && mayHaveRun, serverCode: error.serverCode,
                message: error.message)
        }
        guard let error = error as? TransportError else { return error }
        let code: RedisError.Code =
            switch error.code {
            case .timeout: .timeout
            case .tls: .authentication
            default: .unavailable
            }
        let place = "\(configuration.host):\(configuration.port)"
        // Many servers sign their own certificate, and only a person can say that this is one of them.
        let advice =
            error.code == .tls && configuration.tlsVerification == .full
            ? "; if the server signs its own certificate, set REDIS_TLS_VERIFY to its pin:sha256//…, or to none" : ""
        return RedisError(code, mayHaveRun: mayHaveRun, message: "\(place): \(error.message)\(advice)")
    }
}

/// One connection, ready for commands.
///
/// Belongs to one thread. After any thrown error the connection is out of step with the server and must be dropped.
private final class RedisConnection {
    /// What is offered to the connection at a time.
    private static let sendChunk = 64 << 10
    /// Small, because hiredis moves the rest of its buffer down every kilobyte that it has read.
    private static let receiveChunk = 16 << 10

    /// The certificate the server showed.
    let peerCertificate: String?
    private let stream: ByteStream
    private let reader: ReplyReader
    private let maximumReplyBytes: Int
    private var buffer = [UInt8](repeating: 0, count: receiveChunk)

    init(
        _ configuration: RedisConfiguration, deadline: ContinuousClock.Instant, interruption: Interruption
    ) throws {
        reader = try ReplyReader()
        stream = try ByteStream(to: configuration.endpoint, deadline: deadline, interruption: interruption)
        peerCertificate = stream.peerCertificate
        maximumReplyBytes = configuration.maximumReplyBytes
    }

    /// False when the server has closed the connection, or has sent something nobody asked for.
    func isIdle() -> Bool {
        do {
            return try buffer.withUnsafeMutableBytes { try stream.receiveSome(into: $0) } == nil
        } catch {
            return false
        }
    }

    /// Sends encoded commands and returns their replies.
    ///
    /// Sending and receiving take turns: a server that must first get rid of replies reads no further commands, so a
    /// long pipeline written in one go would stop both sides for good.
    func exchange(
        _ commands: [UInt8], count: Int, deadline: ContinuousClock.Instant, interruption: Interruption
    ) throws -> [RedisReply] {
        var replies: [RedisReply] = []
        replies.reserveCapacity(count)
        var received = 0
        var sent = 0
        while replies.count < count {
            let sentNow = try commands.withUnsafeBytes { bytes in
                try stream.sendSome(UnsafeRawBufferPointer(rebasing: bytes[sent...].prefix(Self.sendChunk)))
            }
            sent += sentNow
            // All is asked, and nothing had arrived before.
            if sentNow == commands.count { try stream.wait(until: deadline, interruption: interruption) }
            let receivedNow = try receive(into: &replies)
            received += receivedNow
            guard received <= maximumReplyBytes else {
                throw RedisError(.protocolViolation, mayHaveRun: true, message: "the answer is too large")
            }
            if sentNow == 0, receivedNow == 0, replies.count < count {
                try stream.wait(toSend: sent < commands.count, until: deadline, interruption: interruption)
            }
        }
        guard replies.count == count, sent == commands.count else {
            throw RedisError(.protocolViolation, mayHaveRun: true, message: "the server answered what was not asked")
        }
        return replies
    }

    /// Takes in what has arrived, at most one buffer; returns how many bytes that was.
    private func receive(into replies: inout [RedisReply]) throws -> Int {
        let received = try buffer.withUnsafeMutableBytes { try stream.receiveSome(into: $0) }
        guard let received else { return 0 }
        guard received > 0 else {
            throw RedisError(.unavailable, mayHaveRun: true, message: "the server closed the connection")
        }
        try buffer.withUnsafeBytes { try reader.feed(UnsafeRawBufferPointer(rebasing: $0.prefix(received))) }
        while let reply = try reader.next() { replies.append(reply) }
        return received
    }
}
