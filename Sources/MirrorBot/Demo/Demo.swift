import Archive
import Configuration
import Favorites
import Fleet
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import Sandbox

/// Some days of a mirror on a network inside this process, on a clock that jumps.
struct Demo {
    /// The first day of the sample: a Monday in Tokyo.
    private static let sampleOrigin = Date(timeIntervalSince1970: 1_780_239_600)
    private static let sampleZone = TimeZone(identifier: "Asia/Tokyo") ?? .gmt
    /// How many of the people whom an archive answers live in the sandbox.
    private static let friendsAtMost = 8
    private static let mirror = "demo"

    /// Where the human and the bot live.
    let network: NetworkName
    let from: String?
    let days: Int
    let seed: UInt64
    let zone: TimeZone?
    /// Told what happens, for a person who waits.
    let say: @Sendable (String) -> Void

    /// Runs the demo to its end.
    func run() async throws -> DemoResult {
        let folder = try TemporaryFolder()
        let watch = Task { await folder.removeOnSignal() }
        defer {
            watch.cancel()
            folder.remove()
        }
        say("learning posting times and texts from \(from ?? "the sample archive") …")
        let past = try await learnPosts(home: folder.path, on: .mastodon)
        if network != .mastodon {
            // The sandbox's world is written in its own server's names; the mirror learns the same past in the
            // network's.
            _ = try await learnPosts(home: folder.path + "/\(network.rawValue)", on: network)
        }
        let clock = VirtualClock(startingAt: past.origin)
        let sandbox = try await Sandbox.start(
            world: past.world(seed: seed, days: days, network: network), now: { clock.now })
        let registry = NetworkRegistry(version: Version.current, clock: clock)
        defer { registry.shutdown() }
        do {
            let home = network == .mastodon ? folder.path : folder.path + "/\(network.rawValue)"
            let result = try await live(past, sandbox, registry, clock, home: home)
            await sandbox.stop()
            return result
        } catch {
            await sandbox.stop()
            throw error
        }
    }

    /// Archives the human's past, which needs no network.
    private func learnPosts(home: String, on network: NetworkName) async throws -> DemoPast {
        let stores = try await MirrorStores.open(try configuration(home: home, zone: zone ?? Self.sampleZone))
        do {
            let path = try from ?? sample(in: home)
            let isSample = from == nil
            let adopt: @Sendable (Post) -> Post = { post in
                SandboxIdentity.carried(isSample ? post : DemoPast.adopt(post), to: network)
            }
            let trainer = SchedulerTrainer(
                stores: stores, clock: SystemClock(), zone: zone ?? Self.sampleZone, report: { _ in })
            let summary = try await trainer.train(fromArchive: path, localHost: SamplePeople.host, adopt: adopt)
            let found = (zone ?? summary.suggestedTimeZone.flatMap(TimeZone.init(identifier:)))
            let past = try await DemoPast(
                archive: stores.archive, posts: summary.learned, zone: found ?? Self.sampleZone,
                origin: from == nil ? Self.sampleOrigin : nil, friendsAtMost: Self.friendsAtMost)
            await stores.close()
            return past
        } catch {
            await stores.close()
            throw error
        }
    }

    /// Writes the sample archive into a file and returns its path.
    private func sample(in folder: String) throws -> String {
        let path = folder + "/sample.jsonl"
        try Data(SampleArchive(endingAt: Self.sampleOrigin).postLines.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Learns the favorites, lives through the days and reads what came of it.
    private func live(
        _ past: DemoPast, _ sandbox: Sandbox, _ registry: NetworkRegistry, _ clock: VirtualClock, home: String
    ) async throws -> DemoResult {
        let stores = try await MirrorStores.open(try configuration(home: home, zone: past.zone, sandbox: sandbox))
        do {
            say("learning favorites from the human's account …")
            let human = try await registry.requiredNetwork(of: .human, in: stores)
            let account = try await human.verifyAccount()
            let favorites = try stores.favorites()
            let trainer = ClassifierTrainer(stores: stores, favorites: favorites, clock: clock, report: { _ in })
            _ = try await trainer.train(from: human, own: [account.id], limit: ClassifierTrainer.seedSize)
            if let from {
                _ = try await trainer.train(fromArchive: from, localHost: nil, limit: ClassifierTrainer.seedSize)
            }
            let trained = try await favorites.status()
            say("living through \(days) \(days == 1 ? "day" : "days") …")
            let worker = Worker(
                stores: stores, registry: registry, clock: clock, logger: Logger(label: "mirror-bot"))
            try await worker.run(until: sandbox.world.end)
            let result = try await DemoResult(
                past: past, days: days, world: sandbox.world, ledger: await sandbox.ledger, stores: stores,
                favoritesLearned: Int(trained.favorites), normalsLearned: Int(trained.normals))
            await stores.close()
            return result
        } catch {
            await stores.close()
            throw error
        }
    }

    /// A configuration that knows the sandbox and nothing of the person's own accounts.
    private func configuration(home: String, zone: TimeZone, sandbox: Sandbox? = nil) throws -> MirrorConfiguration {
        var variables = ["MIRROR": Self.mirror, "MIRROR_BOT_HOME": home, "TIME_ZONE": zone.identifier]
        if let dictionary = ProcessInfo.processInfo.environment["MECAB_DICTIONARY"] {
            variables["MECAB_DICTIONARY"] = dictionary
        }
        if let sandbox {
            for role in SandboxRole.allCases { variables.merge(sandbox.settings(of: role, on: network)) { $1 } }
            // Every other minute is often enough for people who are not there, and takes half as long.
            variables["POLL_SECONDS"] = "120"
        }
        let values = try SettingValues(environment: EnvironmentVariablesProvider(environmentVariables: variables))
        return try MirrorConfiguration(values, environment: [:])
    }
}
