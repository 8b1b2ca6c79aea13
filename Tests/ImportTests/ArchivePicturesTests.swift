import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

/// Pictures in downloaded archives: what is told of them, and their files.
@Suite struct ArchivePicturesTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    private static let time = "Sat Feb 18 12:33:11 +0000 2023"

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static func media(_ name: String, _ type: String = "photo", _ more: String = "")
        -> String
    {
        """
        {"id_str":"\(name)","type":"\(type)","url":"https://t.co/\(name)",\
        "media_url_https":"https://pbs.twimg.com/media/\(name).png",\
        "sizes":{"large":{"w":"800","h":"600","resize":"fit"}}\(more)}
        """
    }

    private static func extended(_ media: [String]) -> String {
        #""entities":{"media":[\#(media[0])]},"extended_entities":{"media":[\#(media.joined(separator: ","))]}"#
    }

    private func files(_ path: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        _ = try ArchiveReader(path: path, purpose: .scheduler, wantsPictures: { !$0.isReply }).read
        { item in
            if case .picture(let id, let place, let bytes) = item {
                files["\(id.value)#\(place)"] = bytes
            }
        }
        return files
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        let path = URL(fileURLWithPath: directory.path(name))
        try FileManager.default.createDirectory(
            at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: path)
    }

    @Test func anXArchiveTellsOfStillPicturesAlone() throws {
        let pictures = Self.extended([
            Self.media("A", "photo", #","ext_alt_text":"a hill""#), Self.media("B"),
        ])
        let film = Self.extended([Self.media("C"), Self.media("D", "video")])
        let path = try Fixture.folder(
            tweets: Fixture.tweets([
                Fixture.tweet("20", "two", at: Self.time, pictures),
                Fixture.tweet("21", "film", at: Self.time, film),
                Fixture.tweet("22", "none"),
            ]), in: directory)
        let posts = try Reading(path).posts
        #expect(posts[0].pictures.map(\.alt) == ["a hill", ""])
        #expect(posts[0].pictures[0].url == "https://pbs.twimg.com/media/A.png")
        #expect(posts[0].pictures[0].width == 800 && posts[0].pictures[0].height == 600)
        #expect(posts[1].hasMedia && posts[1].pictures.isEmpty)
        #expect(!posts[2].hasMedia && posts[2].pictures.isEmpty)
    }

    @Test(arguments: ["folder", "zip"]) func theFilesOfAnXArchiveFindTheirPosts(_ form: String)
        throws
    {
        let own = Self.extended([Self.media("A"), Self.media("B")])
        let path = try Fixture.folder(
            tweets: Fixture.tweets([
                Fixture.tweet("20", "two", at: Self.time, own),
                Fixture.tweet(
                    "21", "@pal no", at: Self.time,
                    Self.extended([Self.media("E")]) + #","in_reply_to_user_id_str":"5""#),
            ]), in: directory)
        try write(Self.png, to: "data/tweets_media/20-A.png")
        try write(Self.png + [7], to: "data/tweets_media/20-B.png")
        try write(Self.png, to: "data/tweets_media/21-E.png")
        try write(Self.png, to: "data/direct_messages_media/20-A.png")
        try write(Self.png, to: "data/tweets_media/99-Z.png")
        if form == "zip" { try Fixture.zip(["-r", "real.zip", "data"], in: directory) }
        let found = try files(form == "zip" ? directory.path("real.zip") : path)
        #expect(found == ["20#0": Self.png, "20#1": Self.png + [7]])
        // Who does not ask for them gets none.
        try expect(Reading(path).items.count, equals: 2)
    }

    @Test func whatIsNoPictureOrTooLargeIsPassedOver() throws {
        let media = Self.extended([Self.media("A"), Self.media("B"), Self.media("C")])
        let path = try Fixture.folder(
            tweets: Fixture.tweets([Fixture.tweet("20", "x", at: Self.time, media)]), in: directory)
        try write(Array("<html>".utf8), to: "data/tweets_media/20-A.png")
        try write(
            Self.png + [UInt8](repeating: 0, count: Picture.maximumBytes),
            to: "data/tweets_media/20-B.png")
        try expect(files(path)) { $0.isEmpty }
    }

    @Test func aNameThatLeadsOutOfTheArchiveIsNotFollowed() throws {
        let outside = try TemporaryDirectory()
        try Data(Self.png).write(to: URL(fileURLWithPath: outside.path("20-A.png")))
        let media = Self.extended([Self.media("A"), Self.media("..")])
        let path = try Fixture.folder(
            tweets: Fixture.tweets([Fixture.tweet("20", "x", at: Self.time, media)]), in: directory)
        try FileManager.default.createDirectory(
            atPath: directory.path("data/tweets_media"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("data/tweets_media/20-A.png"),
            withDestinationPath: outside.path("20-A.png"))
        let error = try importError { _ = try files(path) }
        #expect(error.code == .unsafePath)
    }

    /// An archive may call anything a file.
    @Test func aNameThatLeadsToAFolderIsPassedOver() throws {
        let path = try MastodonFixture.folder(
            [outbox([Self.attachment("", "a hill"), Self.attachment("b.png", nil)])], in: directory)
        try write(Self.png, to: "media_attachments/files/1/original/b.png")
        try expect(files(path), equals: ["\(MastodonFixture.me)/statuses/1#1": Self.png])
    }

    private static func attachment(_ name: String, _ alt: String?, type: String = "image/png")
        -> String
    {
        let alt = alt.map { "\"\($0)\"" } ?? "null"
        return """
            {"type":"Document","mediaType":"\(type)","url":"/media_attachments/files/1/original/\(name)",\
            "name":\(alt),"width":640,"height":480}
            """
    }

    private func outbox(_ attachments: [String]) -> String {
        MastodonFixture.create("1", "<p>a walk</p>").replacing(
            #""attachment":[]"#, with: #""attachment":[\#(attachments.joined(separator: ","))]"#)
    }

    @Test(arguments: ["folder", "tar"]) func theFilesOfAMastodonArchiveFindTheirPosts(
        _ form: String
    ) throws {
        let items = [outbox([Self.attachment("a.png", "a hill"), Self.attachment("b.png", nil)])]
        let path = try MastodonFixture.folder(items, in: directory)
        try write(Self.png, to: "media_attachments/files/1/original/a.png")
        try write(Self.png + [7], to: "media_attachments/files/1/original/b.png")
        if form == "tar" {
            try Fixture.run(
                "/bin/tar",
                ["czf", "real.tar.gz", "actor.json", "outbox.json", "media_attachments"],
                in: directory)
        }
        let archive = form == "tar" ? directory.path("real.tar.gz") : path
        let id = "\(MastodonFixture.me)/statuses/1"
        try expect(files(archive), equals: ["\(id)#0": Self.png, "\(id)#1": Self.png + [7]])
        let post = try #require(try Reading(archive).posts.first)
        #expect(post.pictures.map(\.alt) == ["a hill", ""])
        #expect(post.pictures.map(\.width) == [640, 640])
        // An archive does not tell where the server shows them.
        expect(post.pictures) { $0.allSatisfy { $0.url == nil } }
    }

    @Test func aFilmOrAPollMakesNoPictures() throws {
        let film = outbox([
            Self.attachment("a.png", "x"), Self.attachment("b.mp4", "y", type: "video/mp4"),
        ])
        let path = try MastodonFixture.folder([film], in: directory)
        let post = try #require(try Reading(path).posts.first)
        #expect(post.hasMedia)
        #expect(post.pictures.isEmpty)
    }
}
