import Foundation
import Posts
import Transport

@testable import Control
@testable import Mirroring
@testable import Networks
@testable import Settings

/// The gazette as mirror-bot knows it: everything that a further network needs.
enum Gazette {
    /// How its names and texts are written.
    static let traits: NetworkTraits = {
        var traits = NetworkTraits(
            name: "gazette", displayName: "the Gazette", site: "gazette.example",
            accountForm: .number,
            isHandle: { name in
                (1...30).contains(name.utf8.count)
                    && name.unicodeScalars.allSatisfy { $0.isASCIIAlphanumeric || $0 == "_" }
            },
            profilePage: { "https://gazette.example/\($0)" },
            postPage: { "https://gazette.example/posts/\($0)" },
            limits: PublishingLimits(maximumCharacters: 200, charactersPerURL: nil), longestAlt: 100
        )
        traits.hasThreads = false
        return traits
    }()

    /// What its accounts are described by, how often it is asked, and who asks.
    static func descriptor(_ name: NetworkName) -> NetworkDescriptor {
        NetworkDescriptor(
            name, fields: [.init(.server), .init(.accessToken)], identity: .accessToken,
            fingerprint: [.server, .accessToken],
            pollIntervals: .init(
                mentions: .init(multiple: 1), home: .init(multiple: 2),
                ownPosts: .init(multiple: 5), favorites: .init(multiple: 5)),
            connect: { made in
                GazetteNetwork(
                    client: GazetteClient(
                        network: name,
                        server: try ServerAddress(
                            made.account.credentials.text(.server), network: name),
                        http: made.client, origin: made.origin,
                        token: made.account.credentials.secret(.accessToken), now: made.now))
            })
    }
}

struct GazetteClient: NetworkClient {
    let network: NetworkName
    let server: ServerAddress
    let http: HTTPClient
    let origin: RequestOrigin
    let token: Secret
    let now: @Sendable () -> Date
    let serverClock = ServerClock()

    var isAnonymous: Bool { false }
    var secrets: [Secret] { [token] }

    /// The answer to a call; nil for what is not there.
    func ask<Answer: Decodable>(_ type: Answer.Type, _ call: NetworkCall) async throws -> Answer? {
        let response = try await answer(to: call, authorization: "Bearer \(token.reveal())")
        if response.status == 404, call.method == .get { return nil }
        guard response.isGood else {
            let code = NetworkError.Code(status: response.status)
            throw error(
                call, response, code, outcome: outcome(of: code, status: response.status),
                words: nil)
        }
        return try decode(type, from: response, call)
    }
}

struct GazetteNetwork: SocialNetwork {
    private struct Nothing: Decodable {}

    let client: GazetteClient

    var name: NetworkName { client.network }
    var clockLead: TimeInterval? { nil }
    var capabilities: Capabilities {
        Capabilities(
            feeds: Set(Feed.allCases), visibilities: [.public, .unlisted], replies: .anyone,
            replyNeedsMention: true,
            automaticFavorites: .anyone, supportsIdempotencyKey: true,
            resendWindow: .seconds(3_000),
            requestDeadline: .seconds(30))
    }

    private static let paths: [Feed: (path: String, operation: NetworkError.Operation)] = [
        .ownPosts: ("posts", .readOwnPosts), .home: ("home", .readHome),
        .favorites: ("favorites", .readFavorites),
        .mentions: ("mentions", .readMentions),
    ]

    private func account(_ person: GazetteWire.Person) -> Account {
        Account(
            id: AccountID(network: name, value: "\(person.number)"), handle: person.name,
            isBot: person.isAutomated,
            address: "\(person.number)")
    }

    private func observed(_ item: GazetteWire.Item) -> ObservedPost {
        let author = account(item.author)
        let target = item.answered.map { answered in
            ReplyTarget(
                author: item.answeredAuthor.map { AccountID(network: name, value: "\($0)") },
                post: PostID(network: name, value: "\(answered)"))
        }
        var post = ObservedPost(
            post: Post(
                id: PostID(network: name, value: "\(item.number)"), author: author.id,
                text: item.text,
                createdAt: Date(timeIntervalSince1970: item.time), replyTo: target, language: "en"),
            author: author, address: "\(item.number)")
        post.replyToAddress = item.answered.map(String.init)
        return post
    }

