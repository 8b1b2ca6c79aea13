import Foundation
import Storage
import TestSupport

/// What a mirror says about how it hears: what `status --json` tells a person, and the items it
/// keeps a note of.
struct Hearing: Equatable, Sendable {
    /// The feed of those who mention the bot.
    static let mentions = "bot-mentions"

    /// A feed as `status` shows it.
    struct Feed: Decodable, Equatable, Sendable {
        var feed: String
        var error: String?
        var unreadable = 0
        var waiting = 0
        /// Items that were given up; nil where that is not told.
        var givenUp: Int?
        /// Stretches of the feed that could not be read.
        var unreached: [Gap] = []

        struct Gap: Decodable, Equatable, Sendable {
            var from: Date
            var to: Date

            /// Some servers date by whole seconds.
            func contains(_ date: Date) -> Bool { from <= date && date < max(from, to) + 1 }
        }
    }

    /// An item about which nothing is decided, or that could not be read.
    struct Item: Equatable, Sendable {
        enum State: String, Sendable {
            case unreadable, waiting
            case givenUp = "given-up"
        }

        /// Its address, or `#` and a digest.
        var name: String
        var state: State
        var reason = ""
    }

    var feeds: [Feed] = []
    /// Of the mentions of the bot.
    var items: [Item] = []

    /// What `status` says about those who mention the bot; nil if it says nothing.
    var mentions: Feed? { feeds.first { $0.feed == Self.mentions } }

    /// Reads the feeds out of what `status --json` printed; none if it tells of none.
    static func feeds(in output: String) throws -> [Feed] {
        guard let start = output.firstIndex(of: "{"), let end = output.lastIndex(of: "}") else {
            throw TestSupportError("status printed no JSON: \(output.suffix(400))")
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Status.self, from: Data(output[start...end].utf8)).feeds ?? []
    }

    private struct Status: Decodable {
        var feeds: [Feed]?
    }

    /// Reads what the store keeps about mentions.
    static func items(of mirror: String, in storage: any StorageEngine) async throws -> [Item] {
        let feed = mentions
        let rows = try await storage.query(
            "SELECT item, state, reason FROM feed_items WHERE mirror = \(mirror) AND feed = \(feed)"
        )
        return try rows.map { row in
            let state = try row.text("state")
            guard let known = Item.State(rawValue: state) else {
                throw TestSupportError("feed_items holds the state \(state), which nobody knows")
            }
            return Item(
                name: try row.text("item"), state: known,
                reason: try row.optionalText("reason") ?? "")
        }
    }
}
