import Transport

/// The connection of a client and how it is made anew.
///
/// Belongs to the client's thread.
final class RedisSession: @unchecked Sendable {
    // Unchecked because everything mutable is only touched on the executor of the one client that owns the session.
    private let configuration: RedisConfiguration
    private var connection: RedisConnection?
    private var firstCertificate: String?

    init(_ configuration: RedisConfiguration) {
        self.configuration = configuration
    }

    func close() {
        connection = nil
    }

    /// Sends encoded commands over a live connection, made if need be, and returns their replies.
    func exchange(_ commands: [UInt8], count: Int, interruption: Interruption) throws -> [RedisReply] {
        // A connection that died while idle is replaced here, before anything is sent: nothing can run twice.
        if let connection, !connection.isIdle() { self.connection = nil }
        let connection = try self.connection ?? connect(interruption)
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

    private func connect(_ interruption: Interruption) throws -> RedisConnection {
        let deadline = ContinuousClock.now + configuration.connectTimeout
        do {
            let connection = try RedisConnection(configuration, deadline: deadline, interruption: interruption)
            try checkCertificate(connection)
            try greet(connection, deadline, interruption)
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
    private func greet(
        _ connection: RedisConnection, _ deadline: ContinuousClock.Instant, _ interruption: Interruption
    ) throws {
        func ask(_ command: RedisCommand) throws -> RedisReply {
            let bytes = try CommandEncoder.encode([command])
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
        return RedisError(code, mayHaveRun: mayHaveRun, message: "\(place): \(error.message)")
    }
}
