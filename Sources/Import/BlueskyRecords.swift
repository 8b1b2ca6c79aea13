import Formats
import Foundation
import Localization
import NetworkNames
import Posts

/// The records of a Bluesky repository, saved as JSON.
///
/// The file contains one or several pages of `listRecords`, a list of records, or one record on
/// each line.
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
            guard summary.items > 0 || run.relevantCount > 0 else {
                throw ImportError(.nothingToRead, path: request.path, run.causeOfNothing)
            }
            return summary
        }
    }
}

/// The state of reading one file: the repository's owner, and the counts.
final class BlueskyRun {
    private static let posts = RecordAddress.postCollection
    private static let likes = RecordAddress.likeCollection
    private static let reposts = "app.bsky.feed.repost"

    private let request: ImportRequest
    private let body: (ArchiveItem) throws -> Void
    var summary: ImportSummary
    /// The number of records of the kind that the purpose needs, whether or not they were passed
    /// on.
    private(set) var relevantCount = 0

    init(_ request: ImportRequest, format: String, body: @escaping (ArchiveItem) throws -> Void) {
        self.request = request
        self.body = body
        summary = ImportSummary(format: format)
    }

    var causeOfNothing: String {
        guard summary.problemCount == 0 else { return summary.causeOfNothing }
        return request.purpose == .scheduler
            ? localized("it holds no posts (\(Self.posts))")
            : localized("it holds no likes (\(Self.likes))")
    }

    func sink() -> any MemberSink {
        ListSink(
            file: request.path,
            splitter: DocumentSplitter(lists: [BlueskyRecords.list], limits: request.limits),
            report: { [self] in summary.report($0, limit: request.limits.problems) },
            body: { [self] wire in try take(try wire.object()) })
    }

    func report(_ position: ImportProblem.Position, _ reason: String) {
        summary.report(
            ImportProblem(file: request.path, position: position, reason: reason),
            limit: request.limits.problems)
    }

    /// Whether the purpose needs a record; others are only counted.
    func wants(_ address: RecordAddress) -> Bool {
        address.collection == Self.posts && request.purpose == .scheduler
    }

    /// Counts a record by its address alone.
    func count(_ address: RecordAddress) {
        switch (address.collection, request.purpose) {
        case (Self.likes, .classifier):
            relevantCount += 1
            summary.likesWithoutPost += 1
        case (Self.reposts, _): summary.reposts += 1
        default: summary.unrelated += 1
        }
    }

    /// Passes on a record's item, or counts the record.
    func take(_ record: JSON) throws {
        guard let uri = record["uri"]?.nonEmptyText else {
            throw ItemFault(localized("uri is missing"))
        }
        guard let address = RecordAddress(uri) else {
            throw ItemFault(localized("uri is not the address of a record"))
        }
        let owner = AccountID(network: .bluesky, value: address.repository)
        if summary.owner == nil { summary.owner = owner }
        guard summary.owner == owner else {
            throw ItemFault(localized("it is from another repository than the first"))
        }
        guard wants(address) else { return count(address) }
        guard let value = record.child("value") else {
            throw ItemFault(localized("value is missing"))
        }
        let post = try BlueskyPostRecord(value).post(at: address, by: owner, now: request.now)
        relevantCount += 1
        guard post.isOpen else {
            summary.notOpen += 1
            return
        }
        summary.posts += 1
        try body(.post(post))
    }
}
