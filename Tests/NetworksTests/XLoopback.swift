import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Networks
@testable import X

/// A server on loopback that speaks as a test wants, and an account on X that reads from it.
struct XLoopback {
    static let credentials = XCredentials(
        consumerKey: "planted-key-1a", consumerSecret: Secret("planted-consumer-secret-2b"),
        accessToken: Secret("42-planted-token-3c"),
        accessTokenSecret: Secret("planted-token-secret-4d"))
    static let secrets = [
        "planted-consumer-secret-2b", "42-planted-token-3c", "planted-token-secret-4d",
    ]
    /// The instant 2026-11-20T21:00:00Z.
    static let start = Date(timeIntervalSince1970: 1_795_208_400)

    let server: LoopbackServer
    let network: XNetwork
    let book: MemoryBook

    /// Where `answer` gives nil, the account `42` and errors for all else are given.
    init(
        options: XOptions = XOptions(mayPublish: true, homePostsPerDay: 500),
        book: MemoryBook = MemoryBook(),
        credentials: XCredentials = Self.credentials,
        now: @escaping @Sendable () -> Date = { Self.start },
        answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?
    ) throws {
        server = try LoopbackServer { request, connection in
            let answer = answer(request) ?? Self.usual(request)
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
        self.book = book
        network = try Self.network(
            of: server, options: options, book: book, credentials: credentials, now: now)
    }

    /// An account that reads from any server.
    static func network(
        of server: LoopbackServer,
        options: XOptions = XOptions(mayPublish: true, homePostsPerDay: 500),
        book: MemoryBook = MemoryBook(), credentials: XCredentials = Self.credentials,
        now: @escaping @Sendable () -> Date = { Self.start }
    ) throws -> XNetwork {
        var options = options
        options.apiBaseURL = server.url
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))
        return try XNetwork(
            credentials: credentials, options: options, book: book, client: client, now: now)
    }

    /// The requests after those about the account.
    var requests: [LoopbackServer.Request] { server.requests.filter { $0.path != "/2/users/me" } }

    static func usual(_ request: LoopbackServer.Request) -> Answer {
        request.path == "/2/users/me"
            ? .json(XWire.answer(XWire.user("42", "mirror"))) : XWire.notFound
    }
}

extension XLoopback {
    /// What a call throws that gets this answer.
    static func failure(
        _ answer: Answer, _ operation: NetworkError.Operation = .publish,
        now: @escaping @Sendable () -> Date = { Self.start }
    ) async throws -> NetworkError {
        let loopback = try XLoopback(now: now) { request in
            request.path == "/2/users/me" && operation != .verifyAccount ? nil : answer
        }
        return try await failure(of: loopback.network, operation)
    }

    static func failure(of network: XNetwork, _ operation: NetworkError.Operation) async throws
        -> NetworkError
    {
        try await #require(throws: NetworkError.self) {
            switch operation {
            case .verifyAccount: _ = try await network.verifyAccount()
            case .readHome: _ = try await network.page(.home, .newest)
            case .readMentions: _ = try await network.page(.mentions, .newest)
            case .readOwnPosts: _ = try await network.ownPosts(since: start)
            case .readPost: _ = try await network.lookUp("9")
            case .delete: try await network.delete("9")
            default:
                _ = try await network.publish(
                    Draft(text: "text", replyTo: "4", key: "k", createdAt: start))
            }
        }
    }
}

/// A clock that a test sets.
final class AdjustableTime: Sendable {
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var value: Date

    init(_ value: Date) {
        self.value = value
    }

    var now: Date {
        get { lock.withLock { value } }
        set { lock.withLock { value = newValue } }
    }
}

/// A text that a test sets.
final class AdjustableText: Sendable {
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var value: String

    init(_ value: String) {
        self.value = value
    }

    var text: String {
        get { lock.withLock { value } }
        set { lock.withLock { value = newValue } }
    }
}

/// A budget that lives in memory.
final class MemoryBook: SpendingBook {
    struct Entry: Equatable, Sendable {
        var amount: Money
        var purpose: SpendingPurpose
        /// Taken, and not given back.
        var isReservation: Bool
    }

    struct Broken: Error {}

    /// When a refused book says that there is more.
    static let later = Date(timeIntervalSince1970: 1_796_083_200)

