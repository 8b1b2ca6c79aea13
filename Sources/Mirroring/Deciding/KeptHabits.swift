import Archive
import Conduct
import Favorites
import Foundation
import Posts

/// A cache of the habits computed from the newest replies of some humans.
///
/// Computing the habits of 2,000 replies takes 0.1 s and some megabytes, so a process keeps them
/// for the mirrors that were used last.
final class KeptHabits: @unchecked Sendable {
    // Sendable because every access to the variables holds the lock.
    private let lock = NSLock()
    private var kept: [String: Kept] = [:]
    private var uses = 0
    /// The most mirrors whose habits are kept.
    private static let mostMirrors = 16

    private struct Kept {
        let replies: [Archive.PastReply]
        let habits: ReplyHabits
        /// The number of the last use.
        var use: Int
    }

    /// Returns the habits of the given replies.
    ///
    /// - Parameters:
    ///   - replies: The human's newest replies to anybody.
    ///   - mirror: The name of the mirror; its habits are computed again when its replies have
    ///     changed.
    ///   - words: Counts words; nil where there is no dictionary.
    func habits(of replies: [Archive.PastReply], in mirror: String, words: WordCounter?)
        -> ReplyHabits
    {
        if let habits = cached(replies, in: mirror) { return habits }
        let habits = ReplyHabits(
            replies.map { reply in
                let post = reply.original.post
                return ReplyHabits.Reply(
                    id: post.id, text: post.text, language: post.language,
                    words: words?.words(of: post.text) ?? [:],
                    answered: reply.answered)
            })
        keep(habits, of: replies, in: mirror)
        return habits
    }

    private func cached(_ replies: [Archive.PastReply], in mirror: String) -> ReplyHabits? {
        lock.withLock {
            guard let entry = kept[mirror], entry.replies == replies else { return nil }
            uses += 1
            kept[mirror]?.use = uses
            return entry.habits
        }
    }

    private func keep(_ habits: ReplyHabits, of replies: [Archive.PastReply], in mirror: String) {
        lock.withLock {
            uses += 1
            kept[mirror] = Kept(replies: replies, habits: habits, use: uses)
            guard kept.count > Self.mostMirrors,
                let oldest = kept.min(by: { $0.value.use < $1.value.use })
            else {
                return
            }
            kept[oldest.key] = nil
        }
    }
}
