import Crypto
import Foundation
import Posts

/// Where an item stands in its feed, and what tells it from the others.
struct BlueskyMark: Hashable, Sendable {
    /// A digest of what the item is called.
    let name: String
    /// Text whose order is that of the feed: a record key, or a time; empty for an item that does not tell.
    let order: String

    init(_ name: String, order: String) {
        self.name = SHA256.hash(data: Data(name.utf8)).prefix(8).hexadecimal
        self.order = order
    }

    init(_ name: String, at time: Date) {
        self.init(name, order: time.rfc3339)
    }
}

/// What to remember of a feed so as to tell later what has arrived since.
///
/// Bluesky cannot be asked for what is newer than something, and an item may appear below others that were there
/// before: its author chooses its place. So the newest items are remembered one by one; what is not among them, and not
/// below the lowest of them, has arrived since.
struct BlueskyCursor: Codable, Equatable, Sendable {
    /// How many items are remembered: less than a page, so that one request shows all of them with what is new.
    static let window = 64
    /// A server's name for a place is no longer than this, in bytes.
    static let maximumPlace = 4_096
    /// Older items never count as new in a feed of everybody's posts, in seconds: who follows somebody new gets all of
    /// their old posts.
    private static let horizon: TimeInterval = 86_400

    /// The newest items.
    struct Window: Codable, Equatable, Sendable {
        /// Their names.
        var known: [String]
        /// The order of the lowest of them; empty where they are all that there is.
        var floor: String

        /// Whether an item has arrived since.
        func isNew(_ mark: BlueskyMark) -> Bool {
            (mark.order >= floor || mark.order.isEmpty) && !known.contains(mark.name)
        }
    }

    /// A look into the past that goes on with the next page.
    struct Rest: Codable, Equatable, Sendable {
        /// The server's name for the place.
        var place: String
        /// What was remembered when the look began.
        var window: Window
    }

    var window: Window
    /// How far an unfinished look into the past has come.
    var rest: Rest?

    /// - Parameters:
    ///   - marks: The items from the newest down, as far as they were seen.
    ///   - isWhole: Whether these are all that there is.
    ///   - time: When they were seen, for feeds of everybody's posts; nil for a list of one account's records.
    init(marks: [BlueskyMark], isWhole: Bool, at time: Date?) {
        let sorted = marks.sorted { $0.order > $1.order }
        var floor = sorted.prefix(Self.window).last?.order ?? ""
        if isWhole, sorted.count <= Self.window {
            let edge = time.map(Self.edge) ?? ""
            floor = sorted.isEmpty ? edge : min(floor, edge)
        }
        // All of them that share the lowest place, or some would count as new.
        window = Window(known: sorted.filter { $0.order >= floor || $0.order.isEmpty }.map(\.name), floor: floor)
    }

    /// A whole hour, so that the cursor of a quiet feed need not be stored anew each time.
    private static func edge(at time: Date) -> String {
        let hours = ((time.timeIntervalSince1970 - horizon) / 3_600).rounded(.down)
        return Date(timeIntervalSince1970: hours * 3_600).rfc3339
    }

    /// Nil for what ``text()`` did not make.
    init?(_ text: String) {
        guard text.utf8.count <= 1 << 20, let cursor = JSONBody.decoded(BlueskyCursor.self, Array(text.utf8)),
            cursor.rest.map({ (1...Self.maximumPlace).contains($0.place.utf8.count) }) ?? true
        else { return nil }
        self = cursor
    }

    /// The cursor as it is stored.
    func text() throws -> String {
        String(decoding: try JSONBody.encoded(self), as: UTF8.self)
    }
}