    private let limit: Money
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var log: [Entry] = []
    nonisolated(unsafe) private var broken = false

    init(limit: Money = Money(microdollars: 1_000_000_000)) {
        self.limit = limit
    }

    /// What was taken and given back, in order.
    var entries: [Entry] { lock.withLock { log } }

    /// What was taken and not given back.
    var spent: Money { lock.withLock { sum } }

    private var sum: Money {
        log.reduce(Money.zero) { $1.isReservation ? $0 + $1.amount : $0 - $1.amount }
    }

    /// Makes every call fail from now on.
    func shut() { lock.withLock { broken = true } }

    /// Takes that back.
    func open() { lock.withLock { broken = false } }

    func reserve(_ amount: Money, for purpose: SpendingPurpose, at now: Date) async throws -> Date?
    {
        try lock.withLock {
            if broken { throw Broken() }
            guard sum + amount <= limit else { return Self.later }
            log.append(Entry(amount: amount, purpose: purpose, isReservation: true))
            return nil
        }
    }

    func charge(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date) async throws {
        // As a store does that is asked by a task that was cancelled.
        try Task.checkCancellation()
        try lock.withLock {
            if broken { throw Broken() }
            log.append(Entry(amount: amount, purpose: purpose, isReservation: true))
        }
    }

    func giveBack(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date) async throws {
        try lock.withLock {
            if broken { throw Broken() }
            guard amount > .zero else { return }
            log.append(Entry(amount: amount, purpose: purpose, isReservation: false))
        }
    }
}

/// JSON in the shapes that X's interface promises.
enum XWire {
    static let notFound = Answer.json(
        #"{"title":"Not Found","detail":"Not Found","type":"about:blank","status":404}"#,
        status: 404)

    static func user(_ id: String, _ name: String, _ overrides: [String: String] = [:]) -> String {
        Wire.object(
            [
                "id": "\"\(id)\"", "username": "\"\(name)\"", "name": "\"Name of \(name)\"",
                "protected": "false",
                "description": "\"bio of \(name)\"",
            ], overrides)
    }

    /// A post by the user 7, whose name is `ann`.
    static func post(_ id: String, _ overrides: [String: String] = [:]) -> String {
        Wire.object(
            [
                "id": "\"\(id)\"", "text": "\"text \(id)\"", "author_id": "\"7\"",
                "conversation_id": "\"\(id)\"",
                "created_at": "\"2026-11-20T20:00:00.000Z\"",
                "edit_history_tweet_ids": "[\"\(id)\"]",
                "lang": "\"en\"", "possibly_sensitive": "false", "reply_settings": "\"everyone\"",
            ], overrides)
    }

    /// One thing as `data`.
    static func answer(_ data: String, users: [String] = []) -> String {
        users.isEmpty
            ? #"{"data":\#(data)}"#
            : #"{"data":\#(data),"includes":{"users":\#(Wire.list(users))}}"#
    }

    /// A list as `data`, which is missing where there is nothing.
    static func list(
        _ posts: [String], users: [String] = [user("7", "ann")], next: String? = nil,
        errors: String? = nil
    ) -> String {
        var fields = [
            "meta": next.map { #"{"result_count":\#(posts.count),"next_token":"\#($0)"}"# }
                ?? #"{"result_count":\#(posts.count)}"#
        ]
        if !posts.isEmpty {
            fields["data"] = Wire.list(posts)
            fields["includes"] = #"{"users":\#(Wire.list(users))}"#
        }
        if let errors { fields["errors"] = errors }
        return Wire.object(fields)
    }

    /// A problem as it stands in a list of errors.
    static func problem(_ kind: String, _ overrides: [String: String] = [:]) -> String {
        Wire.object(
            [
                "type": "\"https://api.twitter.com/2/problems/\(kind)\"",
                "title": "\"Title of \(kind)\"",
                "detail": "\"Detail of \(kind).\"",
            ], overrides)
    }

    /// A problem as the whole body.
    static func refusal(_ status: Int, _ kind: String, _ overrides: [String: String] = [:])
        -> Answer
    {
        .json(problem(kind, ["status": "\(status)"].merging(overrides) { $1 }), status: status)
    }
}
