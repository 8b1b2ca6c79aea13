package import Foundation
import Localization
package import Posts

/// The facts needed to decide whether a post may become a favorite.
package struct FavoriteFacts: Sendable {
    package var post: Post
    package var author: Account
    /// The accounts of human and bot, on every network.
    package var ownAccounts: Set<AccountID>
    /// Whether an operator or the author has said that the author must be left alone.
    package var isDenied: Bool
    /// Whether the bot's account has favorited the post already.
    package var isFavorited: Bool
    /// The number of favorites given on the current local day.
    package var favoritesToday: Int

    package init(
        post: Post, author: Account, ownAccounts: Set<AccountID>, isDenied: Bool = false,
        isFavorited: Bool = false,
        favoritesToday: Int = 0
    ) {
        self.post = post
        self.author = author
        self.ownAccounts = ownAccounts
        self.isDenied = isDenied
        self.isFavorited = isFavorited
        self.favoritesToday = favoritesToday
    }
}

/// The rules for which posts the bot may favorite, and how often.
package struct FavoriteRules: Equatable, Sendable {
    /// The maximum number of favorites on one local day.
    package var perDay: Int
    /// The maximum age of a post that is favorited.
    package var maximumAge: Duration
    /// The time for which a suggestion waits for a person's decision before it is dropped.
    package var suggestionLifetime: Duration

    package init(
        perDay: Int = 10, maximumAge: Duration = .seconds(6 * 3_600),
        suggestionLifetime: Duration = .seconds(7 * 86_400)
    ) {
        self.perDay = perDay
        self.maximumAge = maximumAge
        self.suggestionLifetime = suggestionLifetime
    }

    /// Why a post is not favorited; nil if it may be.
    package func refusal(of facts: FavoriteFacts, at now: Date) -> Refusal? {
        refusalOfPost(facts) ?? refusalOfTime(
            facts.post.createdAt, maximumAge: maximumAge, now: now)
            ?? refusalOfCap(facts)
    }

    /// Why a request to stop is not confirmed with a favorite; nil if it may be.
    ///
    /// The author is confirmed even if the request is not public, because a favorite notifies
    /// nobody else. The daily cap counts these favorites too.
    ///
    /// - Parameter facts: The facts, with `isDenied` as it was before the request.
    package func refusalOfConfirmation(of facts: FavoriteFacts, at now: Date) -> Refusal? {
        if facts.post.isRepost { return Refusal(.isRepost) }
        if facts.ownAccounts.contains(facts.author.id)
            || facts.ownAccounts.contains(facts.post.author)
        {
            return Refusal(.ownPost)
        }
        if facts.isDenied { return Refusal(.denied) }
        return refusalOfAuthor(facts) ?? refusalOfTime(
            facts.post.createdAt, maximumAge: maximumAge, now: now)
            ?? refusalOfCap(facts)
    }

    private func refusalOfPost(_ facts: FavoriteFacts) -> Refusal? {
        if facts.post.isRepost { return Refusal(.isRepost) }
        if facts.ownAccounts.contains(facts.author.id)
            || facts.ownAccounts.contains(facts.post.author)
        {
            return Refusal(.ownPost)
        }
        if !facts.post.isOpen { return Refusal(.notOpen) }
        if facts.post.isSensitive { return Refusal(.sensitive) }
        if facts.isDenied { return Refusal(.denied) }
        if OptOut.asksToStop(text: facts.post.text) { return Refusal(.askedToStop) }
        return refusalOfAuthor(facts)
    }

    private func refusalOfAuthor(_ facts: FavoriteFacts) -> Refusal? {
        if OptOut.isOptedOut(facts.author) { return Refusal(.optedOut) }
        if facts.author.isBot { return Refusal(.botAuthor) }
        return facts.isFavorited ? Refusal(.alreadyFavorited) : nil
    }

    private func refusalOfCap(_ facts: FavoriteFacts) -> Refusal? {
        guard facts.favoritesToday >= perDay else { return nil }
        return Refusal(
            .dailyCap, localized("the bot favorited \(facts.favoritesToday) posts today already"))
    }
}
