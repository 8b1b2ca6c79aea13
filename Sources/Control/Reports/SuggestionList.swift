import Favorites
package import Foundation
import Localization
package import Mirroring
import Networks
package import Outbox
package import Posts
import Settings

/// A page of the suggestions that wait for a person's decision.
package struct SuggestionList: Codable, Sendable {
    /// An action that waits for a decision.
    package struct Suggestion: Codable, Equatable, Sendable {
        package let id: String
        package let kind: ActionKind
        /// The person whom the action concerns; `nil` for a post of the bot's own.
        package let person: ReportedPerson?
        /// The web page of the answered or favorited post.
        package let address: String?
        /// The text of that post; `nil` for a post of the bot's own, and if it is not stored.
        package let about: String?
        /// The text to be sent; `nil` for a favorite.
        package let text: String?
        /// A BCP 47 language tag of the text, if known.
        package let language: String?
        /// The further parts of a thread, to be sent after the text; `nil` if there are none.
        package let rest: [String]?
        /// The odds P(favorite)/P(normal); `nil` unless it is a favorite.
        package let rate: Double?
        /// The threshold for the odds at the time of the decision; `nil` unless it is a favorite.
        package let threshold: Double?
        /// The words and the author with the most weight for or against a favorite.
        package let features: [String]
        /// The features among ``features`` with positive weight.
        package let words: [String]
        /// How the action was chosen, in one sentence.
        package let why: String?
        package let created: Date
        package let due: Date
        /// The time at which the suggestion expires.
        package let expires: Date
        /// The maximum cost of approval, in dollars; `nil` on free networks.
        package let cost: Double?
        /// Whether only a person can do it, in a browser, because the network does not let the bot
        /// favorite.
        package let isByHand: Bool
        /// The reason why the suggestion cannot be approved, in words; nil if it can, and in
        /// reports of earlier versions.
        package let obstacle: String?
        /// Whether a decision about it is learned; nil in reports of earlier versions.
        package let isLearned: Bool?
        /// The digest of the displayed facts, to be sent with a decision.
        package let seen: Seen
    }

    package private(set) var schema = "mirror-bot/suggestions/1"
    package let suggestions: [Suggestion]
    /// The number of all waiting suggestions, regardless of the search.
    package let total: Int
    /// The cursor of the next page; nil for the last page.
    package let next: String?
}

extension SuggestionList {
    /// Search criteria; a result matches all criteria that are given.
    package struct Search: Codable, Equatable, Sendable {
        package var order = OutboxStore.SuggestionPlace.Order.newest
        /// The kinds of actions; empty for all.
        package var kinds: [ActionKind] = []
        /// Words in the suggested text, in the answered or favorited post, or in a name; ignores
        /// case, width and accents.
        package var words: String?
        /// The cursor of the page; nil for the first.
        package var cursor: String?
        /// The most suggestions to list.
        package var limit = 20

        package init(limit: Int = 20) { self.limit = limit }
    }

