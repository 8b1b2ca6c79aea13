import Blocking
import Transport

/// A client of one Redis server.
///
/// One connection on one thread, made when first needed. Commands of concurrent callers queue; a caller with many
/// commands hands them over as one pipeline. A connection found dead before a pipeline is sent is replaced silently;
/// one that dies afterwards is an error whose ``RedisError/mayHaveRun`` is true, and the next call connects anew.
package final class RedisClient: Sendable {
    private let executor = ThreadExecutor(name: "mirror-bot.redis")
    private let session: RedisSession

    package init(configuration: RedisConfiguration) {
        session = RedisSession(configuration)
    }

    /// Sends commands together and returns their replies in order.
    ///
    /// Error replies are values here: the other commands ran. Cancellation drops the connection at once; the commands
    /// may have run.
    ///
    /// - Throws: ``RedisError``, or `CancellationError`.
    package func pipeline(_ commands: [RedisCommand]) async throws -> [RedisReply] {
        if commands.isEmpty { return [] }
        let bytes = try CommandEncoder.encode(commands)
        let interruption = try makeInterruption()
        let session = session
        do {
            return try await executor.run {
                interruption.request()
            } _: {
                try session.exchange(bytes, count: commands.count, interruption: interruption)
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
        let session = session
        try? await executor.run { session.close() }
        executor.shutdown()
    }

    private func makeInterruption() throws(RedisError) -> Interruption {
        do { return try Interruption() } catch { throw RedisError(.unavailable, message: error.message) }
    }
}
