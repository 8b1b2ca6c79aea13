import Control
import Foundation
package import Mirroring
import NetworkNames
package import Posts
import Sandbox
import Settings
package import TestSupport

/// Databases of a mirror that knows the human's past, made once for each network and copied for
/// each test.
package enum TrainedDatabase {
    private static let originals = Originals()

    /// Makes an SQLite database of a trained mirror in a folder.
    package static func copy(into folder: TemporaryDirectory, on network: NetworkName) async throws
    {
        // The newest changes may still be in the files beside it.
        try await originals.folder(network).copyFiles(into: folder)
    }

    /// Makes such a database on the Postgres server that all tests share, and returns its URL.
    package static func onPostgres(_ network: NetworkName) async throws -> String {
        try await PostgresServer.shared().makeDatabase(from: try await originals.url(network))
    }

    /// What is copied.
    private actor Originals {
        private var folders: [NetworkName: Task<TemporaryDirectory, any Error>] = [:]
        private var urls: [NetworkName: Task<String, any Error>] = [:]

        func folder(_ network: NetworkName) async throws -> TemporaryDirectory {
            let task =
                folders[network]
                ?? Task {
                    let folder = try TemporaryDirectory()
                    try await MigratedDatabase.copy(to: folder.path("mirror-bot.sqlite"))
                    try await Self.make(["MIRROR_BOT_HOME": folder.path], on: network)
                    return folder
                }
            folders[network] = task
            return try await task.value
        }

        func url(_ network: NetworkName) async throws -> String {
            let task =
                urls[network]
                ?? Task {
                    let folder = try TemporaryDirectory()
                    let url = try await MigratedDatabase.onPostgres()
                    try await Self.make(
                        ["MIRROR_BOT_HOME": folder.path, "DATABASE_URL": url], on: network)
                    return url
                }
            urls[network] = task
            return try await task.value
        }

        private static func make(_ variables: [String: String], on network: NetworkName)
            async throws
        {
            let mirror = try await HumanMirror.open(
                try MirrorFixture.configuration(
                    variables.merging([
                        "MIRROR": MirrorFixture.mirror, "TIME_ZONE": Sample.zone.identifier,
                    ]) { $1 }))
            try await train(mirror, on: network)
            await mirror.close()
        }
    }

    /// Teaches a mirror the sample, in the names of the human's network.
    package static func train(_ mirror: HumanMirror, on network: NetworkName = .mastodon)
        async throws
    {
        let folder = try TemporaryDirectory()
        let posts = try folder.write(Data(Sample.postLines.utf8), to: "posts.jsonl")
        let examples = try folder.write(Data(Sample.exampleLines.utf8), to: "examples.jsonl")
        // Whatever the mirror's own clock shows.
        let past = try await HumanMirror.open(
            MirrorConfiguration(process: mirror.process, mirror: mirror.configuration),
            clock: VirtualClock(startingAt: Sample.origin))
        try await past.closing { mirror in
            let scheduler = SchedulerTrainer(mirror: mirror, zone: Sample.zone) { _ in }
            _ = try await scheduler.train(fromArchive: posts, localHost: nil) {
                SandboxIdentity.carried($0, to: network)
            }
            let classifier = ClassifierTrainer(mirror: mirror, favorites: try mirror.favorites()) {
                _ in
            }
            _ = try await classifier.train(fromArchive: examples, localHost: nil, limit: nil)
        }
    }
}
