import Control
import Foundation
import Mirroring
import Networks
import Posts
import Sandbox
import Settings
import Storage

/// What a soaked mirror learned before its first day.
struct SoakPast: Sendable {
    /// The first instant of the run: a Monday in Tokyo.
    static let origin = Date(timeIntervalSince1970: 1_780_239_600)
    static let zone = TimeZone(identifier: SamplePeople.timeZoneIdentifier) ?? .gmt

    let network: NetworkName
    let home: String
    /// Where the data is.
    let store: [String: String]

    /// Makes the tables and archives a year of the human's posts.
    func learnPosts() async throws {
        let path = home + "/sample.jsonl"
        try Data(SampleArchive(endingAt: Self.origin).postLines.utf8).write(
            to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let configuration = try SoakMirror.configuration(home: home, store)
        if case .postgres = configuration.process.storage {
            let storage = try await Storage.open(configuration.process.storage)
            try await Migrations.apply(to: storage)
            await storage.close()
        }
        let network = network
        try await HumanMirror.open(configuration).closing { mirror in
            let trainer = SchedulerTrainer(mirror: mirror, zone: Self.zone, report: { _ in })
            _ = try await trainer.train(
                fromArchive: path, localHost: SamplePeople.host,
                adopt: { SandboxIdentity.carried($0, to: network) })
        }
    }

    /// Reads the human's favorites and home timeline.
    func learnFavorites(with accounts: [String: String]) async throws {
        let configuration = try SoakMirror.configuration(home: home, store.merging(accounts) { $1 })
        let clock = VirtualClock(startingAt: Self.origin)
        try await HumanMirror.open(configuration, clock: clock).closing { mirror in
            let human = try await mirror.requiredNetwork(of: .human)
            let account = try await human.verifyAccount()
            let trainer = ClassifierTrainer(
                mirror: mirror, favorites: try mirror.favorites(), report: { _ in })
            _ = try await trainer.train(
                from: human, own: [account.id], limit: ClassifierTrainer.seedSize)
        }
    }
}
