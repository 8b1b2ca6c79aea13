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
            let run = BlueskyRun(request, format: "Bluesky records", body: body)
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
final class BlueskyRun {
    private static let posts = "app.bsky.feed.post"
    private static let likes = "app.bsky.feed.like"
    private static let reposts = "app.bsky.feed.repost"
    /// What is attached and may be left out: a card for a link, but no quoted post, for the text is about that.
    private static let plainEmbeds: Set<String> = ["app.bsky.embed.external"]
    /// A label that says who wrote, not that there is something to warn of.
    private static let harmlessLabels: Set<String> = ["bot", "!no-unauthenticated"]

    private let request: ImportRequest
    private let body: (ArchiveItem) throws -> Void
    var summary: ImportSummary
    /// Records that serve the purpose, whether or not they were handed over.
    private(set) var seen = 0

    init(_ request: ImportRequest, format: String, body: @escaping (ArchiveItem) throws -> Void) {
        self.request = request
        self.body = body
        summary = ImportSummary(format: format)
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
            body: { [self] wire in try take(try wire.object()) })
    }

    func report(_ position: ImportProblem.Position, _ reason: String) {
        summary.report(
            ImportProblem(file: request.path, position: position, reason: reason), limit: request.limits.problems)
    }

    /// Whether a record must be read for the purpose: others are only counted.
    func wants(_ address: RecordAddress) -> Bool { address.collection == Self.posts && request.purpose == .scheduler }

    /// Counts a record by its address alone.
    func count(_ address: RecordAddress) {
        switch (address.collection, request.purpose) {
        case (Self.likes, .classifier):
            seen += 1
            summary.likesWithoutPost += 1
        case (Self.reposts, _): summary.reposts += 1
        default: summary.unrelated += 1
        }
    }

    /// Hands over what a record says, or counts it.
    func take(_ record: JSON) throws {
        guard let uri = record["uri"]?.name else { throw ItemFault("uri is missing") }
        guard let address = RecordAddress(uri) else { throw ItemFault("uri is not the address of a record") }
        let owner = AccountID(network: .bluesky, value: address.repository)
        if summary.owner == nil { summary.owner = owner }
        guard summary.owner == owner else { throw ItemFault("it is from another repository than the first") }
        guard wants(address) else { return count(address) }
        let post = try Self.post(record, address, uri: uri, owner: owner, now: request.now)
        seen += 1
        guard post.isOpen else {
            summary.notOpen += 1
            return
        }
        summary.posts += 1
        try body(.post(post))
    }

    private static func post(
        _ record: JSON, _ address: RecordAddress, uri: String, owner: AccountID, now: Date
    ) throws(ItemFault) -> Post {
        guard let value = record["value"], value.isObject else { throw ItemFault("value is missing") }
        guard let text = value["text"]?.text else { throw ItemFault("text is missing") }
        let written = value["createdAt"]?.name
        let time = PostTime(written, keyed: TimestampID(address.key)?.date, noticedAt: now)
        let facets = (value["facets"]?.list ?? []).compactMap(facet)
        let embed = value["embed"]?["$type"]?.name
        let allLabels = value["labels"]?["values"]?.list.compactMap { $0["val"]?.text } ?? []
        var audience = PostAudience()
        audience.narrow(to: .public)
        audience.narrow(byLabels: allLabels)
        let labels = allLabels.filter { !harmlessLabels.contains($0) }
        let read = PlainText.readBluesky(text, facets: facets.map(\.facet))
        var post = Post(
            id: PostID(network: .bluesky, value: uri), author: owner, text: read.text, createdAt: time.date,
            isTimeTrusted: time.isTrusted, replyTo: replyTarget(value["reply"]), visibility: audience.visibility,
            language: value["langs"]?.list.lazy.compactMap(\.text).compactMap(LanguageTag.naming).first,
            // What we do not know is taken for media: the text may make no sense without it.
            hasMedia: embed.map { !plainEmbeds.contains($0) } ?? false,
            isSensitive: !labels.isEmpty,
            mentions: facets.flatMap(\.mentions).filter(RecordAddress.isDID).map {
                AccountID(network: .bluesky, value: $0)
            }, warning: labels.isEmpty ? nil : labels.joined(separator: " "),
            utcOffset: time.isTrusted ? written.flatMap { Date.utcOffset(rfc3339: $0) } : nil,
            isQuote: embed?.hasPrefix("app.bsky.embed.record") ?? false)
        post.linkWords = read.linkWords
        return post
    }

    /// A part of the text that is more than text, and the people it names; nil where it does not tell its place.
    private static func facet(_ wire: JSON) -> (facet: BlueskyFacet, mentions: [String])? {
        guard let start = wire["index"]?["byteStart"]?.integer, let end = wire["index"]?["byteEnd"]?.integer else {
            return nil
        }
        let features = wire["features"]?.list ?? []
        let link = features.compactMap { $0["uri"]?.text }.first
        return (BlueskyFacet(byteStart: start, byteEnd: end, link: link), features.compactMap { $0["did"]?.text })
    }

    private static func replyTarget(_ reply: JSON?) -> ReplyTarget? {
        guard let reply, reply.isObject else { return nil }
        guard let parent = reply["parent"]?["uri"]?.name, let address = RecordAddress(parent) else {
            return ReplyTarget(author: nil)
        }
        return ReplyTarget(
            author: AccountID(network: .bluesky, value: address.repository),
            post: PostID(network: .bluesky, value: parent))
    }
}

/// The address of a record, `at://did:plc:…/app.bsky.feed.post/3k…`.
struct RecordAddress: Equatable {
    var repository: String
    var collection: String
    var key: String

    /// Nil for what is no address of a record in a repository that is named by its DID.
    init?(_ text: String) {
        guard ActorAddress.isOneWord(text), text.hasPrefix("at://") else { return nil }
        let parts = text.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), Self.isDID(parts[0]) else { return nil }
        repository = parts[0]
        collection = parts[1]
        key = parts[2]
    }

    /// Whether `text` has the form of a DID: `did:plc:…`, `did:web:example.org`.
    static func isDID(_ text: String) -> Bool {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0] == "did" && !parts[1].isEmpty && !parts[2].isEmpty
            && ActorAddress.isOneWord(text) && !text.contains("/")
    }
}
