import Foundation
import Localization
import NetworkNames
import Posts

/// The archive that X offers for download.
///
/// It is read in two passes, because a zip may hold its files in any order: first the account, the
/// deleted posts and the texts of long posts, then the posts.
struct XArchive: ArchiveFormat {
    private let request: ImportRequest
    private let parts: [String]

    static func isPart(_ name: String) -> Bool { XMember(name: name) != nil }

    static func recognizes(_ parts: [String]) -> Bool { parts.contains(where: isPart) }

    init(_ request: ImportRequest, parts: [String]) {
        self.request = request
        self.parts = parts
    }

    func read(_ source: any MemberSource, _ body: (ArchiveItem) throws -> Void) throws
        -> ImportSummary
    {
        let neededKinds = neededKinds
        guard !neededKinds.isEmpty else {
            let wantsPosts = request.purpose == .scheduler
            let file = wantsPosts ? "data/tweets.js" : "data/like.js"
            throw nothingToRead(
                localized(
                    wantsPosts ? "it holds no posts (\(file))" : "it holds no likes (\(file))"))
        }
        // The sinks live only during this call, but the compiler cannot see that.
        return try withoutActuallyEscaping(body) { body in
            let pictures = ArchivePictures(request.wantsPictures)
            let run = XArchiveRun(request, neededKinds: neededKinds, pictures: pictures, body: body)
            run.hasMoreCommunityPosts =
                request.purpose == .scheduler && !request.includesCommunities
                && members.contains(.communityPosts)
            try source.read { run.preparationSink($0) }
            run.reportMissing(parts: parts)
            try source.read { run.itemSink($0) }
            try pictures.read(source, body)
            guard run.summary.items > 0 || run.readCount > 0 else {
                throw nothingToRead(run.summary.causeOfNothing)
            }
            return run.summary
        }
    }

    private var members: Set<XMember> { Set(parts.compactMap(XMember.init)) }

    /// The kinds of files that the purpose needs.
    private var neededKinds: Set<XMember> {
        guard request.purpose == .scheduler else { return members.intersection([.likes]) }
        let posts = members.intersection(
            request.includesCommunities
                ? [.posts, .monthlyPosts, .communityPosts] : [.posts, .monthlyPosts])
        // The table has the same posts, with fewer fields.
        return posts.isEmpty ? members.intersection([.table]) : posts
    }

    private func nothingToRead(_ reason: String) -> ImportError {
        ImportError(.nothingToRead, path: request.path, reason)
    }
}

/// The state of reading one archive: the results of the first pass, and the counts.
private final class XArchiveRun {
    private let purpose: ImportPurpose
    private let limits: ImportLimits
    private let neededKinds: Set<XMember>
    private let pictures: ArchivePictures
    private let body: (ArchiveItem) throws -> Void
    private var deletedIDs: Set<UInt64> = []
    /// The ids of posts for a circle; the list of posts does not mark them.
    private var circleIDs: Set<UInt64> = []
    /// The ids of earlier versions of edited posts.
    private var replacedIDs: Set<UInt64> = []
    /// The files that the archive's own list names.
    private var listedFiles: [String] = []
    /// The time, in the archive's spelling, at which the account was last made protected or public.
    private var lastProtectionChange = ""
    private var converter: XPostConverter

    private(set) var summary = ImportSummary(format: "X archive")
    /// Whether the archive has posts in communities that were not requested.
    var hasMoreCommunityPosts: Bool {
        get { summary.hasMoreCommunityPosts }
        set { summary.hasMoreCommunityPosts = newValue }
    }
    /// The number of items that were read, whether or not they were passed on.
    private(set) var readCount = 0

    init(
        _ request: ImportRequest, neededKinds: Set<XMember>, pictures: ArchivePictures,
        body: @escaping (ArchiveItem) throws -> Void
    ) {
        purpose = request.purpose
        limits = request.limits
        self.neededKinds = neededKinds
        self.pictures = pictures
        self.body = body
        // A part of an archive, or the table alone, does not name its owner.
        let owner = request.owner.flatMap { $0.network == .x ? $0 : nil }
        converter = XPostConverter(
            owner: owner ?? AccountID(network: .x, value: "unknown"),
            notes: XNoteTexts(maximumBytes: limits.noteBytes))
    }

    // MARK: First pass

