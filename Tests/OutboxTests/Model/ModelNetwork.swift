import Foundation
import Outbox

/// A small, exact network: what it remembers of keys is all that distinguishes one kind from
/// another.
final class ModelNetwork: @unchecked Sendable {
    enum Memory: String, CaseIterable, Sendable {
        /// The Mastodon family: the same key within an hour is the same post.
        case hour
        /// Bluesky: the same key names the same record for ever.
        case ever
        /// X: nothing is recognised, and nothing may be sent again.
        case never
        /// A server that promises to recognise keys and does not; only the look-up protects it.
        case forgetful

        /// How long after the first request a text may be sent again.
        var resendWindow: Duration? {
            switch self {
            case .hour, .forgetful: .seconds(50 * 60)
            case .ever: .seconds(24 * 3_600)
            case .never: nil
            }
        }
    }

    struct Post: Sendable {
        var subject: String
        var key: String
        var made: Date
    }

    let memory: Memory
    /// Whether its answers carry its time.
    let tellsTime: Bool
    // Sendable because every access to a variable holds the lock.
    private let lock = NSLock()
    private var posts: [Post] = []
    private var underWay: [(arrival: Date, post: Post)] = []
    private var repetitions = 0

    init(_ memory: Memory, tellsTime: Bool) {
        self.memory = memory
        self.tellsTime = tellsTime
    }

    /// Publishes, or recognises what it published.
    func receive(_ action: Action, at time: Date) {
        lock.withLock { publish(Post(subject: action.subject, key: action.key, made: time)) }
    }

    /// Takes a request that is carried out later.
    func receive(_ action: Action, actingAt time: Date) {
        lock.withLock {
            underWay.append((time, Post(subject: action.subject, key: action.key, made: time)))
        }
    }

    /// Carries out what is due.
    func pass(to time: Date) {
        lock.withLock {
            let ripe = underWay.filter { $0.arrival <= time }.sorted { $0.arrival < $1.arrival }
            underWay.removeAll { $0.arrival <= time }
            for entry in ripe { publish(entry.post) }
        }
    }

    func posts(about subject: String, since date: Date = .distantPast) -> Int {
        lock.withLock { posts.count { $0.subject == subject && $0.made >= date } }
    }

    var repeated: Int { lock.withLock { repetitions } }

    private func publish(_ post: Post) {
        let isKnown = posts.contains { known in
            guard known.key == post.key else { return false }
            switch memory {
            case .hour: return post.made.timeIntervalSince(known.made) < 3_600
            case .ever: return true
            case .never, .forgetful: return false
            }
        }
        if isKnown { repetitions += 1 } else { posts.append(post) }
    }
}
