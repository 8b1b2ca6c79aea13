import Blocking
import Transport

/// A pipeline of commands with the replies received so far.
///
/// Owned by the call that created it and, while that waits, by the turn of the client's executor.
final class RedisPipeline: @unchecked Sendable {
    // Unchecked because the call waits while the executor's turn uses it.
    let commands: [RedisCommand]
    /// The replies; for an unanswered command, the last error from a server.
    fileprivate(set) var replies: [RedisReply]
    /// The indices of the unanswered commands.
    fileprivate(set) var unanswered: [Int]
    /// Commands to send once with `ASKING` to another server, because their key is being migrated
    /// there.
    fileprivate var askTargets: [Int: RedisAddress] = [:]
    /// The reason why no server could be reached.
    fileprivate var failure: RedisError?

    /// - Throws: ``RedisError`` with code `.invalidCommand` for a command without a name, which
    ///   gets no reply at all.
    init(_ commands: [RedisCommand]) throws(RedisError) {
        guard commands.allSatisfy({ $0.parts.first?.bytes.isEmpty == false }) else {
            throw RedisError(.invalidCommand, message: "a command has no name")
        }
        self.commands = commands
        replies = Array(repeating: .null, count: commands.count)
        unanswered = Array(commands.indices)
    }

    /// Whether all commands are answered.
    var isOver: Bool { unanswered.isEmpty }

    /// Ends the pipeline although some commands are unanswered.
    ///
    /// - Returns: The servers' replies.
    /// - Throws: ``RedisError`` if a server could not be reached.
    func giveUp() throws(RedisError) -> [RedisReply] {
        guard let failure else { return replies }
        throw unanswered.count < commands.count ? failure.forPartlyRunPipeline : failure
    }
}

/// The connections of a client, and the servers' slots.
///
/// There is one connection until a server reports that it belongs to a cluster, then one to each
/// master that is needed. Used by one thread at a time.
final class RedisNodes {
    /// The most redirections in a row that a command follows before it waits.
    private static let maximumRedirections = 5
    /// The time limit for connecting to one of several servers.
    private static let nodeConnectTimeout: Duration = .seconds(2)

    private let configuration: RedisConfiguration
    private let interruption: Interruption
    private var connections: [RedisAddress: RedisConnection] = [:]
    private var certificates: [RedisAddress: String] = [:]
    /// The server for all commands while no cluster is known.
    private var home: RedisAddress
    /// The slots of the cluster's servers; nil until a server reports that it belongs to a cluster.
    private var map: SlotMap?
    /// Whether a server contradicted the map, or did not answer.
    private var isOutdated = false
    /// The node to query first for a newer slot map.
    private var informant: RedisAddress?
    /// The pipeline whose commands were sent, but not answered within a moment, and the server that
    /// received them.
    private var inFlight: (pipeline: RedisPipeline, route: Route)?

    /// The destination of commands.
    private struct Route: Hashable {
        let address: RedisAddress
        /// Whether to send `ASKING` first, because the keys are still being migrated to the server.
        var isAsking = false
    }

    init(_ configuration: RedisConfiguration, interruption: Interruption) {
        self.configuration = configuration
        self.interruption = interruption
        home = configuration.addresses[0]
    }

    // MARK: - Pipelines

    /// Sends a small command to a server that is known to be near, and waits a moment for the
    /// reply.
    ///
    /// - Returns: Whether all commands are answered.
    /// - Throws: ``RedisError`` or `CancellationError`.
    func begin(_ pipeline: RedisPipeline) throws -> Bool {
        // TLS may raise SIGPIPE, which only the executor's own thread blocks.
        guard !configuration.usesTLS, pipeline.commands.count <= 4, inFlight == nil, !isOutdated,
            let route = onlyRoute(of: pipeline), let connection = connections[route.address],
            connection.isNear,
            case let bytes = RedisCommand.encode(pipeline.commands),
            bytes.count <= RedisConnection.smallRequestBytes,
            connection.isIdle()
        else { return false }
        connection.begin(bytes, count: pipeline.commands.count)
        try droppingConnectionOnError(route.address) {
            guard let replies = try connection.proceed(until: .now + RedisConnection.blockingLimit)
            else {
                inFlight = (pipeline, route)
                return
            }
            take(replies, of: pipeline.unanswered, for: pipeline, from: route.address)
        }
        return pipeline.isOver
    }

    private func onlyRoute(of pipeline: RedisPipeline) -> Route? {
        guard let map else { return Route(address: home) }
        let slot = pipeline.commands[0].slot
        guard pipeline.commands.allSatisfy({ $0.slot == slot }) else { return nil }
        return map[slot].map { Route(address: $0) }
    }