    func verifyAccount() async throws -> Account {
        let call = NetworkCall(operation: .verifyAccount, path: ["me"])
        guard let me = try await client.ask(GazetteWire.Person.self, call) else {
            throw client.error(call, .unauthorized, outcome: .refused)
        }
        return account(me)
    }

    func limits() async throws -> PublishingLimits { .usual(of: name) }

    func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage {
        guard let (path, operation) = Self.paths[feed] else { return FeedPage(items: []) }
        let query: [(name: String, value: String)] =
            switch position {
            case .newest: []
            case .older(let cursor): [("before", cursor)]
            case .newer(let cursor): [("after", cursor)]
            }
        let call = NetworkCall(operation: operation, path: [path], query: query)
        let items = try await client.ask(GazetteWire.Page.self, call)?.items ?? []
        let isForward = if case .newer = position { true } else { false }
        return FeedPage(
            items: items.map(observed), older: isForward ? nil : items.last.map { "\($0.number)" },
            newer: items.first.map { "\($0.number)" } ?? (position == .newest ? "0" : nil))
    }

    func prepare(_ draft: Draft) async throws -> Departure<PublishedPost> {
        let wire = GazetteWire.Draft(
            key: draft.key, text: draft.text, time: draft.createdAt.timeIntervalSince1970,
            answered: draft.replyTo.flatMap { Int($0) })
        let body = Array(try JSONEncoder().encode(wire))
        return Departure { [self] in
            let call = NetworkCall(operation: .publish, method: .post, path: ["posts"], body: body)
            guard let item = try await client.ask(GazetteWire.Item.self, call) else {
                throw client.error(call, .malformedResponse, outcome: .unknown)
            }
            return PublishedPost(
                id: PostID(network: name, value: "\(item.number)"), address: "\(item.number)",
                createdAt: Date(timeIntervalSince1970: item.time))
        }
    }

    func prepare(_ favorite: FavoriteDraft) async throws -> Departure<Void> {
        let body = Array(
            try JSONEncoder().encode(GazetteWire.Favorite(number: Int(favorite.address) ?? 0)))
        return Departure { [self] in
            let call = NetworkCall(
                operation: .favorite, method: .post, path: ["favorites"], body: body)
            _ = try await client.ask(Nothing.self, call)
        }
    }

    func delete(_ address: String, if isOurs: @Sendable (ObservedPost) -> Bool) async throws
        -> Removal
    {
        throw client.error(.delete, .capability, outcome: .notSent)
    }

    func unfavorite(_ favorite: FavoriteDraft) async throws -> Removal {
        throw client.error(.unfavorite, .capability, outcome: .notSent)
    }

    func labelAsBot() async throws {}

    func ownPosts(since: Date) async throws -> [ObservedPost] {
        var posts: [ObservedPost] = []
        var position = FeedPosition.newest
        while true {
            let page = try await page(.ownPosts, position)
            posts += page.items.filter { $0.post.createdAt >= since }
            guard let older = page.older, page.items.allSatisfy({ $0.post.createdAt >= since })
            else { return posts }
            position = .older(older)
        }
    }

    func isFavorited(_ address: String) async throws -> Bool? {
        try await page(.favorites, .newest).items.contains { $0.address == address }
    }

    func lookUp(_ address: String) async throws -> ObservedPost? {
        let call = NetworkCall(operation: .readPost, path: ["posts", address])
        return try await client.ask(GazetteWire.Item.self, call).map(observed)
    }

    func conversation(of post: ObservedPost) async throws -> String? {
        post.replyToAddress ?? post.address
    }

    func replies(to address: String) async throws -> [ObservedPost] { [] }
}
