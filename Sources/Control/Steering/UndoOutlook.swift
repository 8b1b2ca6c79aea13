package import Foundation
import Mirroring
import Networks
package import Outbox
package import Posts
import Settings

/// A forecast of an undo, for a person's confirmation.
package struct UndoOutlook: Codable, Equatable, Sendable {
    /// The limit of requests of one kind within a period on a network.
    package struct Allowance: Codable, Equatable, Sendable {
        package let count: Int
        /// The length of the period in seconds.
        package let period: Int
        /// The number of requests in the last period.
        package let used: Int
    }

    package private(set) var schema = "mirror-bot/undo-outlook/1"
    /// The number of posts to delete.
    package let posts: Int
    /// The number of replies to delete.
    package let replies: Int
    /// The number of favorites to withdraw.
    package let favorites: Int
    /// The number of waiting actions, which are cancelled.
    package let withheld: Int
    /// The number of actions that cannot be undone: they did not happen, were undone before, or
    /// belong to another account of the bot.
    package let impossible: Int
    /// The network's limit of deletions; nil without a bot account.
    package let deletions: Allowance?
    /// The network's limit of withdrawals of favorites; nil without a bot account.
    package let withdrawals: Allowance?
    /// The shortest duration that the network's limits allow, in seconds; 0 if there is no wait.
    package let seconds: Double
    /// The cost of the requests, in dollars; `nil` on free networks.
    package let cost: Double?
    /// Whether the network lets software withdraw favorites.
    package let withdrawsFavorites: Bool
    /// Whether a worker is running, which carries the undo out.
    package let isAtWork: Bool
    /// The digest of the forecast, to be sent with the confirmation.
    package let seen: Seen

    /// The number of requests to the network.
    package var requests: Int { posts + replies + favorites }
    /// The number of actions that change.
    package var total: Int { requests + withheld }
}

extension Undoing {
    /// Forecasts undoing some actions.
    ///
    /// - Throws: The store's error.
    package func outlook(on actions: [Action], now: Date) async throws -> UndoOutlook {
        var counts: [ActionKind: Int] = [:]
        var withheld = 0
        var impossible = 0
        for action in actions {
            switch action.undoAnswer {
            case .asked, .remembered: counts[action.kind, default: 0] += 1
            case .withheld: withheld += 1
            case .already, .nothing, .outOfReach, .unknown: impossible += 1
            }
        }
        return try await outlook(
            counts, withheld: withheld, impossible: impossible,
            seen: Seen(ofAll: actions.map(\.seen)), now: now)
    }

    /// Forecasts undoing everything.
    ///
    /// Its digest covers only the numbers, because a person cannot see each of thousands of
    /// actions.
    ///
    /// - Throws: The store's error.
    package func outlookOnEverything() async throws -> UndoOutlook {
        let counts = try await store.undoableCounts()
        let numbers = ActionKind.allCases.map { "\(counts[$0] ?? 0)" }
        return try await outlook(
            counts, withheld: 0, impossible: 0, seen: Seen(of: ["everything"] + numbers),
            now: mirror.clock.now)
    }

    private func outlook(
        _ counts: [ActionKind: Int], withheld: Int, impossible: Int, seen: Seen, now: Date
    ) async throws -> UndoOutlook {
        // Without an account there are no limits and no prices.
        let network = try await mirror.usableNetwork(of: .bot)
        let used = try await store.limitUses(
            since: now,
            deletedSince: network.map { now - $0.capabilities.deletionPace.period } ?? now,
            withdrawnSince: network.map { now - $0.capabilities.unfavoritePace.period } ?? now)
        let deletions = network.map {
            UndoOutlook.Allowance($0.capabilities.deletionPace, used: used.deletions)
        }
        let withdrawals = network.map {
            UndoOutlook.Allowance($0.capabilities.unfavoritePace, used: used.withdrawals)
        }
        let posts = counts[.post] ?? 0
        let replies = counts[.reply] ?? 0
        let favorites = counts[.favorite] ?? 0
        let price = network?.name.descriptor.prices?.delete.dollars
        return UndoOutlook(
            posts: posts, replies: replies, favorites: favorites, withheld: withheld,
            impossible: impossible,
            deletions: deletions, withdrawals: withdrawals,
            seconds: max(
                deletions?.seconds(for: posts + replies) ?? 0,
                withdrawals?.seconds(for: favorites) ?? 0),
            cost: price.map { $0 * Double(posts + replies + favorites) },
            withdrawsFavorites: network?.capabilities.canFavorite ?? true,
            isAtWork: try await mirror.isAtWork(now: now), seen: seen)
    }
}

extension UndoOutlook.Allowance {
    fileprivate init(_ pace: Pace, used: Int) {
        count = pace.count
        period = Int(pace.period)
        self.used = used
    }

    /// The seconds until the last of so many requests may be made.
    fileprivate func seconds(for requests: Int) -> Double {
        let allowedNow = max(0, count - used)
        let laterRequests = requests - allowedNow
        guard laterRequests > 0, count > 0 else { return 0 }
        let periods = (Double(laterRequests) / Double(count)).rounded(.up)
        return periods * Double(period)
    }
}
