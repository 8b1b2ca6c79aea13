import Formats
import Foundation
import Localization
import Posts

/// Posts saved in the form of the API of the Mastodon family.
///
/// The Python program mastodon-archive writes `HOST.user.NAME.json`: an object with the lists
/// `statuses` and `favourites` (others' posts, with their texts), and older posts in
/// `HOST.user.NAME.0.json` and so on. Pixelfed exports the account's own posts as one list,
/// `pixelfed-statuses.json`.
struct SavedStatuses: ArchiveFormat {
    /// The keys of the lists in a file of mastodon-archive that are read.
    static let lists = [ownList, favoriteList]
    private static let ownList = "statuses"
    private static let favoriteList = "favourites"

    /// The names under which single files are read, whatever their own names.
    static let backupName = "mastodon.user.json"
    static let listName = "statuses.json"

    private let request: ImportRequest
    private let parts: [String]

    static func isPart(_ name: String) -> Bool {
        isBackup(name) || [listName, "pixelfed-statuses.json"].contains(name)
    }

    static func recognizes(_ parts: [String]) -> Bool { parts.contains(where: isPart) }

    /// Whether a file of this name is one of mastodon-archive, with lists of posts and of
    /// favorites.
    private static func isBackup(_ name: String) -> Bool {
        !name.contains("/") && name.contains(".user.") && name.hasSuffix(".json")
    }

    /// Whether `wire` is a post in the form of the API.
    static func isStatus(_ wire: JSON) -> Bool {
        wire["account"]?.isObject == true && wire["content"] != nil && wire["visibility"] != nil
            && (wire["uri"] != nil || wire["url"] != nil)
    }

    init(_ request: ImportRequest, parts: [String]) {
        self.request = request
        self.parts = parts
    }

    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws
        -> ImportSummary
    {
        let wantsPosts = request.purpose == .scheduler
        guard wantsPosts || parts.contains(where: Self.isBackup) else {
            throw nothingToRead(
                localized(
                    "it holds no favorites; Pixelfed exports none, so train the classifier from the account"
                )
            )
        }
        // The sinks live only during this call, but the compiler cannot see that.
        return try withoutActuallyEscaping(body) { body in
            let run = SavedStatusesRun(
                request, isBackup: parts.contains(where: Self.isBackup), body: body)
            if wantsPosts {
                try source.read { name in
                    guard Self.isPart(name) else { return nil }
                    return run.postSink(name, list: Self.isBackup(name) ? Self.ownList : nil)
                }
            } else {
                // Favorites do not contain the owner; the posts in the same file do.
                try source.read { Self.isBackup($0) ? run.ownerSink($0, list: Self.ownList) : nil }
                try source.read {
                    Self.isBackup($0) ? run.favoriteSink($0, list: Self.favoriteList) : nil
                }
            }
            guard run.summary.items > 0 || run.readCount > 0 else {
                throw nothingToRead(run.summary.causeOfNothing)
            }
            return run.summary
        }
    }

    private func nothingToRead(_ reason: String) -> ImportError {
        ImportError(.nothingToRead, path: request.path, reason)
    }
}

/// The state of reading saved posts: their owner, and the counts.
private final class SavedStatusesRun {
    private let request: ImportRequest
    private let body: (ArchiveItem) throws -> Void
    private var converter: SavedStatusConverter
    private var counts: ImportSummary
    /// The number of entries that were read, whether or not they were passed on.
    private(set) var readCount = 0

    init(_ request: ImportRequest, isBackup: Bool, body: @escaping (ArchiveItem) throws -> Void) {
        self.request = request
        self.body = body
        counts = ImportSummary(
            format: isBackup ? "mastodon-archive backup" : "saved Mastodon posts")
        converter = SavedStatusConverter(localHost: request.localHost, now: request.now)
    }

    var summary: ImportSummary {
        var summary = counts
        summary.owner = converter.owner
        summary.ownerName = converter.owner?.value
        return summary
    }

