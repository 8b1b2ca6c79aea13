import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import Settings
import TestSupport
import Testing

/// The program as it is built, from an archive with files of pictures to a post with one, killed on
/// the way.
@Suite(.timeLimit(.minutes(30))) struct PictureRunTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
    private static let text = "A walk in the hills."

    /// An X archive of one post with a picture that is described.
    private static func archive(in folder: TemporaryDirectory) throws -> String {
        let id = "1493934455234732033"
        let media = """
            {"id_str":"9","type":"photo","url":"https://t.co/p","media_url_https":"https://pbs.twimg.com/media/P.png",\
            "ext_alt_text":"a hill"}
            """
        let post = """
            {"tweet":{"id_str":"\(id)","full_text":"\(text) https://t.co/p","created_at":"Wed Feb 16 13:00:00 +0000 2022",\
            "entities":{"media":[\(media)]},"extended_entities":{"media":[\(media)]}}}
            """
        let account = #"{"account":{"username":"haruka","accountId":"4242"}}"#
        let files: [(String, [UInt8])] = [
            ("account.js", Array("window.YTD.account.part0 = [\(account)]".utf8)),
            ("tweets.js", Array("window.YTD.tweets.part0 = [\(post)]".utf8)),
            ("tweets_media/\(id)-P.png", png),
        ]
        for (name, bytes) in files {
            let path = URL(fileURLWithPath: folder.path("data/" + name))
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: path)
        }
        return id
    }

    /// What the worker is killed at, and how often the picture is at the network in the end.
    private static let points = [
        ("upload.answered", 2), ("upload.stored", 1), ("delivery.prepared", 1),
    ]

    @Test(arguments: NetworkName.allCases, points)
    func aWorkerThatIsKilledSendsThePostOnce(
        network: NetworkName, point: (name: String, uploads: Int)
    ) async throws {
        let sandbox = try await Sandbox.live()
        let folder = try TemporaryDirectory()
        let id = try Self.archive(in: folder)
        let rehearsal = Rehearsal.Settings(
            // Whole seconds, and not before what was asked for by the real clock.
            origin: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.up)),
            started: Date(),
            factor: 1, leaseSeconds: 3)
        let stage = try Stage(
            sandbox.settings(of: .bot, on: network).merging([
                "HUMAN_NETWORK": "x", "TIME_ZONE": "UTC", "MIN_AGE_DAYS": "0", "MAX_PER_DAY": "0",
                "MEDIA": "own",
                "TRUST_ARCHIVE": "yes",
            ]) { $1 })
        let training = try await stage.run("train", "scheduler", "--from", folder.path)
        #expect(training.status == 0, "\(training.error)")
        #expect(training.output.contains("kept 1 files of their pictures"), "\(training.error)")
        let asked = try await stage.run("post", "--now", id)
        #expect(asked.status == 0, "\(asked.error)")
        try await expect(stage.run("plan").output) { $0.contains("(1 picture) \(Self.text)") }

        var deadly = rehearsal
        deadly.fault = "kill@\(point.name)#1"
        let killed = try await stage.spawn(["run", "--once"], environment: deadly.variables)
        #expect(killed.status == 128 + SIGKILL, "\(killed.error)")
        await expect(sandbox.ledger.deliveries) { $0.isEmpty }
        let next = try await stage.run("run", "--once", environment: rehearsal.variables)
        #expect(next.status == 0, "\(next.error)")
        let ledger = await sandbox.ledger
        #expect(ledger.deliveries.map(\.text) == [Self.text])
        #expect(ledger.deliveries.first?.pictures.map(\.alt) == ["a hill"])
        #expect(ledger.uploads.count == point.uploads)
        #expect(ledger.summary.errors == 0)
        let explained = try await stage.run("explain", "#1")
        #expect(explained.output.contains("pictures"))
        #expect(explained.output.contains("1: \"a hill\", uploaded"))
        await sandbox.stop()
    }
}
