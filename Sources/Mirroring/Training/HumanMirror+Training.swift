import Favorites
import Foundation
import Networks
import Posts
import Settings

/// The source of a training: the network or an archive.
package enum TrainingSource: Equatable, Sendable {
    /// The human's account.
    case account
    /// A downloaded archive, or JSON Lines.
    case archive(path: String, includesCommunities: Bool = false)
}

extension HumanMirror {
    /// Reads the human's posts into the archive.
    ///
    /// - Parameters:
    ///   - source: The source of the posts.
    ///   - again: Whether they replace the archived ones.
    ///   - report: Called with the progress.
    /// - Returns: The counts of posts that were read, and the time zone.
    /// - Throws: `ConfigurationError` without an account; `NetworkError`; `ImportError`; the
    ///   store's error.
    package func trainScheduler(
        from source: TrainingSource, again: Bool = false,
        report: @escaping @Sendable (TrainingProgress) -> Void
    ) async throws -> SchedulerTraining {
        let zone = try await settleTimeZone(now: clock.now) ?? .gmt
        let trainer = SchedulerTrainer(mirror: self, zone: zone, report: report)
        let summary: TrainingSummary
        switch source {
        case .account:
            let human = try await boundHuman()
            summary = try await trainer.train(from: human.network, again: again)
        case .archive(let path, let includesCommunities):
            summary = try await trainer.train(
                fromArchive: path, localHost: try await account(.human)?.host,
                includesCommunities: includesCommunities, again: again)
        }
        try await table.add(now: clock.now)
        return try await outcome(ofScheduler: summary)
    }

    /// Learns which posts the human favorites.
    ///
    /// - Parameters:
    ///   - source: The source of the posts.
    ///   - limit: The most favorites, and the most other posts, to read; nil for
    ///     ``ClassifierTrainer/seedSize`` from an account, and for all of an archive.
    ///   - again: Whether the items replace everything learned before.
    ///   - report: Called with the progress.
    /// - Returns: The counts of items that were read and of learned ones.
    /// - Throws: As ``trainScheduler(from:again:report:)``; `ConfigurationError` for a mirror that
    ///   was moved away meanwhile.
    package func trainClassifier(
        from source: TrainingSource, limit: Int? = nil, again: Bool = false,
        report: @escaping @Sendable (TrainingProgress) -> Void
    ) async throws -> ClassifierTraining {
        let favorites = try favorites()
        let trainer = ClassifierTrainer(mirror: self, favorites: favorites, report: report)
        let summary: TrainingSummary
        switch source {
        case .account:
            let human = try await boundHuman()
            let own = [human.account.id, try await table.record().bot].compactMap(\.self)
            summary = try await trainer.train(
                from: human.network, own: Set(own), limit: limit ?? ClassifierTrainer.seedSize,
                again: again)
        case .archive(let path, _):
            summary = try await trainer.train(
                fromArchive: path, localHost: try await account(.human)?.host, limit: limit,
                again: again)
        }
        try await table.add(now: clock.now)
        // If the mirror moved meanwhile, the new database lacks what was learned after the move.
        try await table.requireHere()
        return try await outcome(ofClassifier: summary, favorites)
    }

    /// The human's account, to which the mirror is bound now.
    private func boundHuman() async throws -> (network: any SocialNetwork, account: Account) {
        let network = try await requiredNetwork(of: .human)
        let account = try await network.verifyAccount()
        try await bind(human: account, bot: nil, now: clock.now)
        return (network, account)
    }
}
