import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import TestSupport
import Testing

/// Whole lives of a worker: it learns, posts, renews its sessions, is ended in every way, and
/// starts again.
extension SecretScenario {
    static let lives =
        NetworkName.allCases.map { network in
            SecretScenario("\(network.rawValue), embedded database: trained, run, ended and killed")
            { stage in
                try await live(stage, on: network, [:])
                try expect(stage.stage.files().keys) { $0.contains { $0.hasSuffix(".sqlite") } }
            }
        }
        + NetworkName.allCases.map { network in
            SecretScenario("\(network.rawValue), Postgres and Redis with passwords") { stage in
                let servers = try await PlantedServers(stage.book)
                try await stage.run(["migrate"], servers.settings, ends: 0)
                try await live(stage, on: network, servers.settings)
                try await servers.keepContents(in: stage)
            }
        } + [
            SecretScenario("a token that is no longer good") { stage in
                let sandbox = try await Sandbox.live()
                let tap = try SecretTap(stage.book, port: sandbox.port)
                var accounts = PlantedAccounts.variables(
                    of: sandbox, on: .mastodon, in: stage.book, at: tap.url)
                accounts["BOT_ACCESS_TOKEN"] = stage.book.plant("a wrong token")
                for words in [["run", "--once"], ["run", "--dry-run"], ["run"]] {
                    try await stage.run(words, accounts, ends: 77)
                }
                await sandbox.stop()
            },
            SecretScenario("a crash that would leave a core file") { stage in
                let sandbox = try await Sandbox.live()
                let tap = try SecretTap(stage.book, port: sandbox.port)
                let accounts = PlantedAccounts.variables(
                    of: sandbox, on: .mastodon, in: stage.book, at: tap.url)
                let program = try RunningProgram(
                    Launch(
                        path: "/bin/sh",
                        arguments: [
                            "-c", "ulimit -c unlimited; exec \"$@\"", "sh", try Stage.program(),
                            "run",
                        ],
                        environment: stage.stage.environment.merging(accounts) { $1 },
                        folder: stage.stage.workingFolder))
                try await program.waitForError("Worker started")
                program.send(SIGABRT)
                let ending = await program.ending()
                #expect(ending.status == 128 + SIGABRT)
                stage.keep(ending, of: ["run"])
                await sandbox.stop()
            },
            SecretScenario("a dictionary that is not there") { stage in
                let sandbox = try await Sandbox.live()
                let tap = try SecretTap(stage.book, port: sandbox.port)
                var accounts = PlantedAccounts.variables(
                    of: sandbox, on: .mastodon, in: stage.book, at: tap.url)
                accounts["MECAB_DICTIONARY"] = "/nowhere"
                for words in [["run", "--once"], ["train", "classifier"], ["status"]] {
                    try await stage.run(words, accounts)
                }
                await sandbox.stop()
            },
        ]

    /// Learns, runs, renews sessions, and ends in every way.
    private static func live(
        _ stage: SecretStage, on network: NetworkName, _ stores: [String: String]
    ) async throws {
        let sandbox = try await Sandbox.live()
        let tap = try SecretTap(stage.book, port: sandbox.port)
        let accounts = PlantedAccounts.variables(
            of: sandbox, on: network, in: stage.book, at: tap.url)
        let all = accounts.merging(stores) { $1 }
        for words in [
            ["train", "scheduler"], ["train", "classifier"], ["run", "--dry-run"],
            ["run", "--once"],
        ] {
            let ending = try await stage.run(words, all)
            #expect(ending.status == 0, "\(words): \(ending.error)")
        }
        for signal in [SIGTERM, SIGINT] {
            if network == .bluesky { expireSession(on: sandbox) }
            try await stage.run(["run"], all, until: "Worker started", then: signal, ends: 0)
        }
        for words in [
            ["status"], ["status", "--json"], ["plan"], ["suggestions"], ["people", "list"],
        ] {
            try await stage.run(words, all)
        }
        // A signal that it cannot hear; what it holds is free again soon.
        let rehearsal = Rehearsal.Settings(
            origin: Date(), started: Date(), factor: 1, leaseSeconds: 0.3)
        let killed = try await stage.run(
            ["run"], all.merging(rehearsal.variables) { $1 }, until: "Worker started", then: SIGKILL
        )
        #expect(killed.status == 128 + SIGKILL)
        sandbox.faults.failNext(.dropAnswer, count: 3)
        sandbox.faults.failNext(.html(status: 500), count: 3)
        try await stage.run(["run", "--once"], all)
        #expect(tap.count > 5)
        #expect(stage.book.all.count > 3)
        await sandbox.stop()
        try await stage.run(["run", "--once"], all)
    }
}
