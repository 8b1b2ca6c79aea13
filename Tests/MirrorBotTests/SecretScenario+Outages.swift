import Control
import Expectations
import Foundation
import Mirroring
import Posts
import TestSupport
import Testing

/// Databases and counts that fail a worker in the middle of its work, and disks that are full.
extension SecretScenario {
    static let outages =
        NetworkName.allCases.map { network in
            SecretScenario("\(network.rawValue): a disk that takes no more") { stage in
                try await fillFiles(stage, on: network)
            }
        } + [
            SecretScenario("everything that Postgres does to a worker") { stage in
                let servers = try await PlantedServers(stage.book)
                try await stage.run(["migrate"], servers.settings, ends: 0)
                try await servers.watchChanges()
                let life = try await SecretLife(on: .bluesky, in: stage, stores: servers.settings)
                let watch = try await life.begin()
                try await trouble(servers, life, watch)
                await life.end(watch)
                try await life.close()
                try await servers.keepContents(in: stage)
            },
            SecretScenario("everything that Redis does to a worker") { stage in
                let servers = try await PlantedServers(stage.book)
                try await stage.run(["migrate"], servers.settings, ends: 0)
                let life = try await SecretLife(on: .x, in: stage, stores: servers.settings)
                let watch = try await life.begin()
                try await servers.waitForCounts(watch)
                let features = "mirror-bot:{default}:features:normal"
                try await expect(servers.tellRedis(["EXISTS", features]), equals: "1")
                for words in [["FLUSHALL"], ["DEL", features], ["SET", features, "5"]] {
                    try await servers.tellRedis(words)
                    try await servers.waitForCounts(watch, features)
                }
                let killed = try await servers.tellRedis(["CLIENT", "KILL", "TYPE", "normal"])
                #expect((Int(killed) ?? 0) > 0, "\(killed)")
                try await servers.tellRedis(["CONFIG", "SET", "maxmemory-policy", "noeviction"])
                try await servers.tellRedis(["CONFIG", "SET", "maxmemory", "1"])
                watch.forget()
                try await watch.line("Pass failed, trying again", "maxmemory")
                try await servers.tellRedis(["CONFIG", "SET", "maxmemory", "0"])
                try await servers.redis.restart()
                try await servers.waitForCounts(watch, features)
                await life.end(watch)
                try await life.close()
                try await servers.keepContents(in: stage)
            },
        ] + (TinyDisk.isPossible ? [SecretScenario("a full disk", fillDisk)] : [])

    /// Restarts, sessions that are ended, transactions that fail, and a database that takes no
    /// changes.
    private static func trouble(_ servers: PlantedServers, _ life: SecretLife, _ watch: SecretWatch)
        async throws
    {
        for (name, statement, word) in [
            (
                "a session that is ended", "PERFORM pg_terminate_backend(pg_backend_pid())",
                "DATABASE_URL"
            ),
            ("a serialization failure", "RAISE EXCEPTION 'no' USING ERRCODE = '40001'", "40001"),
            ("a deadlock", "RAISE EXCEPTION 'no' USING ERRCODE = '40P01'", "40P01"),
            ("a full disk", "RAISE EXCEPTION 'no' USING ERRCODE = '53100'", "53100"),
        ] {
            watch.forget()
            try await servers.spoil(statement)
            try await watch.line(name) {
                $0.contains("Pass failed, trying again") && $0.contains(word)
            }
            try await servers.mend()
            try await life.hasDelivered(watch)
        }
        let database = servers.database
        let killed = try await servers.postgres.run(
            "SELECT sessions_killed > 0 FROM pg_stat_database WHERE datname = current_database()",
            database: database)
        #expect(killed.hasPrefix("t"))
        watch.forget()
        try await servers.postgres.set("default_transaction_read_only", to: "on", in: database)
        try await servers.postgres.terminateConnections(to: database)
        try await watch.line("Pass failed, trying again", "25006")
        try await servers.postgres.set("default_transaction_read_only", to: nil, in: database)
        try await life.hasDelivered(watch)
        await servers.postgres.stop()
        watch.forget()
        try await watch.line("Pass failed, trying again", "DATABASE_URL")
        try await servers.postgres.restart()
        try await life.hasDelivered(watch)
    }

    /// A limit that the system sets to the size of files, which needs no rights: with nothing
    /// allowed every write fails.
    private static func fillFiles(_ stage: SecretStage, on network: NetworkName) async throws {
        let life = try await SecretLife(on: network, in: stage)
        let limited = try LimitedProgram(stage, life.settings())
        let watch = limited.watch
        try await watch.line("Worker started")
        try await life.hasDelivered(watch)
        try await limited.limitFiles(to: "0")
        try await watch.line("Pass failed, trying again", "could not")
        try await watch.line("Mirrors could not be claimed, trying again")
        for words in [["run", "--once"], ["train", "scheduler"]] {
            let ending = try await LimitedProgram.run(words, life.settings(), in: stage)
            #expect(ending.status != 0, "\(words): \(ending.error)")
        }
        try await limited.limitFiles(to: "unlimited")
        try await life.hasDelivered(watch)
        await life.end(watch)
        try await limited.hasWrittenAll()
        try await life.close()
    }

    /// A real one, where this process may mount one.
    private static func fillDisk(_ stage: SecretStage) async throws {
        let disk = try TinyDisk(kilobytes: 16_384)
        let life = try await SecretLife(on: .bluesky, in: stage, home: disk.path("home"))
        let watch = try await life.begin()
        let ballast = try disk.fill()
        watch.forget()
        try await watch.line("Pass failed, trying again", "make room")
        for words in [["run", "--once"], ["train", "scheduler"]] {
            try await stage.fail(words, life.settings())
        }
        try FileManager.default.removeItem(atPath: ballast)
        try await life.hasDelivered(watch)
        await life.end(watch)
        try await life.close()
        try stage.keepFiles(in: life.home)
    }
}
