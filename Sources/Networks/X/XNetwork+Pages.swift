import Foundation
import Posts
import Transport

/// What part of a feed is asked for.
struct XBounds {
    var since: String?
    var until: String?
    var token: String?
    var start: Date?

    var query: [(name: String, value: String)] {
        let start = start.map { String($0.rfc3339.prefix(19)) + "Z" }
        let all: [(name: String, value: String?)] = [
            ("pagination_token", token), ("since_id", since), ("start_time", start), ("until_id", until),
        ]
        return all.compactMap { pair in pair.value.map { (pair.name, $0) } }
    }
}

/// Buying pages.
extension XNetwork {
    /// Servers may send empty pages before a full one, but hardly more of them.
    private static let maximumEmptyPages = 3
    /// A server that does not know `until_id` sends everything above it first: as many pages as X keeps.
    private static let maximumStrayPages = 32

    /// The items within some bounds, of the first answer that has any.
    ///
    /// The end is where X names no further page; short and empty pages also stand before others.
    func list(
        _ feed: Feed, _ bounds: XBounds, size: Int
    ) async throws -> (list: XList, reachesSince: Bool) {
        var bounds = bounds
        var list = try await answer(feed, bounds, size: size)
        var reachesSince = list.keep(since: bounds.since, until: bounds.until)
        var emptyPages = list.received == 0 ? 1 : 0
        var strayPages = 0
        while list.entries.isEmpty, !reachesSince, let token = list.nextToken {
            guard emptyPages < Self.maximumEmptyPages, strayPages < Self.maximumStrayPages, token != bounds.token
            else {
                list.end()
                break
            }
            bounds.token = token
            var next = try await answer(feed, bounds, size: size)
            if next.received == 0 { emptyPages += 1 } else { strayPages += 1 }
            reachesSince = next.keep(since: bounds.since, until: bounds.until)
            list.append(next)
        }
        return (list, reachesSince)
    }

    /// One answer, paid for.
    private func answer(_ feed: Feed, _ bounds: XBounds, size: Int) async throws -> XList {
        var call = try await call(for: feed)
        let sizes = Self.sizes(from: feed == .home ? min(size, options.homePostsPerDay) : size, feed)
        let amounts = sizes.compactMap { price(ofReading: $0, from: feed) }
        let (index, reservation) = try await purse.reserve(largest: amounts, for: .feed(feed), call)
        call.query = postFields + [("max_results", String(sizes[index]))] + bounds.query
        do {
            let (answer, response) = try await client.answer(of: XPost.self, call)
            // Posts that are withheld make a page empty; everything else that is wrong makes it none.
            if answer.items.isEmpty, !answer.problems.allSatisfy(\.isAboutPost) {
                throw client.refuse(call, response, problems: answer.problems)
            }
            let isList = answer.hasData || answer.resultCount != nil || answer.nextToken != nil
            guard isList || !answer.problems.isEmpty else {
                throw client.malformed(call, response, detail: "the answer is not a list")
            }
            let bill = bill(of: answer, each: prices.post(in: feed, ownsApp: options.ownsApp))
            await purse.settle(reservation, cost: memory.buy(bill, at: reservation.time), call)
            return XList(
                answer, body: response.body,
                rateLimit: XPacing(response.headers, receivedAt: client.now()).rateLimit)
        } catch {
            await purse.settle(reservation, after: error, call)
            throw error
        }
    }

    /// How many items to ask for, depending on what the budget holds.
    private static func sizes(from size: Int, _ feed: Feed) -> [Int] {
        let minimum = smallestPage(of: feed)
        var sizes = [min(max(size, minimum), fullPage)]
        while let last = sizes.last, last > minimum { sizes.append(max(last / 2, minimum)) }
        return sizes
    }

    /// The fewest items that X lets a page of a feed be asked for with.
    package static func smallestPage(of feed: Feed) -> Int { feed == .home ? 1 : 5 }

    func page(of list: XList, in feed: Feed) async throws -> FeedPage {
        list.page(of: feed, with: translator(own: try await account(), users: list.users))
    }

    private func call(for feed: Feed) async throws -> XCall {
        let user = ["2", "users", try await account().address]
        switch feed {
        case .ownPosts: return XCall(operation: .readOwnPosts, endpoint: .userPosts, path: user + ["tweets"])
        case .mentions: return XCall(operation: .readMentions, endpoint: .mentions, path: user + ["mentions"])
        case .favorites: return XCall(operation: .readFavorites, endpoint: .favorites, path: user + ["liked_tweets"])
        case .home:
            return XCall(
                operation: .readHome, endpoint: .home, path: user + ["timelines", "reverse_chronological"])
        }
    }

    static func operation(_ feed: Feed) -> NetworkError.Operation {
        switch feed {
        case .ownPosts: .readOwnPosts
        case .home: .readHome
        case .favorites: .readFavorites
        case .mentions: .readMentions
        }
    }

    func unknownCursor(_ feed: Feed) -> NetworkError {
        client.error(
            XCall(operation: Self.operation(feed), endpoint: .post, path: []), .rejected, outcome: .notSent,
            detail: "the stored position is not one of X")
    }
}
