import Archive
import Conduct
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts

/// Reads from the bot's network its posts since the backup from which the database was restored, so
/// that no text is posted twice.
struct Recollection: Sendable {
    /// Seconds before the end of the backup from which posts are read, because clocks differ.
    private static let margin: TimeInterval = 3_600

    let mirror: HumanMirror
    let bot: AccountGate
    let store: OutboxStore
    let zone: TimeZone
    let logger: Logger

    /// Stores the posts that the restored database lacks; does nothing if no backup was restored.
    ///
    /// - Throws: `NetworkError` if the posts cannot be read now, so that the start is retried; the
    ///   store's error.
    func run() async throws {
        guard let backupEnd = try await mirror.table.gap() else { return }
        let posts = try await bot.ownPosts(since: backupEnd - Self.margin)
        var publishedPosts: [OutboxStore.Published] = []
        for post in posts.reversed() where post.replyToAddress == nil {
            // Only texts of the archive can be posted again.
            guard
                let source = try await mirror.archive.source(of: TextRules.textKey(post.post.text))
            else { continue }
            let sentAt = bot.local(post.post.createdAt)
            publishedPosts.append(
                OutboxStore.Published(
                    Action.Wording(
                        source: source, text: post.post.text, language: post.post.language,
                        visibility: post.post.visibility),
                    on: LocalTime(sentAt, in: zone).day, at: sentAt, remoteID: post.post.id.value,
                    remoteAddress: post.address)
            )
        }
        let noted = try await store.note(publishedPosts, now: mirror.clock.now)
        try await mirror.table.closeGap()
        logger.notice(
            "Posts since the restored backup read from the network",
            metadata: [LogKeys.count: "\(noted.count)"])
    }
}