    func preparationSink(_ name: String) -> (any MemberSink)? {
        guard let member = XMember(name: name) else { return nil }
        switch (member, purpose) {
        case (.account, _):
            // The file also contains the e-mail address, which is not read.
            return list(name, wrapper: "account") { [self] wire in
                let account = try wire.object("account")
                setOwner(
                    id: try account.optional("accountId", in: "account.", \.text),
                    name: try account.optional("username", in: "account.", \.text))
            }
        case (.timeZone, _):
            return list(name, wrapper: "accountTimezone") { [self] wire in
                let zone = try wire.object("accountTimezone").optional(
                    "timeZone", in: "accountTimezone.", \.text)
                summary.timeZone = zone.flatMap(RailsTimeZone.identifier)
            }
        case (.manifest, _):
            return ObjectSink(limit: limits.elementBytes) { [self] wire in
                let user = wire["userInfo"]
                setOwner(id: user?["accountId"]?.text, name: user?["userName"]?.text)
                if wire["archiveInfo"]?["isPartialArchive"]?.truth == true { summary.isPart = true }
                let files =
                    wire["dataTypes"]?.members.flatMap { $0.value["files"]?.list ?? [] } ?? []
                listedFiles = files.compactMap { $0["fileName"]?.text }.sorted()
            }
        case (.monthlyAccount, _):
            return ObjectSink(limit: limits.elementBytes) { [self] wire in
                setOwner(id: wire["id"]?.text, name: wire["screen_name"]?.text)
            }
        case (.deletedPosts, .scheduler):
            return list(name, wrapper: "tweet") { [self] wire in
                let id = try XPostConverter.id(ofPost: wire)
                if deletedIDs.count < limits.deletedPosts { deletedIDs.insert(id) }
            }
        case (.circlePosts, .scheduler):
            return list(name, wrapper: "tweet") { [self] wire in
                // An entry without an id throws, because its post would otherwise be read as
                // public.
                circleIDs.insert(try XPostConverter.id(ofPost: wire))
            }
        case (.protectedHistory, .scheduler):
            return list(name, wrapper: "protectedHistory") { [self] wire in
                let change = try wire.object("protectedHistory")
                let time = change["protectedAt"]?.text ?? ""
                guard let action = change["action"]?.text, time >= lastProtectionChange else {
                    return
                }
                lastProtectionChange = time
                summary.isProtected = action == "Protect"
            }
        case (.longTexts, .scheduler):
            return list(name, wrapper: "noteTweet") { [self] wire in
                try converter.notes.insert(wire)
            }
        default: return nil
        }
    }

    /// Reports files that the archive's own list names but that are missing, because a part of the
    /// download is then missing.
    func reportMissing(parts: [String]) {
        let present = Set(parts)
        for name in listedFiles where !present.contains(name) {
            guard let member = XMember(name: name),
                member == (purpose == .scheduler ? .posts : .likes)
            else {
                continue
            }
            summary.isPart = true
            let reason = localized("is listed in the archive but not in it")
            report(
                ImportProblem(file: MemberName.shown(name), position: .wholeFile, reason: reason))
        }
    }

    private func setOwner(id: String?, name: String?) {
        if let id, let number = UInt64(id) {
            converter.owner = AccountID(network: .x, value: String(number))
            summary.owner = converter.owner
        }
        if let name, !name.isEmpty { summary.ownerName = name.lowercased() }
    }

    // MARK: Second pass

    func itemSink(_ name: String) -> (any MemberSink)? {
        guard let member = XMember(name: name), neededKinds.contains(member) else { return nil }
        switch member {
        case .posts, .communityPosts:
            return list(name, wrapper: "tweet") { [self] wire in try takePost(wire) }
        case .monthlyPosts: return list(name, wrapper: "") { [self] wire in try takePost(wire) }
        case .likes: return list(name, wrapper: "like") { [self] wire in try takeLike(wire) }
        case .table:
            return XTable.Sink(
                file: MemberName.shown(name), limits: limits, report: { [self] in report($0) }
            ) {
                [self] row in
                let post = try converter.post(row)
                readCount += 1
                try passOn(post)
            }
        default: return nil
        }
    }

    private func takePost(_ wire: JSON) throws {
        let post = try converter.post(wire)
        let files = post.pictures.isEmpty ? [] : try XPostConverter.pictureFiles(wire)
        let hasLaterVersion = isReplaced(post, by: try XPostConverter.versions(wire))
        readCount += 1
        if hasLaterVersion { summary.replaced += 1 } else { try passOn(post, files: files) }
    }

