package import Foundation
import Networks
import Posts

/// An item of a feed that cannot be decided now and is tried again.
package struct Postponed: Sendable {
    /// The server's identifier of the item.
    package var address: String
    /// The reason, in words for people.
    package var reason: String
    /// The earliest time of the next try; nil for the usual schedule.
    package var until: Date?
}

/// An item of a feed whose outcome no action records.
struct FeedItem: Equatable, Sendable {
    enum State: String, Sendable {
        /// Not a post in the form that the network's interface promises.
        case unreadable
        /// To be tried again.
        case waiting
        /// The item is not tried again.
        case givenUp = "given-up"
    }

    /// The outcome of another try to read and decide an item.
    enum Trial: Sendable {
        case decided
        case postponed(Postponed)
        /// The network has the item no longer.
        case gone
        /// It can be read, but no database can store its names in a key.
        case unstorable
        case failed(NetworkError)
        /// The server cannot be asked for it.
        case impossible
    }

    /// The reason of items whose names no database can store in a key.
    static let unstorable = "its name cannot be stored"

    /// The server's identifier of the item, or else `#` and a digest of the data that it sent.
    var name: String
    var state: State
    /// A digest of the data that the server sent; nil if the item could be read.
    var digest: String?
    /// The reason, in words for people.
    var reason: String
    /// The version of the program that judged it.
    var version: String
    var attempts = 0
    /// When to try again; nil for never, or only with another version.
    var next: Date?
    var noted: Date

    /// Whether the server can be asked for it.
    var address: String? { name.hasPrefix("#") ? nil : name }

    /// The item after another try; nil if it is decided.
    ///
    /// - Parameters:
    ///   - version: The version of the program that tried.
    func after(_ trial: Trial, version: String, now: Date) -> FeedItem? {
        var item = self
        item.version = version
        item.attempts = attempts + 1
        item.next = nil
        switch trial {
        case .decided: return nil
        case .impossible: return item
        case .gone:
            item.state = .givenUp
            item.reason = "it is gone"
        case .unstorable:
            item.state = .unreadable
            item.reason = Self.unstorable
        case .postponed(let postponed):
            item.wait(postponed.reason, notBefore: postponed.until, now: now)
        case .failed(let error) where error.dropsItem:
            item.state = state == .unreadable ? .unreadable : .givenUp
            item.reason = "\(error)"
        case .failed(let error): item.wait("\(error)", notBefore: error.retryAfter, now: now)
        }
        return item
    }

    /// Sets the next try, unless the tries have gone on for too long.
    ///
    /// - Parameter earliest: The earliest time of the next try; nil for the usual schedule.
    private mutating func wait(_ reason: String, notBefore earliest: Date?, now: Date) {
        self.reason = reason
        guard !RetryRule.item.isOver(since: noted, now: now) else {
            state = .givenUp
            return
        }
        state = .waiting
        next = RetryRule.item.next(after: attempts, key: name, retryAfter: earliest, now: now)
    }
}

extension FeedItem {
    /// An item that the first try could not decide.
    init(_ postponed: Postponed, version: String, now: Date) {
        self.init(
            name: postponed.address, state: .waiting, reason: postponed.reason, version: version,
            noted: now)
        attempts = 1
        wait(postponed.reason, notBefore: postponed.until, now: now)
    }

    /// An item that cannot be read.
    init(_ unreadable: UnreadableItem, version: String, now: Date) {
        self.init(
            name: unreadable.address ?? "#" + unreadable.digest, state: .unreadable,
            digest: unreadable.digest,
            reason: unreadable.cause, version: version, noted: now)
    }
}

extension ObservedPost {
    /// Identifies the post if its name cannot be stored.
    var digest: String {
        StableHash.digest(of: post.id.value, address).prefix(16).hexadecimal
    }

    /// Whether every database can have the post's names in a key.
    var isStorable: Bool {
        [post.id.value, address].allSatisfy {
            !$0.isEmpty && $0.utf8.count <= 2_048 && !$0.utf8.contains(0)
        }
    }
}
