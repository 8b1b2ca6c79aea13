import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

@Suite struct ZipArchiveTests {
    private let directory: TemporaryDirectory
    private let tweets = Fixture.tweets([Fixture.tweet("1", "one"), Fixture.tweet("2", "two")])

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ zip: ZipWriter) throws -> String {
        try directory.write(zip.data, to: "archive.zip")
    }

    private func error(_ zip: ZipWriter, limits: ImportLimits = ImportLimits()) throws
        -> ImportError
    {
        let path = try write(zip)
        return try importError { _ = try Reading(path, limits: limits) }
    }

    @Test func readsAZipMadeByTheZipTool() throws {
        _ = try Fixture.folder(tweets: tweets, in: directory)
        try Fixture.zip(["-r", "real.zip", "data"], in: directory)
        let reading = try Reading(directory.path("real.zip"))
        #expect(reading.texts == ["one", "two"])
        #expect(reading.summary.owner == AccountID(network: .x, value: "4242"))
        #expect(reading.summary.ownerName == "harukatest")
    }

    @Test func doesNotDependOnTheOrderOfFiles() throws {
        var zip = ZipWriter()
        zip.add("data/tweets.js", tweets)
        zip.add("data/deleted-tweets.js", Fixture.tweets([Fixture.tweet("2", "two")]))
        zip.add("data/account.js", Fixture.account)
        let reading = try Reading(try write(zip))
        #expect(reading.texts == ["one"])
        #expect(reading.posts.map(\.author.value) == ["4242"])
    }

    @Test func looksIntoAFolderAroundTheArchive() throws {
        var zip = ZipWriter()
        zip.add("twitter-2023/data/tweets.js", tweets)
        zip.add("__MACOSX/twitter-2023/data/._tweets.js", "junk")
        try expect(Reading(try write(zip)).texts, equals: ["one", "two"])
    }

    @Test func acceptsNamesInAnyScript() throws {
        var zip = ZipWriter()
        zip.add("data/写真/猫.js", "x", flags: 2_048)
        zip.add("\u{3042}.html", "x")
        zip.add("data/tweets.js", tweets)
        try expect(Reading(try write(zip)).texts, equals: ["one", "two"])
    }

    /// Every one of these holds bytes that cannot be unpacked: opening one would end in an error.
    @Test func neverOpensPrivateFiles() throws {
        let poisoned = [
            "data/direct-messages.js", "data/direct-messages-group.js",
            "data/direct-message-headers.js",
            "data/ad-engagements.js", "data/ad-impressions.js", "data/ip-audit.js",
            "data/contact.js",
            "data/phone-number.js", "data/email-address-change.js", "data/profile.js",
            "data/personalization.js",
            "data/tweets_media/picture.jpg", "data/tweet-headers.js", "data/account-suspension.js",
            "data/mute.js",
            "other/data/deep/tweets.js", "tweets.js",
        ]
        var zip = ZipWriter()
        for name in poisoned.prefix(8) {
            zip.add(name, "not deflated", method: 8, declaredSize: 4_000)
        }
        zip.add("data/account.js", Fixture.account)
        zip.add("data/tweets.js", tweets)
        zip.add(
            "data/like.js", Fixture.likes([#"{"like": {"tweetId": "9", "fullText": "liked"}}"#]))
        for name in poisoned.dropFirst(8) {
            zip.add(name, "not deflated", method: 8, declaredSize: 4_000)
        }
        let path = try write(zip)
        try expect(Reading(path).texts, equals: ["one", "two"])
        try expect(Reading(path, for: .classifier).summary.favorites, equals: 1)
    }

    @Test func noticesAPoisonedFileThatIsRead() throws {
        var zip = ZipWriter()
        zip.add("data/tweets.js", "not deflated", method: 8, declaredSize: 4_000)
        try expect(error(zip).code, equals: .damaged)
    }

    @Test(arguments: [0.1, 0.5, 0.9, 0.999])
    func refusesATruncatedZip(share: Double) throws {
        var zip = ZipWriter()
        zip.add("data/account.js", Fixture.account)
        zip.add("data/tweets.js", tweets)
        let path = try directory.write(
            zip.data.prefix(Int(Double(zip.data.count) * share)), to: "cut.zip")
        var items = 0
        let error = try importError {
            _ = try ArchiveReader(path: path, purpose: .scheduler).read { _ in items += 1 }
        }
        #expect(error.code == .damaged)
        #expect(error.description.contains("download it again"))
        #expect(items == 0)
    }

    @Test func noticesDataThatDoesNotMatchItsChecksum() throws {
        var zip = ZipWriter()
        zip.add("data/tweets.js", tweets)
        var data = zip.data
        let place = try #require(data.firstRange(of: Data("two".utf8)))
        data[place.lowerBound] = UInt8(ascii: "T")
        let path = try directory.write(data, to: "flipped.zip")
        try expect(importError { _ = try Reading(path) }.code, equals: .damaged)
    }

    @Test func refusesAnEncryptedZip() throws {
        _ = try Fixture.folder(tweets: tweets, in: directory)
        try Fixture.zip(["-r", "-P", "secret", "locked.zip", "data"], in: directory)
        let error = try importError { _ = try Reading(directory.path("locked.zip")) }
        #expect(error.code == .encrypted)
        #expect(error.description.contains("password"))
    }

    @Test(arguments: [
        "../data/tweets.js", "data/../../tweets.js", "/etc/tweets.js", "..",
        "data\\..\\..\\evil.js", "C:\\evil.js",
        "\\evil.js", "C:/evil.js",
    ])
    func refusesNamesThatLeadOut(name: String) throws {
        var zip = ZipWriter()
        zip.add("data/tweets.js", tweets)
        zip.add(name, "x")
        let error = try error(zip)
        #expect(error.code == .unsafePath)
    }

    @Test func acceptsDotsInsideNames() throws {
        var zip = ZipWriter()
        zip.add("data/a..b.js", "x")
        zip.add("./data/tweets.js", tweets)
        try expect(Reading(try write(zip)).texts, equals: ["one", "two"])
    }

    @Test func refusesALinkInPlaceOfAFile() throws {
        var zip = ZipWriter()
        zip.add("data/tweets.js", "/etc/passwd", mode: 0o120777)
        try expect(error(zip).code, equals: .unsafePath)
    }

    /// Nothing is handed over before all that is to be read was looked at.
    @Test func refusesALinkBehindAGoodFile() throws {
        var zip = ZipWriter()
        zip.add("data/tweets.js", tweets)
        zip.add("data/tweets-part1.js", "/etc/passwd", mode: 0o120777)
        let path = try write(zip)
        var items = 0
        let error = try importError {
            _ = try ArchiveReader(path: path, purpose: .scheduler).read { _ in items += 1 }
        }
        #expect(error.code == .unsafePath)
        #expect(items == 0)
    }

    @Test func refusesABombBeforeReadingIt() throws {
        let path = try directory.write(Data(tweets.utf8), to: "tweets.js")
        try FileManager.default.createDirectory(
            atPath: directory.path("data"), withIntermediateDirectories: false)
        try FileManager.default.moveItem(atPath: path, toPath: directory.path("data/tweets.js"))
        let file = try #require(FileHandle(forUpdatingAtPath: directory.path("data/tweets.js")))
        try file.truncate(atOffset: 80 << 20)
        try file.close()
        try Fixture.zip(["-r", "bomb.zip", "data"], in: directory)
        var items = 0
        let error = try importError {
            _ = try ArchiveReader(path: directory.path("bomb.zip"), purpose: .scheduler).read { _ in
                items += 1
            }
        }
        #expect(error.code == .bomb)
        #expect(items == 0)
    }

    @Test func countsWhatIsUnpackedEvenIfTheZipLies() throws {
        var limits = ImportLimits()
        limits.ratioFreeBytes = 100
        limits.ratio = 0
        var zip = ZipWriter()
        zip.add("data/tweets.js", tweets, declaredSize: 10)
        let error = try error(zip, limits: limits)
        #expect([.bomb, .damaged].contains(error.code))
    }

    @Test func capsTheTotal() throws {
        var limits = ImportLimits()
        limits.totalBytes = 100
        var zip = ZipWriter()
        zip.add("data/tweets.js", tweets)
        try expect(error(zip, limits: limits).code, equals: .bomb)
    }

    @Test func refusesAZipThatIsNoArchive() throws {
        var zip = ZipWriter()
        zip.add("holiday/picture.jpg", "x")
        try expect(error(zip).code, equals: .notAnArchive)
    }

    @Test func refusesAZipWithoutPosts() throws {
        var zip = ZipWriter()
        zip.add("data/account.js", Fixture.account)
        try expect(error(zip).code, equals: .nothingToRead)
    }
}