    /// Returns whether a later version of the post exists, and records its earlier versions.
    private func isReplaced(_ post: Post, by versions: [UInt64]) -> Bool {
        guard let id = UInt64(post.id.value) else { return false }
        if replacedIDs.count < limits.deletedPosts {
            replacedIDs.formUnion(versions.filter { $0 < id })
        }
        return versions.contains { $0 > id } || replacedIDs.contains(id)
    }

    private func passOn(_ post: Post, files: [[String]] = []) throws {
        var post = post
        // If the account is protected, so are all of its posts.
        if summary.isProtected { post.visibility = .private }
        if let id = UInt64(post.id.value), deletedIDs.contains(id) {
            summary.deleted += 1
            return
        }
        if let id = UInt64(post.id.value), circleIDs.contains(id) { post.visibility = .direct }
        // The posts of a protected account are passed on as private ones; of any other account,
        // only the open posts are passed on.
        guard summary.isProtected || post.isOpen else {
            summary.notOpen += 1
            return
        }
        summary.posts += 1
        if !post.pictures.isEmpty { pictures.noteFiles(files, of: post) }
        try body(.post(post))
    }

    /// Reads `{"like":{"tweetId":…,"fullText":…}}`.
    private func takeLike(_ wire: JSON) throws {
        let like = try wire.object("like")
        let id = try XPostConverter.id(
            try like.optional("tweetId", in: "like.", \.text), field: "tweetId")
        readCount += 1
        let text = PlainText.fromX(like["fullText"]?.text ?? "")
        guard !text.isEmpty, !XNotice.isNotice(text) else {
            summary.withoutText += 1
            return
        }
        summary.favorites += 1
        // The `try?` is nil if the id contains no time; the favorite then has no time.
        let time = try? XPostConverter.time(id: id, written: nil)
        try body(
            .favorite(
                ImportedExample(
                    id: PostID(network: .x, value: String(id)), author: nil, text: text,
                    createdAt: time?.date,
                    isSeen: false)))
    }

    private func list(_ name: String, wrapper: String, _ body: @escaping (JSON) throws -> Void)
        -> any MemberSink
    {
        ListSink(
            file: MemberName.shown(name),
            splitter: ElementSplitter(wrapper: wrapper, limits: limits),
            report: { [self] in report($0) }, body: body)
    }

    private func report(_ problem: ImportProblem) {
        summary.report(problem, limit: limits.problems)
    }
}

/// The files of an X archive that are read; no other file is opened.
enum XMember: Hashable {
    case account, manifest, timeZone, deletedPosts, circlePosts, protectedHistory, longTexts, posts,
        likes
    /// Posts that the human made in communities, which are read only on request.
    case communityPosts
    /// Files of archives until 2018: one file for each month, the account, and the same posts in a
    /// table.
    case monthlyPosts, monthlyAccount, table

    init?(name: String) {
        guard name != XTable.name else {
            self = .table
            return
        }
        let parts = name.split(separator: "/")
        guard parts.first == "data", let file = parts.last, file.hasSuffix(".js") else {
            return nil
        }
        let stem = String(file.dropLast(3))
        switch parts.count {
        case 2: self.init(stem: Self.withoutPart(stem))
        case 3 where parts[1] == "js" && stem == "user_details": self = .monthlyAccount
        case 4 where parts[1] == "js" && parts[2] == "tweets" && Self.isMonth(stem):
            self = .monthlyPosts
        default: return nil
        }
    }

    private init?(stem: String) {
        switch stem {
        case "account": self = .account
        case "manifest": self = .manifest
        case "account-timezone": self = .timeZone
        case "deleted-tweets", "deleted-tweet": self = .deletedPosts
        case "twitter-circle-tweet", "twitter-circle-tweets": self = .circlePosts
        case "protected-history": self = .protectedHistory
        case "note-tweet", "note-tweets": self = .longTexts
        case "tweets", "tweet": self = .posts
        case "community-tweet", "community-tweets": self = .communityPosts
        case "like", "likes": self = .likes
        default: return nil
        }
    }

    /// The stem without the number of a part: `tweets` for `tweets-part12`.
    private static func withoutPart(_ stem: String) -> String {
        guard let range = stem.range(of: "-part") else { return stem }
        let number = stem[range.upperBound...]
        let isNumber = (1...6).contains(number.count) && number.utf8.allSatisfy(\.isASCIIDigit)
        return isNumber ? String(stem[..<range.lowerBound]) : stem
    }

    /// Whether `stem` looks like `2013_05`.
    private static func isMonth(_ stem: String) -> Bool {
        let parts = stem.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        return parts.map(\.count) == [4, 2] && parts.joined().allSatisfy(\.isASCIIDigit)
    }
}
