import Blocking
import Foundation

/// Six private Redis servers that are one cluster: three masters with a replica each.
///
/// What happens to it is the tests' doing: servers that are slow on a busy machine are not taken
/// for dead for a while, and a replica takes over when it is told to.
package final class RedisCluster: Sendable {
    /// The first three begin as the masters of 5,461 slots each, in their order; the others as
    /// their replicas.
    package let servers: [RedisServer]
    /// Where the servers talk to each other.
    private let busPorts: [LoopbackPort]
    private let turnstile = Turnstile()

    private static let once = Task { try await start() }

    /// The cluster that all tests of this process share; started on first use.
    ///
    /// Slots of the first master stay where they are. Whoever moves slots of the second, or lets a
    /// server of the third die, does that within ``exclusively(_:)``, and puts things right again.
    package static func shared() async throws -> RedisCluster { try await once.value }

    /// Starts a cluster of its own, which ends with the returned value.
    ///
    /// - Parameter nodeTimeout: Milliseconds without an answer after which a server is taken for
    ///   dead and replaced.
    /// - Throws: ``TestSupportError`` if it is not installed or does not start.
    package static func start(nodeTimeout: Int = 10_000) async throws -> RedisCluster {
        let ports = try (0..<6).map { _ in try LoopbackPort() }
        let servers = try await withThrowingTaskGroup(of: RedisServer.self) { group in
            for port in ports {
                group.addTask { try await startServer(busPort: port.number, nodeTimeout) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let cluster = RedisCluster(servers, busPorts: ports)
        try await cluster.form()
        return cluster
    }

    private init(_ servers: [RedisServer], busPorts: [LoopbackPort]) {
        self.servers = servers
        self.busPorts = busPorts
    }

    private static func startServer(busPort: UInt16, _ nodeTimeout: Int) async throws -> RedisServer
    {
        try await RedisServer.start(arguments: [
            "--cluster-enabled", "yes", "--cluster-node-timeout", "\(nodeTimeout)",
            "--cluster-port", "\(busPort)",
            // The others go on, a replica is not too old to take over, stays with its master and
            // gets data at once.
            "--cluster-require-full-coverage", "no", "--cluster-replica-validity-factor", "0",
            "--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0",
        ])
    }

    private func form() async throws {
        for (place, server) in servers.enumerated() {
            try await server.run("CLUSTER", "SET-CONFIG-EPOCH", "\(place + 1)")
            if place > 0 { try await meet(server) }
        }
        let last = 16_383
        for (place, server) in servers.prefix(3).enumerated() {
            let end = place == 2 ? last : 5_461 * (place + 1) - 1
            try await server.run("CLUSTER", "ADDSLOTSRANGE", "\(5_461 * place)", "\(end)")
        }
        for (place, server) in servers.enumerated() {
            try await Self.wait("to meet") {
                try await server.run("CLUSTER", "NODES").split(separator: "\n").count == 6
            }
            guard place >= 3 else { continue }
            let master = try await id(of: servers[place - 3])
            try await server.run("CLUSTER", "REPLICATE", master)
        }
        try await settle()
    }

    private func meet(_ server: RedisServer) async throws {
        let line = try await servers[0].run("CLUSTER", "NODES")
        // id address:port@port,… flags
        let port = line.split(separator: "@").dropFirst().first?.prefix(while: \.isNumber) ?? ""
        try await server.run("CLUSTER", "MEET", "127.0.0.1", "\(servers[0].port)", String(port))
    }

    // MARK: Asking

    /// `redis://` and all servers.
    package var url: String {
        "redis://" + servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
    }

    /// The server's own name within the cluster.
    package func id(of server: RedisServer) async throws -> String {
        try await server.run("CLUSTER", "MYID").trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The master that has a slot, as another of its servers sees it.
    package func master(of slot: Int, asking server: Int = 0) async throws -> RedisServer {
        guard let master = try await knownMaster(of: slot, asking: server) else {
            throw TestSupportError("nobody has slot \(slot) of the cluster")
        }
        return master
    }

    private func knownMaster(of slot: Int, asking server: Int) async throws -> RedisServer? {
        let lines = try await servers[server].run("CLUSTER", "NODES").split(separator: "\n")
        for words in lines.map({ $0.split(separator: " ") })
        where words.count > 8 && words[2].contains("master") {
            let hasIt = words[8...].contains { word in
                let range = word.split(separator: "-").compactMap { Int($0) }
                return range.first.map { $0 <= slot && slot <= range.last ?? $0 } ?? false
            }
            let port = words[1].drop { $0 != ":" }.dropFirst().prefix(while: \.isNumber)
            if hasIt, let server = servers.first(where: { "\($0.port)" == port }) { return server }
        }
        return nil
    }

    /// Takes a slot from its master, and returns when no server names one.
    ///
    /// A message that was under way may tell a server of the master once more.
    package func abandon(_ slot: Int) async throws {
        try await Self.wait("to abandon slot \(slot)") { [self] in
            var isFree = true
            for number in servers.indices
            where try await knownMaster(of: slot, asking: number) != nil {
                try await servers[number].run("CLUSTER", "DELSLOTS", "\(slot)")
                isFree = false
            }
            return isFree
        }
    }

    /// How often a server, or any of them, answered with an error whose first word this is.
    package func errors(_ word: String, of server: RedisServer? = nil) async throws -> Int {
        var count = 0
        for server in server.map({ [$0] }) ?? servers {
            let statistics = try await server.run("INFO", "errorstats")
            let line = statistics.split(whereSeparator: \.isNewline).first {
                $0.hasPrefix("errorstat_\(word):")
            }
            count += line.flatMap { Int($0.split(separator: "=").last ?? "") } ?? 0
        }
        return count
    }

    /// Waits until the servers have answered so more often than `count` times.
    package func waitForErrors(_ word: String, above count: Int) async throws {
        try await Self.wait("for \(word)") { try await self.errors(word) > count }
    }

    // MARK: Changing

    /// Lets nobody else use it so at the same time.
    package func exclusively<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await turnstile.pass(body)
    }

    /// Begins to move a slot: keys that are not there any more are asked for at the new master.
    package func beginMoving(_ slot: Int, from source: RedisServer, to target: RedisServer)
        async throws
    {
        try await target.run("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", try await id(of: source))
        try await source.run("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", try await id(of: target))
    }

    /// Moves some keys of a slot.
    package func moveKeys(
        _ slot: Int, from source: RedisServer, to target: RedisServer, atMost count: Int = 100
    ) async throws {
        let keys = try await source.run("CLUSTER", "GETKEYSINSLOT", "\(slot)", "\(count)")
        for key in keys.split(separator: "\n") where !key.isEmpty {
            try await source.run("MIGRATE", "127.0.0.1", "\(target.port)", String(key), "0", "5000")
        }
    }

    /// Gives the slot to the new master, for good.
    package func endMoving(_ slot: Int, from source: RedisServer, to target: RedisServer)
        async throws
    {
        let owner = try await id(of: target)
        for server in [target, source] {
            try await server.run("CLUSTER", "SETSLOT", "\(slot)", "NODE", owner)
        }
    }

    /// Moves a slot with all its keys.
    package func move(_ slot: Int, from source: RedisServer, to target: RedisServer) async throws {
        try await beginMoving(slot, from: source, to: target)
        try await moveKeys(slot, from: source, to: target)
        try await endMoving(slot, from: source, to: target)
    }

    /// Moves a slot to another master, its first keys one at a time, so that whoever uses them
    /// meets the move.
    package func moveAway(_ slot: Int) async throws {
        let source = try await master(of: slot)
        var target = source
        for other in [0, 5_461, 16_383] where target === source {
            target = try await master(of: other)
        }
        try await beginMoving(slot, from: source, to: target)
        for _ in 0..<3 { try await moveKeys(slot, from: source, to: target, atMost: 1) }
        try await moveKeys(slot, from: source, to: target)
        try await endMoving(slot, from: source, to: target)
    }

    /// Lets the replica of a master that is gone take its place.
    package func replace(_ master: RedisServer) async throws {
        for server in servers where server !== master {
            let role = (try? await server.run("ROLE")) ?? ""
            let lines = role.split(separator: "\n")
            guard lines.first == "slave", lines.count > 2, lines[2] == "\(master.port)" else {
                continue
            }
            try await server.run("CLUSTER", "FAILOVER", "TAKEOVER")
            return
        }
        throw TestSupportError("no replica of the master on port \(master.port)")
    }

    /// Waits until the servers have replaced a master that is gone, by an election of their own.
    ///
    /// - Parameter slot: One of its slots.
    /// - Throws: ``TestSupportError`` if they do not.
    package func waitForSuccessor(of master: RedisServer, slot: Int) async throws {
        let asked = servers.firstIndex { $0 !== master } ?? 0
        try await Self.wait("to replace a master") {
            try await self.master(of: slot, asking: asked) !== master
        }
    }

    /// Waits until every server knows that all is well and who has which slots, and every replica
    /// has what its master has.
    package func settle() async throws {
        for server in servers {
            try await Self.wait("to be well") {
                let state = try await server.run("CLUSTER", "INFO")
                // A cluster whose slots are not yet known calls itself well too: it does not have
                // to be whole.
                let isWell = ["cluster_state:ok", "cluster_slots_assigned:16384", "cluster_size:3"]
                    .allSatisfy {
                        state.contains($0)
                    }
                let replication = try await server.run("INFO", "replication")
                let isLinked =
                    !replication.contains("role:slave")
                    || replication.contains("master_link_status:up")
                return isWell && isLinked
            }
        }
    }

    /// Ends every server.
    package func stop() async {
        for server in servers { await server.stop() }
    }

    private static func wait(_ purpose: String, until isSo: @Sendable () async throws -> Bool)
        async throws
    {
        guard try await isSoon({ (try? await isSo()) == true }) else {
            throw TestSupportError("the cluster takes too long \(purpose)")
        }
    }
}
