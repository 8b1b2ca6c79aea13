package import Archive
package import Conduct
package import Favorites
package import Foundation
package import Networks
package import Outbox
package import Posts
package import Settings
import Storage

/// Decides which posts on the bot's home timeline the human would favorite.
package struct FavoriteDecider: Sendable {
    /// How many features an explanation names.
    private static let featuresShown = 5

    /// Stores the decisions, under the mirror's lease.
    let store: OutboxStore
    /// The bot's network, which also provides the clock of the posts.
    let network: any SocialNetwork
    /// The mode and the caps.
    let configuration: MirrorSettings
    /// The time zone that defines a day.
    let zone: TimeZone
    /// The accounts of human and bot.
    let own: Set<AccountID>
    /// When the bot began to listen, by the network's clock; older posts are not decided.
    let activated: Date

    package init(
        store: OutboxStore, network: any SocialNetwork, configuration: MirrorSettings,
        zone: TimeZone,
        own: Set<AccountID>, activated: Date
    ) {
        self.store = store
        self.network = network
        self.configuration = configuration
        self.zone = zone
        self.own = own
        self.activated = activated
    }

    /// Classifies the posts of one look at the timeline, and stores a favorite for each that
    /// passes.
    ///
    /// - Parameters:
    ///   - items: Posts as the network gave them, in any order.
    ///   - classifier: Classifies the posts; the same one for all pages of a look.
    ///   - now: Decides about age and the day's cap.
    /// - Returns: The new actions, and the statements of all authors about bots.
    /// - Throws: The store's or the counts' error.
    package func decide(
        _ items: [ObservedPost], with classifier: FavoriteSession, now: Date
    ) async throws -> (decided: [Action], stances: [AccountID: People.Stance]) {
        let authors = items.map(\.author.id)
        let mirror = configuration.mirror
        let (decided, favoritesBefore, stances) = try await store.decisionFacts(
            .favorite, among: items.map(\.post.id.value), since: LocalMidnight.before(now, in: zone)
        ) { try People.stances(of: authors, in: mirror, on: $0) }
        guard configuration.favoriteMode != .off else { return ([], stances) }
        let undecided = items.filter {
            !decided.contains($0.post.id.value) && $0.post.createdAt >= activated
        }
        var favoritesToday = favoritesBefore
        var candidates = undecided.filter {
            refusal(for: $0, stances, today: favoritesToday, now: now) == nil
        }
        guard !candidates.isEmpty else { return ([], stances) }
        candidates.sort { ($0.post.createdAt, $0.address) < ($1.post.createdAt, $1.address) }
        let liked = try await classifications(of: candidates, by: classifier).filter(
            \.result.isFavorite)
        let consenting = try await consenting(among: liked.map(\.item.author.id), stances)
        var actions: [Action] = []
        for (item, result) in liked where favoritesToday < configuration.favoritesPerDay {
            let isAutomatic = isAutomatic(item.author.id, consenting)
            let proposed = try await store.propose(
                intent(for: item, result, isAutomatic: isAutomatic, now: now), now: now)
            if proposed.isNew {
                actions.append(proposed.action)
                favoritesToday += 1
            }
        }
        return (actions, stances)
    }

    /// Predicts the decision about a post as if it had appeared now, regardless of earlier
    /// decisions; stores nothing.
    ///
    /// - Parameters:
    ///   - item: The post.
    ///   - classifier: Classifies the post.
    ///   - now: Decides about age and the day's cap.
    /// - Returns: The prediction, with the classification even if a rule excludes the post.
    /// - Throws: The store's or the counts' error.
    package func prospect(
        of item: ObservedPost, with classifier: FavoriteSession, now: Date
    ) async throws -> FavoriteProspect? {
        let author = item.author.id
        let (_, favoritesToday, stances) = try await store.decisionFacts(
            .favorite, among: [item.post.id.value], since: LocalMidnight.before(now, in: zone)
        ) { [mirror = configuration.mirror] in try People.stances(of: [author], in: mirror, on: $0)
        }
        guard let result = try await classifier.classify([item.example]).first else { return nil }
        let isAutomatic = isAutomatic(author, try await consenting(among: [author], stances))
        return FavoriteProspect(
            refusal: refusal(for: item, stances, today: favoritesToday, now: now), result: result,
            isAutomatic: isAutomatic,
            condition: condition(isAutomatic))
    }

    /// Classifies each post; skips a post whose counts cannot be read, so that the others need not
    /// wait.
    private func classifications(
        of items: [ObservedPost], by classifier: FavoriteSession
    ) async throws -> [(item: ObservedPost, result: Classification)] {
        do {
            return Array(zip(items, try await classifier.classify(items.map(\.example))))
        } catch let error as StorageError where error.code == .invalidValue {
            guard items.count > 1 else { return [] }
            var judged: [(item: ObservedPost, result: Classification)] = []
            for item in items { judged += try await classifications(of: [item], by: classifier) }
            return judged
        }
    }

    /// The accounts that consent to the bot: by the operator's word, or because they named the bot
    /// themselves.
    ///
    /// Reads them only if the network's rules require consent.
    private func consenting(
        among authors: [AccountID], _ stances: [AccountID: People.Stance]
    ) async throws -> Set<AccountID> {
        guard capabilities.automaticFavorites == .consenting, !authors.isEmpty else { return [] }
        let acquaintances = try await store.acquaintances(
            among: authors, unlessFor: [.rule(.askedToStop), .rule(.notMentioned)])
        return acquaintances.union(authors.filter { stances[$0] == .allow })
    }

    private func isAutomatic(_ author: AccountID, _ consenting: Set<AccountID>) -> Bool {
        needsNoApproval && mayFavorite(author, consenting)
    }

    /// Whether the settings let the bot favorite without a person's approval.
    private var needsNoApproval: Bool {
        configuration.favoriteMode == .auto && !configuration.review.contains(.favorite)
    }

    /// Whether a post by `author` may be favorited without a person's decision.
    private func mayFavorite(_ author: AccountID, _ consenting: Set<AccountID>) -> Bool {
        switch capabilities.automaticFavorites {
        case .anyone: true
        case .consenting: consenting.contains(author)
        case .nobody: false
        }
    }

    private var capabilities: Capabilities { network.capabilities }

    private var rules: FavoriteRules { FavoriteRules(perDay: configuration.favoritesPerDay) }

    private func refusal(
        for item: ObservedPost, _ stances: [AccountID: People.Stance], today: Int, now: Date
    ) -> Refusal? {
        let facts = FavoriteFacts(
            post: item.post, author: item.author, ownAccounts: own,
            isDenied: stances[item.author.id] == .deny,
            isFavorited: item.isFavorited, favoritesToday: today)
        if item.favoriteNeedsApproval { return Refusal(.notOpen) }
        return rules.refusal(of: facts, at: network.present(at: now))
    }

    private func intent(
        for item: ObservedPost, _ result: Classification, isAutomatic: Bool, now: Date
    ) -> Intent {
        let explanation = Explanation(
            "the human favorites posts like this one\(condition(isAutomatic))",
            favoriteRate: exp(result.logRate),
            threshold: configuration.favorites.threshold,
            baseLogOdds: result.assessment.baseLogOdds,
            features: Explanation.Feature.all(of: result.assessment, atMost: Self.featuresShown),
            weights: result.weights.map(Explanation.Weights.init))
        // A person may favorite a post that is hours old; the bot may not.
        let expires =
            isAutomatic
            ? network.local(item.post.createdAt) + rules.maximumAge.timeInterval
            : now + rules.suggestionLifetime.timeInterval
        return Intent(
            .favorite(isAutomatic ? item.target : item.shownTarget),
            state: isAutomatic ? .planned : .suggested,
            due: now, expires: expires,
            explanation: explanation)
    }

    /// The reason why a person has to decide, on networks that require one.
    private func condition(_ isAutomatic: Bool) -> String {
        guard !isAutomatic else { return "" }
        if !capabilities.canFavorite {
            return "; the network does not let software give favorites, so do it by hand"
        }
        guard needsNoApproval else { return "" }
        return capabilities.automaticFavorites == .consenting
            ? "; the author has not asked for the bot's attention" : ""
    }
}

