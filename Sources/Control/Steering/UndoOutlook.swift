package import Foundation
import Mirroring
import Networks
package import Outbox
package import Posts
import Settings

/// A forecast of taking some actions back, for a person who is asked before.
package struct UndoOutlook: Codable, Equatable, Sendable {
    /// How many requests of one sort a network allows within a period.
    package struct Allowance: Codable, Equatable, Sendable {
        package let count: Int
        /// In seconds.
        package let period: Int
        /// Requests of the last period.
        package let used: Int
    }

    package private(set) var schema = "mirror-bot/undo-outlook/1"
    /// Posts that are to be deleted.
    package let posts: Int
    /// Replies that are to be deleted.
    package let replies: Int
    /// Favorites that are to be withdrawn.
    package let favorites: Int
    /// Actions that have not happened: they are cancelled.
    package let withheld: Int
    /// Actions that cannot be taken back: they did not happen, were taken back before, or another
    /// account of the bot did them.
    package let impossible: Int
    /// Deletions that the network allows; nil without a bot account.
    package let deletions: Allowance?
    /// The same for favorites.
    package let withdrawals: Allowance?
    /// The least number of seconds that the network's limits make it take; 0 for at once.
    package let seconds: Double
    /// The cost of the requests, in dollars; `nil` on networks that are free.
    package let cost: Double?
    /// Whether the network lets software withdraw favorites.
    package let withdrawsFavorites: Bool
    /// Whether a worker does the mirror's work, which carries this out.
    package let isAtWork: Bool
    /// The digest of what is shown, for who agrees.
    package let seen: Seen

    /// How many are asked for at the network.
    package var requests: Int { posts + replies + favorites }
    /// How many change at all.
    package var total: Int { requests + withheld }
}

extension Undoing {
    /// Forecasts taking back some actions.
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

    /// Forecasts taking back everything.
    ///
    /// Its digest is that of the numbers: of thousands of actions nobody has seen each.
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

    /// Seconds until the last of so many requests may be made.
    fileprivate func seconds(for requests: Int) -> Double {
        let later = requests - max(0, count - used)
        guard later > 0, count > 0 else { return 0 }
        return (Double(later) / Double(count)).rounded(.up) * Double(period)
    }
}
