package import Favorites
package import Foundation
import Import
package import Mirroring
package import Posts
import Storage

/// A post of another person, labelled with the human's reaction.
package struct LabelledPost: Equatable, Sendable {
    package let example: Example
    /// Whether the post was seen on the timeline, favorited, or both.
    package let state: ExampleState

    package init(_ example: Example, state: ExampleState) {
        self.example = example
        self.state = state
    }

    /// Labels a post that the human saw and either favorited or not.
    package init(_ example: Example, isFavorite: Bool) {
        self.init(example, state: isFavorite ? .seenFavorite : .seen)
    }

    package var id: PostID { example.id }
    /// Whether the human favorited the post.
    package var isFavorite: Bool { state.category == .favorite }

    /// The events of the post: it was seen, it was favorited, or it was seen and then favorited.
    var events: [FavoriteEvent] {
        (state.isSeen ? [.seen(example)] : []) + (isFavorite ? [.favorited(example)] : [])
    }
}

/// The human's rate of favorites among the posts of the timeline.
package struct BaseRate: Equatable, Sendable, Encodable {
    /// The number of posts seen on the timeline.
    package let posts: Int
    /// The number of these posts that the human favorited.
    package let favorites: Int

    package init(posts: Int, favorites: Int) {
        self.posts = max(0, posts)
        self.favorites = min(max(0, favorites), self.posts)
    }

    /// Counts the posts that were seen, and the favorites among them.
    package init(of posts: some Collection<LabelledPost>) {
        let seenPosts = posts.lazy.filter(\.state.isSeen)
        self.init(posts: seenPosts.count, favorites: seenPosts.count { $0.isFavorite })
    }

    /// The number of favorites per post, from 0 to 1; nil without posts.
    package var share: Double? { posts > 0 ? Double(favorites) / Double(posts) : nil }
}

/// The posts of a file of JSON Lines, labelled as favorites or not.
package struct LabelledFile: Sendable {
    /// The maximum number of bytes of texts and identities that are held in memory.
    static let maximumBytes = 1 << 30

    /// The path of the file, as it was given.
    package let path: String
    /// The posts in the order of the file; every line was on the human's timeline.
    package let posts: [LabelledPost]
    /// The numbers of items left out, by reason, and the items that could not be read.
    package let summary: TrainingSummary
    /// For each post, its time; nil if the file does not contain it.
    private let times: [Date?]

    /// Reads a file to its end; blocks the thread.
    ///
    /// - Parameters:
    ///   - path: A path, or `-` for standard input.
    ///   - maximumBytes: The largest accepted number of bytes of texts and identities.
    /// - Throws: `ImportError` if the file cannot be read, has no line with a label, or is too
    ///   large.
    init(path: String, maximumBytes: Int = Self.maximumBytes) throws {
        var posts: [LabelledPost] = []
        var times: [Date?] = []
        var byteCount = 0
        func take(_ imported: ImportedExample, isFavorite: Bool) throws {
            byteCount +=
                imported.text.utf8.count + imported.id.value.utf8.count
                + MemoryLayout<LabelledPost>.stride
            guard byteCount <= maximumBytes else {
                throw ImportError(
                    .unsupported, path: path,
                    "its posts take more than \(maximumBytes >> 20) MiB; evaluate a part")
            }
            let example = Example(id: imported.id, author: imported.author, text: imported.text)
            posts.append(LabelledPost(example, isFavorite: isFavorite))
            times.append(imported.createdAt)
        }
        // Ids and names are only compared with each other, so the network does not matter.
        let reader = JSONLinesReader(
            path: path, purpose: .classifier, network: .usual, localHost: nil)
        let imported = try reader.read { item in
            switch item {
            case .favorite(let example): try take(example, isFavorite: true)
            case .normal(let example): try take(example, isFavorite: false)
            case .post, .picture: break
            }
        }
        guard !posts.isEmpty else {
            throw ImportError(
                .nothingToRead, path: path,
                "no line of it says \"favorite\": true or false of a public post")
        }
        var summary = TrainingSummary()
        summary.read = posts.count
        summary.add(imported)
        self.path = path
        self.posts = posts
        self.summary = summary
        self.times = times
    }

    /// The posts from the oldest to the newest, or in the order of the file if one of them has no
    /// time.
    var postsInTime: [LabelledPost] {
        guard isTimed else { return posts }
        let order = posts.indices.sorted {
            (times[$0] ?? .distantPast, $0) < (times[$1] ?? .distantPast, $1)
        }
        return order.map { posts[$0] }
    }

    /// The posts made at or after `start` and before `end`, from the oldest to the newest; none if
    /// a post has no time.
    func posts(from start: Date, to end: Date) -> [LabelledPost] {
        guard isTimed else { return [] }
        let dated = posts.indices.filter { index in
            guard let time = times[index] else { return false }
            return start <= time && time < end
        }
        let order = dated.sorted {
            (times[$0] ?? .distantPast, $0) < (times[$1] ?? .distantPast, $1)
        }
        return order.map { posts[$0] }
    }

    /// Whether every post has a time.
    var isTimed: Bool { times.allSatisfy { $0 != nil } }

    /// Whether the file lists all favorites before all other posts, and at least `number` of each.
    ///
    /// Such a file is a training set. It is not in the order of a timeline, so its end does not
    /// show the human's rate of favorites.
    func isGrouped(atLeast number: Int) -> Bool {
        let favorites = posts.prefix(while: \.isFavorite).count
        return favorites >= number && posts.count - favorites >= number
            && !posts[favorites...].contains(where: \.isFavorite)
    }
}

extension ExampleTable {
    /// The newest examples of the mirror with their labels, the oldest of them first.
    ///
    /// - Parameters:
    ///   - limit: The largest number of examples.
    ///   - start: The earliest last decision about an example.
    ///   - end: The time before which an example was last decided.
    /// - Returns: The posts in the order in which they were last decided.
    /// - Throws: `StorageError` or `CancellationError`.
    package func labelledPosts(
        atMost limit: Int, from start: Date = .distantPast, to end: Date = .distantFuture
    ) async throws -> [LabelledPost] {
        let rows = try await storage.query(
            """
            SELECT network, post_id, author, text, state FROM examples
            WHERE mirror = \(mirror) AND decided_ms >= \(start) AND decided_ms < \(end)
            ORDER BY decided_ms DESC, sequence DESC, network DESC, post_id DESC LIMIT \(limit)
            """)
        return try rows.reversed().compactMap { row in
            guard let network = NetworkName(rawValue: try row.text("network")),
                let state = ExampleState(rawValue: try row.text("state"))
            else { return nil }
            let id = PostID(network: network, value: try row.text("post_id"))
            let example = Example(
                id: id, author: try row.optionalText("author"), text: try row.text("text"))
            return LabelledPost(example, state: state)
        }
    }
}
