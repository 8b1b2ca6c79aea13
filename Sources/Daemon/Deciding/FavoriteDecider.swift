import Archive
import Conduct
import Favorites
import Foundation
import Networks
import Outbox
import Posts

/// Decides which posts on the bot's home timeline the human would favorite.
struct FavoriteDecider: Sendable {
    /// How many features an explanation names.
    private static let featuresShown = 5

    let favorites: Favorites
    let people: People
    let store: OutboxStore
    let configuration: MirrorConfiguration
    let zone: TimeZone
    /// The accounts of human and bot.
    let own: Set<AccountID>
    let activated: Date

    /// Classifies the posts of one look at the timeline and stores a favorite for each that passes.
    ///
    /// - Parameters:
    ///   - items: Posts as the network gave them, in any order.
    ///   - now: Decides about age and the day's cap.
    /// - Returns: The new actions.
    /// - Throws: The store's or the counts' error.
    func decide(_ items: [ObservedPost], now: Date) async throws -> [Action] {
        guard configuration.favoriteMode != .off else { return [] }
        let known = try await store.known(.favorite, among: items.map(\.post.id.value))
        let fresh = items.filter { !known.contains($0.post.id.value) && $0.post.createdAt >= activated }
        let midnight = LocalMidnight.before(now, in: zone)
        var today = try await store.active(.favorite, since: midnight).count
        var candidates: [ObservedPost] = []
        for item in fresh where try await refusal(for: item, today: today, now: now) == nil {
            candidates.append(item)
        }
        guard !candidates.isEmpty else { return [] }
        candidates.sort { ($0.post.createdAt, $0.address) < ($1.post.createdAt, $1.address) }
        let results = try await favorites.classify(candidates.map(\.example))
        var actions: [Action] = []
        for (item, result) in zip(candidates, results) where result.isFavorite && today < configuration.favoritesPerDay
        {
            let proposed = try await store.propose(intent(for: item, result, now: now), now: now)
            if proposed.isNew {
                actions.append(proposed.action)
                today += 1
            }
        }
        return actions
    }

    private var rules: FavoriteRules { FavoriteRules(perDay: configuration.favoritesPerDay) }

    private func refusal(for item: ObservedPost, today: Int, now: Date) async throws -> Refusal? {
        let facts = FavoriteFacts(
            post: item.post, author: item.author, own: own,
            isDenied: try await people.stance(of: item.author.id) == .deny, isFavorited: item.isFavorited,
            favoritesToday: today)
        if item.favoriteNeedsApproval { return Refusal(.notOpen) }
        return rules.refusal(of: facts, at: now)
    }

    private func intent(for item: ObservedPost, _ result: Classification, now: Date) -> Intent {
        let explanation = Explanation(
            "the human favorites posts like this one", favoriteRate: exp(result.logRate),
            features: result.contributions.prefix(Self.featuresShown).map {
                Explanation.Feature(name: $0.feature, logOdds: $0.logOdds)
            })
        return Intent(
            kind: .favorite, subject: item.post.id.value,
            state: configuration.favoriteMode == .suggest ? .suggested : .planned, due: now,
            expires: item.post.createdAt + rules.maximumAge.timeInterval, targetPost: item.post.id.value,
            targetAuthor: item.author.id, targetAddress: item.address, explanation: explanation.json)
    }
}

extension ObservedPost {
    /// What the classifier learns from and judges.
    var example: Example { Example(id: post.id, author: author.handle, text: post.text) }
}