    /// Sends the open commands, as far as that is possible without waiting for a cluster to settle.
    ///
    /// - Throws: ``RedisError`` or `CancellationError`.
    func advance(_ pipeline: RedisPipeline) throws {
        try finishPipelineInFlight(pipeline)
        pipeline.failure = nil
        for _ in 0..<Self.maximumRedirections where !pipeline.isOver {
            do {
                try locate()
                var mustWait = false
                for (route, indices) in routes(of: pipeline) {
                    if try send(indices, of: pipeline, along: route) { mustWait = true }
                }
                if mustWait { return }
            } catch let error as RedisError where map != nil && error.isOfUnreachableServer {
                // The master did not answer: its replica will replace it, or it will return.
                isOutdated = true
                pipeline.failure = error
                pipeline.askTargets = [:]
                return
            }
        }
    }

    private func finishPipelineInFlight(_ pipeline: RedisPipeline) throws {
        guard let (runningPipeline, route) = inFlight else { return }
        inFlight = nil
        guard runningPipeline === pipeline, let connection = connections[route.address] else {
            // The caller of that pipeline was cancelled, so the reply is not needed any more.
            connections[route.address] = nil
            return
        }
        try droppingConnectionOnError(route.address) {
            let replies = try connection.finish(
                by: .now + configuration.commandTimeout, interruption: interruption)
            take(replies, of: pipeline.unanswered, for: pipeline, from: route.address)
        }
    }

    /// The open commands by destination, in their order.
    private func routes(of pipeline: RedisPipeline) -> [(Route, [Int])] {
        guard let map else { return [(Route(address: home), pipeline.unanswered)] }
        var routes: [Route] = []
        var indicesByRoute: [Route: [Int]] = [:]
        for index in pipeline.unanswered {
            let owner = map[pipeline.commands[index].slot] ?? map.masters.first ?? home
            let route =
                pipeline.askTargets[index].map { Route(address: $0, isAsking: true) }
                ?? Route(address: owner)
            if indicesByRoute[route] == nil { routes.append(route) }
            indicesByRoute[route, default: []].append(index)
        }
        return routes.map { ($0, indicesByRoute[$0] ?? []) }
    }

    /// Sends some of the open commands to one server.
    ///
    /// - Returns: Whether the server asks to try again later.
    private func send(_ indices: [Int], of pipeline: RedisPipeline, along route: Route) throws
        -> Bool
    {
        var commands =
            indices.count == pipeline.commands.count
            ? pipeline.commands : indices.map { pipeline.commands[$0] }
        if route.isAsking { commands = commands.flatMap { [RedisCommand("ASKING"), $0] } }
        var replies = try exchange(commands, with: route.address)
        if route.isAsking {
            // Every second reply answers a command, the others answer `ASKING`.
            replies = stride(from: 1, to: replies.count, by: 2).map { replies[$0] }
        }
        return take(replies, of: indices, for: pipeline, from: route.address)
    }

    /// Stores the replies of a server; returns whether one asks to try again later.
    @discardableResult
    private func take(
        _ replies: [RedisReply], of indices: [Int], for pipeline: RedisPipeline,
        from source: RedisAddress
    ) -> Bool {
        var asksToTryLater = false
        var isWrongServer = false
        var redirected = Set<Int>()
        for (index, reply) in zip(indices, replies) {
            pipeline.replies[index] = reply
            guard case .error(let text) = reply else { continue }
            isWrongServer = isWrongServer || RedisError(reply: text).isOfWrongServer
            guard let redirection = Redirection(text, from: source) else { continue }
            redirected.insert(index)
            pipeline.askTargets[index] = nil
            switch redirection {
            case .moved(let slot, let owner): learn(that: owner, has: slot)
            case .ask(let target): pipeline.askTargets[index] = target
            case .later:
                asksToTryLater = true
                isOutdated = map != nil
            }
        }
        if redirected.isEmpty, indices.count == pipeline.unanswered.count {
            pipeline.unanswered = []
        } else {
            let answered = Set(indices).subtracting(redirected)
            pipeline.unanswered.removeAll(where: answered.contains)
        }
        // A new connection may lead to another server: the name may belong to a new server, and
        // other hosts may be configured.
        if isWrongServer { dropConnection(to: source) }
        return asksToTryLater
    }

    /// Records a redirection in the map, which is then to be read again.
    private func learn(that owner: RedisAddress, has slot: Int) {
        if map == nil { map = SlotMap() }
        map?[slot] = owner
        isOutdated = true
        informant = owner
    }

    // MARK: - Servers

    /// Connects to the server of all commands, or reads the cluster's map again if it is outdated.
    private func locate() throws {
        if map != nil {
            if isOutdated { try refresh() }
            return
        }
        if let connection = connections[home] {
            // A connection that was closed while idle is replaced before anything is sent, so that
            // nothing can run twice.
            if connection.isIdle() { return }
            connections[home] = nil
        }
        let addresses = configuration.addresses
        let first = addresses.firstIndex(of: home) ?? 0
        for offset in addresses.indices {
            home = addresses[(first + offset) % addresses.count]
            do {
                try connect(to: home)
                return
            } catch let error as RedisError
                where error.code != .authentication && offset < addresses.count - 1
            {
                continue
            }
        }
    }

