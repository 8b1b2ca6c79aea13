import Expectations
import Foundation
import TestSupport
import Testing

@testable import Redis

/// Against a real cluster that all tests share; each uses keys of its own.
@Suite(.timeLimit(.minutes(30))) struct RedisClusterTests {
    let prefix = UUID().uuidString

    /// - Parameter patience: With the default, no machine is too busy for the cluster to be well in
    ///   time.
    private func client(_ url: String, patience: Duration = .seconds(1_800)) throws -> RedisClient {
        var configuration = try RedisConfiguration(url: url)
        configuration.clusterTimeout = patience
        return RedisClient(configuration: configuration)
    }

    /// A name in braces whose slot is one of a master's.
    private func tag(of master: Int) throws -> String {
        let slots = 5_461 * master..<5_461 * (master + 1)
        let names = (0..<1_000).lazy.map { "{\(prefix)\($0)}" }
        return try #require(names.first { slots.contains(RedisArgument($0).slot) })
    }

    @Test func aServerTellsThatItBelongsToACluster() async throws {
        let cluster = try await RedisCluster.shared()
        try await cluster.exclusively {
            // One host is enough, and be it a replica's.
            for server in [cluster.servers[0], cluster.servers[5]] {
                let client = try client(server.url)
                let keys = (0..<200).map { "\(prefix):\(server.port):\($0)" }
                let all = keys.flatMap {
                    [RedisCommand("SET", $0, "v" + $0), RedisCommand("GET", $0)]
                }
                let replies = try await client.pipeline(all)
                #expect(replies == keys.flatMap { [.status("OK"), .bulk(Array(("v" + $0).utf8))] })
                for key in keys.prefix(20) {
                    try await expect(
                        client.command(RedisCommand("GET", key)).string, equals: "v" + key)
                }
                try await expect(client.command(RedisCommand("PING")), equals: .status("PONG"))
                await client.close()
            }
        }
    }

    @Test func slotsAreWhatTheServersCallThem() async throws {
        let client = try client(try await RedisCluster.shared().url)
        let keys =
            [
                "", "a", "123456789", "{", "{}", "{}a", "a{b", "a{}{b}", "a{b}c", "a{{b}}c", "}{a}",
                "{a}{b}", "猫{犬}",
            ]
            + (0..<50).map { "\(prefix)\($0)" }
        let replies = try await client.pipeline(keys.map { RedisCommand("CLUSTER", "KEYSLOT", $0) })
        #expect(replies.map(\.integer) == keys.map { Int64(RedisArgument($0).slot) })
        await client.close()
    }

    @Test func scriptsRunWhereTheirKeysAre() async throws {
        let cluster = try await RedisCluster.shared()
        let client = try client(cluster.url)
        let script = RedisScript("return redis.call('INCRBY', KEYS[1], ARGV[1]) -- \(prefix)")
        try await cluster.exclusively { () async throws in
            for number in 0..<12 {
                let key = "{\(prefix)\(number)}:count"
                try await expect(
                    client.script(script, keys: [key], arguments: ["3"]), equals: .integer(3))
                try await expect(
                    client.script(script, keys: [key], arguments: ["4"]), equals: .integer(7))
            }
        }
        let error = try await failure {
            try await client.script(script, keys: [prefix, prefix + "1"], arguments: ["1"])
        }
        #expect(error.serverCode == "CROSSSLOT")
        #expect(error.description.contains("different slots"))
        await client.close()
    }

    @Test func everyHostMayBeAway() async throws {
        let cluster = try await RedisCluster.shared()
        // Nobody listens there, and nobody else gets it.
        let port = try LoopbackPort()
        let gone = port.number
        let client = try client("redis://127.0.0.1:\(gone),127.0.0.1:\(cluster.servers[1].port)")
        try await expect(
            client.command(RedisCommand("SET", try tag(of: 0), "1")), equals: .status("OK"))
        await client.close()
        let lost = try self.client("redis://127.0.0.1:\(gone),127.0.0.1:\(gone)")
        let error = try await failure { try await lost.command(RedisCommand("GET", prefix)) }
        #expect(error.code == .unavailable)
        #expect(!error.mayHaveRun)
        #expect(error.description.contains("127.0.0.1:\(gone)"))
        withExtendedLifetime(port) {}
    }

    @Test func aClusterHasNoDatabases() async throws {
        let server = try await RedisCluster.shared().servers[0]
        let client = try client(server.url + "/3")
        let error = try await failure { try await client.command(RedisCommand("PING")) }
        #expect(error.description.contains("leave the number at the end of REDIS_URL out"))
    }

    @Test func aSlotThatMovedIsFoundAndTheOthersWithIt() async throws {
        let cluster = try await RedisCluster.shared()
        let source = cluster.servers[1]
        let target = cluster.servers[0]
        let client = try client(source.url)
        let tags = [try tag(of: 1), try RedisClusterTests().tag(of: 1)]
        let slots = tags.map { RedisArgument($0).slot }
        for tag in tags { _ = try await client.command(RedisCommand("SET", tag, "1")) }
        try await cluster.exclusively {
            for slot in slots { try await cluster.move(slot, from: source, to: target) }
            let before = try await cluster.errors("MOVED", of: source)
            try await expect(client.command(RedisCommand("INCR", tags[0])), equals: .integer(2))
            try await expect(cluster.errors("MOVED", of: source), equals: before + 1)
            // The map is new.
            try await expect(client.command(RedisCommand("INCR", tags[1])), equals: .integer(2))
            try await expect(
                client.pipeline(tags.map { RedisCommand("INCR", $0) }),
                equals: [.integer(3), .integer(3)])
            try await expect(cluster.errors("MOVED", of: source), equals: before + 1)
            for slot in slots { try await cluster.move(slot, from: target, to: source) }
        }
        try await expect(
            client.pipeline(tags.map { RedisCommand("INCR", $0) }),
            equals: [.integer(4), .integer(4)])
        await client.close()
    }

    @Test func keysOnTheirWayAreFound() async throws {
        let cluster = try await RedisCluster.shared()
        let source = cluster.servers[1]
        let target = cluster.servers[0]
        let client = try client(cluster.url)
        let tag = try tag(of: 1)
        let slot = RedisArgument(tag).slot
        let keys = ["a", "b", "c"].map { tag + $0 }
        let script = RedisScript(
            "local sum = 0 for _, key in ipairs(KEYS) do sum = sum + redis.call('INCR', key) end return sum -- \(prefix)"
        )
        try await expect(client.script(script, keys: keys), equals: .integer(3))
        try await cluster.exclusively {
            let asked = try await cluster.errors("ASK", of: source)
            try await cluster.beginMoving(slot, from: source, to: target)
            // A new key is made where the slot goes to, in order.
            let new = tag + "new"
            let replies = try await client.pipeline([
                RedisCommand("SET", new, "7"), RedisCommand("INCR", new),
                RedisCommand("INCR", keys[0]),
            ])
            #expect(replies == [.status("OK"), .integer(8), .integer(2)])
            try await expect(cluster.errors("ASK", of: source)) { $0 > asked }
            try await cluster.moveKeys(slot, from: source, to: target, atMost: 1)
            // The keys of a script are on both sides now.
            let refused = try await cluster.errors("TRYAGAIN")
            async let sum = client.script(script, keys: keys)
            try await cluster.waitForErrors("TRYAGAIN", above: refused)
            try await cluster.moveKeys(slot, from: source, to: target)
            // Before the slot has its new master.
            try await expect(sum, equals: .integer(7))
            try await cluster.endMoving(slot, from: source, to: target)
            try await expect(client.script(script, keys: keys), equals: .integer(10))
            try await cluster.move(slot, from: target, to: source)
        }
        try await expect(client.script(script, keys: keys), equals: .integer(13))
        await client.close()
    }

    @Test func aSlotOfNobodyIsWaitedForAndThenNamed() async throws {
        let cluster = try await RedisCluster.shared()
        let tag = try tag(of: 1)
        let slot = "\(RedisArgument(tag).slot)"
        let patient = try client(cluster.url)
        let hasty = try client(cluster.url, patience: .milliseconds(50))
        try await expect(patient.command(RedisCommand("SET", tag, "1")), equals: .status("OK"))
        try await cluster.exclusively {
            let server = cluster.servers[1]
            try await cluster.abandon(RedisArgument(tag).slot)
            let error = try await failure { try await hasty.command(RedisCommand("INCR", tag)) }
            #expect(error.serverCode == "CLUSTERDOWN")
            #expect(error.code == .unavailable)
            #expect(!error.mayHaveRun)
            #expect(error.description.contains("a part of the cluster has no master"))
            // What is well is answered at once.
            let well = try self.tag(of: 0)
            try await expect(hasty.command(RedisCommand("INCR", well)), equals: .integer(1))
            let refused = try await cluster.errors("CLUSTERDOWN")
            async let answer = patient.command(RedisCommand("INCR", tag))
            try await cluster.waitForErrors("CLUSTERDOWN", above: refused)
            try await server.run("CLUSTER", "ADDSLOTS", slot)
            try await expect(answer, equals: .integer(2))
            try await cluster.settle()
        }
        await patient.close()
        await hasty.close()
    }

    @Test func aReplicaThatTakesOverIsFound() async throws {
        let cluster = try await RedisCluster.shared()
        let tag = try tag(of: 2)
        let slot = RedisArgument(tag).slot
        let patient = try client(cluster.url)
        let hasty = try client(cluster.url, patience: .milliseconds(50))
        try await cluster.exclusively {
            let master = try await cluster.master(of: slot)
            try await expect(patient.command(RedisCommand("SET", tag, "1")), equals: .status("OK"))
            try await expect(patient.command(RedisCommand("WAIT", "1", "5000")).integer) {
                $0 != nil
            }
            await master.kill()
            let error = try await failure { try await hasty.command(RedisCommand("GET", tag)) }
            #expect(error.code == .unavailable)
            #expect(!error.mayHaveRun)
            #expect(error.description.contains("127.0.0.1:\(master.port)"))
            let answer = Task { try await patient.command(RedisCommand("INCR", tag)) }
            try await cluster.replace(master)
            try await expect(answer.value.integer) { $0 != nil }
            try await master.restart()
            try await cluster.settle()
            // The old master is the replica now, under the map of before.
            try await expect(patient.command(RedisCommand("SET", tag, "5")), equals: .status("OK"))
            try await expect(hasty.command(RedisCommand("INCR", tag)), equals: .integer(6))
        }
        await patient.close()
        await hasty.close()
    }
}
