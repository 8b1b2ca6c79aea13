import Foundation
import Posts

/// The records of a Bluesky repository that somebody saved as JSON.
///
/// One page as `listRecords` gives it, several of them one behind the other, a
/// list of records, or a record on each line.
struct BlueskyRecords {
    /// The key of the list in a page.
    static let list = "records"

    private let request: ImportRequest

    init(_ request: ImportRequest) { self.request = request }

    func read(_ body: (ArchiveItem) throws -> Void) throws -> ImportSummary {
        // The sink lives only during this call, but the compiler cannot see that.
        try withoutActuallyEscaping(body) { body in
            let run = BlueskyRun(request, body: body)
            let sink = run.sink()
            try FileReader(path: request.path).forEachChunk { chunk in
                try sink.feed(chunk)
                return true
            }
            try sink.finish()
            let summary = run.summary
            guard summary.items > 0 || run.seen > 0 else {
                throw ImportError(.nothingToRead, path: request.path, run.causeOfNothing)
            }
            return summary
        }
    }
}

/// The reading of one file: whose repository it is, and the counts.
private final class BlueskyRun {
    private static let posts = "app.bsky.feed.post"
    private static let likes = "app.bsky.feed.like"
    private static let reposts = "app.bsky.feed.repost"
    /// What is attached without being a picture or film: a card for a link, a quoted post.
    private static let plainEmbeds: Set<String> = ["app.bsky.embed.external", "app.bsky.embed.record"]
    /// A label that says who wrote, not that there is something to warn of.
    private static let harmlessLabels: Set<String> = ["bot", "!no-unauthenticated"]

    private let request: ImportRequest
    private let body: (ArchiveItem) throws -> Void
    private(set) var summary = ImportSummary(format: "Bluesky records")
    /// Records that serve the purpose, whether or not they were handed over.
    private(set) var seen = 0

    init(_ request: ImportRequest, body: @escaping (ArchiveItem) throws -> Void) {
        self.request = request
        self.body = body
    }

    var causeOfNothing: String {
        guard summary.problemCount == 0 else { return summary.causeOfNothing }
        return request.purpose == .scheduler
            ? "it holds no posts (\(Self.posts))" : "it holds no likes (\(Self.likes))"
    }

    func sink() -> any MemberSink {
        ListSink(
            file: request.path, splitter: DocumentSplitter(lists: [BlueskyRecords.list], limits: request.limits),
            report: { [self] in summary.report($0, limit: request.limits.problems) },
            body: { [self] (wire: BlueskyWireRecord) in try take(wire) })
    }

    private func take(_ wire: BlueskyWireRecord) throws {
        guard let uri = wire.uri else { throw ItemFault("uri is missing") }
        guard let address = RecordAddress(uri) else { throw ItemFault("uri is not the address of a record") }
        let owner = AccountID(network: .bluesky, value: address.repository)
        if summary.owner == nil { summary.owner = owner }
        guard summary.owner == owner else { throw ItemFault("it is from another repository than the first") }
        switch (address.collection, request.purpose) {
        case (Self.posts, .scheduler):
            let post = try Self.post(wire, uri: uri, owner: owner)
            seen += 1
            summary.posts += 1
            try body(.post(post))
        case (Self.likes, .classifier):
            seen += 1
            summary.likesWithoutPost += 1
        case (Self.reposts, _): summary.reposts += 1
        default: summary.unrelated += 1
        }
    }

    private static func post(_ wire: BlueskyWireRecord, uri: String, owner: AccountID) throws(ItemFault) -> Post {
        guard let value = wire.value else { throw ItemFault("value is missing") }
        guard let text = value.text else { throw ItemFault("text is missing") }
        guard let createdAt = value.createdAt.flatMap({ Date(rfc3339: $0) }) else {
            throw ItemFault("createdAt is missing or not a time")
        }
        return Post(
            id: PostID(network: .bluesky, value: uri), author: owner,
            text: PlainText.fromBluesky(text, facets: value.facets.map(\.facet)), createdAt: createdAt,
            replyTo: replyTarget(value), language: value.languages.lazy.compactMap(LanguageTag.naming).first,
            // What we do not know is taken for media: the text may make no sense without it.
            hasMedia: value.embed.map { !plainEmbeds.contains($0) } ?? false,
            isSensitive: !value.labels.allSatisfy(harmlessLabels.contains),
            mentions: value.facets.flatMap(\.mentions).filter(RecordAddress.isDID).map {
                AccountID(network: .bluesky, value: $0)
            })
    }

    private static func replyTarget(_ value: BlueskyWirePost) -> ReplyTarget? {
        guard value.isReply else { return nil }
        guard let parent = value.parent, let address = RecordAddress(parent) else { return ReplyTarget(author: nil) }
        return ReplyTarget(
            author: AccountID(network: .bluesky, value: address.repository),
            post: PostID(network: .bluesky, value: parent))
    }
}
