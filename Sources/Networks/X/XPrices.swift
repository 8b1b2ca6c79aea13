import Posts

/// What X takes for each thing that is read or written.
///
/// Prices are data: when X changes them, only ``current`` changes. Where the price list leaves room, the dearer reading
/// is taken, so that the budget holds.
package struct XPrices: Sendable, Equatable {
    /// The day of the price list, as `2026-04-20`.
    package var day: String
    /// A post in an answer, also one that another post refers to.
    package var postRead: Money
    /// An account in an answer, also the author of a post.
    package var userRead: Money
    package var likeRead: Money
    /// A post in the account's own posts, mentions or favorites, where the account owns the developer app.
    package var ownedRead: Money
    package var postCreate: Money
    package var postCreateWithURL: Money
    /// A reply to who named the account.
    package var summonedReply: Money
    package var delete: Money

    /// The prices of pay-per-use since 2026-04-20.
    package static let current = XPrices(
        day: "2026-04-20", postRead: Money(microdollars: 5_000), userRead: Money(microdollars: 10_000),
        likeRead: Money(microdollars: 1_000), ownedRead: Money(microdollars: 1_000),
        postCreate: Money(microdollars: 15_000), postCreateWithURL: Money(microdollars: 200_000),
        summonedReply: Money(microdollars: 10_000), delete: Money(microdollars: 10_000))

    /// What one post of a feed costs, without the accounts and posts that come with it.
    func post(in feed: Feed, ownsApp: Bool) -> Money {
        switch feed {
        case .home: postRead
        case .ownPosts, .mentions: ownsApp ? ownedRead : postRead
        // The list has prices for posts and for likes and does not say which of them this is.
        case .favorites: ownsApp ? ownedRead : max(postRead, likeRead)
        }
    }

    /// What reading so many posts of a feed costs at most.
    ///
    /// X bills each thing in an answer, so the authors count too: one for the account's own posts, else at most one
    /// for each post. The newer spelling of the fields tells what a post answers only together with the answered
    /// post and person.
    ///
    /// - Parameters:
    ///   - items: The number of posts.
    ///   - feed: Where they are.
    ///   - ownsApp: Whether the account owns the developer app.
    ///   - fieldNames: The spelling of the request's parameters.
    /// - Returns: The price if nothing of it was read before on the same day.
    package func price(
        ofReading items: Int, from feed: Feed, ownsApp: Bool = false, fieldNames: XFieldNames = .tweet
    ) -> Money {
        let authors = feed == .ownPosts ? userRead * min(items, 1) : userRead * items
        return post(in: feed, ownsApp: ownsApp) * items + authors + references(fieldNames) * items
    }

    /// What reading one post by its address costs at most.
    ///
    /// - Parameter fieldNames: The spelling of the request's parameters.
    /// - Returns: The price if nothing of it was read before on the same day.
    package func priceOfLookUp(fieldNames: XFieldNames = .tweet) -> Money {
        postRead + userRead + references(fieldNames)
    }

    /// What publishing a text costs at most.
    ///
    /// - Parameters:
    ///   - text: As it will be published.
    ///   - isReply: Whether it answers somebody.
    /// - Returns: The price, taking for a link what may be one.
    package func price(ofPublishing text: String, isReply: Bool) -> Money {
        XLink.occurs(in: text) ? postCreateWithURL : isReply ? summonedReply : postCreate
    }

    /// What comes with one post at most: the person that it answers, and the posts that it answers and quotes.
    private func references(_ fieldNames: XFieldNames) -> Money {
        fieldNames == .tweet ? .zero : userRead + postRead * 2
    }
}