    /// Lists the waiting suggestions.
    ///
    /// - Throws: `ChangeRefusal` for an invalid cursor; the store's error.
    package init(of mirror: HumanMirror, _ search: Search) async throws {
        let place = try search.cursor.map { cursor in
            guard let place = OutboxStore.SuggestionPlace(cursor) else {
                throw ChangeRefusal(
                    .unusable,
                    localized("\"\(cursor.prefix(60))\" is no place in the list of suggestions"))
            }
            return place
        }
        let store = mirror.outbox(lease: nil)
        // Words are also searched in texts and names outside of these rows, so up to 10,000
        // suggestions are read and filtered below.
        var actions = try await store.suggestions(
            search.order, kinds: search.kinds, behind: place,
            limit: search.words == nil ? search.limit + 1 : 10_000)
        let persons = try await mirror.persons(of: actions)
        let unknown = actions.compactMap {
            $0.kind == .favorite && $0.target?.text == nil ? $0.targetPost : nil
        }
        let learnedTexts = try await Favorites.texts(
            of: unknown, learnedBy: mirror.name, in: mirror.storage)
        if let searchWords = search.words.map({ SearchWords($0) }) {
            actions.removeAll { action in
                let answeredText =
                    action.target?.text ?? action.targetPost.flatMap { learnedTexts[$0] }
                return !searchWords.occur(
                    in: action.texts + [answeredText, persons[action.id]?.name].compactMap(\.self))
            }
        }
        let hasMore = actions.count > search.limit && search.limit > 0
        next =
            hasMore
            ? OutboxStore.SuggestionPlace(actions[search.limit - 1], in: search.order).text : nil
        actions = Array(actions.prefix(search.limit))
        total = try await store.suggestionCount()
        var canFavorite = true
        var obstacle: String?
        // Without an account its capabilities are unknown, and nothing is sent.
        if actions.contains(where: { $0.kind == .favorite }),
            let network = try await mirror.usableNetwork(of: .bot)
        {
            canFavorite = network.capabilities.canFavorite
            obstacle = mirror.obstacleToFavorites(on: network)
        }
        let network = mirror.configuration.botNetwork
        let prices = try await mirror.prices(of: actions)
        suggestions = actions.map { action in
            Suggestion(
                id: action.id, kind: action.kind, person: persons[action.id],
                address: action.targetPost?.webAddress,
                about: action.target?.text ?? action.targetPost.flatMap { learnedTexts[$0] },
                text: action.text,
                language: action.wording?.language,
                rest: action.wording.flatMap { $0.rest.isEmpty ? nil : $0.rest.map(\.text) },
                rate: action.explanation?.favoriteRate, threshold: action.explanation?.threshold,
                features: action.explanation?.tellingFeatures.map(\.shownName) ?? [],
                words: action.explanation?.tellingFeatures.filter { $0.logOdds > 0 }.map(
                    \.shownName)
                    ?? [],
                why: (action.explanation?.summary).map(StoredText.inWords), created: action.created,
                due: action.due,
                expires: action.expires,
                cost: prices[action.id], isByHand: action.kind == .favorite && !canFavorite,
                obstacle: action.kind == .favorite ? obstacle : nil,
                isLearned: action.canTeach(on: network),
                seen: action.seen)
        }
    }
}

extension HumanMirror {
    /// Returns the maximum cost of sending each action, in dollars, by its id; no entry on free
    /// networks, for favorites, and while the bot has no account.
    ///
    /// - Throws: The store's error.
    func prices(of actions: [Action]) async throws -> [String: Double] {
        let sendable = actions.filter { $0.wording != nil }
        guard !sendable.isEmpty, let bot = try await usableNetwork(of: .bot) else { return [:] }
        var prices: [String: Double] = [:]
        for action in sendable {
            guard let wording = action.wording else { continue }
            let price = bot.price(
                ofPublishing: [wording.text] + wording.rest.map(\.text),
                pictures: wording.pictures.count,
                isReply: action.kind == .reply || action.parent != nil)
            prices[action.id] = price?.dollars
        }
        return prices
    }
}

extension Action {
    /// The answered or favorited post; nil for a post of the bot's own.
    var targetPost: PostID? { target.map { PostID(network: $0.author.network, value: $0.post) } }
}

extension HumanMirror {
    /// The reason why a suggested favorite cannot be approved; nil if it can.
    func obstacleToFavorites(on network: any SocialNetwork) -> String? {
        guard network.capabilities.canFavorite else {
            return localized("\(network.name.displayName) does not let software favorite")
        }
        guard configuration.favoriteMode != .off else {
            return localized(
                "\(Setting.favoriteMode.name) is off, so the bot gives no favorites; set it to suggest first"
            )
        }
        return nil
    }
}

extension Action {
    /// Whether a decision about a suggested favorite can be learned.
    ///
    /// If requesting the post costs money, only the copy stored with the suggestion is used.
    func canTeach(on network: NetworkName) -> Bool {
        kind == .favorite && (network.descriptor.prices == nil || keptExample != nil)
    }

    /// The example for the classifier that is stored with a suggested favorite.
    var keptExample: Example? {
        guard let target, let post = targetPost, let text = target.text else { return nil }
        return Example(id: post, author: target.author.value, authorID: target.author, text: text)
    }
}
