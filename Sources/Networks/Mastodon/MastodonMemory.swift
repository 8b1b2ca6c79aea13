import Foundation

/// What a network remembers between calls.
final class MastodonMemory: @unchecked Sendable {
    // Sendable: every access to a variable holds the lock.
    private let lock = NSLock()
    private var known: (instance: MastodonInstance, until: Date)?
    private var own: (id: String, domain: String)?
    private var unsorted: Set<Feed> = []

    /// The id of the token's account and the host of its name, once both are certain.
    var account: (id: String, domain: String)? { lock.withLock { own } }

    var lastInstance: MastodonInstance? { lock.withLock { known?.instance } }

    func instance(at time: Date) -> MastodonInstance? {
        // A local clock that was set back does not keep it longer.
        lock.withLock {
            known.flatMap { time < $0.until && $0.until.timeIntervalSince(time) <= 86_400 ? $0.instance : nil }
        }
    }

    func keep(_ instance: MastodonInstance, until time: Date) {
        lock.withLock { known = (instance, time) }
    }

    func keep(account id: String, of domain: String) {
        lock.withLock { own = (id, domain) }
    }

    /// Whether the order of ids tells the order of a feed, as far as was seen.
    func idsSort(in feed: Feed) -> Bool {
        lock.withLock { !unsorted.contains(feed) }
    }

    /// Learns from a page, newest first, whether ids tell the order of a feed: one page that contradicts is enough.
    func learnOrder(of feed: Feed, from ids: [String]) {
        guard MastodonID.contradictsOrder(ids) else { return }
        lock.withLock { _ = unsorted.insert(feed) }
    }
}
