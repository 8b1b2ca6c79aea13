import Foundation
import TestSupport

/// What two accounts and their server say to each other on the gazette, as JSON.
enum GazetteWire {
    struct Person: Codable, Sendable {
        /// What identifies them.
        var number: Int
        var name: String
        var isAutomated: Bool
    }

    struct Item: Codable, Sendable {
        var number: Int
        var author: Person
        var text: String
        /// In seconds since 1970.
        var time: Double
        var answered: Int?
        var answeredAuthor: Int?
    }

    struct Page: Codable, Sendable {
        /// Newest first.
        var items: [Item]
    }

    /// A text to publish; equal keys publish once.
    struct Draft: Codable, Sendable {
        var key: String
        var text: String
        var time: Double
        var answered: Int?
    }

    struct Favorite: Codable, Sendable {
        var number: Int
    }
}

/// A network that only the tests know: one server with a handful of people, over HTTP on the
/// loopback interface.
///
/// `GET /me`, `/posts`, `/home`, `/favorites` and `/mentions` with `?before=` or `?after=` a
/// number; `GET`, `DELETE` of `/posts/N`; `POST /posts` and `/favorites`. The token is the
/// account's name.
final class GazetteServer: Sendable {
    static let human = GazetteWire.Person(number: 1, name: "haru", isAutomated: false)
    static let bot = GazetteWire.Person(number: 2, name: "haru_mirror", isAutomated: true)
    static let friend = GazetteWire.Person(number: 3, name: "aoi", isAutomated: false)

    /// Sendable because every access to `state` holds the lock.
    private final class World: @unchecked Sendable {
        struct State {
            /// Oldest first, numbered from 1.
            var items: [GazetteWire.Item] = []
            /// The numbers of the posts that an account favorited, in that order.
            var favorites: [Int: [Int]] = [:]
            var published: [String: Int] = [:]
        }

        private let lock = NSLock()
        private var state = State()

        func with<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
            try lock.withLock { try body(&state) }
        }
    }

    private let world: World
    private let server: LoopbackServer

    init() throws {
        let world = World()
        self.world = world
        server = try LoopbackServer { request, connection in
            let answer = world.with { Self.answer(request, &$0) }
            try connection.respond(
                status: answer == nil ? 404 : 200, headers: [("Content-Type", "application/json")],
                body: answer.map(Array.init) ?? [])
        }
    }

    var url: String { "http://127.0.0.1:\(server.port)" }

    /// Somebody writes.
    @discardableResult
    func write(
        _ author: GazetteWire.Person, _ text: String, at time: Date, answering answered: Int? = nil
    ) -> Int {
        world.with { Self.write(author, text, time.timeIntervalSince1970, answered, &$0) }
    }

    func favorite(_ number: Int, by person: GazetteWire.Person) {
        world.with { $0.favorites[person.number, default: []].append(number) }
    }

    /// What the bot has published, the oldest first.
    var published: [GazetteWire.Item] {
        world.with { state in state.items.filter { $0.author.number == Self.bot.number } }
    }

    /// What the bot has favorited.
    var favorited: [GazetteWire.Item] {
        world.with { state in (state.favorites[Self.bot.number] ?? []).map { state.items[$0 - 1] } }
    }

    private static func write(
        _ author: GazetteWire.Person, _ text: String, _ time: Double, _ answered: Int?,
        _ state: inout World.State
    ) -> Int {
        state.items.append(
            GazetteWire.Item(
                number: state.items.count + 1, author: author, text: text, time: time,
                answered: answered,
                answeredAuthor: answered.map { state.items[$0 - 1].author.number }))
        return state.items.count
    }

    private static func answer(_ request: LoopbackServer.Request, _ state: inout World.State)
        -> Data?
    {
        let people = [human, bot]
        guard let target = URLComponents(string: request.target),
            let me = people.first(where: { request.header("Authorization") == "Bearer \($0.name)" })
        else { return nil }
        func number(_ name: String) -> Int? {
            target.queryItems?.first { $0.name == name }?.value.flatMap { Int($0) }
        }
        let parts = target.path.split(separator: "/").map(String.init)
        switch (request.method, parts.first, parts.dropFirst().first.flatMap { Int($0) }) {
        case ("GET", "me", nil): return try? JSONEncoder().encode(me)
        case ("GET", "posts", let found?):
            let item = state.items.first { $0.number == found }
            return item.flatMap { try? JSONEncoder().encode($0) }
        case ("GET", let feed?, nil):
            let favorites = state.favorites[me.number] ?? []
            let items = state.items.filter { item in
                switch feed {
                case "posts": item.author.number == me.number
                case "home": item.author.number == friend.number
                case "favorites": favorites.contains(item.number)
                default: item.text.contains("@\(me.name)") || item.answeredAuthor == me.number
                }
            }
            let shown = items.filter {
                $0.number < number("before") ?? .max && $0.number > number("after") ?? 0
            }
            let page = number("after") == nil ? shown.suffix(20) : shown.prefix(20)
            return try? JSONEncoder().encode(GazetteWire.Page(items: page.reversed()))
        case ("POST", "posts", nil):
            guard
                let draft = try? JSONDecoder().decode(
                    GazetteWire.Draft.self, from: Data(request.body))
            else {
                return nil
            }
            let known = state.published[draft.key]
            let number = known ?? write(me, draft.text, draft.time, draft.answered, &state)
            state.published[draft.key] = number
            return try? JSONEncoder().encode(state.items[number - 1])
        case ("POST", "favorites", nil):
            guard
                let favorite = try? JSONDecoder().decode(
                    GazetteWire.Favorite.self, from: Data(request.body))
            else {
                return nil
            }
            if !(state.favorites[me.number] ?? []).contains(favorite.number) {
                state.favorites[me.number, default: []].append(favorite.number)
            }
            return Data("{}".utf8)
        default: return nil
        }
    }
}
