import Blocking

/// A client of a Redis server, or of a Redis Cluster.
///
/// The server reports which of them it is. Connections are opened on first use, one to each server
/// that has the requested keys, all on one thread. Commands of concurrent callers queue; a caller
/// with many commands hands them over as one pipeline. A connection found dead before a pipeline is
/// sent is replaced silently; one that dies afterwards is an error whose ``RedisError/mayHaveRun``
/// is true, and the next call connects anew.
///
/// In a cluster the commands of a pipeline go to the masters of their keys' slots, each master's in
/// order. Redirections are followed. While slots are migrated and while a master is replaced,
/// commands wait, ``RedisConfiguration/clusterTimeout`` at most. A command whose keys are in
/// different slots is refused by the server.
package final class RedisClient: @unchecked Sendable {
    // Unchecked because `nodes` is only touched in the executor's turn.
    private let configuration: RedisConfiguration
    private let executor = ThreadExecutor(name: "mirror-bot.redis")
    private let interruption = Interruption()
    private var nodes: RedisNodes?

    package init(configuration: RedisConfiguration) {
        self.configuration = configuration
        nodes = RedisNodes(configuration, interruption: interruption)
    }

    deinit { executor.shutdown() }

    /// Sends commands together and returns their replies in order.
    ///
    /// Error replies are returned as values, because the other commands ran. Cancellation drops the
    /// connection at once; the commands may have run.
    ///
    /// - Throws: ``RedisError``, or `CancellationError`.
    package func pipeline(_ commands: [RedisCommand]) async throws -> [RedisReply] {
        if commands.isEmpty { return [] }
        let pipeline = try RedisPipeline(commands)
        try await advance(pipeline)
        let deadline = ContinuousClock.now + configuration.clusterTimeout
        var pause = Duration.milliseconds(5)
        while !pipeline.isOver {
            guard .now + pause < deadline else { return try pipeline.giveUp() }
            // This call waits outside the executor's thread, so that other callers can use servers
            // that are available.
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(200))
            try await advance(pipeline)
        }
        return pipeline.replies
    }

    private func advance(_ pipeline: RedisPipeline) async throws {
        do {
            try await executor.run(
                interrupting: interruption,
                // The nil result lets the rest of the work run on the executor's thread.
                beginning: { try self.nodes?.begin(pipeline) == true ? () : nil },
                { try self.nodes?.advance(pipeline) })
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

    /// Runs a script by its digest; sends the source to a server that does not know it yet.
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

    /// Closes the connections after the queued commands; later calls throw code `.closed`.
    package func close() async {
        await executor.shutdown { self.nodes = nil }
    }
}
