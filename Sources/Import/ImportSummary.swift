import Localization
package import Posts

/// The result of reading an archive.
package struct ImportSummary: Equatable, Sendable {
    /// The usual name for a file of this kind, such as `X archive`.
    package var format: String
    /// The files of the archive that were read, in their order; empty for a single file.
    package var filesRead: [String] = []
    /// The names of the first files that were not read, and the number of all such files.
    package var filesLeft: [String] = []
    package var filesLeftCount = 0
    /// The archive's owner, if it names one.
    package var owner: AccountID?
    package var ownerName: String?
    /// The time zone of the account's settings, an IANA name: a suggestion for `TIME_ZONE`.
    package var timeZone: String?

    /// The number of items passed on, of each kind.
    package var posts = 0
    package var favorites = 0
    package var normals = 0

    /// The number of posts left out because they are on the archive's list of deleted posts.
    package var deleted = 0
    /// The number of posts left out because they are earlier versions of an edited post.
    package var replaced = 0
    /// The number of favorites that are the human's own posts.
    package var own = 0
    /// The number of likes whose text is not in the archive.
    package var withoutText = 0
    /// The number of lines without the field `favorite`.
    package var unlabelled = 0
    /// The number of posts left out because not everybody may read them.
    package var notOpen = 0
    /// Whether only followers may read the account's posts, as far as an X archive shows: during
    /// its last six months.
    package var isProtected = false
    /// The number of reposts by the human.
    package var reposts = 0
    /// The number of entries that are neither a post nor a favorite.
    package var unrelated = 0
    /// The number of likes with an address only: their text must be fetched from the network.
    package var likesWithoutPost = 0

    /// Whether the archive names further parts that were downloaded separately, or lists files that
    /// are missing.
    package var isPart = false
    /// Whether the archive has posts in communities that were not requested.
    package var hasMoreCommunityPosts = false

    /// The number of items that could not be read.
    package var problemCount = 0
    /// The first problems, in detail; the other ones are only counted.
    package var problems: [ImportProblem] = []

    /// The name of the format JSON Lines, in which each line names its author.
    static let lines = "JSON Lines"

    package init(format: String) { self.format = format }

    /// The number of all items passed on.
    package var items: Int { posts + favorites + normals }

    /// Advice on how to get more items: sentences without a full stop.
    package var hints: [String] {
        if isProtected {
            return [
                localized(
                    "the account hides its posts from the public, so that none of them is mirrored")
            ]
        }
        var hints: [String] = []
        if isPart {
            hints.append(
                localized(
                    "this is a part of an archive; unpack all of its parts into one folder, and read that folder"
                ))
        }
        if hasMoreCommunityPosts {
            hints.append(
                localized(
                    """
                    posts in communities were left out; mirror-bot train scheduler --from ARCHIVE --communities reads them \
                    as well
                    """))
        }
        if likesWithoutPost > 0 {
            hints.append(
                likesWithoutPost == 1
                    ? localized(
                        "1 like holds only an address; train the classifier from the account instead"
                    )
                    : localized(
                        "\(likesWithoutPost) likes hold only an address; train the classifier from the account instead"
                    ))
        }
        return hints
    }

    /// The account and the files that were read: sentences without a full stop.
    package var account: [String] {
        guard format != Self.lines else { return [] }
        var sentences = [
            archive(
                of: ownerName.map(MemberName.shown) ?? owner?.reference
                    ?? localized("an account it does not name"))
        ]
        guard !filesRead.isEmpty else { return sentences }
        sentences.append(localized("read \(Self.list(filesRead, of: filesRead.count))"))
        if filesLeftCount > 0 {
            sentences.append(
                localized("left closed \(Self.list(filesLeft, of: filesLeftCount))"))
        }
        return sentences
    }

    /// Returns the format with the name of the owner, as `X archive of @ann`.
    private func archive(of owner: String) -> String {
        switch format {
        case "X archive": localized("X archive of \(owner)")
        case "Mastodon archive": localized("Mastodon archive of \(owner)")
        case "mastodon-archive backup": localized("mastodon-archive backup of \(owner)")
        case "saved Mastodon posts": localized("saved Mastodon posts of \(owner)")
        case "Misskey notes": localized("Misskey notes of \(owner)")
        case "Bluesky repository": localized("Bluesky repository of \(owner)")
        case "Bluesky records": localized("Bluesky records of \(owner)")
        default: "\(format) of \(owner)"
        }
    }

    /// Returns the number of files with their names, as `3 files: a, b, c`.
    private static func list(_ names: [String], of count: Int) -> String {
        let shown = names.prefix(8).map(MemberName.shown)
        let unlistedCount = count - shown.count
        var list = shown.joined(by: .comma)
        if unlistedCount > 0 {
            list = localized(
                shown.isEmpty ? "\(unlistedCount) more" : "\(list) and \(unlistedCount) more")
        }
        return localized(count == 1 ? "1 file: \(list)" : "\(count) files: \(list)")
    }

    /// The reason why an archive whose lists were read has no items.
    var causeOfNothing: String {
        guard let first = problems.first else { return localized("its lists are empty") }
        return localized(
            "nothing in it can be read (\(problemCount) problems, the first: \(first))")
    }

    mutating func report(_ problem: ImportProblem, limit: Int) {
        problemCount += 1
        if problems.count < limit { problems.append(problem) }
    }
}

/// An item that could not be read; the reading went on with the next item.
package struct ImportProblem: Equatable, Sendable, CustomStringConvertible {
    /// The position of a problem in its file.
    package enum Position: Equatable, Sendable {
        case wholeFile
        /// The line of a file of JSON Lines, from 1.
        case line(Int)
        /// The item of a list, from 0, and the byte of the file at which it begins.
        case element(Int, byte: Int)
    }

    /// The file inside the archive, or the path that was given.
    package var file: String
    package var position: Position
    /// The problem; it never contains text of the item.
    package var reason: String

    package var description: String {
        switch position {
        case .wholeFile: localized("\(file): \(reason)")
        case .line(let number): localized("\(file), line \(number): \(reason)")
        case .element(let index, let byte):
            localized("\(file), element \(index) at byte \(byte): \(reason)")
        }
    }
}
