import Archive
import Foundation
import NetworkNames
import Posts
import Storage
import TestSupport
import Testing

/// A migrated SQLite database of the test's own.
struct TestArchive {
    static let human = AccountID(network: .mastodon, value: "haruka@home.example")
    static let friend = AccountID(network: .mastodon, value: "aoi@home.example")

    let storage: any StorageEngine
    let archive: Archive
    let people: People
    private let folder: TemporaryDirectory

    init(mirror: String = "default") async throws {
        folder = try TemporaryDirectory()
        let opened = try await MigratedDatabase.openCopy(at: folder.path("archive.sqlite"))
        storage = StrictEngine(opened) { Issue.record(Comment(rawValue: $0)) }
        archive = Archive(storage: storage, mirror: mirror)
        people = People(storage: storage, mirror: mirror)
    }

    /// Stores with the defaults that most tests need.
    @discardableResult
    func store(
        _ posts: [Post], zone: TimeZone = .gmt, limit: Int = 10_000
    ) async throws -> Archive.StoreSummary {
        try await archive.store(
            posts, timeZone: zone, limit: limit)
    }

    /// Prepares all posts that no rules or other ones have prepared.
    func prepare(
        _ version: String, lastUse: SQL = "CAST(NULL AS BIGINT)",
        _ prepare: (Post, Archive.Sequel) -> Archive.Preparation
    ) async throws {
        while true {
            let posts = try await archive.unprepared(by: version, atMost: 500)
            if posts.isEmpty { return }
            try await archive.store(
                posts.map { ($0, prepare($0.post, $0.sequel)) }, by: version, lastUse: lastUse)
        }
    }

    /// The ids of all posts that answer nobody, oldest first.
    func ids() async throws -> [String] { try await archive.standalonePosts().map(\.id.value) }
}

func postID(_ value: String, _ network: NetworkName = .mastodon) -> PostID {
    PostID(network: network, value: value)
}

/// A post of the human `minutes` after 1970.
func post(_ id: String, at minutes: Int = 0, replyTo: AccountID? = nil) -> Post {
    Post(
        id: postID(id), author: TestArchive.human, text: "text of \(id)",
        createdAt: Date(timeIntervalSince1970: Double(minutes) * 60),
        replyTo: replyTo.map { ReplyTarget(author: $0) })
}

/// An instant from its RFC 3339 form.
func date(_ text: String) throws -> Date {
    try Date(text, strategy: .iso8601)
}

func zone(_ name: String) throws -> TimeZone {
    guard let zone = TimeZone(identifier: name) else { throw TestSupportError("no zone \(name)") }
    return zone
}
