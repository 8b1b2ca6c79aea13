package import Favorites
import Foundation
import Import
import Posts

/// The posts of a file of JSON Lines that says which of them the human favorited.
package struct LabelledFile: Sendable {
    /// The most that is held in memory, in bytes of text and identities.
    static let maximumBytes = 1 << 30

    /// As it was given.
    package let path: String
    /// In the order of the file; every line was on the human's timeline.
    package let posts: [LabelledPost]
    /// What was left out, by reason, and what could not be read.
    package let summary: TrainingSummary
    private let times: [Date?]

    /// Reads a file to its end; blocks the thread.
    ///
    /// - Parameters:
    ///   - path: A path, or `-` for standard input.
    ///   - maximumBytes: More than this is refused.
    /// - Throws: `ImportError` if it cannot be read, has no line with a label, or is too large.
    init(path: String, maximumBytes: Int = Self.maximumBytes) throws {
        var posts: [LabelledPost] = []
        var times: [Date?] = []
        var bytes = 0
        func take(_ imported: ImportedExample, isFavorite: Bool) throws {
            bytes += imported.text.utf8.count + imported.id.value.utf8.count + MemoryLayout<LabelledPost>.stride
            guard bytes <= maximumBytes else {
                throw ImportError(
                    .unsupported, path: path, "its posts take more than \(maximumBytes >> 20) MiB; evaluate a part")
            }
            let example = Example(id: imported.id, author: imported.author, text: imported.text)
            posts.append(LabelledPost(example, isFavorite: isFavorite))
            times.append(imported.createdAt)
        }
        // Ids and names are only compared with each other, so the network does not matter.
        let reader = JSONLinesReader(path: path, purpose: .classifier, network: .mastodon, localHost: nil)
        let imported = try reader.read { item in
            switch item {
            case .favorite(let example): try take(example, isFavorite: true)
            case .normal(let example): try take(example, isFavorite: false)
            case .post: break
            }
        }
        guard !posts.isEmpty else {
            throw ImportError(
                .nothingToRead, path: path, "no line of it says \"favorite\": true or false of a public post")
        }
        var summary = TrainingSummary()
        summary.read = posts.count
        summary.add(imported)
        self.path = path
        self.posts = posts
        self.summary = summary
        self.times = times
    }

    /// The posts from the oldest to the newest; as in the file if one of them has no time.
    var postsInTime: [LabelledPost] {
        guard isTimed else { return posts }
        let order = posts.indices.sorted { (times[$0] ?? .distantPast, $0) < (times[$1] ?? .distantPast, $1) }
        return order.map { posts[$0] }
    }

    /// Whether every post has a time.
    var isTimed: Bool { times.allSatisfy { $0 != nil } }

    /// Whether the file lists all favorites before all other posts, and at least `number` of each.
    ///
    /// Such a file was put together to learn from. Its order is not that of a
    /// timeline, so its end does not tell how often the human favorites.
    func isGrouped(atLeast number: Int) -> Bool {
        let favorites = posts.prefix(while: \.isFavorite).count
        return favorites >= number && posts.count - favorites >= number
            && !posts[favorites...].contains(where: \.isFavorite)
    }
}