/// The predicted decision about a post on the bot's home timeline.
package struct FavoriteProspect: Sendable {
    /// The rule that excludes the post, whatever its rate; nil if none does.
    package let refusal: Refusal?
    package let result: Classification
    /// Whether it would be favorited without a person's decision.
    package let isAutomatic: Bool
    /// The reason why a person would have to decide, as the end of a sentence; empty if there is
    /// none.
    package let condition: String
}

extension ObservedPost {
    /// Characters of the post that a suggestion keeps.
    private static let shownAtMost = 1_000

    /// The post as the target of an action.
    var target: Action.Target {
        let name = author.handle.filter { $0 != "\0" }
        let isNameLeftOut =
            author.id.network.traits.namesAreIdentities || name.isEmpty || name.utf8.count > 300
        return Action.Target(
            post: post.id.value, author: author.id, address: address,
            name: isNameLeftOut ? nil : name)
    }

    /// The target with the post's text, for a person who decides about the action.
    var shownTarget: Action.Target {
        var target = target
        let text = [post.warning, post.text].compactMap(\.self).joined(separator: "\n").filter {
            $0 != "\0"
        }
        target.text = text.isEmpty ? nil : String(text.prefix(Self.shownAtMost))
        return target
    }

    /// The example that the classifier learns from and classifies.
    package var example: Example {
        // A name that not every read returns would make two features of one author.
        let name = post.id.network.traits.accountForm == .number ? author.id.value : author.handle
        return Example(id: post.id, author: name, authorID: author.id, text: post.text)
    }
}
