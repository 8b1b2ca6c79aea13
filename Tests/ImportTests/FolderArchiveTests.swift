import Expectations
import Foundation
import Import
import TestSupport
import Testing

@Suite struct FolderArchiveTests {
    private let directory: TemporaryDirectory
    private let tweets = Fixture.tweets([Fixture.tweet("1", "one")])

    init() throws { directory = try TemporaryDirectory() }

    @Test(arguments: ["", "/data", "/../wrapped"])
    func findsTheArchiveFromTheFoldersAroundIt(suffix: String) throws {
        let folder =
            try Fixture.folder(["wrapped/data/tweets.js": tweets], in: directory) + "/wrapped"
        try expect(Reading(folder + suffix).texts, equals: ["one"])
        try expect(Reading(directory.path).texts, equals: ["one"])
    }

    @Test func refusesALinkThatLeadsOut() throws {
        let outside = try TemporaryDirectory()
        try outside.write(Data(tweets.utf8), to: "tweets.js")
        let folder = try Fixture.folder(["data/account.js": Fixture.account], in: directory)
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/data/tweets.js", withDestinationPath: outside.path("tweets.js"))
        try expect(importError { _ = try Reading(folder) }.code, equals: .unsafePath)
    }

    @Test func refusesADataFolderThatIsALinkOut() throws {
        let outside = try TemporaryDirectory()
        let archive = try Fixture.folder(tweets: tweets, in: outside)
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("data"), withDestinationPath: archive + "/data")
        try expect(importError { _ = try Reading(directory.path) }.code, equals: .unsafePath)
    }

    @Test func followsALinkThatStaysInside() throws {
        let folder = try Fixture.folder(["data/kept/tweets.js": tweets], in: directory)
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/data/tweets.js", withDestinationPath: "kept/tweets.js")
        try expect(Reading(folder).texts, equals: ["one"])
    }

    @Test func leavesLinksOfOtherFilesAlone() throws {
        let folder = try Fixture.folder(tweets: tweets, in: directory)
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/data/direct-messages.js", withDestinationPath: "/nonexistent")
        try expect(Reading(folder).texts, equals: ["one"])
    }

    @Test func doesNotWaitForAPipeInPlaceOfAFile() throws {
        let folder = try Fixture.folder(["data/account.js": Fixture.account], in: directory)
        #expect(mkfifo(folder + "/data/tweets.js", 0o600) == 0)
        try expect(importError { _ = try Reading(folder) }.code, equals: .unreadable)
    }

    @Test func capsTheTotal() throws {
        var limits = ImportLimits()
        limits.totalBytes = 20
        let folder = try Fixture.folder(tweets: tweets, in: directory)
        try expect(importError { _ = try Reading(folder, limits: limits) }.code, equals: .bomb)
    }

    @Test func refusesAFolderThatIsNoArchive() throws {
        try directory.write(Data("x".utf8), to: "notes.txt")
        try expect(importError { _ = try Reading(directory.path) }.code, equals: .notAnArchive)
    }

    @Test func saysThatThereIsNothing() throws {
        let error = try importError { _ = try Reading(directory.path("absent")) }
        #expect(error.code == .notFound)
        #expect(
            error.description
                == "could not import \(directory.path("absent")): there is no such file or folder")
    }

    @Test(arguments: [
        ("\u{1F}\u{8B}", ImportError.Code.notAnArchive),
        ("window.YTD.tweets.part0 = [ ]", .notAnArchive),
        ("[\n1\n]", .notAnArchive), ("", .nothingToRead), (" \n\n", .nothingToRead),
        ("%PDF-1.4", .notAnArchive),
    ])
    func refusesFilesThatAreNeither(contents: String, code: ImportError.Code) throws {
        let path = try directory.write(Data(contents.utf8), to: "file")
        try expect(importError { _ = try Reading(path) }.code, equals: code)
    }

    /// An object on each line is something else, also where a line is damaged.
    @Test(arguments: [
        ("{\n \"feed\": [\n  {\n   \"post\": {}\n  }\n ],\n \"cursor\": \"x\"\n}\n", "object"),
        ("{\"feed\":[{\"post\":{}}],\"cursor\":\"x\"}\n", "object"),
        ("{\n  \"id\": \"1\",\n  \"text\": \"a\"\n}\n", "object"),
        ("[\n  {\n    \"id\": \"1\"\n  }\n]\n", "list"), ("[{\"id\":\"1\"}]", "list"),
        ("{\"id\":\"1\",\"author\n{\"id\":\"2\"}\n", nil),
        ("{\"id\":\"1\"}\n{\"id\":\"2\"}\n", nil),
    ])
    func namesOneValueWhereLinesAreExpected(contents: String, noun: String?) throws {
        let path = try directory.write(Data(contents.utf8), to: "file")
        let error = try importError { _ = try Reading(path) }
        #expect(
            error.description.contains("it is one JSON \(noun ?? "")") == (noun != nil), "\(error)")
        #expect((error.code == .notAnArchive) == (noun != nil))
    }

    @Test func saysThatWhatIsPackedIsNoArchive() throws {
        let plain = try directory.write(Data("just a text\n".utf8), to: "notes.txt")
        try Fixture.run("/usr/bin/env", ["gzip", plain], in: directory)
        let error = try importError { _ = try Reading(plain + ".gz") }
        #expect(error.code == .notAnArchive)
        #expect(error.description.contains("unpack"))
    }
}