    /// Reads the slot map, from one server after the other.
    private func refresh() throws {
        let knownServers = Set((map?.masters ?? []) + Array(connections.keys))
        // The servers are asked in random order, because one of them may be cut off from the others
        // and have an old map.
        let otherServers = knownServers.union(configuration.addresses).subtracting(
            [informant].compactMap(\.self)
        ).shuffled()
        var newMap = map
        for address in [informant].compactMap(\.self) + otherServers {
            do {
                let reply = try exchange([SlotMap.question], with: address)[0]
                if let report = SlotMap.Report(reply) { newMap = SlotMap(report, from: address) }
                if case .error(let text) = reply, text.contains("cluster support disabled") {
                    newMap = nil
                    home = address
                }
                map = newMap
                informant = nil
                isOutdated = false
                let masters = Set(map?.masters ?? [home])
                connections = connections.filter { masters.contains($0.key) }
                return
            } catch let error as RedisError where [.unavailable, .timeout].contains(error.code) {
                continue
            }
        }
        informant = nil
    }

    /// Sends commands over a live connection, opened if necessary, and returns their replies.
    private func exchange(_ commands: [RedisCommand], with address: RedisAddress) throws
        -> [RedisReply]
    {
        let bytes = RedisCommand.encode(commands)
        if let connection = connections[address], !connection.isIdle() {
            connections[address] = nil
        }
        let connection = try connections[address] ?? connect(to: address)
        return try droppingConnectionOnError(address) {
            try connection.exchange(
                bytes, count: commands.count, deadline: .now + configuration.commandTimeout,
                interruption: interruption)
        }
    }

    @discardableResult
    private func connect(to address: RedisAddress) throws -> RedisConnection {
        let isOneOfMany = map != nil || configuration.addresses.count > 1
        let timeout =
            isOneOfMany
            ? min(configuration.connectTimeout, Self.nodeConnectTimeout)
            : configuration.connectTimeout
        let deadline = ContinuousClock.now + timeout
        do {
            let connection = try RedisConnection(
                configuration, to: address, deadline: deadline, interruption: interruption)
            try checkCertificate(connection, of: address)
            let report = try connection.greet(
                configuration, by: deadline, interruption: interruption)
            connections[address] = connection
            if map == nil { map = report.map { SlotMap($0, from: address) } }
            return connection
        } catch {
            throw redisError(error, of: address, mayHaveRun: false)
        }
    }

    private func checkCertificate(_ connection: RedisConnection, of address: RedisAddress)
        throws(RedisError)
    {
        guard configuration.usesTLS, configuration.tlsVerification == .firstUse else { return }
        guard let certificate = connection.peerCertificate,
            certificates[address] ?? certificate == certificate
        else {
            throw RedisError(
                .authentication,
                message:
                    "the server shows another certificate than before; restart to trust it, or set REDIS_TLS_VERIFY"
            )
        }
        certificates[address] = certificate
    }

    /// Runs an exchange with a server; if it fails, the connection is dropped.
    private func droppingConnectionOnError<Value>(
        _ address: RedisAddress, _ body: () throws -> Value
    ) throws -> Value {
        do {
            return try body()
        } catch {
            dropConnection(to: address)
            throw redisError(error, of: address, mayHaveRun: true)
        }
    }

    /// Drops a connection; with several hosts and no cluster, the next host is used next.
    private func dropConnection(to address: RedisAddress) {
        connections[address] = nil
        isOutdated = map != nil
        guard map == nil, let index = configuration.addresses.firstIndex(of: address) else {
            return
        }
        home = configuration.addresses[(index + 1) % configuration.addresses.count]
    }

    /// Turns an error of the transport into a ``RedisError``, and leaves a cancellation unchanged.
    private func redisError(_ error: any Error, of address: RedisAddress, mayHaveRun: Bool)
        -> any Error
    {
        if let error = error as? RedisError {
            return RedisError(
                error.code, mayHaveRun: error.mayHaveRun && mayHaveRun,
                serverCode: error.serverCode,
                message: error.code == .timeout ? "\(address): \(error.message)" : error.message)
        }
        guard let error = error as? TransportError else { return error }
        let code: RedisError.Code =
            switch error.code {
            case .timeout: .timeout
            case .tls: .authentication
            default: .unavailable
            }
        // Many servers have self-signed certificates, and only a person can confirm that this is
        // one of them.
        let advice =
            error.code == .tls && configuration.tlsVerification == .full
            ? "; if the server signs its own certificate, set REDIS_TLS_VERIFY to its pin:sha256//…, or to none"
            : ""
        return RedisError(
            code, mayHaveRun: mayHaveRun, message: "\(address): \(error.message)\(advice)")
    }
}

extension RedisError {
    /// Whether nothing was sent, because no server was reachable or ready.
    fileprivate var isOfUnreachableServer: Bool {
        !mayHaveRun && [.unavailable, .timeout].contains(code)
    }
}
