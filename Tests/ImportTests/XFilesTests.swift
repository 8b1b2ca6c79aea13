import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

/// Which files of an archive of X are read, where they are found, and whose they are.
@Suite struct XFilesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    // MARK: Communities

    private func withCommunities() throws -> String {
        try Fixture.folder(
            [
                "data/account.js": Fixture.account,
                "data/tweets.js": Fixture.tweets([Fixture.tweet("1", "for all")]),
                "data/community-tweet.js":
                    "window.YTD.community_tweet.part0 = [ \(Fixture.tweet("2", "for the club")) ]",
            ], in: directory)
    }

    @Test func postsInCommunitiesAreReadOnRequestAlone() throws {
        let reading = try Reading(try withCommunities())
        #expect(reading.texts == ["for all"])
        #expect(
            reading.summary.hints == [
                "posts in communities were left out; mirror-bot train scheduler --from ARCHIVE --communities reads them as well"
            ])
        #expect(reading.summary.filesLeft == ["data/community-tweet.js"])
        var texts: [String] = []
        let summary = try ArchiveReader(
            path: directory.path, purpose: .scheduler, includesCommunities: true
        ).read {
            if case .post(let post) = $0 { texts.append(post.text) }
        }
        #expect(texts.sorted() == ["for all", "for the club"])
        #expect(summary.hints == [])
    }

    // MARK: Whose it is, and what was read

    @Test func saysWhoseItIsAndWhatWasRead() throws {
        let folder = try Fixture.folder(
            [
                "data/account.js": Fixture.account,
                "data/tweets.js": Fixture.tweets([Fixture.tweet("1", "one")]),
                "data/direct-messages.js": "secret", "data/like.js": Fixture.likes([]),
                "Your archive.html": "page",
            ], in: directory)
        let summary = try Reading(folder).summary
        #expect(summary.filesRead == ["data/account.js", "data/tweets.js"])
        #expect(summary.filesLeft == ["data/like.js", "data/direct-messages.js"])
        #expect(
            summary.account == [
                "X archive of harukatest", "read 2 files: data/account.js, data/tweets.js",
                "left closed 2 files: data/like.js, data/direct-messages.js",
            ])
    }

    @Test func aPartSaysWhatToDoWithTheOthers() throws {
        let manifest = """
            window.__THAR_CONFIG = { "userInfo" : { "accountId" : "5", "userName" : "me", "displayName" : "M" },
              "archiveInfo" : { "sizeBytes" : "53687091300", "generationDate" : "2024-05-01T10:00:00.000Z",
                "isPartialArchive" : true, "maxPartSizeBytes" : "53687091200" },
              "dataTypes" : { "tweets" : { "files" : [ { "fileName" : "data/tweets.js", "globalName" :
                "YTD.tweets.part0", "count" : "1" } ] } } }
            """
        let tweets = Fixture.tweets([Fixture.tweet("1", "one")])
        let folder = try Fixture.folder(
            ["data/manifest.js": manifest, "data/tweets.js": tweets], in: directory)
        try expect(
            Reading(folder).summary.hints,
            equals: [
                "this is a part of an archive; unpack all of its parts into one folder, and read that folder"
            ])
        let whole = try TemporaryDirectory()
        let complete = manifest.replacing("true", with: "false")
        let other = try Fixture.folder(
            ["data/manifest.js": complete, "data/tweets.js": tweets], in: whole)
        try expect(Reading(other).summary.hints, equals: [])
    }

    /// The posts of one person are one person's, whichever part they come from.
    @Test func aPartThatDoesNotSayWhoseItIsIsTheHumans() throws {
        let folder = try Fixture.folder(
            ["data/tweets-part1.js": Fixture.tweets([Fixture.tweet("1", "one")], part: 1)],
            in: directory)
        var authors: [AccountID] = []
        let human = AccountID(network: .x, value: "4242")
        let summary = try ArchiveReader(path: folder, purpose: .scheduler, owner: human).read {
            if case .post(let post) = $0 { authors.append(post.author) }
        }
        #expect(authors == [human])
        #expect(summary.owner == nil)
        #expect(summary.account.first == "X archive of an account it does not name")
    }

    @Test func aFolderOfZipsSaysWhatToDoWithThem() throws {
        _ = try Fixture.folder(
            ["part1/data/tweets.js": Fixture.tweets([Fixture.tweet("1", "one")])], in: directory)
        try Fixture.zip(["-r", "parts.zip", "part1"], in: directory)
        let other = try TemporaryDirectory()
        for name in ["twitter-1.zip", "twitter-2.zip"] {
            try FileManager.default.copyItem(
                atPath: directory.path("parts.zip"), toPath: other.path(name))
        }
        let error = try importError { _ = try Reading(other.path) }
        #expect(
            error.reason
                == "it holds zips; unpack all of them into one folder, and give that folder")
    }

    // MARK: Folders

    @Test(arguments: ["a", "a/b", "a/b/c"])
    func foldersAroundAnArchiveDoNotMatter(wrapper: String) throws {
        let tweets = Fixture.tweets([Fixture.tweet("1", "one")])
        let folder = try Fixture.folder(["\(wrapper)/data/tweets.js": tweets], in: directory)
        try expect(Reading(folder).texts, equals: ["one"])
        try Fixture.zip(["-r", "all.zip", String(wrapper.prefix { $0 != "/" })], in: directory)
        try expect(Reading(directory.path("all.zip")).texts, equals: ["one"])
    }

    @Test func twoArchivesInOneZipAreNotMixed() throws {
        let tweets = Fixture.tweets([Fixture.tweet("1", "one")])
        _ = try Fixture.folder(
            ["me/data/tweets.js": tweets, "you/data/tweets.js": tweets], in: directory)
        try Fixture.zip(["-r", "all.zip", "me", "you"], in: directory)
        let error = try importError { _ = try Reading(directory.path("all.zip")) }
        #expect(error.code == .notAnArchive)
        #expect(error.reason.contains("several archives"))
    }
}