    func postSink(_ name: String, list: String?) -> any MemberSink {
        sink(name, list: list) { [self] wire in
            let status = try MastodonStatus(try wire.object())
            guard !status.isReblog else {
                readCount += 1
                counts.reposts += 1
                return
            }
            let post = try converter.post(status)
            readCount += 1
            guard let post else {
                counts.notOpen += 1
                return
            }
            counts.posts += 1
            try body(.post(post))
        }
    }

    func ownerSink(_ name: String, list: String) -> any MemberSink {
        sink(name, list: list) { [self] wire in
            guard converter.owner == nil else { return }
            // The `try?` is nil for an unreadable post; the owner is then read from the next one.
            guard let status = try? MastodonStatus(wire) else { return }
            converter.learnOwner(from: status)
        }
    }

    func favoriteSink(_ name: String, list: String) -> any MemberSink {
        sink(name, list: list) { [self] wire in
            let status = try wire.object()
            let favorite = try converter.favorite(
                try MastodonStatus(status.child("reblog") ?? status))
            readCount += 1
            switch favorite {
            case .example(let example):
                counts.favorites += 1
                try body(.favorite(example))
            case .own: counts.own += 1
            case .notOpen: counts.notOpen += 1
            case .withoutText: counts.withoutText += 1
            }
        }
    }

    /// Reads one list of a file, or the whole file if `list` is nil.
    private func sink(_ name: String, list: String?, _ body: @escaping (JSON) throws -> Void)
        -> any MemberSink
    {
        let splitter = DocumentSplitter(
            lists: list.map { [$0] } ?? [], isForListsAlone: list != nil, limits: request.limits)
        return ListSink(
            file: MemberName.shown(name), splitter: splitter,
            report: { [self] in counts.report($0, limit: request.limits.problems) }, body: body)
    }
}

/// Converts saved statuses to posts.
struct SavedStatusConverter {
    /// The outcome of reading a favorited post.
    enum Favorite {
        case example(ImportedExample)
        /// The human's own post.
        case own
        /// Not everybody may read the post.
        case notOpen
        case withoutText
    }

    /// The author of the first post; nil before it was read.
    private(set) var owner: AccountID?

    private let reader: MastodonStatusReader
    private let now: Date

    /// - Parameters:
    ///   - localHost: The host of names, if the caller knows it.
    ///   - now: The present, the latest possible time of a post.
    init(localHost: String?, now: Date) {
        reader = MastodonStatusReader(guessingFrom: localHost)
        self.now = now
    }

    /// Takes the author of the first post as the owner; later posts change nothing.
    mutating func learnOwner(from status: MastodonStatus) {
        owner = owner ?? status.account.flatMap { reader.person($0) }
    }

    /// The post; nil for a post that not everybody may read.
    ///
    /// - Throws: ``ItemFault`` if the status is no post, or is by another author.
    mutating func post(_ status: MastodonStatus) throws(ItemFault) -> Post? {
        learnOwner(from: status)
        let post = try read(status)
        guard post.author == owner else { throw ItemFault(localized("somebody else made it")) }
        return post.isOpen ? post : nil
    }

    /// Reads a favorited post as a training example.
    ///
    /// - Throws: ``ItemFault`` if it is no post.
    func favorite(_ status: MastodonStatus) throws(ItemFault) -> Favorite {
        let post = try read(status)
        guard post.author != owner else { return .own }
        guard post.isOpen else { return .notOpen }
        guard !post.text.isEmpty else { return .withoutText }
        return .example(
            ImportedExample(
                id: post.id, author: post.author.value, text: post.text, createdAt: post.createdAt,
                isSeen: false,
                authorID: post.author, authorBio: status.account?.bio))
    }

    private func read(_ status: MastodonStatus) throws(ItemFault) -> Post {
        guard MastodonStatusReader.identity(of: status) != nil else {
            throw ItemFault(localized("uri is missing"))
        }
        guard let post = reader.read(status)?.post(now: now) else {
            throw ItemFault(localized("its account has no name"))
        }
        return post
    }
}
