package import Favorites
package import Foundation
import Logging
package import Networks
package import Posts

/// Continues trainings for which a month's money was not enough, page by page, as far as each
/// month's money allows.
///
/// A training stores the wanted number with the feed (``TrainingLeft``), page by page. So a
/// restarted worker, or another one, finds the place, and no page is paid for twice.
package struct PaidTraining: Sendable {
    /// Seconds between two checks of the month's money.
    private static let interval: TimeInterval = 3_600

    private let mirror: HumanMirror
    private let zone: TimeZone
    private let human: any SocialNetwork
    private let own: Set<AccountID>

    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - zone: The human's zone.
    ///   - human: The human's network, with the human's credentials.
    ///   - own: The accounts of human and bot, whose posts are not learned.
    /// - Returns: `nil` if reading the human's posts is free.
    package init?(
        _ mirror: HumanMirror, zone: TimeZone, human: any SocialNetwork, own: Set<AccountID>
    ) {
        guard human.price(ofReading: 1, from: .ownPosts) != nil else { return nil }
        self.mirror = mirror
        self.zone = zone
        self.human = human
        self.own = own
    }

    /// Reads as much as the month's share pays for, if a training is unfinished.
    ///
    /// - Parameter classifier: Learns favorites; `nil` if it cannot be used now, and then favorites
    ///   wait.
    /// - Returns: When to look again.
    /// - Throws: The store's error. After an error of the network the next look tries again.
    package func goOn(_ classifier: Favorites?) async throws -> Date {
        let trainingLeft = try await mirror.feeds.trainingLeft()
        do {
            if let posts = trainingLeft.itemsLeft(of: .ownPosts), try await canPay(.ownPosts) {
                let trainer = SchedulerTrainer(mirror: mirror, zone: zone, judgesTexts: false) {
                    _ in
                }
                note(.posts, try await trainer.train(from: human, limit: posts))
            }
            var limits: [Feed: Int] = [:]
            for feed in [Feed.favorites, .home] where human.capabilities.feeds.contains(feed) {
                if let items = trainingLeft.itemsLeft(of: feed), try await canPay(feed) {
                    limits[feed] = items
                }
            }
            if let classifier, !limits.isEmpty {
                let trainer = ClassifierTrainer(mirror: mirror, favorites: classifier) { _ in }
                note(.favorites, try await trainer.train(from: human, own: own, limits: limits))
            }
        } catch let error as NetworkError {
            mirror.logger.info("Training not gone on with", metadata: [LogKeys.error: "\(error)"])
            return max(error.retryAfter ?? .distantPast, mirror.clock.now + Self.interval)
        }
        return mirror.clock.now + Self.interval
    }

    /// When new favorites may be looked at; `nil` for now.
    ///
    /// - Throws: The store's error.
    package func pauseOfNewFavorites() async throws -> Date? {
        let now = mirror.clock.now
        guard let price = human.price(ofReading: TrainingLeft.smallestPage, from: .favorites) else {
            return nil
        }
        let plan = try await mirror.spending.plan(at: now)
        guard plan.left(for: .feed(.favorites)) < price else { return nil }
        return max(
            plan.nextChance(for: .feed(.favorites), toPay: price), now + Self.interval)
    }

    private func canPay(_ feed: Feed) async throws -> Bool {
        guard let price = human.price(ofReading: TrainingLeft.smallestPage, from: feed) else {
            return false
        }
        return try await mirror.spending.plan(at: mirror.clock.now).left(for: .past(feed)) >= price
    }

    private func note(_ step: TrainingProgress.Step, _ summary: TrainingSummary) {
        guard summary.read > 0 else { return }
        mirror.logger.info(
            "Training gone on with",
            metadata: [LogKeys.feed: "\(step.rawValue)", LogKeys.count: "\(summary.read)"])
    }
}
