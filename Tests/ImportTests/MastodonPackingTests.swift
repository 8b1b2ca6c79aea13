import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

@Suite struct MastodonPackingTests {
    private typealias Archive = MastodonFixture

    private let directory: TemporaryDirectory
    private let outbox = MastodonFixture.outbox([
        MastodonFixture.create("1", "<p>one</p>"), MastodonFixture.create("2", "<p>two</p>"),
    ])

    init() throws { directory = try TemporaryDirectory() }

    private func expectWhole(_ reading: Reading) {
        #expect(reading.texts == ["one", "two"])
        #expect(
            reading.posts.map(\.author.value) == ["haruka@social.example", "haruka@social.example"])
        #expect(reading.summary.problemCount == 0)
    }

    @Test(arguments: [["actor.json", "outbox.json"], ["outbox.json", "actor.json"]])
    func readsAZipInAnyOrder(order: [String]) throws {
        var zip = ZipWriter()
        for name in order { zip.add(name, name == "actor.json" ? Archive.actor : outbox) }
        expectWhole(try Reading(try directory.write(zip.data, to: "archive.zip")))
    }

    /// Servers put the pictures first and the actor last.
    @Test(
        arguments: [["actor.json", "outbox.json"], ["outbox.json", "actor.json"]], [true, false])
    func readsATarInAnyOrder(order: [String], isPacked: Bool) throws {
        var tar = TarWriter()
        tar.add("media_attachments", "", type: "5")
        tar.add(
            "media_attachments/files/1/original/a.png", String(repeating: "picture", count: 100_000)
        )
        for name in order { tar.add(name, name == "actor.json" ? Archive.actor : outbox) }
        let path =
            isPacked
            ? try tar.writePacked(to: "archive", in: directory)
            : try directory.write(tar.data, to: "archive.tar")
        expectWhole(try Reading(path))
    }

    @Test func readsATarMadeByTheTarTool() throws {
        let names = String(repeating: "long/", count: 60)
        _ = try Fixture.folder(
            ["in/actor.json": Archive.actor, "in/outbox.json": outbox, "in/\(names)猫.png": "x"],
            in: directory)
        try Fixture.run("/usr/bin/env", ["tar", "-czf", "real.tar.gz", "in"], in: directory)
        expectWhole(try Reading(directory.path("real.tar.gz")))
        try Fixture.run(
            "/usr/bin/env", ["tar", "--format=pax", "-cf", "real.tar", "-C", "in", "."],
            in: directory)
        expectWhole(try Reading(directory.path("real.tar")))
    }

    @Test(arguments: ["", "/.."])
    func readsAnExtractedFolder(suffix: String) throws {
        let folder = directory.path("archive-2023")
        _ = try Fixture.folder(
            ["archive-2023/actor.json": Archive.actor, "archive-2023/outbox.json": outbox],
            in: directory)
        expectWhole(try Reading(folder + suffix))
    }

    @Test func readsTheListAlone() throws {
        let alone = try directory.write(Data(outbox.utf8), to: "posts.json")
        expectWhole(try Reading(alone))
        // What lies beside it tells more than the addresses in it do.
        try directory.write(
            Data(Archive.actor.replacing("Haruka\",\"name", with: "Spring\",\"name").utf8),
            to: "actor.json")
        try expect(
            Reading(alone).posts.map(\.author.value),
            equals: ["spring@social.example", "spring@social.example"])
    }

    @Test func takesNoPostsForLikes() throws {
        let alone = try directory.write(Data(outbox.utf8), to: "outbox.json")
        let error = try importError { _ = try Reading(alone, for: .classifier) }
        #expect(error.code == .nothingToRead)
        #expect(error.description.contains("not the address of a post"))
        let likes = try directory.write(
            Data(Archive.likes(["https://far.example/1"]).utf8), to: "likes.json")
        try expect(Reading(likes, for: .classifier).summary.likesWithoutPost, equals: 1)
        try expect(importError { _ = try Reading(likes) }.code, equals: .nothingToRead)
    }

    @Test func readsPagesOfAnOutboxOneBehindTheOther() throws {
        let pages = (1...3).map { Archive.outbox([Archive.create("\($0)", "<p>\($0)</p>")]) }
            .joined(separator: "\n")
        let reading = try Reading(try directory.write(Data(pages.utf8), to: "pages.json"))
        #expect(reading.texts == ["1", "2", "3"])
    }

    // MARK: Hostility

    /// Every one of these holds bytes that cannot be unpacked: opening one would end in an error.
    @Test func neverOpensPrivateFiles() throws {
        let poisoned = [
            "bookmarks.json", "followers.json", "following_accounts.csv", "blocks.csv", "mutes.csv",
            "lists.csv",
            "direct.json", "chats.json", "media_attachments/files/1/a.png", "header.jpg",
            "avatar.png",
        ]
        var zip = ZipWriter()
        for name in poisoned { zip.add(name, "not deflated", method: 8, declaredSize: 4_000) }
        zip.add("outbox.json", outbox)
        zip.add("actor.json", Archive.actor)
        zip.add("likes.json", "not deflated", method: 8, declaredSize: 4_000)
        expectWhole(try Reading(try directory.write(zip.data, to: "archive.zip")))
    }

    @Test func leavesPrivateFilesOfAFolderClosed() throws {
        let folder = try Fixture.folder(
            ["actor.json": Archive.actor, "outbox.json": outbox], in: directory)
        for name in ["bookmarks.json", "followers.json", "direct.json"] {
            // Opening a pipe would wait for ever.
            #expect(mkfifo(folder + "/" + name, 0o600) == 0)
        }
        expectWhole(try Reading(folder, for: .scheduler))
    }

    @Test(arguments: ["../outbox.json", "/etc/outbox.json", "a/../../b", "C:\\evil", ".."])
    func refusesNamesThatLeadOut(name: String) throws {
        var tar = TarWriter()
        tar.add("actor.json", Archive.actor)
        tar.add("outbox.json", outbox)
        tar.add(name, "x")
        let path = try tar.writePacked(to: "archive", in: directory)
        var items = 0
        let error = try importError {
            _ = try ArchiveReader(path: path, purpose: .scheduler).read { _ in items += 1 }
        }
        #expect(error.code == .unsafePath)
        #expect(items == 0)
    }

    @Test(
        arguments: [("1", "media/secret"), ("2", "/etc/passwd"), ("3", ""), ("6", "")]
            as [(Character, String)])
    func refusesWhatIsNoFileInPlaceOfOne(type: Character, link: String) throws {
        var tar = TarWriter()
        tar.add("media/secret", "x")
        tar.add("outbox.json", "", type: type, link: link)
        tar.add("actor.json", Archive.actor)
        let path = try tar.writePacked(to: "archive", in: directory)
        try expect(importError { _ = try Reading(path) }.code, equals: .unsafePath)
    }

    @Test(arguments: [0.1, 0.5, 0.9])
    func refusesATruncatedTar(share: Double) throws {
        var tar = TarWriter()
        tar.add(
            "outbox.json",
            Archive.outbox(
                (0..<500).map { Archive.create("\($0)", "<p>\($0 &* 2_654_435_761)</p>") }))
        tar.add("actor.json", Archive.actor)
        for data in [
            try Data(contentsOf: URL(fileURLWithPath: tar.writePacked(to: "whole", in: directory))),
            tar.data,
        ] {
            let path = try directory.write(data.prefix(Int(Double(data.count) * share)), to: "cut")
            var items = 0
            let error = try importError {
                _ = try ArchiveReader(path: path, purpose: .scheduler).read { _ in items += 1 }
            }
            // Of a short beginning nobody can tell what it was.
            #expect(error.code == .damaged || (share < 0.5 && error.code == .notAnArchive))
            #expect(error.description.contains("download it again"))
            #expect(items == 0)
        }
    }

    @Test func refusesABombBesideThePosts() throws {
        var limits = ImportLimits()
        limits.ratioFreeBytes = 1 << 20
        var tar = TarWriter()
        tar.add("actor.json", Archive.actor)
        tar.add("outbox.json", outbox)
        tar.add("picture.png", String(repeating: "\u{0}", count: 4 << 20))
        let path = try tar.writePacked(to: "archive", in: directory)
        limits.ratio = 10
        try expect(importError { _ = try Reading(path, limits: limits) }.code, equals: .bomb)
        limits.ratio = 100_000
        expectWhole(try Reading(path, limits: limits))
    }

    @Test func refusesABombOfEmptyEntries() throws {
        var limits = ImportLimits()
        limits.ratioFreeBytes = 1 << 19
        limits.ratio = 10
        var tar = TarWriter()
        tar.add("outbox.json", outbox)
        for index in 0..<2_000 { tar.add("f\(index)", "") }
        let path = try tar.writePacked(to: "archive", in: directory)
        try expect(importError { _ = try Reading(path, limits: limits) }.code, equals: .bomb)
    }

    @Test func refusesASizeThatIsALie() throws {
        var limits = ImportLimits()
        limits.totalBytes = 1 << 20
        var tar = TarWriter()
        tar.add("outbox.json", outbox, declaredSize: 7 << 30)
        let path = try tar.writePacked(to: "archive", in: directory)
        try expect(importError { _ = try Reading(path, limits: limits) }.code, equals: .bomb)
        try expect(importError { _ = try Reading(path) }.code, equals: .bomb)
    }

    @Test func capsTheTotal() throws {
        var limits = ImportLimits()
        limits.totalBytes = 100
        var tar = TarWriter()
        tar.add("outbox.json", outbox)
        let path = try tar.writePacked(to: "archive", in: directory)
        try expect(importError { _ = try Reading(path, limits: limits) }.code, equals: .bomb)
    }

    @Test func passesOverItemsThatAreTooLargeOrTooDeep() throws {
        var limits = ImportLimits()
        limits.elementBytes = 4_000
        limits.nesting = 8
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        let items = [
            Archive.create("1", "one"),
            Archive.create("2", String(repeating: "long", count: 2_000)),
            Archive.create(
                "3", "x",
                #""deep":\#(String(repeating: "[", count: 20))\#(String(repeating: "]", count: 20))"#
            ),
            Archive.create("4", "x", #""deep":\#(deep)"#), Archive.create("5", "five"),
        ]
        let folder = try Archive.folder(items, in: directory)
        let reading = try Reading(folder, limits: limits)
        #expect(reading.texts == ["one", "five"])
        #expect(
            reading.summary.problems.map(\.reason) == [
                "is larger than 4000 bytes", "is nested too deeply", "is nested too deeply",
            ])
        // The usual depth is refused as well, and nothing overflows the stack.
        try expect(Reading(folder).summary.problemCount, equals: 1)
    }

    @Test func readsWhatIsThereOfAListThatWasCutOff() throws {
        let cut = outbox.dropLast(40)
        let folder = try Fixture.folder(
            ["actor.json": Archive.actor, "outbox.json": String(cut)], in: directory)
        let reading = try Reading(folder)
        #expect(reading.texts == ["one"])
        #expect(
            reading.summary.problems.map(\.reason) == [
                "the file ends inside it", "the list is not closed; the file may have been cut off",
            ])
    }

    @Test func doesNotLoseMemoryInALongContext() throws {
        let context = String(repeating: #"{"a":["b"]},"#, count: 200_000)
        let long = outbox.replacing(#"{"@context":["#, with: #"{"@context":[\#(context)"#)
        let folder = try Fixture.folder(
            ["actor.json": Archive.actor, "outbox.json": long], in: directory)
        expectWhole(try Reading(folder))
    }
}
