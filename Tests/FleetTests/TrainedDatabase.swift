import Foundation
import Mirroring
import Posts
import Sandbox
import TestSupport

/// A database of a mirror that knows the human's past, made once and copied for each test.
enum TrainedDatabase {
    private static let original = Task {
        let folder = try TemporaryDirectory()
        let mirror = try await HumanMirror.open(
            try MirrorFixture.configuration([
                "MIRROR": MirrorFixture.mirror, "MIRROR_BOT_HOME": folder.path,
            ]))
        try await train(mirror)
        await mirror.close()
        return folder
    }

    static func copy(into folder: TemporaryDirectory) async throws {
        let source = try await original.value
        // The newest changes may still be in the files beside it.
        for name in try FileManager.default.contentsOfDirectory(atPath: source.path) {
            try FileManager.default.copyItem(atPath: source.path(name), toPath: folder.path(name))
        }
    }

    /// Teaches a mirror the sample, in the names of the human's network.
    static func train(_ mirror: HumanMirror, on network: NetworkName = .mastodon) async throws {
        let folder = try TemporaryDirectory()
        let posts = try folder.write(Data(Sample.postLines.utf8), to: "posts.jsonl")
        let examples = try folder.write(Data(Sample.exampleLines.utf8), to: "examples.jsonl")
        // Whatever the mirror's own clock shows.
        let past = try await HumanMirror.open(mirror.configuration, clock: VirtualClock(startingAt: Sample.origin))
        try await past.closing { mirror in
            let scheduler = SchedulerTrainer(mirror: mirror, zone: Sample.zone) { _ in }
            _ = try await scheduler.train(fromArchive: posts, localHost: nil) {
                SandboxIdentity.carried($0, to: network)
            }
            let classifier = ClassifierTrainer(mirror: mirror, favorites: try mirror.favorites()) { _ in }
            _ = try await classifier.train(fromArchive: examples, localHost: nil, limit: nil)
        }
    }
}
